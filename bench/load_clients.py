"""Load by many clients at once: `python bench/load_clients.py [CLIENTS] [SECONDS]`; 256 for 60 s by default.

Each client keeps one connection and calls without a pause: the bare SDK server, then scigate with a PubChem search
that is answered from cache. Printed are calls a second, the times of the slowest hundredth, and the server's memory
over the run. Exit code 1 when a call fails or memory grows by more than a tenth after the first quarter.
"""

from __future__ import annotations

import asyncio
import sys
import time

from fuzz import memory_mb
from load import exchange, request_bytes, server

SEARCH = {"searchType": "identifier", "identifierType": "name", "identifiers": ["aspirin"]}
CASES = (("bare", "bench_rows", {"name": "x"}), ("pubchem", "pubchem_search_compounds", SEARCH))


async def client(port: int, message: bytes, until: float, times: list[float]) -> None:
    """Call until the time is over; seconds of each call go to `times`."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while (began := time.perf_counter()) < until:
        await exchange(reader, writer, message)
        times.append(time.perf_counter() - began)
    writer.close()


async def load(port: int, pid: int, message: bytes, clients: int, seconds: float) -> tuple[list[float], list[float]]:
    """Seconds of each call, and megabytes of the server every quarter."""
    times: list[float] = []
    memory: list[float] = []

    async def watch() -> None:
        for _ in range(4):
            await asyncio.sleep(seconds / 4)
            memory.append(memory_mb(pid))

    until = time.perf_counter() + seconds
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(watch())
        for _ in range(clients):
            tasks.create_task(client(port, message, until, times))
    return times, memory


def main() -> None:
    """Load and print."""
    clients = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
    floor = 0.0
    grown = False
    print(f"{clients} clients for {seconds:.0f} s")
    for kind, tool, arguments in CASES:
        with server(kind) as (port, pid):
            times, memory = asyncio.run(load(port, pid, request_bytes(port, tool, arguments), clients, seconds))
        rate = len(times) / seconds
        floor = floor or rate
        p99 = sorted(times)[int(0.99 * len(times))]
        grown = grown or (kind != "bare" and memory[-1] > 1.1 * memory[0])
        told = ", ".join(f"{megabytes:.0f}" for megabytes in memory)
        print(
            f"{kind:8} {rate:7.0f} calls/s ({rate / floor:.0%})  p99 {1000 * p99:6.0f} ms  memory {told} MB  no error"
        )
    sys.exit(1 if grown else 0)


if __name__ == "__main__":
    main()
