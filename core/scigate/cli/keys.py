"""`scigate keys`: API keys for callers over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from scigate.cli.options import AsJson, ConfigFile, load_settings
from scigate.cli.refusal import Refusal
from scigate.cli.terminal import is_terminal, write, write_json, write_table

if TYPE_CHECKING:
    from pathlib import Path

    from scigate.keys import KeyRing

app = typer.Typer(help="Make, list and revoke the keys that callers show over HTTP.", no_args_is_help=True)


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Whose key it is; rules call it key:NAME.", show_default=False)],
    scopes: Annotated[
        list[str] | None, typer.Option("--scope", help="A scope for rules to ask for; repeatable.")
    ] = None,
    days: Annotated[int | None, typer.Option("--days", min=1, help="Days until it expires; without it, never.")] = None,
    config: ConfigFile = None,
) -> None:
    """Make a key and print it, this once; only its hash is kept.

    A key replaces another without an interruption when both have one name: make it, hand it out, revoke the old one.
    """
    from scigate.keys import KeysError  # for start-up time

    ring, accepted = _ring(config)
    now = datetime.now(UTC)
    try:
        key = ring.new(name, now, expires=now + timedelta(days=days) if days else None, scopes=scopes or ())
    except KeysError as error:
        raise Refusal(str(error)) from error
    write(key)
    if is_terminal():
        typer.echo("Shown this once. Its holder sends it as `Authorization: Bearer KEY`.", err=True)
    if not accepted:
        typer.echo(
            'scigate: the gateway asks for no keys yet; auth.accept = ["keys"] (SCIGATE_AUTH__ACCEPT=keys) sets it',
            err=True,
        )


@app.command("list")
def list_keys(as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List the keys: whose they are and until when they hold, not the keys themselves."""
    from scigate.keys import KeysError  # for start-up time

    try:
        keys = _ring(config)[0].all()
    except KeysError as error:
        raise Refusal(str(error)) from error
    now = datetime.now(UTC)
    if as_json:
        write_json(
            [
                {
                    "id": key.id,
                    "name": key.name,
                    "created": key.created,
                    "expires": key.expires,
                    "expired": key.is_expired(now),
                    "scopes": list(key.scopes),
                }
                for key in keys
            ]
        )
        return
    rows = [
        (
            key.id,
            key.name,
            key.created,
            f"{key.expires or 'never'}{' (over)' * key.is_expired(now)}",
            " ".join(key.scopes),
        )
        for key in keys
    ]
    write_table(("id", "name", "created", "expires", "scopes"), rows)


@app.command()
def revoke(
    which: Annotated[
        str, typer.Argument(metavar="ID|NAME", help="One key by its id, or all of a name.", show_default=False)
    ],
    config: ConfigFile = None,
) -> None:
    """Revoke keys; a running gateway refuses them from its next request on."""
    from scigate.keys import KeysError  # for start-up time

    try:
        gone = _ring(config)[0].revoke(which)
    except KeysError as error:
        raise Refusal(str(error)) from error
    for key in gone:
        write(f"revoked {key.id} of {key.name}")


def _ring(config: "Path | None") -> "tuple[KeyRing, bool]":
    """The keys of the configured file, and whether the configuration accepts keys."""
    from scigate.keys import KeyRing, default_path  # for start-up time

    auth = load_settings(config).auth
    return KeyRing(auth.keys_file or default_path()), "keys" in auth.accept
