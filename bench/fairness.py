"""How evenly eight callers with different appetites share one quota: `python bench/fairness.py [SECONDS]`.

Each keeps a number of requests waiting, from 1 to 128, at an emulator on a socket. Printed are each caller's requests
and Jain's index of them, 1 for equal parts and 1/8 for everything to one caller; and how long a ninth caller's single
request waits, in turns, when it comes in the middle.
"""

from __future__ import annotations

import asyncio
import sys
import time

from scigate.emulator import serving
from scigate.settings import LogSettings
from scigate.telemetry import configure_logging
from scigate.upstream import CURRENT, Demand, Upstream, Upstreams, wish
from scigate_pubchem.emulator import create_app

QUOTA = 8
APPETITES = [1, 2, 4, 8, 16, 32, 64, 128]
PATH = "/rest/pug/compound/cid/2244/property/MolecularWeight/JSON"


def jain(shares: list[int]) -> float:
    """Jain's index of fairness (https://arxiv.org/abs/cs/9809099)."""
    return sum(shares) ** 2 / (len(shares) * sum(share * share for share in shares))


async def measure(seconds: float) -> None:
    """Measure and print."""
    had = [0] * len(APPETITES)
    async with serving(create_app()) as url:
        upstreams = Upstreams([Upstream("pubchem", url, quotas=(f"{QUOTA}/second",), concurrency=50)])
        client = upstreams["pubchem"]

        async def hungry(caller: int) -> None:
            CURRENT.set(Demand(caller=f"caller {caller}"))
            while True:
                # Identical requests under way together would be one, so each asks something else.
                await client.get(f"{PATH}?{caller}.{had[caller]}.{id(asyncio.current_task())}")
                had[caller] += 1

        async def single() -> float:
            await asyncio.sleep(seconds / 2)
            CURRENT.set(Demand(caller="single"))
            begun = time.monotonic()
            await client.get(PATH, extensions={wish.CACHE: False})
            return (time.monotonic() - begun) * QUOTA

        waiting = asyncio.create_task(single())
        tasks = [asyncio.create_task(hungry(caller)) for caller, wants in enumerate(APPETITES) for _ in range(wants)]
        await asyncio.wait(tasks, timeout=seconds)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        turns = await waiting
        await upstreams.aclose()
    for wants, share in zip(APPETITES, had, strict=True):
        print(f"caller with {wants:3} waiting had {share:4}")
    print(f"Jain's index {jain(had):.3f} (at least 0.95)")
    print(f"a single request among {len(had)} callers waited {turns:.1f} turns of {1 / QUOTA:g} s")


def main() -> None:
    """Run for 20 seconds, or as many as are given."""
    configure_logging(LogSettings(level="warning"))
    asyncio.run(measure(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0))


if __name__ == "__main__":
    main()
