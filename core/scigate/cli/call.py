"""`scigate call`: one tool call, from the words of a command line to its answer."""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scigate.cli.arguments import parse_arguments
from scigate.cli.options import AsJson, ConfigFile, Offline, load_settings, only_given
from scigate.cli.refusal import Refusal
from scigate.cli.remote import KeyFrom, Remote
from scigate.cli.terminal import waiting, write, write_json

if TYPE_CHECKING:
    from scigate.cli.gateway import Answer, Definition, Gateway, Progress


def call(
    tool: Annotated[str, typer.Argument(help="The tool's name, as `scigate tools` lists it.", show_default=False)],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]...", help="Its arguments; a key given twice makes a list.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
    offline: Offline = False,
    url: Annotated[
        str | None, typer.Option("--url", help="Ask the gateway that runs at this URL instead of starting one here.")
    ] = None,
    key_from: KeyFrom = None,
    config: ConfigFile = None,
) -> None:
    """Call one tool.

    A value is read as JSON where the tool's schema wants more than text. What the tool asks underway is asked here, if
    this is a terminal. Exit code: 0 for a result, 1 for a failure
    that the tool reports, 2 for wrong usage.
    """
    import anyio  # for start-up time

    if url and offline:
        raise Refusal("--offline is for a gateway in this process; the one at --url was started with its own settings")
    if key_from and not url:
        raise Refusal("--key-from is for --url")
    remote = Remote(url, key_from) if url else None
    answer = anyio.run(_answer, tool, words or [], offline, remote, config)
    if as_json:
        write_json(answer.structured)
    elif answer.is_error:
        typer.echo(answer.text, err=True)
    else:
        # Not rendered as Markdown, which would take the brackets of a SMILES for a link.
        write(answer.text)
    raise typer.Exit(1 if answer.is_error else 0)


async def _answer(tool: str, words: list[str], offline: bool, remote: Remote | None, config: Path | None) -> "Answer":
    from scigate.cli.form import Terminal, can_answer
    from scigate.cli.gateway import LocalGateway, connected, opened_host  # for start-up time

    async with waiting(f"calling {tool}") as spinner:
        terminal = Terminal(spinner) if can_answer() else None
        if remote:
            async with connected(remote, terminal) as gateway:
                return await ask(gateway, tool, words, spinner.progress)
        async with opened_host(load_settings(config, **only_given(offline=offline))) as host:
            return await ask(LocalGateway(host, terminal), tool, words, spinner.progress)


async def ask(gateway: "Gateway", tool: str, words: list[str], progress: "Progress | None" = None) -> "Answer":
    """Call a tool by words of a command line.

    Raises:
        Refusal: There is no such tool, or a word is not key=value.
    """
    definitions = {str(definition["name"]): definition for definition in await gateway.definitions()}
    definition = named(tool, definitions)
    return await gateway.call(tool, parse_arguments(words, definition["inputSchema"]), progress)


def named(tool: str, definitions: "Mapping[str, Definition]") -> "Definition":
    """The definition of a tool.

    Raises:
        Refusal: There is none of this name; it names the nearest.
    """
    if tool in definitions:
        return definitions[tool]
    near = difflib.get_close_matches(tool, definitions, 3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`scigate tools` lists them"
    raise Refusal(f"there is no tool {tool!r}; {hint}")
