"""What a request passes on its way to the SDK: a place, a look at its body's depth, headers as they are meant."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, cast
from uuid import uuid4

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp_types import PARSE_ERROR
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scigate.endpoint.message import MAX_DEPTH, is_too_deep

__all__ = ["Bounded", "Introduced", "Shallow", "Trimmed", "Unambiguous", "give_place_back"]

PLACE: Final = "scigate.place"
"""Key, in an ASGI scope, of what gives the request's place back."""


_ONCE: Final = (
    b"host",
    b"origin",
    b"mcp-protocol-version",
    b"mcp-method",
    b"mcp-name",
    b"mcp-session-id",
    b"content-type",
)
"""Headers of which a request has one at most: what each decides is decided once (RFC 9110, section 5.3)."""


class Unambiguous:
    """Refuses a request that has a header twice which can be meant once only.

    A proxy on the way may have looked at the other one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            names = [name for name, _ in scope["headers"]]
            twice = next((name for name in _ONCE if names.count(name) > 1), None)
            if twice is not None:
                answer = PlainTextResponse(f"More than one header {twice.decode()}", 400)
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)


class Bounded:
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
        leave = scope[PLACE] = _Once(self._left)
        try:
            await self._app(scope, receive, send)
        finally:
            leave()

    def _left(self) -> None:
        self._under_way -= 1


class _Once:
    """Calls something when it is called first, and then no more."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call: Callable[[], None] | None = call

    def __call__(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call()


def give_place_back(request: object) -> None:
    """Let another request in: this one has become a stream that waits, and does so for as long as its client likes."""
    if isinstance(request, Request) and PLACE in request.scope:
        request.scope[PLACE]()


class Shallow:
    """Answers a body that is nested too deeply before anything recurses over it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The body limit around this hands the whole body over in one message.
        body = await receive()
        if body["type"] == "http.disconnect" or body.get("more_body", False):
            # Its sender has gone before it was whole: nobody to answer, and no fault that the log should show.
            return
        if is_too_deep(body.get("body", b"")):
            error = {"code": PARSE_ERROR, "message": f"Parse error: nested deeper than {MAX_DEPTH} levels"}
            await JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)(scope, receive, send)
            return
        await self._app(scope, _again(body, receive), send)


class Trimmed:
    """Takes the white space around header values away, which is no part of them (RFC 9110, section 5.5).

    httptools leaves what stands behind a value, and the SDK compares values with the body's.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        await self._app({**scope, "headers": headers}, receive, send)


class Introduced:
    """Gives a client that initializes a session id, without which some open no stream; it stands for nothing.

    Whatever a client sends along as its session is let pass, so any replica answers any request.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # What stands around this hands the whole body over in one message.
        body = await receive()
        initializes = body["type"] == "http.request" and _initializes(body.get("body", b""))

        async def name(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (MCP_SESSION_ID_HEADER.encode(), uuid4().hex.encode())]
            await send(message)

        await self._app(scope, _again(body, receive), name if initializes else send)


def _initializes(body: bytes) -> bool:
    if b'"initialize"' not in body:
        return False
    try:
        message: object = json.loads(body)
    except ValueError:
        return False
    return isinstance(message, dict) and cast("dict[str, Any]", message).get("method") == "initialize"


def _again(message: Message, receive: Receive) -> Receive:
    """A `receive` that gives a message that was taken already once more."""
    taken: Message | None = message

    async def receive_again() -> Message:
        nonlocal taken
        if taken is None:
            return await receive()
        first, taken = taken, None
        return first

    return receive_again
