"""`report`: what is in force and where it came from."""

from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr
from scigate.settings import Settings
from scigate.settings.report import Line, report


class LabSettings(BaseModel):
    """A provider's own keys."""

    api_key: SecretStr | None = None
    mirror: str | None = None


def test_reports_every_setting_with_its_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sections of providers are there even where nothing of them is set."""
    monkeypatch.setenv("SCIGATE_SERVER__PORT", "9000")
    lines = report(Settings.load(offline=True), {"lab": LabSettings})
    assert Line("server.port", "9000", "SCIGATE_SERVER__PORT") in lines
    assert Line("offline", "true", "--offline") in lines
    assert Line("providers.lab.enabled", "true", "default") in lines
    assert Line("providers.lab.api_key", "not set", "default") in lines


def test_never_shows_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a secret setting nor the password of an address."""
    monkeypatch.setenv("SCIGATE_PROVIDERS__LAB__API_KEY", "s3cret")
    monkeypatch.setenv("SCIGATE_PROVIDERS__LAB__MIRROR", "http://me:s3cret@lab.example")
    lines = report(Settings.load(), {"lab": LabSettings})
    assert not [line for line in lines if "s3cret" in line.value]
    assert Line("providers.lab.api_key", "set, not shown", "SCIGATE_PROVIDERS__LAB__API_KEY") in lines
    assert Line("providers.lab.mirror", "'http://***@lab.example'", "SCIGATE_PROVIDERS__LAB__MIRROR") in lines


def test_reports_each_rule_by_its_number() -> None:
    """Sections of which there may be many are shown like any other, and a key of the audit log is a secret."""
    audit = {"path": "audit.jsonl", "key": "s3cret"}
    settings = Settings.load(rules=[{"effect": "allow"}, {"tool": "lab_*", "effect": "deny"}], audit=audit)
    lines = {line.name: line.value for line in report(settings, {})}
    assert (lines["rules.0.effect"], lines["rules.1.tool"]) == ("'allow'", "'lab_*'")
    assert (lines["audit.path"], lines["audit.key"]) == ("'audit.jsonl'", "set, not shown")


def test_what_a_file_leaves_out_does_not_come_from_it(tmp_path: Path) -> None:
    """A section that is there has its lines, and the keys that it does not write their defaults."""
    path = tmp_path / "scigate.toml"
    path.write_text('[server]\nhost = "127.0.0.2"\n', encoding="utf-8")
    lines = report(Settings.load(path), {})
    assert Line("server.host", "'127.0.0.2'", f"{path}:2") in lines
    assert Line("server.port", "8765", "default") in lines


def test_secrets_in_a_list_are_not_shown() -> None:
    """As single ones are not."""
    settings = Settings.load(server={"state_keys": ["a" * 32]})
    assert Line("server.state_keys", "set, not shown", "--state-keys") in report(settings, {})
