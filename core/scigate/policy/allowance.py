"""Hold each caller to the allowance that the operator gives: calls in a time, and calls in flight."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from scigate.call import Call
from scigate.failure import CALLER_RATE_LIMITED
from scigate.settings.access import LimitSettings
from scigate.upstream.window import Window

if TYPE_CHECKING:
    from scigate.policy import Outcome

__all__ = ["Allowances"]

_LATER: Final = "Wait retryAfterMs, then send the same call again."

_IDLE_CALLERS: Final = 1024
"""Callers counted before those whose windows have run empty are forgotten."""


@dataclass(slots=True)
class _Spent:
    """What one caller has used: its windows with the times of the calls in them, and its calls in flight."""

    windows: list[tuple[Window, deque[float]]]
    concurrency: int | None
    in_flight: int = field(default=0)

    def wait_s(self, now: float) -> float:
        """Seconds until one more call fits into every window."""
        longest = 0.0
        for window, times in self.windows:
            while times and times[0] <= now - window.span_s:
                times.popleft()
            if len(times) >= window.limit:
                longest = max(longest, times[0] + window.span_s - now)
        return longest

    def is_idle(self, now: float) -> bool:
        """Whether a caller that comes new would stand the same."""
        self.wait_s(now)
        return not self.in_flight and not any(times for _, times in self.windows)


class Allowances:
    """Counts each caller's calls in this process, in sliding windows; a refused call counts for nothing.

    Args:
        limits: The allowances; the first that fits a caller is its own, and a caller that none fits has no bound.
    """

    def __init__(self, limits: Sequence[LimitSettings]) -> None:
        self._limits = [(limit, [Window.parse(rate) for rate in limit.rates]) for limit in limits]
        self._spent: dict[str, _Spent] = {}

    async def __call__(self, call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
        """Run the call if its caller has an allowance left for it."""
        now = call.clock.monotonic()
        spent = self._of(call.caller.id, now)
        if spent.concurrency is not None and spent.in_flight >= spent.concurrency:
            return CALLER_RATE_LIMITED.failure(f"{spent.concurrency} calls of {call.caller.id} are in flight already.")
        if (wait_s := spent.wait_s(now)) > 0:
            rates = ", ".join(f"{window.limit:,} in {window.span_s:g} s" for window, _ in spent.windows)
            return CALLER_RATE_LIMITED.failure(
                f"{call.caller.id} has made as many calls as it may ({rates}).",
                hint=_LATER,
                retry_after_ms=math.ceil(wait_s * 1000),
            )
        for _, times in spent.windows:
            times.append(now)
        spent.in_flight += 1
        try:
            return await proceed(call)
        finally:
            spent.in_flight -= 1

    def _of(self, caller: str, now: float) -> _Spent:
        spent = self._spent.get(caller)
        if spent is None:
            if len(self._spent) >= _IDLE_CALLERS:
                self._spent = {name: other for name, other in self._spent.items() if not other.is_idle(now)}
            spent = self._spent[caller] = self._fresh(caller)
        return spent

    def _fresh(self, caller: str) -> _Spent:
        for limit, windows in self._limits:
            if fnmatchcase(caller, limit.caller):
                return _Spent([(window, deque()) for window in windows], limit.concurrency)
        return _Spent([], None)
