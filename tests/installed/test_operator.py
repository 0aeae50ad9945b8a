"""`scigate keys`, `rules` and `audit`: what an operator sees, and the exit codes that a script goes by."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from scigate.audit import AuditLog
from scigate.cli.app import app
from scigate.keys import KeyRing
from scigate.settings import AuditSettings
from scigate.testing.clock import ManualClock
from typer.testing import CliRunner

RULES = """
rules_default = "deny"

[[rules]]
name = "small pages"
caller = "key:*"
tool = "pubchem_*"
effect = "allow"
[rules.arguments.maxResults]
at_most = 50

[[rules]]
scope = "admin"
effect = "allow"
"""

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command with a configuration."""
    monkeypatch.setenv("SCIGATE_CONFIG", "")
    path = tmp_path / "scigate.toml"

    def scigate(*words: str, config: str = "") -> Any:
        path.write_text(config, encoding="utf-8")
        return CliRunner().invoke(app, [*words, "--config", str(path)], prog_name="scigate")

    return scigate


def test_a_key_is_printed_alone_and_found_again(run: Run, tmp_path: Path) -> None:
    """A script can take it from standard output; the list shows whose it is and not what it is."""
    file = tmp_path / "keys.json"
    config = f'[auth]\naccept = ["keys"]\nkeys_file = {json.dumps(str(file))}\n'
    made = run("keys", "new", "ada", "--scope", "lab", "--days", "30", config=config)
    assert (made.exit_code, made.stderr) == (0, "")
    key = made.stdout.rstrip("\n")
    found = KeyRing(file).find(key, datetime.now(UTC))
    assert found is not None
    listed = run("keys", "list", "--json", config=config)
    assert [(one["id"], one["name"], one["scopes"], one["expired"]) for one in json.loads(listed.stdout)] == [
        (found.id, "ada", ["lab"], False)
    ]
    assert key not in listed.stdout
    assert run("keys", "list", config=config).stdout.startswith(f"{found.id}\tada\t")
    assert run("keys", "revoke", "ada", config=config).stdout == f"revoked {found.id} of ada\n"
    assert KeyRing(file).find(key, datetime.now(UTC)) is None


def test_a_key_that_is_asked_for_by_nobody_is_remarked_on(run: Run, tmp_path: Path) -> None:
    """The gateway would let everybody in."""
    made = run("keys", "new", "ada", config=f"[auth]\nkeys_file = {json.dumps(str(tmp_path / 'keys.json'))}\n")
    assert made.exit_code == 0
    assert "asks for no keys yet" in made.stderr


def test_wrong_words_are_one_line(run: Run, tmp_path: Path) -> None:
    """With what to do, and exit code 2."""
    config = f"[auth]\nkeys_file = {json.dumps(str(tmp_path / 'keys.json'))}\n"
    for words, line in (
        (("keys", "revoke", "nobody"), "scigate: there is no key 'nobody'; `scigate keys list` shows them\n"),
        (("keys", "new", "a b"), "scigate: 'a b' is no name for a key"),
        (("rules", "explain", "ada", "pubchem_search_compounds"), "scigate: 'ada' is no caller: they are local, "),
        (("rules", "explain", "local", "pubchem_serch"), "scigate: Unknown tool: pubchem_serch; did you mean "),
        (("audit", "verify"), "scigate: there is no audit log: audit.path (SCIGATE_AUDIT__PATH) is not set"),
        (("audit", "verify", str(tmp_path / "none")), f"scigate: {tmp_path / 'none'}: there is no audit log\n"),
    ):
        result = run(*words, config=config)
        assert result.exit_code == 2
        assert result.stderr.startswith(line)
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "code", "verdict"),
    [
        (("key:ada", "maxResults=20"), 0, "allowed: small pages"),
        (("key:ada", "maxResults=200"), 1, "denied: no rule fits, and the default stands (rules_default)"),
        (("token:bob",), 1, "denied: no rule fits, and the default stands (rules_default)"),
        (("token:bob", "--scope", "admin"), 0, "allowed: rule 2"),
    ],
)
def test_a_decision_is_explained_rule_by_rule(run: Run, words: tuple[str, ...], code: int, verdict: str) -> None:
    """The exit code is the answer; nothing is called."""
    caller, *arguments = words
    result = run("rules", "explain", caller, "pubchem_search_compounds", *arguments, config=RULES)
    assert result.exit_code == code
    assert result.stdout.splitlines()[-1] == verdict
    assert len(result.stdout.splitlines()) == 3


def test_an_explanation_can_be_read_by_a_program(run: Run) -> None:
    """JSON and nothing else."""
    words = ("rules", "explain", "key:ada", "pubchem_search_compounds", "maxResults=200", "--json")
    told = json.loads(run(*words, config=RULES).stdout)
    assert (told["allowed"], told["rule"]) == (False, "default")
    assert told["rules"][0] == {
        "rule": "small pages",
        "effect": "allow",
        "fits": False,
        "why": "maxResults is over 50",
    }


def test_a_whole_log_is_told_from_a_changed_one(run: Run, tmp_path: Path) -> None:
    """Exit code 0 or 1, with the place."""
    path = tmp_path / "audit.jsonl"
    config = f"[audit]\npath = {json.dumps(str(path))}\nchain = true\n"
    log = AuditLog(AuditSettings(path=path, chain=True), ManualClock())
    for number in range(5):
        log.write({"number": number})
    log.close()
    whole = run("audit", "verify", config=config)
    assert whole.exit_code == 0
    assert whole.stdout.splitlines() == [
        f"{path}: 5 lines, 1 to 5, in 1 files",
        f"hash of the last line: {log.status.head}",
        "whole",
    ]
    assert run("audit", "verify", "--noted", log.status.head, config=config).exit_code == 0
    path.write_text(path.read_text(encoding="utf-8").replace('"number":2', '"number":7'), encoding="utf-8")
    changed = run("audit", "verify", "--json", config=config)
    assert changed.exit_code == 1
    assert json.loads(changed.stdout)["problems"] == ["audit.jsonl:3: the line was changed, or hashed with another key"]


def test_providers_serve_beside_a_library_that_brings_its_own_entry_points(tmp_path: Path) -> None:
    """A keyring's library does so before Python 3.12, and is imported ahead of the providers."""
    (tmp_path / "lab_ring.py").write_text(
        "from keyring.backends.null import Keyring\n"
        "class Ring(Keyring):\n"
        "    def get_password(self, service, username):\n"
        "        return 's3cret-canary'\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "PYTHON_KEYRING_BACKEND": "lab_ring.Ring",
        "SCIGATE_AUDIT__KEY__KEYRING": "lab/ada",
    }
    words = [sys.executable, "-W", "error", "-m", "scigate.cli", "providers", "--json"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert {provider["state"] for provider in found} == {"serving"}
    assert all(provider["distribution"].startswith("scigate-") for provider in found)
    assert "s3cret-canary" not in done.stdout + done.stderr
