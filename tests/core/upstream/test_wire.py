"""One exchange, over real sockets where the socket is the matter."""

import asyncio
import gzip
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from types import ModuleType

import httpx
import pytest
from scigate.clock import Clock, SystemClock
from scigate.testing.clock import ManualClock
from scigate.upstream.errors import ForeignUrl, ResponseTooLarge
from scigate.upstream.quota import GOING, SENT, SlotLost
from scigate.upstream.wire import EmulatorTransport, Sign, WireTransport

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """A raw TCP server, by its address."""
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def answering(raw: bytes, reset: bool = False) -> Handler:
    """A handler that reads one request, writes these bytes and closes."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(raw)
        if reset:
            writer.transport.abort()
        else:
            await writer.drain()
            writer.close()

    return handle


def wire(
    base_url: str,
    inner: httpx.AsyncBaseTransport | None = None,
    *,
    clock: Clock | None = None,
    timeout_s: float = 5.0,
    max_response_bytes: int = 1000,
    sign: Sign | None = None,
) -> WireTransport:
    return WireTransport(
        inner or httpx.AsyncHTTPTransport(),
        upstream="pubchem",
        base_url=httpx.URL(base_url),
        timeout_s=timeout_s,
        max_response_bytes=max_response_bytes,
        sign=sign,
        clock=clock or SystemClock(),
    )


async def fetched(raw: bytes, reset: bool = False) -> httpx.Response:
    async with serving(answering(raw, reset)) as url:
        transport = wire(url)
        try:
            return await transport.handle_async_request(httpx.Request("GET", url))
        finally:
            await transport.aclose()


async def test_body_arrives_complete_and_decoded() -> None:
    """What is handed up is read and unzipped, with headers that fit the decoded body."""
    body = gzip.compress(b"x" * 500)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nX-A: 1\r\nContent-Length: %d\r\n\r\n" % len(body)
    response = await fetched(head + body)
    assert (response.content, response.headers["x-a"], response.headers["content-length"]) == (b"x" * 500, "1", "500")
    assert "content-encoding" not in response.headers
    assert response.elapsed.total_seconds() >= 0


@pytest.mark.parametrize(
    ("raw", "reset"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Le", False),
        (b"", False),
        (b"", True),
        (b"220 mail.example.org ESMTP\r\n", False),
    ],
)
async def test_what_is_cut_short_is_a_transport_error(raw: bytes, reset: bool) -> None:
    """A truncated body, a broken head, a closed or reset connection never come up as an answer."""
    with pytest.raises(httpx.TransportError):
        await fetched(raw, reset)


async def test_undecodable_body_is_an_error() -> None:
    """A body that is not what its encoding says is no answer either."""
    with pytest.raises(httpx.DecodingError):
        await fetched(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd")


@pytest.mark.parametrize("zipped", [False, True])
async def test_body_is_bounded(zipped: bool) -> None:
    """A body beyond the bound is not read on, be it the decoded one of a small zipped body."""
    body = gzip.compress(b"x" * 100_000) if zipped else b"x" * 100_000
    encoding = b"Content-Encoding: gzip\r\n" if zipped else b""
    with pytest.raises(ResponseTooLarge) as raised:
        await fetched(b"HTTP/1.1 200 OK\r\n" + encoding + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    assert raised.value.limit == 1000


async def test_cookie_does_not_come_up() -> None:
    """A cookie jar shared by all callers stays empty."""
    response = await fetched(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n")
    assert "set-cookie" not in response.headers


async def test_token_is_counted_when_the_request_goes_out() -> None:
    """The quota is told once, after the connection is made."""
    told: list[str] = []
    async with serving(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) as url:
        transport = wire(url)
        request = httpx.Request("GET", url, extensions={SENT: lambda: told.append("sent")})
        await transport.handle_async_request(request)
        await transport.aclose()
    assert told == ["sent"]


async def test_a_request_lies_between_asking_to_go_and_being_counted() -> None:
    """However long the event loop is held up over it: the first byte goes after the one, the last before the other."""
    told: list[str] = []

    async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"0\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async def body() -> AsyncIterator[bytes]:
        for number in range(3):
            for _ in range(10):  # turns of the loop in which a later stamp could already have been given
                await asyncio.sleep(0)
            told.append(f"part {number}")
            yield b"part"

    async def going() -> None:
        told.append("going")

    async with serving(read) as url:
        transport = wire(url)
        extensions = {GOING: going, SENT: lambda: told.append("sent")}
        await transport.handle_async_request(httpx.Request("POST", url, content=body(), extensions=extensions))
        await transport.aclose()
    assert told == ["going", "part 0", "part 1", "part 2", "sent"]


async def test_a_request_that_was_broken_off_is_counted() -> None:
    """A part of it may have arrived."""
    told: list[str] = []

    async def body() -> AsyncIterator[bytes]:
        yield b"part"
        raise RuntimeError("the body ended early")

    async with serving(answering(b"")) as url:
        transport = wire(url)
        request = httpx.Request("POST", url, content=body(), extensions={SENT: lambda: told.append("sent")})
        with pytest.raises(RuntimeError):
            await transport.handle_async_request(request)
        await transport.aclose()
    assert told == ["sent"]


async def test_a_request_whose_slot_is_lost_is_not_written() -> None:
    """Of a request that may not go any more the upstream gets no byte, and the quota counts none."""
    told: list[object] = []
    read = asyncio.Event()

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told.append(await reader.read())
        writer.close()
        read.set()

    async def going() -> None:
        raise SlotLost

    async with serving(note) as url:
        transport = wire(url)
        extensions = {GOING: going, SENT: lambda: told.append("sent")}
        with pytest.raises(SlotLost):
            await transport.handle_async_request(httpx.Request("GET", url, extensions=extensions))
        await read.wait()
        await transport.aclose()
    assert told == [b""]


async def test_token_is_not_counted_when_nobody_listens() -> None:
    """A connection that is refused spends nothing."""
    async with serving(answering(b"")) as url:
        pass
    told: list[str] = []
    transport = wire(url)
    with pytest.raises(httpx.ConnectError):
        await transport.handle_async_request(httpx.Request("GET", url, extensions={SENT: lambda: told.append("sent")}))
    assert told == []
    await transport.aclose()


async def test_cancelled_request_closes_its_connection() -> None:
    """When the caller goes away the upstream sees the connection close."""
    arrived, closed = asyncio.Event(), asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        arrived.set()
        await reader.read()
        closed.set()
        writer.close()

    async with serving(hang) as url:
        transport = wire(url)
        task = asyncio.create_task(transport.handle_async_request(httpx.Request("GET", url)))
        await arrived.wait()
        task.cancel()
        async with asyncio.timeout(5):
            await closed.wait()
        await transport.aclose()


class Hanging(httpx.AsyncBaseTransport):
    """Never answers; says that the request went out when it is told to."""

    def __init__(self, connected: bool) -> None:
        self.connected = connected

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.connected:
            await request.extensions["trace"]("http11.send_request_headers.started", {})
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize(("connected", "expected"), [(False, httpx.ConnectTimeout), (True, httpx.ReadTimeout)])
async def test_attempt_has_a_timeout(clock: ManualClock, connected: bool, expected: type[Exception]) -> None:
    """An attempt that takes longer than the upstream's timeout fails, saying whether it had been sent."""
    transport = wire("https://example.org", Hanging(connected), clock=clock)
    task = asyncio.create_task(transport.handle_async_request(httpx.Request("GET", "https://example.org/")))
    await clock.advance(4.9)
    assert not task.done()
    await clock.advance(0.1)
    with pytest.raises(expected):
        await task


