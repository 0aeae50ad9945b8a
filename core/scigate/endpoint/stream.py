"""The stream that a client of the handshake era opens by GET, on which it is told that a list has changed.

It belongs to no session: every client is told the same, by whichever replica it is connected to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from mcp.server.streamable_http import check_accept_headers
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import JSONRPCNotification
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from scigate.clock import Clock
from scigate.endpoint.changes import Changes

__all__ = ["NotificationStream"]

_ALIVE_S: Final = 15.0
"""Seconds between two signs of life on a stream that has nothing to say, so that no proxy ends it."""


class NotificationStream:
    """Answers GET.

    Args:
        changes: What is told.
        security: Hosts and origins that are let in.
        clock: The clock of the signs of life.
    """

    def __init__(self, changes: Changes, security: TransportSecuritySettings, clock: Clock) -> None:
        self._changes = changes
        self._security = TransportSecurityMiddleware(security)
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        answer = await self._security.validate_request(request) or self._answer(request)
        await answer(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return PlainTextResponse("Listen with subscriptions/listen", 405, {"Allow": "POST"})
        if not check_accept_headers(request)[1]:
            return PlainTextResponse("Accept text/event-stream", 406)
        if self._changes.is_full:
            return PlainTextResponse("Too many streams", 503, {"Retry-After": "60"})
        headers = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
        if request.method == "HEAD":
            return Response(headers=headers, media_type="text/event-stream")
        return StreamingResponse(self._frames(), media_type="text/event-stream", headers=headers)

    async def _frames(self) -> AsyncIterator[bytes]:
        with self._changes.notifications() as notifications:
            yield b": open\n\n"
            while True:
                try:
                    async with self._clock.timeout(_ALIVE_S):
                        notification = await anext(notifications)
                except TimeoutError:
                    yield b": alive\n\n"
                except StopAsyncIteration:
                    return
                else:
                    yield _frame(notification)


def _frame(notification: JSONRPCNotification) -> bytes:
    data = notification.model_dump_json(by_alias=True, exclude_none=True)
    return f"event: message\ndata: {data}\n\n".encode()
