"""The host over Streamable HTTP: one path, no session, so that any replica answers any request."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Final
from urllib.parse import urlsplit

import anyio
import structlog
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import (
    RequestBodyLimitMiddleware,
    TransportSecurityMiddleware,
    TransportSecuritySettings,
)
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from scigate.endpoint.auth import Doorkeeper, metadata_routes
from scigate.endpoint.changes import Changes
from scigate.endpoint.guard import guarded
from scigate.endpoint.passage import Bounded, Introduced, Shallow, Trimmed, Unambiguous
from scigate.endpoint.server import build_server
from scigate.endpoint.sign_ins import SignIns
from scigate.endpoint.signals import at_stop_signal
from scigate.endpoint.stream import NotificationStream
from scigate.gateway import Gateway
from scigate.host import Host
from scigate.metrics import PROMETHEUS_TYPE, Metrics
from scigate.settings import AuthSettings, ServerSettings
from scigate.settings.access import is_loopback

__all__ = ["ExposureError", "create_app", "running", "serve_http"]

_log: Final = structlog.get_logger("scigate.endpoint")

_GRACE_S: Final = 10
"""Seconds that requests under way have to finish once the server is told to stop."""

_KEEP_ALIVE_S: Final = 75
"""Seconds that an idle connection stays open: longer than a proxy's usual minute, so that the proxy closes first."""


class ExposureError(Exception):
    """The address to bind is reachable from other machines, and nobody asks who calls."""


def create_app(gateway: Gateway, settings: ServerSettings | None = None) -> Starlette:
    """Make the ASGI application: the endpoint at `settings.path`; `/healthz` and `/readyz` for whoever watches it.

    Callers show what `auth` in the host's settings accepts; where that is nothing, everybody is let in.

    Hosts and origins other than loopback, the bound address and those in the settings are refused, whatever address is
    bound: a web page must not reach the gateway through its reader's browser (DNS rebinding).

    `state.changes` of the application ends the streams that clients listen on.
    """
    settings = settings or ServerSettings()
    auth, clock = gateway.host.settings.auth, gateway.host.clock
    changes = Changes(gateway)
    manager = StreamableHTTPSessionManager(
        build_server(gateway, changes),
        stateless=True,
        security_settings=_security(settings, auth),
        max_request_body_size=settings.max_body_bytes,
    )
    listening = NotificationStream(changes, _security(settings, auth), clock)
    sdk = Introduced(manager.handle_request) if gateway.is_live else manager.handle_request
    posted = RequestBodyLimitMiddleware(Shallow(Trimmed(sdk)), settings.max_body_bytes)

    sign_ins = SignIns(gateway.host.record, clock)

    def asked(app: ASGIApp) -> ASGIApp:
        return Doorkeeper(app, auth, clock, sign_ins) if auth.accept else app

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with sign_ins.counting(), manager.run():
            yield

    async def alive(request: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def ready(request: Request) -> Response:
        if any(provider.state == "serving" for provider in gateway.host.providers):
            return PlainTextResponse("ready\n")
        return PlainTextResponse("no provider serves\n", 503)

    routes = [
        # Asked before the body is read: nobody unknown has it held in memory. DELETE has no session to end.
        Route(settings.path, Bounded(asked(posted), settings.concurrency), methods=["POST"]),
        *([Route(settings.path, asked(listening), methods=["GET"])] if gateway.is_live else []),
        Route("/healthz", alive, methods=["GET"]),
        Route("/readyz", ready, methods=["GET"]),
        *metadata_routes(auth),
    ]
    telemetry = gateway.host.telemetry
    if telemetry is not None and telemetry.page is not None:
        figures = _Figures(telemetry.metrics, telemetry.page, _security(settings, auth))
        routes.append(Route("/metrics", asked(figures), methods=["GET"]))
    app = Starlette(routes=routes, middleware=[Middleware(Unambiguous)], lifespan=lifespan)
    app.state.changes = changes
    return app


async def serve_http(gateway: Gateway, settings: ServerSettings) -> None:
    """Serve until SIGTERM or SIGINT; then finish the requests under way, for ten seconds at most.

    Run it on uvloop where there is one: `anyio.run(..., backend_options={"use_uvloop": True})`.

    Raises:
        ExposureError: The address is not a loopback address, nobody is asked who calls, and `settings.insecure` is not
            set.
        OSError: The address cannot be bound.
    """
    if not gateway.host.settings.auth.accept and not settings.insecure and not is_loopback(settings.host):
        raise ExposureError(
            f"server.host is {settings.host}: other machines could call, and nobody asks who they are. "
            'Set auth.accept = ["keys"] (SCIGATE_AUTH__ACCEPT=keys) and make keys with `scigate keys new`, or bind '
            "127.0.0.1, or set server.insecure = true (SCIGATE_SERVER__INSECURE) behind a proxy that asks."
        )
    listener = _listen(settings.host, settings.port)
    server = _Server(gateway, settings, listener)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(at_stop_signal, server.stop)
        await server.serve()
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def running(served: Host | Gateway, port: int = 0, settings: ServerSettings | None = None) -> AsyncGenerator[str]:
    """Serve on a loopback port (0: a free one) for as long as the block runs, and give the endpoint's URL."""
    settings = (settings or ServerSettings()).model_copy(update={"host": "127.0.0.1", "port": port})
    listener = _listen(settings.host, settings.port)
    server = _Server(served if isinstance(served, Gateway) else Gateway(served), settings, listener)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve)
        await server.ready.wait()
        try:
            yield server.url
        finally:
            server.stop()
            with anyio.CancelScope(shield=True):
                await server.stopped.wait()


