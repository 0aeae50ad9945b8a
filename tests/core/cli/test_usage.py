"""Wrong usage is one line on standard error with a hint and exit code 2; help and version need no host."""

import subprocess
import sys
from pathlib import Path

import pytest
from scigate.cli.app import app
from typer.testing import CliRunner


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own configuration file is out of sight."""
    monkeypatch.setenv("SCIGATE_CONFIG", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", "no-such-directory")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("sevre", "No such command 'sevre'. Did you mean 'serve'?"),
        ("serve --prot 1", "No such option: --prot (Possible options: --host, --port); `scigate serve --help` says"),
        ("serve --http --port 70000", "Invalid value for '--port': "),
        ("serve --stdio --http", "--stdio and --http exclude each other; start two gateways for both"),
        ("serve --stdio --port 1", "--port is for --http"),
        ("serve --insecure", "--insecure is for --http"),
        ("call", "Missing argument"),
        ("call t --offline --url http://127.0.0.1/mcp", "--offline is for a gateway in this process"),
        ("call t --url nowhere", "no gateway answers at nowhere "),
        ("config client --client emacs", "Invalid value for '--client': 'emacs' is not one of "),
        ("tools --config no.toml", "no.toml: No such file or directory; --config or SCIGATE_CONFIG names it"),
        ("emulate nothing", "there is no upstream 'nothing'; there are: "),
    ],
)
def test_wrong_usage_is_one_line(words: str, line: str) -> None:
    """Never a traceback, and nothing on standard output."""
    result = CliRunner().invoke(app, words.split(), prog_name="scigate")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"scigate: {line}")
    assert result.stderr.count("\n") == 1


def test_wrong_settings_are_a_line_each(tmp_path: Path) -> None:
    """Each says which line of the file is wrong."""
    path = tmp_path / "c.toml"
    path.write_text("[server]\nprot = 1\nport = 'x'\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["tools", "--config", str(path)])
    assert result.exit_code == 2
    assert [line.partition(str(path))[2][:15] for line in result.stderr.splitlines()] == [
        ":3: server.port",
        ":2: server.prot",
    ]


def test_a_bare_command_shows_its_help() -> None:
    """What a person types first."""
    result = CliRunner().invoke(app, [], prog_name="scigate")
    assert "Usage: scigate" in result.stdout
    assert result.stderr == ""


def test_the_version_needs_no_library_but_typer() -> None:
    """`scigate --version` and each shell completion start in a tenth of a second that way."""
    script = (
        "import sys; sys.argv = ['scigate', '--version']\n"
        "from scigate.cli import main\n"
        "try: main()\n"
        "finally: print([name for name in ('pydantic', 'httpx', 'mcp', 'rich', 'structlog') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["scigate 0.1.0", "[]"]
