"""The host over Streamable HTTP: one path, no session, so that any replica answers any request."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
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
from mcp_types import PARSE_ERROR
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scigate.endpoint.auth import Doorkeeper, metadata_routes
from scigate.endpoint.guard import guarded
from scigate.endpoint.message import MAX_DEPTH, is_too_deep
from scigate.endpoint.server import build_server
from scigate.endpoint.signals import at_stop_signal
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


def create_app(host: Host, settings: ServerSettings | None = None) -> Starlette:
    """Make the ASGI application: the endpoint at `settings.path`; `/healthz` and `/readyz` for whoever watches it.

    Callers show what `auth` in the host's settings accepts; where that is nothing, everybody is let in.

    Hosts and origins other than loopback, the bound address and those in the settings are refused, whatever address is
    bound: a web page must not reach the gateway through its reader's browser (DNS rebinding).
    """
    settings = settings or ServerSettings()
    auth = host.settings.auth
    manager = StreamableHTTPSessionManager(
        build_server(host),
        stateless=True,
        security_settings=_security(settings, auth),
        max_request_body_size=settings.max_body_bytes,
    )
    shallow = _Shallow(_Trimmed(manager.handle_request))
    endpoint: ASGIApp = RequestBodyLimitMiddleware(shallow, settings.max_body_bytes)
    if auth.accept:
        # Before the body is read: nobody unknown has it held in memory.
        endpoint = Doorkeeper(endpoint, auth, host.clock)
    endpoint = _Bounded(endpoint, settings.concurrency)

    def lifespan(app: Starlette) -> AbstractAsyncContextManager[None]:
        return manager.run()

    async def alive(request: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def ready(request: Request) -> Response:
        if any(provider.state == "serving" for provider in host.providers):
            return PlainTextResponse("ready\n")
        return PlainTextResponse("no provider serves\n", 503)

    routes = [
        # GET would open a stream on which a server without sessions never sends anything; DELETE has no session to end.
        Route(settings.path, endpoint, methods=["POST"]),
        Route("/healthz", alive, methods=["GET"]),
        Route("/readyz", ready, methods=["GET"]),
        *metadata_routes(auth),
    ]
    if host.telemetry is not None and host.telemetry.page is not None:
        figures: ASGIApp = _Figures(host.telemetry.metrics, host.telemetry.page, _security(settings, auth))
        if auth.accept:
            figures = Doorkeeper(figures, auth, host.clock)
        routes.append(Route("/metrics", figures, methods=["GET"]))
    return Starlette(routes=routes, lifespan=lifespan)


async def serve_http(host: Host, settings: ServerSettings) -> None:
    """Serve until SIGTERM or SIGINT; then finish the requests under way, for ten seconds at most.

    Run it on uvloop where there is one: `anyio.run(..., backend_options={"use_uvloop": True})`.

    Raises:
        ExposureError: The address is not a loopback address, nobody is asked who calls, and `settings.insecure` is not
            set.
        OSError: The address cannot be bound.
    """
    if not host.settings.auth.accept and not settings.insecure and not is_loopback(settings.host):
        raise ExposureError(
            f"server.host is {settings.host}: other machines could call, and nobody asks who they are. "
            'Set auth.accept = ["keys"] (SCIGATE_AUTH__ACCEPT=keys) and make keys with `scigate keys new`, or bind '
            "127.0.0.1, or set server.insecure = true (SCIGATE_SERVER__INSECURE) behind a proxy that asks."
        )
    listener = _listen(settings.host, settings.port)
    server = _Server(host, settings, listener)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(at_stop_signal, server.stop)
        await server.serve()
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def running(host: Host, port: int = 0, settings: ServerSettings | None = None) -> AsyncGenerator[str]:
    """Serve on a loopback port (0: a free one) for as long as the block runs, and give the endpoint's URL."""
    settings = (settings or ServerSettings()).model_copy(update={"host": "127.0.0.1", "port": port})
    listener = _listen(settings.host, settings.port)
    server = _Server(host, settings, listener)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve)
        await server.ready.wait()
        try:
            yield server.url
        finally:
            server.stop()
            with anyio.CancelScope(shield=True):
                await server.stopped.wait()


class _Bounded:
    """Answers 503 at once while as many requests as allowed are under way.

    uvicorn's own limit counts idle keep-alive connections too, and so turns away clients of an idle server.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._under_way >= self._limit:
            busy = PlainTextResponse("Too many requests under way", 503, {"Retry-After": "1"})
            await busy(scope, receive, send)
            return
        self._under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1


class _Shallow:
    """Answers a body that is nested too deeply before anything recurses over it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The body limit around this hands the whole body over in one message.
        body: Message | None = await receive()
        if body["type"] == "http.disconnect" or body.get("more_body", False):
            # Its sender has gone before it was whole: nobody to answer, and no fault that the log should show.
            return
        if is_too_deep(body.get("body", b"")):
            error = {"code": PARSE_ERROR, "message": f"Parse error: nested deeper than {MAX_DEPTH} levels"}
            await JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)(scope, receive, send)
            return

        async def replay() -> Message:
            nonlocal body
            if body is None:
                return await receive()
            message, body = body, None
            return message

        await self._app(scope, replay, send)


class _Trimmed:
    """Takes the white space around header values away, which is no part of them (RFC 9110, section 5.5).

    httptools leaves what stands behind a value, and the SDK compares values with the body's.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        await self._app({**scope, "headers": headers}, receive, send)


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

    def __init__(self, host: Host, settings: ServerSettings, listener: socket.socket) -> None:
        self.ready = anyio.Event()
        self.stopped = anyio.Event()
        self._listener = listener
        address, port = listener.getsockname()[:2]
        settings = settings.model_copy(update={"port": port})
        self.url = f"http://{_bracketed(address)}:{port}{settings.path}"
        config = uvicorn.Config(
            create_app(host, settings),
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
        _log.info("serving", url=self.url)
        self.ready.set()

    def stop(self) -> None:
        """Finish what is under way and end; a second time, end without waiting."""
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