async def test_key_is_seen_by_the_upstream_alone() -> None:
    """What `sign` adds goes out, and is not in the request that callers and errors hold."""
    seen: list[httpx.URL] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url)
        return httpx.Response(200)

    def sign(request: httpx.Request) -> None:
        request.url = request.url.copy_merge_params({"api_key": "secret"})

    transport = wire("https://example.org", httpx.MockTransport(answer), sign=sign)
    request = httpx.Request("GET", "https://example.org/?q=1")
    await transport.handle_async_request(request)
    assert str(seen[0]) == "https://example.org/?q=1&api_key=secret"
    assert "secret" not in str(request.url)


@pytest.mark.parametrize("url", ["https://evil.example/", "http://example.org/", "https://example.org:8443/"])
async def test_only_the_upstreams_own_host_is_asked(url: str) -> None:
    """A request for another scheme, host or port is refused before it gets a key."""
    transport = wire("https://example.org/rest", httpx.MockTransport(lambda request: httpx.Response(200)))
    with pytest.raises(ForeignUrl):
        await transport.handle_async_request(httpx.Request("GET", url))


@pytest.fixture
def emulators() -> Iterator[ModuleType]:
    """An importable module, to which a test adds factories of emulators."""
    module = ModuleType("emulators_of_this_test")
    sys.modules[module.__name__] = module
    yield module
    del sys.modules[module.__name__]


def answering_app(body: bytes, announced: int, error: Exception | None = None) -> Callable[[], object]:
    async def app(scope: object, receive: object, send: Callable[[dict[str, object]], Awaitable[None]]) -> None:
        if error:
            raise error
        headers = [(b"content-length", str(announced).encode()), (b"x-sample-data", b"pubchem")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return lambda: app


async def emulated(module: ModuleType, factory: Callable[[], object], sent: Callable[[], None]) -> httpx.Response:
    module.__dict__["factory"] = factory
    transport = wire("https://example.org", EmulatorTransport(f"{module.__name__}:factory", "lab"))
    return await transport.handle_async_request(httpx.Request("GET", "https://example.org/", extensions={SENT: sent}))


async def test_emulator_answers_in_process(emulators: ModuleType) -> None:
    """An emulator named by text answers in the upstream's place, and its answers are marked."""
    told: list[str] = []
    response = await emulated(emulators, answering_app(b"hello", 5), lambda: told.append("sent"))
    assert (response.text, response.headers["x-sample-data"], told) == ("hello", "pubchem", ["sent"])


@pytest.mark.parametrize(
    ("announced", "error", "expected"),
    [(50, None, httpx.RemoteProtocolError), (5, ConnectionResetError(), httpx.ReadError)],
)
async def test_emulator_fails_as_a_socket_does(
    emulators: ModuleType, announced: int, error: Exception | None, expected: type[Exception]
) -> None:
    """A truncated body and a reset of the emulator are the errors that they are over a socket."""
    with pytest.raises(expected):
        await emulated(emulators, answering_app(b"hello", announced, error), lambda: None)


async def test_emulator_is_made_once(emulators: ModuleType) -> None:
    """Requests that come while the emulator is being made wait for the one that is."""
    made: list[int] = []

    def factory() -> object:
        made.append(1)
        return answering_app(b"hello", 5)()

    emulators.__dict__["factory"] = factory
    transport = wire("https://example.org", EmulatorTransport(f"{emulators.__name__}:factory", "lab"))
    requests = [httpx.Request("GET", "https://example.org/") for _ in range(5)]
    await asyncio.gather(*(transport.handle_async_request(request) for request in requests))
    assert len(made) == 1
