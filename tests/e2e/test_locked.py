"""`scigate schema` and `serve --locked` as an operator uses them, in their own processes."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import scigate_pubchem
from mcp import Client, StdioServerParameters
from scigate.host import Host
from scigate.settings import Settings
from scigate.snapshot import Lock, digest

ONE_PROVIDER = {"SCIGATE_PROVIDERS__PUBMED__ENABLED": "false", "SCIGATE_PROVIDERS__IMMUNOGRAPH__ENABLED": "false"}


def scigate(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scigate.cli", *words]
    env = {**os.environ, **ONE_PROVIDER}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=env)


@pytest.fixture
async def lock(tmp_path: Path) -> Path:
    """A lock of one provider's tools, in which one tool has another maximum and one is missing."""
    async with Host.open(Settings(offline=True), plugins={"pubchem": scigate_pubchem}) as host:
        held = Lock.of(host.catalogue.definitions, datetime(2026, 7, 30, tzinfo=UTC)).as_json()
    tool = held["tools"]["pubchem_search_assays"]
    tool["definition"]["inputSchema"]["properties"]["maxResults"]["maximum"] = 200
    tool["sha256"] = digest(tool["definition"])
    del held["tools"]["pubchem_get_summary"]
    path = tmp_path / "definitions.lock.json"
    path.write_text(json.dumps(held))
    return path


async def test_a_difference_is_told_with_an_exit_code(lock: Path) -> None:
    """1 for compatible changes, so that a deployment can stop on them or go on."""
    done = scigate("schema", "diff", "--lock", str(lock))
    assert done.stdout.splitlines() == [
        "pubchem_get_summary: added the tool (compatible)",
        "pubchem_search_assays: changed inputSchema / properties / maxResults / maximum: 200 -> 1000 (compatible)",
    ]
    assert done.returncode == 1


async def test_a_locked_gateway_serves_only_what_was_accepted(lock: Path, tmp_path: Path) -> None:
    """The changed tool and the new one are left out, with the difference in the log."""
    words = ["-m", "scigate.cli", "serve", "--stdio", "--offline", "--locked", "--lock", str(lock)]
    log = tmp_path / "log"
    script = f"exec {sys.executable} {' '.join(words)} 2>{log}"
    async with Client(StdioServerParameters(command="/bin/sh", args=["-c", script], env=ONE_PROVIDER)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert "pubchem_search_compounds" in names
    assert not names & {"pubchem_search_assays", "pubchem_get_summary"}
    assert "maximum: 200 -> 1000 (compatible); accept it with" in log.read_text()


async def test_what_is_accepted_is_kept_in_the_changelog(lock: Path) -> None:
    """Locking again prints the differences and dates them in the log."""
    assert scigate("schema", "lock", "--lock", str(lock)).stdout.count("\n") == 2
    log = json.loads(scigate("schema", "log", "--json", "--lock", str(lock), "pubchem_search_assays").stdout)
    assert [entry["words"] for entry in log] == ["changed inputSchema / properties / maxResults / maximum: 200 -> 1000"]
