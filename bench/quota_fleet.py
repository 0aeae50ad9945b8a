"""Several gateways on one quota: `python bench/quota_fleet.py [stdio|http|outage]... [--seconds 60] [--callers 16]`.

An emulator in a process of its own counts what arrives from four gateway processes, each with many callers that always
have another question. Printed are the most requests in any second, of any start, and the part of the quota that was
used.
`stdio` shares it through an SQLite file, `http` through Redis, and `outage` is `http` while the Redis server is killed
after a third of the time and started again, empty, a sixth of it later. The last two need redis-server on the path.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx
from load import free_port, request

TOOL = "pubchem_search_compounds"
GATEWAYS = 4
LIMIT = 5
_numbers = count()


def question() -> dict[str, Any]:
    """Arguments of a call that takes one request and that no cache answers: a name that nothing has."""
    name = f"none such {os.getpid()} {next(_numbers)}"
    return {"searchType": "identifier", "identifierType": "name", "identifiers": [name]}


def environment(base_url: str, directory: str, **more: str) -> dict[str, str]:
    """The settings of a gateway whose upstream is the emulator."""
    return {
        **os.environ,
        "SCIGATE_UPSTREAMS__PUBCHEM__BASE_URL": base_url,
        "SCIGATE_UPSTREAMS__PUBCHEM__QUOTAS": f"{LIMIT}/second",
        "SCIGATE_QUOTA__DIRECTORY": directory,
        "SCIGATE_QUOTA__REPLICAS": str(GATEWAYS),
        "SCIGATE_LOG__LEVEL": "warning",
        **more,
    }


class StdioGateway:
    """A gateway on its own pipes; calls are told apart by their ids."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._reading = asyncio.create_task(self._read())

    async def call(self) -> bytes:
        """One call's answer."""
        assert self._process.stdin is not None
        number = next(_numbers)
        message = json.loads(request(0, TOOL, question())[1])
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._process.stdin.write(json.dumps({**message, "id": number}).encode() + b"\n")
        return await answer

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            waiting = self._waiting.pop(json.loads(line).get("id"), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(line)

    async def aclose(self) -> None:
        """End it."""
        self._process.terminate()
        await self._process.wait()
        await self._reading


@asynccontextmanager
async def stdio_gateway(env: dict[str, str]) -> AsyncGenerator[Callable[[], Awaitable[bytes]]]:
    """A gateway as an editor starts it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "scigate.cli", "serve", "--stdio", env=env, stdin=-1, stdout=-1, limit=2**24
    )
    gateway = StdioGateway(process)
    try:
        yield gateway.call
    finally:
        await gateway.aclose()


@asynccontextmanager
async def http_gateway(env: dict[str, str]) -> AsyncGenerator[Callable[[], Awaitable[bytes]]]:
    """A replica."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "scigate.cli", "serve", "--http", "--port", str(port), env=env
    )

    async def call() -> bytes:
        headers, body = request(port, TOOL, question())
        return (await client.post("/mcp", content=body, headers=headers)).content

    limits = httpx.Limits(max_connections=None)
    client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=None, limits=limits, trust_env=False)
    try:
        await answering(port)
        yield call
    finally:
        await client.aclose()
        process.terminate()
        await process.wait()


async def answering(port: int) -> None:
    """Wait until something listens on a port, for 20 s at most."""
    for _ in range(400):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        except OSError:
            await asyncio.sleep(0.05)
    raise RuntimeError(f"nothing listens on port {port}")


def redis_server(port: int) -> subprocess.Popen[bytes]:
    """A server that keeps nothing on disk."""
    return subprocess.Popen(
        ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no"], stdout=subprocess.DEVNULL
    )


@asynccontextmanager
async def emulating() -> AsyncGenerator[str]:
    """PubChem's emulator, by its address; it counts late what it has no time for, so it has its process to itself."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "scigate.cli", "emulate", "pubchem", "--port", str(port), stderr=subprocess.DEVNULL
    )
    try:
        await answering(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


async def arrivals(emulator: str) -> list[float]:
    """Monotonic times of what the emulator was asked since this was last asked."""
    async with httpx.AsyncClient(trust_env=False) as client:
        return [arrival["at"] for arrival in (await client.delete(f"{emulator}/-/arrivals")).json()]


def peak(stamps: list[float]) -> int:
    """The most in any second, wherever it begins."""
    return max((bisect_left(stamps, at + 1.0) - index for index, at in enumerate(stamps)), default=0)


async def load(
    emulator: str,
    gateways: list[Callable[[], Awaitable[bytes]]],
    seconds: float,
    callers: int,
    meanwhile: Callable[[], Awaitable[None]] | None,
) -> str:
    """Ask until the time is over; a line that says what the emulator saw."""
    answers = {"answered": 0, "refused": 0}

    async def caller(call: Callable[[], Awaitable[bytes]]) -> None:
        while True:
            answer = await call()
            known = b"rate_limited" not in answer and b"quota_exhausted" not in answer
            answers["answered" if known else "refused"] += 1
            if not known:
                await asyncio.sleep(0.5)

    await asyncio.gather(*(call() for call in gateways))  # started, and the emulator's data loaded
    await asyncio.sleep(1.1)
    await arrivals(emulator)
    begun = time.monotonic()
    tasks = [asyncio.create_task(caller(call)) for call in gateways for _ in range(callers)]
    other = asyncio.create_task(meanwhile()) if meanwhile else None
    await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    stamps = await arrivals(emulator)
    arrived = [at for at in stamps if at < begun + seconds]
    for task in tasks:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(outcome, Exception):
            raise outcome
    if other is not None:
        await other
    return (
        f"worst second {peak(stamps)} of {LIMIT}, {100 * len(arrived) / (LIMIT * seconds):.1f} % of the quota "
        f"used, {answers['answered']} calls answered, {answers['refused']} refused"
    )


async def run(mode: str, seconds: float, callers: int) -> str:
    """One mode's line."""
    async with AsyncExitStack() as stack:
        emulator = await stack.enter_async_context(emulating())
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        env = environment(emulator, directory)
        meanwhile = None
        if mode != "stdio":
            port = free_port()
            servers = [redis_server(port)]
            stack.callback(lambda: servers[-1].kill())
            await answering(port)
            env["SCIGATE_QUOTA__REDIS_URL"] = f"redis://127.0.0.1:{port}/0"

            async def outage() -> None:
                await asyncio.sleep(seconds / 3)
                servers[0].send_signal(signal.SIGKILL)
                servers[0].wait()
                await asyncio.sleep(seconds / 6)
                servers.append(redis_server(port))

            meanwhile = outage if mode == "outage" else None
        gateway = stdio_gateway if mode == "stdio" else http_gateway
        gateways = [await stack.enter_async_context(gateway(env)) for _ in range(GATEWAYS)]
        return await load(emulator, gateways, seconds, callers, meanwhile)


def main() -> None:
    """Run the modes that are asked for, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modes", nargs="*", default=["stdio", "http", "outage"])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--callers", type=int, default=16)
    asked = parser.parse_args()
    load_average = Path("/proc/loadavg")
    for mode in asked.modes:
        if mode != "stdio" and shutil.which("redis-server") is None:
            print(f"{mode:8} left out: no redis-server")
            continue
        print(f"{mode:8} {asyncio.run(run(mode, asked.seconds, asked.callers))}", flush=True)
    if load_average.exists():
        print(f"load average {load_average.read_text().split()[0]} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
