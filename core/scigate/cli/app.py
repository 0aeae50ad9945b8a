"""The commands put together."""

from typing import Annotated

import typer

from scigate.cli import (
    audit,
    call,
    client,
    config,
    conformance,
    demo,
    doctor,
    emulate,
    keys,
    lint,
    listing,
    new,
    rules,
    schema,
    serve,
)
from scigate.cli.provided import CommandsOfProviders

app = typer.Typer(
    cls=CommandsOfProviders,
    help="One MCP endpoint for scientific data providers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # for start-up time

        typer.echo(f"scigate {version('scigate')}")
        raise typer.Exit


@app.callback()
def scigate(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say the version and exit.")
    ] = False,
) -> None:
    """One MCP endpoint for scientific data providers."""


app.command()(serve.serve)
app.command()(demo.demo)
app.command()(call.call)
app.command()(listing.tools)
app.command()(listing.providers)
app.command()(listing.upstreams)
app.command()(doctor.doctor)
app.command()(emulate.emulate)
app.command()(lint.lint)
app.command()(conformance.conformance)
app.command()(new.new)
config.app.command("client")(client.client)
app.add_typer(config.app, name="config")
app.add_typer(keys.app, name="keys")
app.add_typer(rules.app, name="rules")
app.add_typer(audit.app, name="audit")
app.add_typer(schema.app, name="schema")
