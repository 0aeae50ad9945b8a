"""What every upstream's emulator is wrapped in: faults on request, a request log, the mark of sample data, a socket.

Above is an ASGI app that answers like one upstream; below are an ASGI transport or uvicorn. Nothing here knows an
upstream, and nothing else of scigate is imported, so an emulator can be used without the gateway.

`GET /-/arrivals` gives what has arrived as a JSON list of objects with `at`, `method`, `path` and `fault`, `DELETE`
forgets it: another process counts so what an emulator was asked.

Some faults are faults of the connection (`truncated`, `reset`, `hang`). On a socket they are real: the bytes stop, the
peer resets, nothing comes. In process there is no connection, so `truncated` and `reset` raise the exception that httpx
raises for the real thing, and `hang` waits until it is cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import struct
import time
from bisect import bisect_left
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, get_args

__all__ = ["Arrival", "Body", "Emulator", "Fault", "Faults", "serve", "serving"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

Kind = Literal[
    "latency", "429", "500", "503", "504", "busy", "truncated", "html", "wrong-type", "hang", "reset", "throttle"
]
KINDS: Final[tuple[str, ...]] = get_args(Kind)

ARRIVALS: Final = "/-/arrivals"

# The most requests in so many seconds, and when the last of them came.
_Window = tuple[int, float, deque[float]]

_STATUS: Final = {"429": 429, "500": 500, "503": 503, "504": 504, "busy": 400}
_HTML: Final = b"<!DOCTYPE html><html><head><title>Error</title></head><body><h1>Service error</h1></body></html>"
_LOGGED: Final = 100_000


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault and the requests that it meets.

    Attributes:
        kind: `latency` delays the true answer; `429`, `500`, `503`, `504` and `busy` (a 4xx status whose body says
            that the server is busy) replace it; `truncated` sends half of it; `html` and `wrong-type` give a 200 with
            a page, or with the true body under another content type; `hang` never answers; `reset` resets the
            connection; `throttle` adds the upstream's own slow-down header to the true answer.
        times: How many requests it meets before it is spent; None means all.
        match: Regular expression looked for in `METHOD path?query`; None meets every request.
        seconds: How long `latency` delays.
        retry_after: Value of `Retry-After` for `429` and `503`, in seconds; None leaves the header out.
    """

    kind: Kind
    times: int | None = 1
    match: str | None = None
    seconds: float = 0.0
    retry_after: float | None = None

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Reads `503;retry-after=2;times=3;match=fastsub`, as the command line and `X-Emulator-Fault` write it.

        Raises:
            ValueError: The kind or an option is unknown; the text names what is possible.
        """
        kind, *options = (part.strip() for part in text.split(";"))
        if kind not in KINDS:
            raise ValueError(f"no fault {kind!r}; there are {', '.join(KINDS)}")
        fault = cls(kind)  # type: ignore[arg-type]  # one of KINDS
        for option in options:
            name, _, value = option.partition("=")
            if name == "times":
                fault = replace(fault, times=None if value == "all" else int(value))
            elif name == "match":
                fault = replace(fault, match=value)
            elif name == "seconds":
                fault = replace(fault, seconds=float(value))
            elif name == "retry-after":
                fault = replace(fault, retry_after=float(value))
            else:
                raise ValueError(f"no option {name!r}; there are times, match, seconds, retry-after")
        return fault


class Faults:
    """The faults that wait for their requests, first added first met."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []

    def add(self, *faults: Fault | str) -> None:
        """Appends faults, given as `Fault` or in the text form of `Fault.parse`."""
        self._waiting.extend(Fault.parse(fault) if isinstance(fault, str) else fault for fault in faults)

    def clear(self) -> None:
        """Forgets all that are waiting."""
        self._waiting.clear()

    def __iter__(self) -> Iterator[Fault]:
        return iter(self._waiting)

    def take(self, request: str) -> Fault | None:
        """The first waiting fault that meets `request`, used up by one."""
        for index, fault in enumerate(self._waiting):
            if fault.match is None or re.search(fault.match, request):
                if fault.times is not None:
                    left = [replace(fault, times=fault.times - 1)] if fault.times > 1 else []
                    self._waiting[index : index + 1] = left
                return fault
        return None


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request as it arrived.

    Attributes:
        at: Monotonic seconds.
        method: `GET`, `POST`, ...
        path: Percent-decoded path.
        query: The query string as sent.
        fault: Kind of the fault it met, `over rate` when the enforced rate refused it, or None.
    """

    at: float
    method: str
    path: str
    query: str
    fault: str | None


@dataclass(frozen=True, slots=True)
class Body:
    """How the upstream words one fault: status, content type, bytes and the headers that go with it."""

    status: int
    content_type: str
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def _plain_body(kind: str, status: int) -> Body:
    return Body(status, "text/plain", f"{status} {kind}\n".encode())


@dataclass(slots=True, eq=False)
class Emulator:
    """Wraps the ASGI app of one upstream's emulator; is itself the ASGI app to serve or to mount in a transport.

    Attributes:
        app: Answers like the upstream.
        name: The upstream's name, sent as `X-Sample-Data` with every answer.
        fault_body: `(kind, status)` to the upstream's own wording of that fault.
        throttle_headers: What the upstream sends when it asks to slow down; added by the fault `throttle`.
        monotonic: Clock of the arrivals, in seconds.
        sleep: Waits, for `latency`.
        faults: Faults to inject; the request header `X-Emulator-Fault` adds one for its own request.
        requests: The last 100,000 arrivals, oldest first.
    """

    app: App
    name: str
    fault_body: Callable[[str, int], Body] = _plain_body
    throttle_headers: Mapping[str, str] = field(default_factory=dict[str, str])
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    faults: Faults = field(default_factory=Faults)
    requests: deque[Arrival] = field(default_factory=lambda: deque[Arrival](maxlen=_LOGGED))
    _rates: list[_Window] = field(default_factory=list[_Window], init=False)

    def enforce(self, *quotas: str) -> None:
        """From now on answers 503 over `"5/second"`, `"400/minute"`, `"10/2s"`; requests so refused do not count."""
        self._rates = [(*_rate(quota), deque[float]()) for quota in quotas]

    def peak(self, window_s: float = 1.0) -> int:
        """The most requests that arrived in any half-open window of `window_s` seconds, refused ones included."""
        stamps = [arrival.at for arrival in self.requests]
        return max(
            (index + 1 - bisect_left(stamps, stamp - window_s + 1e-9) for index, stamp in enumerate(stamps)), default=0
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["path"] == ARRIVALS:
            await self._tell(scope["method"], send)
            return
        marked = _Marked(send, [(b"x-sample-data", self.name.encode())])
        try:
            fault, over = self._admit(scope)
        except ValueError as error:
            await _answer(marked, Body(400, "text/plain", f"X-Emulator-Fault: {error}\n".encode()), [])
            return
        if over:
            await self._refuse(Fault("503"), marked)
        elif fault is None:
            await self.app(scope, receive, marked)
        else:
            await self._fail(fault, scope, receive, marked)

    async def _tell(self, method: str, send: Send) -> None:
        told = [
            {"at": arrival.at, "method": arrival.method, "path": arrival.path, "fault": arrival.fault}
            for arrival in self.requests
        ]
        if method == "DELETE":
            self.requests.clear()
        await _answer(send, Body(200, "application/json", json.dumps(told).encode()), [])

    def _admit(self, scope: Scope) -> tuple[Fault | None, bool]:
        """Logs the arrival; gives the fault that it meets and whether it is over the enforced rate."""
        now = self.monotonic()
        query = scope.get("query_string", b"").decode("latin-1")
        line = f"{scope['method']} {scope['path']}" + (f"?{query}" if query else "")
        asked = dict(scope["headers"]).get(b"x-emulator-fault")
        fault = Fault.parse(asked.decode("latin-1")) if asked else self.faults.take(line)
        over = fault is None and self._over_rate(now)
        said = fault.kind if fault else "over rate" if over else None
        self.requests.append(Arrival(now, scope["method"], scope["path"], query, said))
        return fault, over

    def _over_rate(self, now: float) -> bool:
        for _, window, stamps in self._rates:
            while stamps and stamps[0] <= now - window:
                stamps.popleft()
        if any(len(stamps) >= limit for limit, _, stamps in self._rates):
            return True
        for _, _, stamps in self._rates:
            stamps.append(now)
        return False

    async def _fail(self, fault: Fault, scope: Scope, receive: Receive, send: _Marked) -> None:
        match fault.kind:
            case "latency":
                await self.sleep(fault.seconds)
                await self.app(scope, receive, send)
            case "throttle":
                send.headers += [(k.lower().encode(), v.encode()) for k, v in self.throttle_headers.items()]
                await self.app(scope, receive, send)
            case "wrong-type":
                send.headers.append((b"content-type", b"application/octet-stream"))
                await self.app(scope, receive, send)
            case "html":
                await _answer(send, Body(200, "text/html; charset=utf-8", _HTML), [])
            case "hang":
                await _gone(receive)
            case "reset":
                _reset(send.transport)
                await _gone(receive)
            case "truncated":
                await self._truncate(scope, receive, send)
            case _:
                await self._refuse(fault, send)

    async def _refuse(self, fault: Fault, send: Send) -> None:
        status = _STATUS[fault.kind]
        wait = fault.retry_after
        headers = [] if wait is None else [(b"retry-after", f"{wait:g}".encode())]
        await _answer(send, self.fault_body(fault.kind, status), headers)

    async def _truncate(self, scope: Scope, receive: Receive, send: _Marked) -> None:
        """Announces the whole length, sends half and closes."""
        held: list[Message] = []

        async def hold(message: Message) -> None:
            held.append(message)

        await self.app(scope, receive, hold)
        if send.transport is None:
            import httpx

            raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")
        whole = b"".join(message.get("body", b"") for message in held[1:])
        headers = [(k, v) for k, v in held[0]["headers"] if k.lower() != b"content-length"]
        length = (b"content-length", str(max(len(whole), 2)).encode())
        await send({**held[0], "headers": [*headers, length]})
        await send({"type": "http.response.body", "body": whole[: len(whole) // 2] or b"{", "more_body": True})
        send.transport.close()
        await _gone(receive)


class _Marked:
    """A `send` that sets headers on the answer's start, in place of the app's of the same name."""

    def __init__(self, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        self._send = send
        self.headers = headers

    @property
    def transport(self) -> asyncio.Transport | None:
        """The socket's transport under uvicorn, whose `send` is a method of its holder; None in process."""
        return getattr(getattr(self._send, "__self__", None), "transport", None)

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = {name for name, _ in self.headers}
            kept = [(k, v) for k, v in message.get("headers", []) if k.lower() not in ours]
            message = {**message, "headers": [*kept, *self.headers]}
        await self._send(message)


