"""A load generator that costs little: raw HTTP over kept connections, one task for each client."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERSION = "2026-07-28"


@dataclass(frozen=True)
class Measured:
    """What a run took.

    Attributes:
        calls: Calls answered, none of them with an error.
        seconds: Wall time.
        cpu_s: CPU seconds of the server's process, user and system.
    """

    calls: int
    seconds: float
    cpu_s: float

    @property
    def per_second(self) -> float:
        return self.calls / self.seconds

    @property
    def cpu_per_thousand(self) -> float:
        return self.cpu_s / self.calls * 1000


def request(port: int, tool: str, arguments: dict[str, Any]) -> tuple[dict[str, str], bytes]:
    """Headers and body of one `tools/call`."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    headers = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
        "Content-Length": str(len(body)),
    }
    return headers, body


def request_bytes(port: int, tool: str, arguments: dict[str, Any]) -> bytes:
    """One `tools/call` as it stands on the wire."""
    headers, body = request(port, tool, arguments)
    lines = ["POST /mcp HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, message: bytes) -> None:
    """Send one call over a kept connection and read its answer.

    Raises:
        RuntimeError: The call failed.
    """
    writer.write(message)
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.readexactly(int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]))
    if not head.startswith(b"HTTP/1.1 200") or b'"isError":true' in body or b'"error"' in body:
        raise RuntimeError(f"a call failed: {head!r} {body[:500]!r}")


async def _client(port: int, message: bytes, calls: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(calls):
        await exchange(reader, writer, message)
    writer.close()


async def _load(port: int, message: bytes, calls: int, clients: int) -> None:
    async with asyncio.TaskGroup() as tasks:
        for _ in range(clients):
            tasks.create_task(_client(port, message, calls // clients))


def cpu_seconds(pid: int) -> float:
    """CPU seconds of a process so far, from /proc (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@contextmanager
def server(kind: str, *given: str) -> Iterator[tuple[int, int]]:
    """A server of bench/server.py; gives its port and process id once it answers."""
    port = free_port()
    process = subprocess.Popen([sys.executable, str(Path(__file__).with_name("server.py")), kind, str(port), *given])
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if process.poll() is not None:
                    raise RuntimeError(f"the {kind} server ended with {process.returncode}") from None
                time.sleep(0.05)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(10)


def measure(port: int, pid: int, tool: str, arguments: dict[str, Any], *, calls: int, clients: int) -> Measured:
    """Load a server and read its CPU time."""
    message = request_bytes(port, tool, arguments)
    asyncio.run(_load(port, message, clients * 20, clients))
    before, began = cpu_seconds(pid), time.perf_counter()
    asyncio.run(_load(port, message, calls, clients))
    return Measured(calls, time.perf_counter() - began, cpu_seconds(pid) - before)
