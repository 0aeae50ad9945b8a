"""`scigate config client`: the JSON that each client's configuration wants."""

import json

import pytest
from scigate.cli.app import app
from scigate.cli.client import ClientName, client_config
from typer.testing import CliRunner

URL = "http://127.0.0.1:8765/mcp"


@pytest.mark.parametrize(
    ("client", "entry"),
    [
        (ClientName.CLAUDE_DESKTOP, {"mcpServers": {"scigate": {"command": "npx", "args": ["-y", "mcp-remote", URL]}}}),
        (ClientName.CURSOR, {"mcpServers": {"scigate": {"url": URL}}}),
        (ClientName.VSCODE, {"servers": {"scigate": {"type": "http", "url": URL}}}),
        (ClientName.CLAUDE_CODE, {"mcpServers": {"scigate": {"type": "http", "url": URL}}}),
        (ClientName.WINDSURF, {"mcpServers": {"scigate": {"serverUrl": URL}}}),
        (ClientName.GEMINI_CLI, {"mcpServers": {"scigate": {"httpUrl": URL}}}),
    ],
)
def test_a_running_gateway_is_named_by_its_url(client: ClientName, entry: dict[str, object]) -> None:
    """Claude Desktop's file takes commands alone, so a bridge stands between."""
    assert client_config(client, URL) == entry


def test_vs_code_names_its_servers_otherwise() -> None:
    """Its key is `servers`, and each entry has a type."""
    entry = client_config(ClientName.VSCODE)["servers"]["scigate"]
    assert entry["type"] == "stdio"
    assert entry["args"][-2:] == ["serve", "--stdio"]


def test_standard_output_is_json_alone() -> None:
    """Where to paste it goes to standard error."""
    result = CliRunner().invoke(app, ["config", "client", "--client", "cursor", "--offline"])
    assert json.loads(result.stdout)["mcpServers"]["scigate"]["args"][-3:] == ["serve", "--stdio", "--offline"]
    assert result.stderr.startswith("Cursor: ~/.cursor/mcp.json")


def test_the_url_is_that_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--http` follows the configured host, port and path."""
    monkeypatch.setenv("SCIGATE_SERVER__PORT", "9000")
    result = CliRunner().invoke(app, ["config", "client", "--client", "cursor", "--http"])
    assert json.loads(result.stdout) == {"mcpServers": {"scigate": {"url": "http://127.0.0.1:9000/mcp"}}}
