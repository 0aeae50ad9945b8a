"""One connection of the HTTP server, held to limits that uvicorn does not have: for clients that send or read slowly.

A client that sends its request byte by byte, or never reads its answer, holds a place for nothing; a few hundred of
them would take all (slow-loris attacks). uvicorn bounds only the time between two requests.
"""

from __future__ import annotations

import asyncio
from asyncio.events import TimerHandle
from typing import Any, Final, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from scigate.settings import ServerSettings

__all__ = ["guarded"]

_ANSWERS: Final = {
    408: b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
    431: b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
    503: b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
}


def guarded(settings: ServerSettings) -> type[asyncio.Protocol]:
    """The connection class for a server of these settings, as uvicorn's `http` takes it."""

    class Guarded(_Guarded):
        limits = settings

    return Guarded


class _Guarded(HttpToolsProtocol):
    limits: ServerSettings

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        # Two clocks: a client that reads its answer slowly must not thereby gain time for its next request.
        self._receiving: TimerHandle | None = None
        self._sending: TimerHandle | None = None
        self._head_bytes: int | None = 0
        """Bytes of the request line and the headers so far; None outside of them."""
        self._began = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._refuse(503)
            return
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._receiving = _stopped(self._receiving)
        self._sending = _stopped(self._sending)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._began = False
        super().data_received(data)
        if self._head_bytes is None:
            return
        # Where a further request begins within what came, most of that may be the body before it.
        self._head_bytes += 1 if self._began else len(data)
        if self._head_bytes > self.limits.max_header_bytes and not self.transport.is_closing():
            self._refuse(431)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._head_bytes is None:
            self._head_bytes = 0
            self._began = True
            self._expect_request()

    def on_headers_complete(self) -> None:
        if self.transport.is_closing():
            return
        self._head_bytes = None
        # Counted again without the body, of which a part can have come with them.
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self.limits.max_header_bytes:
            self._refuse(431)
            return
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._receiving = _stopped(self._receiving)
        if not self.transport.is_closing():
            super().on_message_complete()

    def pause_writing(self) -> None:
        self._sending = self.loop.call_later(self.limits.receive_timeout_s, self._drop)
        super().pause_writing()

    def resume_writing(self) -> None:
        self._sending = _stopped(self._sending)
        super().resume_writing()

    def _expect_request(self) -> None:
        _stopped(self._receiving)
        self._receiving = self.loop.call_later(self.limits.receive_timeout_s, self._give_up)

    def _give_up(self) -> None:
        cycle = cast("RequestResponseCycle | None", self.cycle)
        if self._head_bytes is None:
            # The application may wait for the rest of the body; it learns that the client has gone.
            self._drop()
        elif cycle is not None and not cycle.response_complete:
            # The answer is the server's to give; what dawdles is a further request behind it.
            self._expect_request()
        elif self._head_bytes:
            self._refuse(408)
        else:
            self.transport.close()

    def _drop(self) -> None:
        self.transport.abort()

    def _refuse(self, status: int) -> None:
        self.transport.write(_ANSWERS[status])
        self.transport.close()


def _stopped(timer: TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
