"""docs/operate-access.md: its configurations load, its commands run, and its table of settings is right."""

import logging
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from scigate.cli.app import app
from scigate.host import Host
from scigate.settings import Settings
from typer.testing import CliRunner

PAGE = (Path(__file__).parents[2] / "docs" / "operate-access.md").read_text(encoding="utf-8")
CONFIGS = re.findall(r"```toml\n# scigate.toml\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.fixture(autouse=True)
def log_as_before() -> Iterator[None]:
    """The commands set the process's log up, to a standard error that is gone after them."""
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    structlog.reset_defaults()
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest.mark.parametrize("config", CONFIGS, ids=["keys", "sign-in", "rules", "limits"])
async def test_a_configuration_of_the_page_starts_the_gateway(
    config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the installed providers: a rule about an argument that no tool has would stop it."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "scigate.toml"
    path.write_text(config, encoding="utf-8")
    async with Host.open(Settings.load(path, offline=True)) as host:
        assert any(provider.state == "serving" for provider in host.providers)


def test_the_commands_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order, on the page's configurations together; the server itself is started by other tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SCIGATE_CONFIG", str(tmp_path / "scigate.toml"))
    (tmp_path / "scigate.toml").write_text(CONFIGS[2] + CONFIGS[0], encoding="utf-8")
    (tmp_path / "audit.jsonl").write_text("", encoding="utf-8")
    assert len(COMMANDS) == 5
    for command in COMMANDS:
        name, *words = shlex.split(command)
        assert name == "scigate"
        if words[0] != "serve":
            result = CliRunner().invoke(app, words, prog_name="scigate")
            assert (result.exit_code, result.stderr) == (0, "")


def test_the_settings_that_the_page_names_exist() -> None:
    """Dotted, as the configuration and `scigate config show` have them."""
    for section, name in re.findall(r"`(server|auth|audit)\.(\w+)`", PAGE):
        assert name in type(getattr(Settings(), section)).model_fields
