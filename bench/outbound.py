"""What the way out costs: `python bench/outbound.py [REQUESTS]`.

One GET through the whole stack, cache off, against the same GET by a bare `httpx.AsyncClient`; the far end of both
answers at once in this process, and the quota is never exhausted. Printed are microseconds of CPU of this process that
the stack adds, for each store of the windows, the median of several rounds in turn. Then a cached answer against one
from an upstream that takes 20 ms, which should take at least 20 times as long. Redis is measured where redis-server is
on the path; its own CPU is not counted.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
from load import free_port
from quota_fleet import answering, redis_server
from scigate.clock import SystemClock
from scigate.settings import LogSettings
from scigate.telemetry import configure_logging
from scigate.upstream import CURRENT, Demand, Lifetime, MemoryCache, MemoryQuotas, QuotaStore, Upstream, Upstreams, wish
from scigate.upstream.redis_quotas import RedisQuotas
from scigate.upstream.sqlite_quotas import SqliteQuotas

URL = "https://upstream.example/rest/pug/compound/cid/2244/property/MolecularWeight/JSON"
PLENTY = Upstream(
    "pubchem",
    "https://upstream.example/",
    quotas=("1000000/second", "100000000/minute"),
    concurrency=100,
    lifetimes=(Lifetime("GET /", 3600.0),),
)
AT_MOST = {"memory": 150, "sqlite": 400, "redis": 600}
ROUNDS = 7
BODY = b'{"PropertyTable": {"Properties": [{"CID": 2244, "MolecularWeight": "180.16"}]}}'


class Far(httpx.AsyncBaseTransport):
    """Answers, at once or after a while."""

    def __init__(self, delay_s: float = 0.0) -> None:
        self._delay_s = delay_s

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self._delay_s:
            await asyncio.sleep(self._delay_s)
        return httpx.Response(200, headers={"content-type": "application/json"}, content=BODY)


async def cpu_us(step: Callable[[], Awaitable[object]], requests: int) -> float:
    """Microseconds of CPU of this process for one step, what it leaves to be done behind included."""
    before = time.process_time()
    for _ in range(requests):
        await step()
    await asyncio.sleep(0.02)
    return (time.process_time() - before) / requests * 1e6


def through(store: QuotaStore) -> Callable[[], Awaitable[object]]:
    """One request through the stack, without the cache."""
    client = Upstreams([PLENTY], quotas=store, cache=MemoryCache(), far_end=lambda *_: Far())["pubchem"]
    return lambda: client.get(URL, extensions={wish.CACHE: False})


async def stack_costs(stores: dict[str, QuotaStore], requests: int) -> None:
    """Print what the stack adds with each store."""
    bare = httpx.AsyncClient(transport=Far())
    steps = {"bare": lambda: bare.get(URL), **{name: through(store) for name, store in stores.items()}}
    found: dict[str, list[float]] = {name: [] for name in steps}
    for step in steps.values():
        await cpu_us(step, 50)
    for _ in range(ROUNDS):
        for name, step in steps.items():
            found[name].append(await cpu_us(step, requests))
    floor = statistics.median(found.pop("bare"))
    print(f"bare httpx request          {floor:7.0f} us")
    for name, costs in found.items():
        print(f"stack with {name:8}         {statistics.median(costs) - floor:+7.0f} us (at most {AT_MOST[name]})")


async def cached(requests: int) -> None:
    """Print what an answer from the cache takes, against one from an upstream that takes 20 ms."""
    client = Upstreams([PLENTY], cache=MemoryCache(), far_end=lambda *_: Far(0.02))["pubchem"]

    async def seconds(step: Callable[[], Awaitable[object]], times: int) -> float:
        begun = time.perf_counter()
        for _ in range(times):
            await step()
        return (time.perf_counter() - begun) / times

    live = await seconds(lambda: client.get(URL, extensions={wish.CACHE: False}), 25)
    await client.get(URL)
    hit = await seconds(lambda: client.get(URL), requests)
    print(f"cached answer {hit * 1e6:.0f} us, round trip of 20 ms {live * 1e6:.0f} us: {live / hit:.0f} times")


async def measure(requests: int, directory: str, redis: int | None) -> None:
    """Measure and print."""
    CURRENT.set(Demand(deadline=time.monotonic() + 3600))
    clock = SystemClock()
    stores: dict[str, QuotaStore] = {"memory": MemoryQuotas(clock), "sqlite": SqliteQuotas(Path(directory), clock)}
    if redis is not None:
        await answering(redis)
        stores["redis"] = RedisQuotas(f"redis://127.0.0.1:{redis}/0", clock)
    await stack_costs(stores, requests)
    await cached(requests)
    for store in stores.values():
        await store.aclose()


def main() -> None:
    """Run on the system's event loop, as `scigate serve` does."""
    configure_logging(LogSettings(level="warning"))
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    run = asyncio.run
    with suppress(ImportError):  # No uvloop on Windows.
        import uvloop

        run = uvloop.run
    with ExitStack() as stack:
        redis = free_port() if shutil.which("redis-server") else None
        if redis is not None:
            server: subprocess.Popen[bytes] = redis_server(redis)
            stack.callback(server.wait)
            stack.callback(server.terminate)
        run(measure(requests, stack.enter_context(tempfile.TemporaryDirectory()), redis))
    with suppress(OSError):
        print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
