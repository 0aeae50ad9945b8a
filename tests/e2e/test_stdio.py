"""The stdio endpoint as a process: what is on its pipes, byte for byte, and how it ends."""

import json
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from subprocess import PIPE
from typing import Any

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

BOUND_S = 10
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
PARSE_ERROR, INVALID_REQUEST = -32700, -32600


class Session:
    """A client that knows nothing but lines of JSON."""

    def __init__(self, process: Process) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.stdin = process.stdin
        self._stdout = BufferedByteReceiveStream(process.stdout)
        self._stderr = process.stderr

    async def send(self, line: bytes | dict[str, Any]) -> None:
        await self.stdin.send((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")

    async def receive(self) -> dict[str, Any]:
        line = await self._stdout.receive_until(b"\n", 20_000_000)
        return json.loads(line.decode("utf-8", "strict"))

    async def ask(self, line: bytes | dict[str, Any]) -> dict[str, Any]:
        await self.send(line)
        return await self.receive()

    async def call(self, tool: str, arguments: dict[str, Any], request_id: int = 1) -> dict[str, Any]:
        return await self.ask(call_of(tool, arguments, request_id))

    async def end(self) -> tuple[int, list[dict[str, Any]], str]:
        """Wait for the process: its exit code, the messages not yet received, and what it wrote to standard error."""
        out, err = b"", b""

        async def drain() -> None:
            nonlocal err
            async for chunk in self._stderr:
                err += chunk

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(drain)
            try:
                while True:
                    out += await self._stdout.receive()
            except anyio.EndOfStream:
                pass
        code = await self.process.wait()
        return code, [json.loads(line) for line in out.splitlines()], err.decode()


def call_of(tool: str, arguments: dict[str, Any], request_id: int = 1, **meta: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments, "_meta": {**MODERN, **meta}}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


@pytest.fixture
def served(lab_command: list[str]) -> Callable[[], Any]:
    """Starts a stdio server and kills it at the end, should it still run."""

    @asynccontextmanager
    async def session() -> AsyncIterator[Session]:
        with anyio.fail_after(BOUND_S):
            async with await anyio.open_process(lab_command, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
                try:
                    yield Session(process)
                finally:
                    if process.returncode is None:
                        process.kill()

    return session


async def test_only_messages_are_on_standard_output(served: Any) -> None:
    """Whatever a provider, its imports or its children print lands on standard error."""
    async with served() as session:
        answer = await session.call("lab_shout", {"text": "look at me"})
        await session.stdin.aclose()
        code, rest, err = await session.end()
    assert answer["result"]["structuredContent"]["text"] == "look at me"
    assert (code, rest) == (0, [])
    assert "printed while the host starts" in err
    assert err.count("look at me") == 2
    assert "from a child" in err


BAD_LINES: dict[str, tuple[bytes, int, int | None]] = {
    "cut off": (b'{"jsonrpc":"2.0","id":1,', PARSE_ERROR, None),
    "not JSON": (b"hello", PARSE_ERROR, None),
    "not UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', PARSE_ERROR, None),
    "NUL": (b'{"jsonrpc":"2.0","id":1,"method":"\x00"}', PARSE_ERROR, None),
    "too deep": (
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        PARSE_ERROR,
        None,
    ),
    "a batch": (b"[]", INVALID_REQUEST, None),
    "no method": (b'{"jsonrpc":"2.0","id":7}', INVALID_REQUEST, 7),
    "10 MB": (json.dumps(call_of("lab_echo", {"text": "x" * 10_000_000}, 8)).encode(), INVALID_REQUEST, 8),
}


async def test_answers_a_bad_line_and_serves_on(served: Any) -> None:
    """No line goes unanswered, and none ends the server; the error carries the request's id where one can be read."""
    async with served() as session:
        for name, (line, code, request_id) in BAD_LINES.items():
            answer = await session.ask(line)
            assert (answer["error"]["code"], answer["id"]) == (code, request_id), name
            assert (await session.call("lab_echo", {"text": name}))["result"]["structuredContent"]["text"] == name


@pytest.mark.parametrize("text", ["a\\u0000b", "\\ud800"], ids=["NUL", "lone surrogate"])
async def test_refuses_odd_characters_by_the_argument_that_holds_them(served: Any, text: str) -> None:
    """A NUL or half of a surrogate pair is a wrong argument, told in a line that a strict parser reads."""
    line = json.dumps(call_of("lab_echo", {"text": "ODD"})).replace("ODD", text).encode()
    async with served() as session:
        error = (await session.ask(line))["result"]["structuredContent"]["error"]
        assert (await session.call("lab_echo", {}))["result"]["isError"] is False
    assert error["data"]["reason"] == "invalid_arguments"
    assert "text" in error["message"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
async def test_ends_at_a_signal_with_a_call_under_way(served: Any, number: signal.Signals) -> None:
    """The process ends with code 0 although its standard input stays open."""
    async with served() as session:
        started = await session.ask(call_of("lab_wait", {}, progressToken="p"))
        assert started["method"] == "notifications/progress"
        session.process.send_signal(number)
        code, _, _ = await session.end()
    assert code == 0


async def test_ends_when_the_client_closes_its_side(served: Any) -> None:
    """The end of standard input ends the process with code 0, calls under way cancelled."""
    async with served() as session:
        started = await session.ask(call_of("lab_wait", {}, progressToken="p"))
        assert started["method"] == "notifications/progress"
        await session.stdin.aclose()
        code, rest, _ = await session.end()
    assert code == 0
    assert [message["id"] for message in rest if "error" in message] == [1]


async def test_ends_at_a_signal_although_nobody_reads(served: Any) -> None:
    """A client that stopped reading, its pipe full, does not keep the process alive."""
    async with served() as session:
        started = await session.ask(call_of("lab_wait", {}, 1, progressToken="p"))
        assert started["method"] == "notifications/progress"
        for request_id in range(2, 6):
            await session.send(call_of("lab_echo", {"text": "x" * 100_000}, request_id))
        session.process.send_signal(signal.SIGTERM)
        code = await session.process.wait()
    assert code == 0


async def test_serves_the_handshake_and_its_cancellation(served: Any) -> None:
    """A client of the handshake era gets its revision, and its cancelled request no answer."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    async with served() as session:
        hello = await session.ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client})
        assert hello["result"]["protocolVersion"] == "2025-06-18"
        await session.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        params = {"name": "lab_wait", "arguments": {}, "_meta": {"progressToken": "p"}}
        await session.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        await session.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        params = {"name": "lab_was_cancelled", "arguments": {}}
        answer = await session.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
    assert (answer["id"], answer["result"]["structuredContent"]["text"]) == (2, "cancelled")
