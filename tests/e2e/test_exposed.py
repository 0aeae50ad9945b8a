"""The HTTP endpoint towards clients that mean it harm, towards whoever watches it, and on its way down."""

import json
import re
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from subprocess import PIPE
from typing import Any

import anyio
import anyio.to_thread
import httpx
import pytest
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream
from scigate import Input, Output, Upstream, hookimpl, tool
from scigate.emulator import serving
from scigate.endpoint.http import create_app, running
from scigate.gateway import Gateway
from scigate.host import Host
from scigate.keys import KeyRing
from scigate.settings import ServerSettings, Settings
from starlette.responses import PlainTextResponse

BOUND_S = 20
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}

Connect = Callable[[], AbstractAsyncContextManager[SocketStream]]


def request(method: str, **params: Any) -> tuple[dict[str, str], bytes]:
    """Headers and body of a request in the stateless era."""
    named = {"Mcp-Name": params["name"]} if "name" in params else {}
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        **named,
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
    return headers, json.dumps(message).encode()


def on_the_wire(method: str, **params: Any) -> bytes:
    headers, body = request(method, **params)
    head = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1:1", f"Content-Length: {len(body)}"]
    head += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*head, "", ""]).encode() + body


LIST = on_the_wire("tools/list")


@pytest.fixture
def server(lab_host: Any) -> Callable[..., AbstractAsyncContextManager[Connect]]:
    """Serves the provider with some settings, and gives what opens a connection to it."""

    @asynccontextmanager
    async def served(**settings: Any) -> AsyncIterator[Connect]:
        with anyio.fail_after(BOUND_S):
            async with lab_host() as host, running(host, settings=ServerSettings(**settings)) as url:
                address = httpx.URL(url)

                @asynccontextmanager
                async def connect() -> AsyncIterator[SocketStream]:
                    async with await anyio.connect_tcp(address.host, address.port or 80) as stream:
                        yield stream

                yield connect

    return served


async def all_of(stream: SocketStream) -> bytes:
    """What comes until the other side closes, or breaks off."""
    received = b""
    try:
        while True:
            received += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return received


@pytest.mark.parametrize("accept", [[], ["keys"]], ids=["open", "keys"])
@pytest.mark.parametrize(
    "header",
    ["Host: 127.0.0.1:1", "origin: http://localhost:3000", "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: x"],
)
async def test_a_header_that_is_there_twice_is_refused(
    accept: list[str], header: str, lab: Any, tmp_path: Path
) -> None:
    """A proxy may have looked at the other one; the same value twice is no better, and the key makes no difference."""
    ring = KeyRing(tmp_path / "keys.json")
    shown = f"Authorization: Bearer {ring.new('ada', datetime.now(UTC))}\r\n" if accept else ""
    settings = Settings.model_validate({"auth": {"accept": accept, "keys_file": ring.path}})
    name = header.partition(":")[0].lower().encode()
    more = "Origin: http://localhost:3000\r\nConnection: close\r\n"
    once = LIST.replace(b"\r\nAccept", f"\r\n{shown}{more}Accept".encode(), 1)
    with anyio.fail_after(BOUND_S):
        async with Host.open(settings, plugins={"lab": lab}) as host, running(host) as url:
            for sent, status in ((once, 200), (once.replace(b"\r\n", f"\r\n{header}\r\n".encode(), 1), 400)):
                async with await anyio.connect_tcp(httpx.URL(url).host, httpx.URL(url).port or 80) as stream:
                    await stream.send(sent)
                    answer = await all_of(stream)
                assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert answer.endswith(b"More than one header " + name)


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (LIST[:40], b"HTTP/1.1 408 "),
        (LIST[: LIST.index(b"\r\n\r\n")], b"HTTP/1.1 408 "),
        (LIST[:-5], b""),
    ],
    ids=["nothing", "half of the headers", "headers without their end", "half of the body"],
)
async def test_a_request_that_does_not_come_is_given_up(server: Any, sent: bytes, answer: bytes) -> None:
    """The time is for the request as a whole."""
    async with server(receive_timeout_s=0.2) as connect, connect() as stream:
        if sent:
            await stream.send(sent)
        received = await all_of(stream)
    assert received.startswith(answer)
    assert bool(received) == bool(answer)