async def _answer(send: Send, body: Body, headers: list[tuple[bytes, bytes]]) -> None:
    fixed = {"content-type": body.content_type, "content-length": str(len(body.content)), **body.headers}
    own = [(name.lower().encode(), value.encode()) for name, value in fixed.items()]
    await send({"type": "http.response.start", "status": body.status, "headers": [*own, *headers]})
    await send({"type": "http.response.body", "body": body.content})


async def _gone(receive: Receive) -> None:
    """Waits until the peer, or our own closing, has ended the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _reset(transport: asyncio.Transport | None) -> None:
    """Closes with a TCP reset: with a linger time of 0 the kernel discards what is unsent and sends RST."""
    if transport is None:
        import httpx

        raise httpx.ReadError("connection reset by peer")
    descriptor = transport.get_extra_info("socket").fileno()
    with socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM) as same:
        same.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def _rate(quota: str) -> tuple[int, float]:
    """`"5/second"` as `(5, 1.0)`; a bare number of seconds as in `"10/2s"` is allowed."""
    named = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}
    found = re.fullmatch(r"(\d+)/(?:(second|minute|hour|day)|([\d.]+)s)", quota)
    if not found:
        raise ValueError(f"quota {quota!r} is not like 5/second or 10/2s")
    return int(found[1]), named[found[2]] if found[2] else float(found[3])


def serve(app: App, host: str = "127.0.0.1", port: int = 0) -> None:
    """Serves `app` until interrupted; port 0 takes a free one. The address is logged by uvicorn on stderr."""
    import uvicorn

    uvicorn.run(app, host=host, port=port, log_level="info", access_log=False)


@contextlib.asynccontextmanager
async def serving(app: App, host: str = "127.0.0.1") -> AsyncGenerator[str]:
    """Serves `app` on a free port from the running event loop; gives the base URL, without a slash at its end.

    Leaving it closes open connections, hanging requests included.
    """
    import uvicorn

    ready = asyncio.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready.set()

        @contextlib.contextmanager
        def capture_signals(self) -> Generator[None]:
            yield  # signals belong to whoever runs the loop

    server = Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off"))
    # asyncio turns Nagle's delay off only on sockets that name TCP; with it every answer takes 40 ms.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind((host, 0))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        started = asyncio.create_task(ready.wait())
        await asyncio.wait({running, started}, return_when=asyncio.FIRST_COMPLETED)
        started.cancel()
        try:
            yield f"http://{host}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            for connection in list(server.server_state.connections):
                connection.transport.close()
            await running
