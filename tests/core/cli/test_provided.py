"""Commands that providers add to the command line."""

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
import typer
from scigate import hookimpl
from scigate.cli.app import app
from typer.testing import CliRunner


class Provider:
    """Registers a group of commands."""

    def __init__(self, *names: str) -> None:
        self._names = names

    @hookimpl
    def register_commands(self) -> list[typer.Typer]:
        """One group a name, with the command `hello`."""
        return [self._group(name) for name in self._names]

    def _group(self, name: str) -> typer.Typer:
        group = typer.Typer(name=name, help=f"The group {name}.", no_args_is_help=True)

        @group.command()
        def hello() -> None:
            """Greet."""
            typer.echo(f"hello from {name}")

        @group.command()
        def bye() -> None:
            """Leave."""

        return group


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The entry points that are found, by name; what stands here is what they load, or raise."""
    points: dict[str, object] = {}

    class Point(EntryPoint):
        def load(self) -> object:
            plugin = points[self.name]
            if isinstance(plugin, BaseException):
                raise plugin
            return plugin

    monkeypatch.setattr("scigate.providers.installed", lambda: {name: Point(name, "lab", "scigate") for name in points})
    return points


def test_a_providers_command_runs(installed: dict[str, object]) -> None:
    """By the name of its group."""
    installed["lab"] = Provider("samples")
    result = CliRunner().invoke(app, ["samples", "hello"])
    assert (result.exit_code, result.stdout) == (0, "hello from samples\n")


def test_cores_own_commands_come_first(installed: dict[str, object]) -> None:
    """A provider can't take their place."""
    installed["lab"] = Provider("config")
    assert "hello" not in CliRunner().invoke(app, ["config", "--help"]).stdout


def test_the_help_names_them(installed: dict[str, object]) -> None:
    """With their sentence, after core's."""
    installed["lab"] = Provider("samples")
    text = CliRunner().invoke(app, ["--help"]).stdout
    assert text.index("serve") < text.index("samples")
    assert "The group samples." in text


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (ImportError("no module"), "ImportError: no module"),
        (SystemExit(3), "its import asked the process to end (SystemExit: 3)"),
    ],
)
@pytest.mark.parametrize("words", [["samples", "hello"], ["config", "example"]])
def test_a_broken_provider_is_named_and_hides_nothing(
    installed: dict[str, object], words: list[str], raised: BaseException, told: str
) -> None:
    """Its commands and settings are missing; the others are there."""
    installed["broken"] = raised
    installed["lab"] = Provider("samples")
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0
    assert "hello from samples" in result.stdout or "#[providers.lab]" in result.stdout
    assert f"scigate: provider broken is broken: {told}" in result.stderr


def test_no_provider_is_imported_for_cores_own_commands() -> None:
    """`scigate --version` waits for none."""
    code = (
        "import sys\n"
        "from scigate.cli.app import app\n"
        "try:\n"
        "    app(['--version'])\n"
        "except SystemExit:\n"
        "    pass\n"
        "raise SystemExit(any(name.startswith('scigate_') or name == 'scigate.providers' for name in sys.modules))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
