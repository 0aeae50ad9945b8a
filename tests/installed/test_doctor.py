"""`scigate doctor`: what it finds, what it says mends it, and its exit code."""

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from scigate.cli.app import app
from typer.testing import CliRunner

Run = Callable[..., tuple[int, dict[str, dict[str, str]]]]


@pytest.fixture
def doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command, offline, with a configuration; gives the exit code and the findings by subject."""
    monkeypatch.setenv("SCIGATE_CONFIG", "")
    path = tmp_path / "scigate.toml"

    def run(config: str = "") -> tuple[int, dict[str, dict[str, str]]]:
        path.write_text(config, encoding="utf-8")
        result = CliRunner().invoke(app, ["doctor", "--offline", "--json", "--config", str(path)], prog_name="scigate")
        return result.exit_code, {finding["subject"]: finding for finding in json.loads(result.stdout)}

    return run


def test_a_gateway_as_installed_is_well(doctor: Run) -> None:
    """Every provider serves, and nothing is a problem; keys that are not set are only noted."""
    code, found = doctor("[server]\nport = 0\n")
    assert code == 0, found
    assert found["provider pubchem"]["state"] == "ok"
    assert found["key pubmed.api_key"] == {
        "subject": "key pubmed.api_key",
        "state": "note",
        "what": "not set",
        "remedy": "set SCIGATE_PROVIDERS__PUBMED__API_KEY",
    }


def test_a_key_is_said_to_be_set_and_never_what_it_is(doctor: Run) -> None:
    """Its output is what people paste into reports."""
    _, found = doctor('[providers.pubmed]\napi_key = "s3cret-canary"\n')
    assert found["key pubmed.api_key"]["what"] == "set"
    assert "s3cret-canary" not in json.dumps(found)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_a_secret_that_everybody_can_read_is_noted(doctor: Run, tmp_path: Path) -> None:
    """With the command that mends it, for core's secrets and a provider's; one of its owner alone is well."""
    key = tmp_path / "the key"
    key.write_text("s3cret-canary")
    config = f'[audit]\nkey = {{ file = "the key" }}\n[providers.pubmed]\napi_key = {{ file = "{key}" }}\n'
    key.chmod(0o644)
    code, found = doctor(config)
    assert code == 0
    for name in ("audit.key", "providers.pubmed.api_key"):
        finding = found[f"file of {name}"]
        assert (finding["state"], finding["remedy"]) == ("note", f"`chmod o-rwx '{key}'`")
    assert "s3cret-canary" not in json.dumps(found)
    key.chmod(0o602)
    assert "write" in doctor(config)[1]["file of audit.key"]["what"]
    key.chmod(0o640)
    assert not [subject for subject in doctor(config)[1] if subject.startswith("file of")]


def test_a_secret_that_is_not_there_is_a_finding(doctor: Run, tmp_path: Path) -> None:
    """The line, the setting and the path, as at a start."""
    code, found = doctor('[server]\nport = 0\n[providers.pubmed]\napi_key = { file = "gone" }\n')
    assert code == 1
    problem = f"scigate.toml:4: providers.pubmed.api_key: {tmp_path / 'gone'}: No such file"
    assert problem in found["configuration"]["what"]


def test_a_wrong_configuration_is_a_finding(doctor: Run) -> None:
    """It names the key, and the rest that can be looked at is not needed."""
    code, found = doctor("deadlines = 3\n")
    assert code == 1
    assert "deadline_s" in found["configuration"]["what"]


@pytest.mark.parametrize(
    ("config", "subject", "state", "remedy"),
    [
        ('[server]\nhost = "0.0.0.0"\nport = 0\n', "auth", "problem", "scigate keys new NAME"),
        ('[server]\nhost = "0.0.0.0"\nport = 0\ninsecure = true\n', "auth", "note", "auth.accept"),
        ('[auth]\naccept = ["keys"]\nkeys_file = "/nonexistent/keys.json"\n', "auth", "problem", "scigate keys new"),
        ("[providers.pubmed]\nenabled = false\n", "provider pubmed", "note", "providers.pubmed.enabled = true"),
    ],
)
def test_what_is_found_names_its_remedy(doctor: Run, config: str, subject: str, state: str, remedy: str) -> None:
    """The setting or the command that changes it."""
    _, found = doctor(config)
    assert found[subject]["state"] == state
    assert remedy in found[subject]["remedy"]


def test_a_port_that_is_taken_is_noted(doctor: Run) -> None:
    """A gateway may run there already, so it is no problem by itself."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, found = doctor(f"[server]\nport = {taken.getsockname()[1]}\n")
    assert code == 0
    assert found["port"]["state"] == "note"
    assert "--port 0" in found["port"]["remedy"]
