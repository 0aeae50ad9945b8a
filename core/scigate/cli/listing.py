"""`scigate tools`, `providers` and `upstreams`: what this gateway has, without asking any upstream."""

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from scigate.cli.arguments import accepted, properties
from scigate.cli.call import named
from scigate.cli.options import AsJson, ConfigFile, Offline, load_settings, only_given
from scigate.cli.terminal import write, write_json, write_table

if TYPE_CHECKING:
    from pathlib import Path

    from scigate.cli.gateway import Definition
    from scigate.host import Host
    from scigate.upstream import UpstreamStatus

T = TypeVar("T")


def tools(
    name: Annotated[
        str | None, typer.Argument(metavar="[TOOL]", help="One tool, with its arguments.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List the tools of every enabled provider, or one with its arguments; with --json as a client gets them."""
    definitions = _ask(lambda host: host.catalogue.definitions, config)
    if name is not None:
        definition = named(name, {str(tool["name"]): tool for tool in definitions})
        if as_json:
            write_json(definition)
        else:
            _write_tool(definition)
    elif as_json:
        write_json(definitions)
    else:
        rows = [
            (str(tool["name"]), str(tool["title"]), _first_sentence(str(tool["description"]))) for tool in definitions
        ]
        write_table(("tool", "title", "what it does"), rows)


def _write_tool(definition: "Definition") -> None:
    write(f"{definition['name']}: {definition['description']}\n")
    schema = definition["inputSchema"]
    required = schema.get("required", [])
    rows = [
        (key, accepted(value, schema), "required" if key in required else "", str(value.get("description", "")))
        for key, value in properties(schema).items()
    ]
    write_table(("argument", "type", "", "what it is"), rows)


def providers(as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List the installed providers: which serve, which do not, and why.

    Exit code 1 when one is broken or has a tool refused.
    """
    found = _ask(lambda host: host.providers, config)
    if as_json:
        write_json([dataclasses.asdict(provider) for provider in found])
    else:
        rows = [
            (
                provider.name,
                f"{provider.distribution} {provider.version}".strip(),
                provider.state,
                ", ".join(provider.tools),
                " ".join([*([provider.reason] if provider.reason else []), *provider.refused]),
            )
            for provider in found
        ]
        write_table(("provider", "distribution", "state", "tools", "remarks"), rows)
    if any(provider.state == "quarantined" or provider.refused for provider in found):
        raise typer.Exit(1)


def upstreams(as_json: AsJson = False, offline: Offline = False, config: ConfigFile = None) -> None:
    """List the upstreams: quotas, where the budget goes, the cache and the breaker.

    Gateways that share a store (SQLite on one machine, Redis in a fleet) are counted in; a gateway that keeps its
    budget in memory is seen by nobody else.
    """
    found = _ask(lambda host: host.survey_upstreams(), config, offline=offline)
    if as_json:
        write_json([dataclasses.asdict(upstream) for upstream in found])
        return
    columns = ("upstream", "address", "quotas", "used", "waiting", "slowed by", "cache", "breaker", "store")
    write_table(columns, [_upstream_row(upstream) for upstream in found])
    for trouble in sorted({upstream.trouble for upstream in found if upstream.trouble}):
        typer.echo(f"scigate: {trouble}", err=True)


def _upstream_row(upstream: "UpstreamStatus") -> tuple[str, ...]:
    asked = upstream.cache_hits + upstream.cache_misses
    slowed = upstream.slowed_by or ""
    if upstream.paused_for_s:
        slowed += f", paused for {upstream.paused_for_s:.0f} s"
    elif upstream.spacing_s:
        slowed += f", {upstream.spacing_s:.1f} s apart"
    shared = f" ({upstream.members} gateways)" if upstream.members > 1 else ""
    return (
        upstream.name,
        "sample data" if upstream.offline else upstream.base_url,
        ", ".join(upstream.quotas),
        ", ".join(str(used) for used in upstream.used),
        str(upstream.waiting),
        slowed,
        f"{100 * upstream.cache_hits / asked:.0f} % of {asked}" if asked else "",
        upstream.breaker,
        upstream.store + shared + (", degraded" if upstream.trouble else ""),
    )


def _ask(
    question: "Callable[[Host], Sequence[T] | Awaitable[Sequence[T]]]", config: "Path | None", **options: object
) -> list[T]:
    import anyio  # for start-up time

    from scigate.cli.gateway import opened_host

    settings = load_settings(config, **only_given(**options))

    async def answer() -> list[T]:
        async with opened_host(settings) as host:
            found = question(host)
            return list(await found if isinstance(found, Awaitable) else found)

    return anyio.run(answer)


def _first_sentence(text: str) -> str:
    first, _, _ = text.partition("\n")
    sentence, stop, _ = first.partition(". ")
    return sentence + stop.strip()
