"""Tool definitions for the commands that judge them: of this gateway, or of any MCP server."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from scigate.cli.options import load_settings
from scigate.cli.refusal import Refusal
from scigate.cli.remote import Remote

Url = Annotated[str | None, typer.Option("--url", help="Ask the MCP server at this URL instead of this gateway.")]
StdioCommand = Annotated[
    str | None, typer.Option("--stdio", metavar="COMMAND", help="Start this MCP server and ask it, instead.")
]


@dataclass(frozen=True)
class Listed:
    """What a server lists.

    Attributes:
        definitions: Its tools as on the wire, in its order.
        owners: For this gateway the provider of each tool; empty for another server, which does not say.
    """

    definitions: list[Mapping[str, Any]]
    owners: Mapping[str, str] = field(default_factory=dict[str, str])


def listed(url: str | None, command: str | None, config: Path | None, key_from: str | None = None) -> Listed:
    """The tools of the server at `url`, or of the one that `command` starts, or of this gateway.

    Raises:
        Refusal: Both are given, or the server does not answer, or wants another key than that from `key_from`.
    """
    import anyio  # for start-up time

    if url and command:
        raise Refusal("--url and --stdio are two servers; name one")
    if key_from and not url:
        raise Refusal("--key-from is for --url")
    return anyio.run(_listed, Remote(url, key_from) if url else None, command, config)


async def _listed(remote: Remote | None, command: str | None, config: Path | None) -> Listed:
    from scigate.cli.gateway import connected, opened_host  # for start-up time

    if remote is not None:
        async with connected(remote) as gateway:
            return Listed(await gateway.definitions())
    if command is not None:
        from mcp import StdioServerParameters

        program, *arguments = shlex.split(command) or [""]
        # What a shell would give it: the SDK's own choice leaves out the keys that a server may need to start.
        server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
        async with connected(server) as gateway:
            return Listed(await gateway.definitions())
    async with opened_host(load_settings(config)) as host:
        owners = {tool: status.name for status in host.providers for tool in status.tools}
        return Listed(list(host.catalogue.definitions), owners)
