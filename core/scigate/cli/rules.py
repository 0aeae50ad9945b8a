"""`scigate rules`: which rule decides a call, and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scigate.cli.arguments import parse_arguments
from scigate.cli.options import AsJson, ConfigFile, load_settings
from scigate.cli.refusal import Refusal
from scigate.cli.terminal import write, write_json, write_table

if TYPE_CHECKING:
    from scigate.rules import Decision, Verdict

app = typer.Typer(help="Ask the rules who may call what.", no_args_is_help=True)


@app.callback()
def rules() -> None:
    """Ask the rules who may call what."""


@app.command()
def explain(
    caller: Annotated[str, typer.Argument(help="local, key:NAME or token:SUBJECT.", show_default=False)],
    tool: Annotated[str, typer.Argument(help="The tool's or the resource's name.", show_default=False)],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="The call's arguments.", show_default=False)
    ] = None,
    scopes: Annotated[
        list[str] | None, typer.Option("--scope", help="A scope of the caller's key or token; repeatable.")
    ] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Say which rule decides a call, and how each other one stands to it. Nothing is called.

    Arguments that the tool would refuse are judged as they are given. Exit code: 0 where the call is allowed, 1 where
    it is denied, 2 for wrong usage.
    """
    import anyio  # for start-up time

    decision, verdicts = anyio.run(_explained, caller, tool, words or [], frozenset(scopes or ()), config)
    verdict = "allowed" if decision.allowed else "denied"
    if as_json:
        told = [{"rule": one.rule, "effect": one.effect, "fits": one.fits, "why": one.why} for one in verdicts]
        write_json({"allowed": decision.allowed, "rule": decision.rule, "message": decision.message, "rules": told})
    else:
        write_table(
            ("rule", "effect", "fits", "why"),
            [(one.rule, one.effect, "yes" if one.fits else "no", one.why) for one in verdicts],
        )
        by = "no rule fits, and the default stands (rules_default)" if decision.rule == "default" else decision.rule
        write(f"{verdict}: {by}{f': {decision.message}' if decision.message else ''}")
    raise typer.Exit(0 if decision.allowed else 1)


async def _explained(
    caller: str, tool: str, words: list[str], scopes: frozenset[str], config: Path | None
) -> "tuple[Decision, list[Verdict]]":
    from scigate.call import Caller  # for start-up time
    from scigate.catalogue import UnknownTool
    from scigate.cli.gateway import opened_host
    from scigate.schema import input_schema

    kind, _, name = caller.partition(":")
    if caller != "local" and (kind not in ("key", "token") or not name):
        raise Refusal(f"{caller!r} is no caller: they are local, key:NAME and token:SUBJECT")
    async with opened_host(load_settings(config)) as host:
        try:
            model = host.catalogue.operation(tool).input_model
        except UnknownTool as error:
            raise Refusal(f"{error}; `scigate tools` lists them") from error
        arguments: dict[str, Any] = parse_arguments(words, input_schema(model))
        return host.explain(Caller(caller, "local", scopes), tool, arguments)