class _Figures:
    """Answers with what is measured, behind the endpoint's own checks: it tells who calls how much."""

    def __init__(self, metrics: Metrics, page: Callable[[], bytes], security: TransportSecuritySettings) -> None:
        self._metrics = metrics
        self._page = page
        self._security = TransportSecurityMiddleware(security)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._security.validate_request(Request(scope))
        if answer is None:
            self._metrics.look()
            answer = Response(self._page(), media_type=PROMETHEUS_TYPE)
        await answer(scope, receive, send)


class _Server(uvicorn.Server):
    """uvicorn on a socket that is bound already, which says when it serves and leaves signals to its owner."""

    def __init__(self, gateway: Gateway, settings: ServerSettings, listener: socket.socket) -> None:
        self.ready = anyio.Event()
        self.stopped = anyio.Event()
        self._listener = listener
        address, port = listener.getsockname()[:2]
        settings = settings.model_copy(update={"port": port})
        self.url = f"http://{_bracketed(address)}:{port}{settings.path}"
        self._path = gateway.host.settings.origins.path
        app = create_app(gateway, settings)
        self._changes: Changes = app.state.changes
        config = uvicorn.Config(
            app,
            http=guarded(settings),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_GRACE_S,
        )
        super().__init__(config)

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            with self._listener:
                await super().serve([self._listener])
        finally:
            self.stopped.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        _log.info("serving", url=self.url, config=str(self._path) if self._path else "none")
        self.ready.set()

    def stop(self) -> None:
        """Finish what is under way and end; a second time, end without waiting."""
        self._changes.close()
        self.force_exit = self.should_exit
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def _security(settings: ServerSettings, auth: AuthSettings) -> TransportSecuritySettings:
    names = {"127.0.0.1", "localhost", "[::1]"}
    bound = _bracketed(settings.host)
    if bound not in ("0.0.0.0", "[::]"):  # noqa: S104  # compared with, not bound
        names.add(bound)
    hosts = sorted(f"{name}:*" for name in names)
    public = [urlsplit(auth.resource_url).netloc] if auth.resource_url else []
    return TransportSecuritySettings(
        allowed_hosts=[*hosts, *public, *settings.allowed_hosts],
        allowed_origins=[*(f"http://{name}" for name in hosts), *settings.allowed_origins],
    )


def _listen(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # asyncio turns Nagle's algorithm off only where the protocol is named; with it each answer waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(2048)
    except OSError:
        listener.close()
        raise
    return listener


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