async def test_a_byte_now_and_then_buys_no_time(server: Any) -> None:
    """As slow-loris clients send it."""
    async with server(receive_timeout_s=0.3) as connect, connect() as stream:
        await stream.send(LIST[:30])
        received = b""
        while not received:
            await stream.send(b"x")
            with anyio.move_on_after(0.02):
                received = await stream.receive()
    assert received.startswith(b"HTTP/1.1 408 ")


async def test_many_slow_clients_take_no_place_from_others(server: Any) -> None:
    """A request counts for the server's concurrency only once it is there."""
    async with server(receive_timeout_s=5, concurrency=1) as connect, anyio.create_task_group() as tasks:
        opened = anyio.Semaphore(0)

        async def dawdle() -> None:
            async with connect() as stream:
                await stream.send(LIST[:60])
                opened.release()
                await all_of(stream)

        for _ in range(50):
            tasks.start_soon(dawdle)
        for _ in range(50):
            await opened.acquire()
        async with connect() as stream:
            await stream.send(LIST)
            assert (await stream.receive()).startswith(b"HTTP/1.1 200 ")
        tasks.cancel_scope.cancel()


async def test_the_time_is_for_each_request_of_a_connection(server: Any) -> None:
    """A second one that stops halfway is given up, after a first one that was served."""
    async with server(receive_timeout_s=0.3) as connect, connect() as stream:
        await stream.send(LIST)
        assert (await stream.receive()).startswith(b"HTTP/1.1 200 ")
        await stream.send(LIST[:60])
        assert b"HTTP/1.1 408 " in await all_of(stream)


async def test_an_answer_under_way_does_not_keep_the_next_request_open(server: Any) -> None:
    """The first of two sent together is answered whole, the half of the second one given up."""
    big = on_the_wire("tools/call", name="lab_echo", arguments={"text": "x" * 60_000, "times": 5})
    async with server(receive_timeout_s=0.3) as connect, connect() as stream:
        await stream.send(big + LIST[:60])
        received = await all_of(stream)
    assert received.startswith(b"HTTP/1.1 200 ")
    assert len(received) > 600_000
    assert b"HTTP/1.1 408 " in received


async def test_an_answer_may_take_longer_than_the_request(server: Any, lab: Any) -> None:
    """The bound is on the client, not on the call: a client that dawdles is given up earlier than it is answered."""
    async with server(receive_timeout_s=0.2) as connect, connect() as stream:
        await stream.send(on_the_wire("tools/call", name="lab_was_cancelled", arguments={}))
        for _ in range(2):
            async with connect() as dawdling:
                await dawdling.send(LIST[:60])
                assert (await all_of(dawdling)).startswith(b"HTTP/1.1 408 ")
        lab.client.cancelled.set()
        answer = b""
        while b'"text":"cancelled"' not in answer:
            answer += await stream.receive()
    assert answer.startswith(b"HTTP/1.1 200 ")


async def test_a_client_that_does_not_read_its_answer_is_dropped(server: Any) -> None:
    """Its place, and the answer in memory, are free again."""
    big = on_the_wire("tools/call", name="lab_echo", arguments={"text": "x" * 80_000, "times": 5})
    async with server(receive_timeout_s=0.3) as connect:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        async with connect() as probe:
            port = probe.extra_attributes[SocketAttribute.remote_port]()
        await anyio.to_thread.run_sync(client.connect, ("127.0.0.1", port))
        client.settimeout(BOUND_S)

        def ask() -> bool:
            try:
                for _ in range(200):
                    client.sendall(big)
            except OSError:
                return True
            return False

        assert await anyio.to_thread.run_sync(ask)
        client.close()


