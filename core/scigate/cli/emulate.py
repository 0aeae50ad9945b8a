"""`scigate emulate`: an upstream's emulator on a socket, for other clients, tests and the cautious."""

import difflib
from typing import Annotated

import typer

from scigate.cli.refusal import Refusal


def emulate(
    upstream: Annotated[str, typer.Argument(help="An upstream's name, as `scigate upstreams` lists it.")],
    host: Annotated[str, typer.Option("--host", help="The address to bind.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The TCP port; 0 takes a free one.")] = 0,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault",
            metavar="FAULT",
            help="A fault to show, such as `503;retry-after=2;times=3;match=fastsub`; may be given often.",
        ),
    ] = None,
) -> None:
    """Serve an upstream's emulator until interrupted; it answers from sample data and says so.

    The request header X-Emulator-Fault asks for a fault in one answer.
    """
    import socket  # for start-up time
    from pkgutil import resolve_name
    from urllib.parse import urlsplit

    from scigate.cli.declared import declared
    from scigate.emulator import Emulator, Fault, serve
    from scigate.settings.origin import env_name

    upstreams = declared().upstreams
    if upstream not in upstreams:
        near = difflib.get_close_matches(upstream, upstreams, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(upstreams) or 'none'}"
        raise Refusal(f"there is no upstream {upstream!r}; {hint}")
    factory = upstreams[upstream].emulator
    if factory is None:
        raise Refusal(f"the upstream {upstream} has no emulator")
    app = resolve_name(factory)()
    if not isinstance(app, Emulator):
        app = Emulator(app, upstream)
    try:
        app.faults.add(*(Fault.parse(text) for text in fault or []))
    except ValueError as error:
        raise Refusal(f"--fault: {error}") from error
    if port == 0:
        with socket.create_server((host, 0)) as free:
            port = free.getsockname()[1]
    variable = env_name(("upstreams", upstream, "base_url"))
    address = f"http://{host}:{port}{urlsplit(upstreams[upstream].base_url).path}"
    typer.echo(f"scigate: a gateway asks this emulator with {variable}={address}", err=True)
    serve(app, host, port)
