"""`scigate serve`: the gateway on standard input and output, or over Streamable HTTP."""

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scigate.cli.options import ConfigFile, Offline, load_settings, only_given
from scigate.cli.refusal import Refusal
from scigate.cli.schema import LockFile, read_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scigate.settings import Settings

    Objection = Callable[[Mapping[str, Any]], str | None]


def serve(
    stdio: Annotated[bool, typer.Option("--stdio", help="Serve one client on standard input and output.")] = False,
    http: Annotated[bool, typer.Option("--http", help="Serve any number of clients over Streamable HTTP.")] = False,
    host: Annotated[str | None, typer.Option("--host", help="The address to bind.", show_default="127.0.0.1")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="The port; 0 takes a free one.", show_default="8765")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Accept callers from other machines although nobody asks who they are.")
    ] = False,
    locked: Annotated[
        bool, typer.Option("--locked", help="Serve only tools whose definitions are those of the lock.")
    ] = False,
    lock: LockFile = None,
    offline: Offline = False,
    config: ConfigFile = None,
) -> None:
    """Run the gateway: --stdio for a client that starts it, --http for clients that connect.

    Without either it is --stdio. Logs go to standard error.
    """
    import anyio  # for start-up time

    if stdio and http:
        raise Refusal("--stdio and --http exclude each other; start two gateways for both")
    if lock and not locked:
        raise Refusal("--lock is for --locked")
    objection = read_lock(lock).objection if locked else None
    server = only_given(host=host, port=port, insecure=insecure)
    if server and not http:
        raise Refusal(f"--{next(iter(server))} is for --http")
    options = only_given(offline=offline) | ({"server": server} if server else {})
    settings = load_settings(config, **options)
    if settings.origins.path is None and Path("scigate.toml").is_file():
        typer.echo("scigate: ./scigate.toml is not read; --config scigate.toml has it read", err=True)
    if not http and sys.stdin.isatty():
        typer.echo("scigate: waiting for a client on standard input; `scigate serve --http` serves a URL", err=True)
    anyio.run(
        _serve_http if http else _serve_stdio,
        settings,
        options,
        objection,
        backend_options={"use_uvloop": sys.platform != "win32"},
    )


async def _serve_stdio(settings: "Settings", options: dict[str, object], objection: "Objection | None") -> None:
    from scigate.endpoint.stdio import claimed, serve_stdio  # for start-up time

    # Claimed before any provider is imported: what a provider prints must not reach the protocol.
    with claimed() as wire:
        from scigate.cli.gateway import serving

        async with serving(settings, options, objection=objection) as gateway:
            await serve_stdio(gateway, wire)


async def _serve_http(settings: "Settings", options: dict[str, object], objection: "Objection | None") -> None:
    from scigate.cli.gateway import serving  # for start-up time
    from scigate.endpoint.http import ExposureError, serve_http

    address = f"{settings.server.host}:{settings.server.port}"
    try:
        async with serving(settings, options, auto_store="memory", objection=objection) as gateway:
            # The collector need not walk again and again over what the start has built. What of it a reload replaces,
            # and stands in cycles, is kept to the end; that happens once.
            gc.collect()
            gc.freeze()
            await serve_http(gateway, settings.server)
    except ExposureError as error:
        raise Refusal(f"{error} (--insecure sets it once)") from error
    except OSError as error:
        raise Refusal(f"cannot serve on {address}: {error.strerror or error}; --port 0 takes a free port") from error