@pytest.mark.parametrize("headers", [[b"X: " + b"x" * 40_000], [b"X%d: y" % number for number in range(9_000)]])
async def test_headers_over_the_limit_are_refused(server: Any, headers: list[bytes]) -> None:
    """One long one or many short ones."""
    async with server() as connect, connect() as stream:
        await stream.send(LIST.replace(b"\r\n\r\n", b"\r\n" + b"\r\n".join(headers) + b"\r\n\r\n", 1))
        assert (await all_of(stream)).startswith(b"HTTP/1.1 431 ")


async def test_headers_without_an_end_are_refused(server: Any) -> None:
    """Nothing is collected beyond the limit."""
    async with server(max_header_bytes=5_000) as connect, connect() as stream:
        await stream.send(LIST[: LIST.index(b"\r\n\r\n")] + b"\r\nX: ")
        await stream.send(b"x" * 5_000)
        assert (await all_of(stream)).startswith(b"HTTP/1.1 431 ")


async def test_a_long_body_is_no_long_header(server: Any) -> None:
    """Though its first part comes with them."""
    async with server(max_header_bytes=1_000) as connect, connect() as stream:
        await stream.send(on_the_wire("tools/call", name="lab_echo", arguments={"text": "x" * 50_000}))
        assert (await stream.receive()).startswith(b"HTTP/1.1 200 ")


async def test_a_connection_too_many_is_turned_away(server: Any) -> None:
    """Idle ones count; it is told to come again, and can once one is closed."""
    async with server(connections=2) as connect, connect() as first:
        await first.send(LIST)
        await first.receive()
        async with connect() as second:
            await second.send(LIST)
            assert (await second.receive()).startswith(b"HTTP/1.1 200 ")
            async with connect() as third:
                refused = await all_of(third)
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1" in refused
        await first.send(LIST)
        assert (await first.receive()).startswith(b"HTTP/1.1 200 ")


async def test_it_is_alive_without_a_provider_and_ready_with_one(lab: Any) -> None:
    """Whoever watches it is not asked who they are, and learns no more than this."""

    class Broken:
        @hookimpl
        def build_client(self) -> object:
            raise RuntimeError("no lab today")

        @hookimpl
        def register_tools(self) -> list[Any]:
            return []

    for plugins, status in (({"lab": lab}, 200), ({"lab": lab, "broken": Broken()}, 200), ({"broken": Broken()}, 503)):
        settings = Settings.model_validate({"auth": {"accept": ["keys"], "keys_file": "nowhere.json"}})
        async with Host.open(settings, plugins=plugins) as host:
            transport = httpx.ASGITransport(create_app(Gateway(host)))
            async with httpx.AsyncClient(transport=transport, base_url="http://10.0.0.1") as http:
                assert (await http.get("/healthz")).status_code == 200
                assert (await http.get("/readyz")).status_code == status


@pytest.mark.parametrize("path", ["/mcp", "/healthz"])
async def test_a_page_of_another_origin_is_not_invited(lab_host: Any, path: str) -> None:
    """CORS is off: no answer carries a header that lets a script read it."""
    async with lab_host() as host, running(host) as url, httpx.AsyncClient() as http:
        target = str(httpx.URL(url).copy_with(path=path))
        asked = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
        answers = [await http.options(target, headers=asked), await http.get(target, headers=asked)]
    assert not [name for answer in answers for name in answer.headers if name.startswith("access-control")]


