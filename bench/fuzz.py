"""Send a gateway what no client sends: `python bench/fuzz.py [MESSAGES] [SEED]`; 100,000 messages by default.

Requests are mutated in their JSON, in their headers and byte by byte, and sent over raw connections. Printed are the
answers by status and the server's memory before and after. Exit code 1 when the server ends, answers 5xx, does not
answer a right call any more, or grows by more than a tenth.
"""

from __future__ import annotations

import asyncio
import copy
import json
import os
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

VERSION = "2026-07-28"
WAIT_S = 0.5
"""Seconds until a request that is not answered is given up: one that was cut off has no answer."""

ODD: list[Any] = [
    *(None, True, -1, 0, 1e308, 2**64, "", "\x00", "\ud800", "𝕏" * 50, "../../etc/passwd", "<script>", "' OR 1=1 --"),
    *([], {}, [[]], [None] * 50, {"": ""}, {"__proto__": {}}, {"$ref": "#"}, "x" * 5_000),
]
METHODS = [
    *("tools/list", "tools/call", "server/discover", "initialize", "ping", "prompts/get", "resources/read"),
    *("completion/complete", "subscriptions/listen", "notifications/cancelled", "logging/setLevel", "no/such", ""),
]


def message(choice: random.Random, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A right message, of a method by chance."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    method = choice.choice([*METHODS, "tools/call", "tools/call", "tools/call"])
    params: dict[str, Any] = {"_meta": meta}
    if method == "tools/call":
        params |= {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": choice.randrange(10**6), "method": method, "params": params}


def twisted(choice: random.Random, value: Any) -> Any:
    """The value with one place of it changed, taken away or doubled."""
    if isinstance(value, dict) and value and choice.random() < 0.8:
        key = choice.choice(list(value))
        match choice.randrange(4):
            case 0:
                return {name: part for name, part in value.items() if name != key}
            case 1:
                return {**value, str(choice.choice(ODD))[:200]: value[key]}
            case _:
                return {**value, key: twisted(choice, value[key])}
    if isinstance(value, list) and value and choice.random() < 0.8:
        return [*value, *value] if choice.random() < 0.3 else [twisted(choice, value[0]), *value[1:]]
    return copy.deepcopy(choice.choice(ODD))


def spoilt(choice: random.Random, raw: bytes) -> bytes:
    """The bytes with some of them changed, taken out or repeated."""
    spoiled = bytearray(raw)
    for _ in range(choice.randrange(1, 6)):
        place = choice.randrange(len(spoiled) or 1)
        match choice.randrange(3):
            case 0:
                spoiled[place : place + 1] = bytes([choice.randrange(256)])
            case 1:
                del spoiled[place : place + choice.randrange(1, 40)]
            case _:
                spoiled[place:place] = spoiled[place : place + choice.randrange(1, 40)]
    return bytes(spoiled)


def request(choice: random.Random, port: int, tool: str, arguments: dict[str, Any]) -> bytes:
    """One mutated request as it stands on the wire."""
    sent: Any = message(choice, tool, arguments)
    headers = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": str(sent["method"]),
        "Mcp-Name": tool,
        "Connection": "close",
    }
    for _ in range(choice.choice([0, 1, 1, 2])):
        sent = twisted(choice, sent)
    body = json.dumps(sent).encode()
    if choice.random() < 0.2:
        body = spoilt(choice, body)
    if choice.random() < 0.2:
        name = choice.choice(list(headers))
        odd = ["", "0", "x" * 300, "2025-11-25", "text/html", "\t", "évil", headers[name] * 2]
        headers[name] = choice.choice(odd)
    if choice.random() < 0.1:
        del headers[choice.choice(list(headers))]
    headers["Content-Length"] = str(len(body))
    verb = choice.choice(["POST"] * 12 + ["GET", "PUT", "DELETE", "BREW"])
    path = choice.choice(["/mcp"] * 12 + ["/", "/mcp/../mcp", "/metrics", "/mcp?access_token=x", "/%00"])
    head = f"{verb} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
    raw = head.encode() + body
    return spoilt(choice, raw) if choice.random() < 0.1 else raw


async def answered(port: int, raw: bytes, wait_s: float = WAIT_S) -> int | None:
    """The status of the answer; None where the connection was closed or nothing came."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(raw)
        async with asyncio.timeout(wait_s):
            line = await reader.readline()
            while await reader.read(65536):
                pass
        return int(line.split()[1]) if line.startswith(b"HTTP/1.1 ") else None
    except (TimeoutError, ConnectionError):
        return None
    finally:
        writer.close()


async def fuzz(
    port: int, messages: int, seed: int, tool: str, arguments: dict[str, Any], width: int
) -> Counter[int | None]:
    """Send so many mutated requests, some at once; the answers by status."""
    choice = random.Random(seed)
    found: Counter[int | None] = Counter()
    left = iter(range(messages))

    async def client() -> None:
        for _ in left:
            found[await answered(port, request(choice, port, tool, arguments))] += 1

    async with asyncio.TaskGroup() as tasks:
        for _ in range(width):
            tasks.create_task(client())
    return found


def memory_mb(pid: int) -> float:
    """Resident memory of a process, from /proc (Linux)."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Fuzz and print."""
    from load import measure, server  # beside this file: a test imports the rest alone

    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with server("gateway") as (port, pid):

        def send(count: int, seed: int) -> Counter[int | None]:
            return asyncio.run(fuzz(port, count, seed, "bench_rows", {"name": "x"}, width=64))

        # What a first round of everything leaves (caches of patterns, pools) is no growth.
        send(max(1_000, messages // 10), seed + 1)
        before = memory_mb(pid)
        found = send(messages, seed)
        after = memory_mb(pid)
        measure(port, pid, "bench_rows", {"name": "x"}, calls=100, clients=4)
    print(f"{messages} messages, seed {seed}")
    for status, count in sorted(found.items(), key=lambda pair: pair[0] or 0):
        print(f"{status or 'closed':>7} {count}")
    print(f"memory {before:.1f} MB before, {after:.1f} MB after ({after / before:.2f}x)")
    sys.exit(1 if after > 1.1 * before or any(status is not None and status >= 500 for status in found) else 0)


if __name__ == "__main__":
    main()
