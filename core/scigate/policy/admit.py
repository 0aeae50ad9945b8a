"""Let a call in, or refuse it: nobody holds more calls in flight than their share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from scigate.call import Call
from scigate.failure import CALLER_RATE_LIMITED

if TYPE_CHECKING:
    from scigate.policy import Outcome

__all__ = ["Admission"]


class Admission:
    """Counts each caller's calls in flight.

    Args:
        calls_per_caller: The most that one caller may have.
    """

    def __init__(self, calls_per_caller: int) -> None:
        self._limit = calls_per_caller
        self._in_flight: Counter[str] = Counter()

    async def __call__(self, call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
        """Run the call if its caller has room for it."""
        caller = call.caller.id
        if self._in_flight[caller] >= self._limit:
            return CALLER_RATE_LIMITED.failure(f"{self._limit} calls are in flight already, the most for one caller.")
        self._in_flight[caller] += 1
        try:
            return await proceed(call)
        finally:
            self._in_flight[caller] -= 1
            if not self._in_flight[caller]:
                del self._in_flight[caller]
