"""Time as an argument: monotonic for waiting, UTC for telling.

Everything in core that waits or stamps takes a `Clock`, so that tests run on `scigate.testing.clock.ManualClock`.
"""

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What core asks of time."""

    def monotonic(self) -> float:
        """Seconds that never go backwards, from an arbitrary start."""
        ...

    def now(self) -> datetime:
        """The date and time, aware, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`; at once (but after a turn of the event loop) when it is zero or less."""
        ...

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[asyncio.Timeout]:
        """Cancel the block after `seconds` and raise the built-in `TimeoutError` from it.

        The value bound by `as` tells by `expired()` whether this block's own time ran out.
        """
        ...


class SystemClock:
    """The machine's clock."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[asyncio.Timeout]:
        return asyncio.timeout(seconds)
