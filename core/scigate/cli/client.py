"""`scigate config client`: what to paste into the configuration of an MCP client."""

import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from scigate.cli.options import ConfigFile, Offline, load_settings
from scigate.cli.terminal import write_json


class ClientName(StrEnum):
    """The MCP clients whose configuration is known."""

    CLAUDE_DESKTOP = "claude-desktop"
    CURSOR = "cursor"
    VSCODE = "vscode"
    CLAUDE_CODE = "claude-code"
    WINDSURF = "windsurf"
    GEMINI_CLI = "gemini-cli"


PLACES = {
    ClientName.CLAUDE_DESKTOP: "Claude Desktop: Settings, Developer, Edit Config (claude_desktop_config.json)",
    ClientName.CURSOR: "Cursor: ~/.cursor/mcp.json, or .cursor/mcp.json of a project",
    ClientName.VSCODE: "VS Code: .vscode/mcp.json of a workspace, or the command `MCP: Open User Configuration`",
    ClientName.CLAUDE_CODE: "Claude Code: .mcp.json of a project",
    ClientName.WINDSURF: "Windsurf: ~/.codeium/windsurf/mcp_config.json",
    ClientName.GEMINI_CLI: "Gemini CLI: ~/.gemini/settings.json, or .gemini/settings.json of a project",
}
"""Where each client keeps its configuration."""


def client(
    name: Annotated[
        ClientName | None, typer.Option("--client", help="One client alone; without it, all of them.")
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="For a gateway that runs already, instead of one per client.")
    ] = False,
    offline: Offline = False,
    config: ConfigFile = None,
) -> None:
    """Print the JSON that connects an MCP client; the place to paste it goes to standard error."""
    url = None
    if http:
        server = load_settings(config).server
        url = f"http://{server.host}:{server.port}{server.path}"
    options = [*(["--offline"] if offline else []), *(["--config", str(config.resolve())] if config else [])]
    for each in [name] if name else ClientName:
        typer.echo(PLACES[each], err=True)
        write_json(client_config(each, url, options))


def client_config(client: ClientName, url: str | None = None, options: list[str] | None = None) -> dict[str, object]:
    """The configuration of one client.

    Args:
        client: Which client.
        url: The endpoint of a running gateway; None lets the client start its own over stdio.
        options: Further words of `scigate serve --stdio`.
    """
    command, *words = command_line()
    stdio: dict[str, object] = {"command": command, "args": [*words, "serve", "--stdio", *(options or [])]}
    match client:
        case ClientName.VSCODE:
            entry = {"type": "http", "url": url} if url else {"type": "stdio", **stdio}
            return {"servers": {"scigate": entry}}
        case ClientName.CLAUDE_DESKTOP if url:
            # Its file takes commands alone, and its remote connectors reach public addresses only: mcp-remote, a
            # bridge from stdio to HTTP, stands between.
            return {"mcpServers": {"scigate": {"command": "npx", "args": ["-y", "mcp-remote", url]}}}
        case ClientName.CLAUDE_CODE if url:
            return {"mcpServers": {"scigate": {"type": "http", "url": url}}}
        case ClientName.WINDSURF if url:
            return {"mcpServers": {"scigate": {"serverUrl": url}}}
        case ClientName.GEMINI_CLI if url:
            return {"mcpServers": {"scigate": {"httpUrl": url}}}
        case _:
            return {"mcpServers": {"scigate": {"url": url} if url else stdio}}


def command_line() -> list[str]:
    """How a program without this shell's PATH starts scigate: the absolute path of its script, or of Python."""
    script = shutil.which("scigate", path=str(Path(sys.executable).parent))
    return [script] if script else [sys.executable, "-m", "scigate.cli"]
