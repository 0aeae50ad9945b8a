"""A clock that stands still until a test moves it."""

import asyncio
import heapq
import itertools
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta

# A woken task may need several turns of the loop (a future, a task, a callback) before it waits again.
_TURNS = 25


class ManualClock:
    """A `scigate.clock.Clock` whose time passes only in `advance`.

    It governs what waits on it. Work that waits on a real socket goes on in real time, which `advance` does not await.

    Args:
        start: UTC time at monotonic zero.
        turns: how many turns of the event loop woken tasks get before time moves on.
    """

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC), *, turns: int = _TURNS) -> None:
        self._start = start
        self._turns = turns
        self._elapsed = 0.0
        self._order = itertools.count()
        self._due: list[tuple[float, int, Callable[[], None]]] = []

    def monotonic(self) -> float:
        return self._elapsed

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed)

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()

        def wake() -> None:
            if not woken.done():
                woken.set_result(None)

        self._at(seconds, wake)
        await woken

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[asyncio.Timeout]:
        return self._timeout(seconds)

    @asynccontextmanager
    async def _timeout(self, seconds: float) -> AsyncGenerator[asyncio.Timeout]:
        async with asyncio.timeout(0 if seconds <= 0 else None) as scope:
            inside = True

            def expire() -> None:
                if inside:
                    scope.reschedule(asyncio.get_running_loop().time())

            if seconds > 0:
                self._at(seconds, expire)
            try:
                yield scope
            finally:
                inside = False

    async def advance(self, seconds: float) -> None:
        """Let `seconds` pass, waking what is due in the order of its time, each before time moves on."""
        target = self._elapsed + seconds
        await self.settle()
        while self._due and self._due[0][0] <= target:
            due, _, wake = heapq.heappop(self._due)
            self._elapsed = max(self._elapsed, due)
            wake()
            await self.settle()
        self._elapsed = target
        await self.settle()

    async def settle(self) -> None:
        """Let every task that can run do so, without time passing."""
        for _ in range(self._turns):
            await asyncio.sleep(0)

    def _at(self, seconds: float, wake: Callable[[], None]) -> None:
        heapq.heappush(self._due, (self._elapsed + seconds, next(self._order), wake))