async def test_new_calls_are_refused_while_others_finish(lab_command: list[str]) -> None:
    """From the signal on nobody new is served, neither on a new connection nor on an open one."""
    with anyio.fail_after(BOUND_S):
        async with await anyio.open_process([*lab_command, "http"], stdin=None, stdout=PIPE, stderr=None) as process:
            assert process.stdout is not None
            log = BufferedByteReceiveStream(process.stdout)

            async def logged(pattern: bytes) -> str:
                while (found := re.search(pattern, await log.receive_until(b"\n", 100_000))) is None:
                    pass
                return found[0].decode()

            address = httpx.URL(await logged(rb"http://[\d.:]+/mcp"))
            assert address.port is not None
            async with (
                await anyio.connect_tcp(address.host, address.port) as busy,
                await anyio.connect_tcp(address.host, address.port) as idle,
            ):
                await idle.send(LIST)
                await idle.receive()
                await busy.send(on_the_wire("tools/call", name="lab_was_cancelled", arguments={}))
                await logged(b"lab_was_cancelled waits")
                process.send_signal(signal.SIGTERM)
                await logged(b"stopping")
                # The idle connection is closed once the server has begun to stop.
                await all_of(idle)
                with pytest.raises(OSError):
                    await anyio.connect_tcp(address.host, address.port)
                # A second signal does not wait for the call that is still under way.
                process.send_signal(signal.SIGTERM)
                await all_of(busy)
            assert await process.wait() == 0


class Nothing(Input):
    pass


class Seen(Output):
    status: int


@tool("far_ask", title="Ask")
async def ask(args: Nothing, client: httpx.AsyncClient, call: Any) -> Seen:
    """Ask the upstream."""
    return Seen(status=(await client.get("/thing")).status_code)


async def test_neither_key_nor_token_reaches_an_upstream(tmp_path: Path) -> None:
    """What a caller shows is for this server alone (MCP 2026-07-28, token passthrough)."""
    seen: list[tuple[bytes, list[Any]]] = []

    async def upstream(scope: Any, receive: Any, send: Any) -> None:
        seen.append((scope["raw_path"] + b"?" + scope["query_string"], scope["headers"]))
        await PlainTextResponse("here")(scope, receive, send)

    class Far:
        @hookimpl
        def register_upstreams(self) -> list[Upstream]:
            return [Upstream("far", url)]

        @hookimpl
        def build_client(self, upstreams: Any) -> object:
            return upstreams["far"]

        @hookimpl
        def register_tools(self) -> list[Any]:
            return [ask]

    ring = KeyRing(tmp_path / "keys.json")
    key = ring.new("ada", datetime.now(UTC))
    audit = tmp_path / "audit.jsonl"
    settings = {"auth": {"accept": ["keys"], "keys_file": ring.path}, "audit": {"path": audit}}
    async with (
        serving(upstream) as url,
        Host.open(Settings.model_validate(settings), plugins={"far": Far()}) as host,
        running(host) as endpoint,
        httpx.AsyncClient() as http,
    ):
        headers, body = request("tools/call", name="far_ask", arguments={})
        cookie = {"Cookie": f"session={key}", "Authorization": f"Bearer {key}"}
        answer = await http.post(endpoint, content=body, headers={**headers, **cookie})
    assert '"status":200' in answer.text
    assert len(seen) == 1
    assert "authorization" not in dict(seen[0][1])
    assert key.encode() not in repr(seen).encode()
    assert key not in audit.read_text(encoding="utf-8")
    assert json.loads(audit.read_text(encoding="utf-8"))["caller"] == "key:ada"


@pytest.mark.parametrize(("rules", "scope"), [([], "public"), ([{"effect": "allow"}], "private")])
async def test_a_list_that_differs_by_caller_is_kept_by_nobody_else(lab: Any, rules: list[Any], scope: str) -> None:
    """A shared cache would show one caller another's tools."""
    async with (
        Host.open(Settings.model_validate({"rules": rules}), plugins={"lab": lab}) as host,
        running(host) as url,
        httpx.AsyncClient() as http,
    ):
        for method in ("tools/list", "resources/list", "resources/templates/list"):
            headers, body = request(method)
            answer = await http.post(url, content=body, headers=headers)
            assert f'"cacheScope":"{scope}"' in answer.text
