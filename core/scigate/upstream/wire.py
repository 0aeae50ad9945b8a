"""The innermost transport: one exchange with the upstream over a socket, or with its emulator in this process.

What it hands up is read to its end, so that a body cut short is an error here, where it can be retried.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from importlib import import_module
from typing import Any

import httpx

from scigate.clock import Clock
from scigate.upstream.errors import ForeignUrl, ResponseTooLarge
from scigate.upstream.quota import GOING, SENT

CONNECT_TIMEOUT_S = 10.0
KEEPALIVE_EXPIRY_S = 30.0

# The body is decoded and complete when it leaves here; a cookie would tie later requests to one caller.
_DROPPED = frozenset({b"content-encoding", b"content-length", b"transfer-encoding", b"set-cookie"})

Sign = Callable[[httpx.Request], None]


class WireTransport(httpx.AsyncBaseTransport):
    """Signs, sends and reads one attempt within `timeout_s`.

    Raises:
        httpx.ConnectTimeout, httpx.ReadTimeout: `timeout_s` passed before, or after, the request was sent.
        httpx.RemoteProtocolError: among others, the body is shorter than was announced.
        ResponseTooLarge: the decoded body exceeds `max_response_bytes`.
        ForeignUrl: the request is for another host than `base_url`.
    """

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        *,
        upstream: str,
        base_url: httpx.URL,
        timeout_s: float,
        max_response_bytes: int,
        sign: Sign | None,
        clock: Clock,
    ) -> None:
        self._inner = inner
        self._upstream = upstream
        self._origin = _origin(base_url)
        self._timeout_s = timeout_s
        self._max_response_bytes = max_response_bytes
        self._sign = sign
        self._clock = clock

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if _origin(request.url) != self._origin:
            raise ForeignUrl(f"{request.url.host} is not the host of {self._upstream}", upstream=self._upstream)
        departure = _Departure(request.extensions.get(GOING), request.extensions.get(SENT))
        outgoing = self._outgoing(request, departure)
        since = self._clock.monotonic()
        try:
            async with self._clock.timeout(self._timeout_s):
                response = await self._inner.handle_async_request(outgoing)
                departure.sent()
                response = await self._read(request, response)
        except TimeoutError:
            late = httpx.ReadTimeout if departure.begun else httpx.ConnectTimeout
            raise late(f"{self._upstream} did not answer within {self._timeout_s:g} s") from None
        finally:
            departure.ended()
        response.elapsed = timedelta(seconds=self._clock.monotonic() - since)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _outgoing(self, request: httpx.Request, departure: "_Departure") -> httpx.Request:
        """A copy, so that what `sign` adds is in no error, log, span or cache key."""
        outgoing = httpx.Request(
            request.method,
            request.url,
            headers=request.headers,
            stream=request.stream,
            extensions={
                **request.extensions,
                GOING: departure.going,
                SENT: departure.sent,
                "trace": departure.trace,
                "timeout": _TIMEOUT,
            },
        )
        if self._sign is not None:
            self._sign(outgoing)
        return outgoing

    async def _read(self, request: httpx.Request, response: httpx.Response) -> httpx.Response:
        """The response with its whole body, decoded."""
        limit = self._max_response_bytes
        chunks: list[bytes] = []
        size = 0
        streamed = not response.is_closed
        try:
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > limit:
                    raise ResponseTooLarge(
                        f"{self._upstream} answered with more than {limit} bytes", upstream=self._upstream, limit=limit
                    )
                chunks.append(chunk)
        finally:
            await response.aclose()
        announced = response.headers.get("content-length", "")
        complete = (
            request.method == "HEAD" or not announced.isdigit() or response.num_bytes_downloaded >= int(announced)
        )
        if streamed and not complete:
            # Over a socket httpcore sees this itself; the in-process transport of an emulator does not.
            raise httpx.RemoteProtocolError(f"{self._upstream} closed before the whole body was received")
        return httpx.Response(
            response.status_code,
            headers=[pair for pair in response.headers.raw if pair[0].lower() not in _DROPPED],
            content=b"".join(chunks),
            extensions={"http_version": response.extensions.get("http_version", b"HTTP/1.1")},
        )


_TIMEOUT: dict[str, float | None] = {"connect": CONNECT_TIMEOUT_S, "read": None, "write": None, "pool": None}


class _Departure:
    """Asks the quota whether a request may go out, and tells it, once, when it has been written.

    The time of a request lies between the two, however long the event loop or the machine holds it up there: a later
    one is granted by the time told, so that it cannot come too close to it.
    """

    def __init__(self, going: Callable[[], Awaitable[None]] | None, sent: Callable[[], None] | None) -> None:
        self._going = going
        self._sent = sent
        self.begun = False
        self.over = False

    async def going(self) -> None:
        if not self.begun:
            if self._going is not None:
                await self._going()
            self.begun = True

    def sent(self) -> None:
        if not self.over:
            self.begun = self.over = True
            if self._sent is not None:
                self._sent()

    def ended(self) -> None:
        """A request that was broken off may have been written in part."""
        if self.begun:
            self.sent()

    async def trace(self, event: str, _info: object) -> None:
        # httpcore's extension: https://www.encode.io/httpcore/extensions/#trace, read 2026-08.
        if event.endswith("send_request_headers.started"):
            await self.going()
        elif event.endswith(("send_request_body.complete", "send_request_body.failed")):
            self.sent()


class EmulatorTransport(httpx.AsyncBaseTransport):
    """An emulator in this process, made when it is first asked.

    An `OSError` that the emulator raises (a reset) is an `httpx.ReadError`, as it would be over a socket.

    Args:
        factory: "package.module:function", called without arguments in a worker thread; returns an ASGI app.
        upstream: Whose answers these are samples of.
    """

    def __init__(self, factory: str, upstream: str) -> None:
        self._factory = factory
        self._upstream = upstream
        self._asgi: httpx.ASGITransport | None = None
        self._making = asyncio.Lock()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        asgi = self._asgi or await self._made()
        if (going := request.extensions.get(GOING)) is not None:
            await going()
        if (sent := request.extensions.get(SENT)) is not None:
            sent()
        try:
            response = await asgi.handle_async_request(request)
        except OSError as error:
            raise httpx.ReadError(f"the emulator broke off: {type(error).__name__}") from error
        # Whatever the app says of itself: no answer of an emulator may pass for the service's.
        response.headers.setdefault("x-sample-data", self._upstream)
        return response

    async def _made(self) -> httpx.ASGITransport:
        async with self._making:
            if self._asgi is None:
                self._asgi = httpx.ASGITransport(await asyncio.to_thread(_load, self._factory))
            return self._asgi


def _load(factory: str) -> Any:  # An ASGI app; httpx keeps its type of one private.
    module, _, name = factory.partition(":")
    return getattr(import_module(module), name)()


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return (url.scheme, url.host, url.port)
