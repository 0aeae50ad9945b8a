"""Sliding windows: how many requests of the last second, minute or day an upstream may have been sent.

A `QuotaStore` holds the windows of every upstream by name; where it lives decides who shares the budget.
"""

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from scigate.clock import Clock
from scigate.upstream.pace import Slowing

# The upstream counts arrivals. A request may take this much longer to arrive than a later one before the later one
# arrives too early for the upstream's window; 2.4 % of a window of one second.
TRAVEL_MARGIN_S = 0.025

_UNITS = {"s": 1.0, "second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}
_QUOTA = re.compile(r"\s*(\d+)\s*/\s*(?:(\d+(?:\.\d+)?)\s*(s)|(second|minute|hour|day))\s*")


@dataclass(frozen=True)
class Window:
    """At most `limit` requests in any interval of `span_s` seconds."""

    limit: int
    span_s: float

    @classmethod
    def parse(cls, text: str) -> "Window":
        """Read "5/second", "400/minute", "100/hour", "10000/day" or "3/10s".

        Raises:
            ValueError: the text is none of these, or allows nothing.
        """
        match = _QUOTA.fullmatch(text)
        if match is None:
            raise ValueError(f"quota {text!r} is not like 5/second, 400/minute, 100/hour, 10000/day or 3/10s")
        limit, length, seconds, unit = match.groups()
        span_s = float(length or 1) * _UNITS[seconds or unit]
        if int(limit) < 1 or span_s <= 0:
            raise ValueError(f"quota {text!r} allows no request at all")
        return cls(int(limit), span_s)

    @property
    def held_s(self) -> float:
        """Seconds for which a request takes up one of the `limit`."""
        return self.span_s + TRAVEL_MARGIN_S


class Token:
    """One request's place in all windows of an upstream; it counts as now until it is sent or given back."""

    __slots__ = ("spent", "upstream")

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.spent = False


class QuotaStore(Protocol):
    """Where the windows live, and the slowing down that an upstream asked for.

    `sent`, `give_back` and `slow` return at once; a store on a network or a disk does that work behind. None of the
    methods raises because the store is out of order: it then serves from what this process may use alone.
    """

    @property
    def kind(self) -> str:
        """Its name in settings: "memory", "sqlite" or "redis"."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why it serves only this process's share, as a sentence for an operator; None when all is well."""
        ...

    @property
    def members(self) -> int:
        """How many gateways share it, this one included, as last known."""
        ...

    async def take(self, upstream: str, windows: Sequence[Window]) -> Token | float:
        """A token out of every window together, or the seconds after which asking again is worth it."""
        ...

    async def may_go(self, token: Token) -> bool:
        """Whether the token is still good; one that is not must not be sent: what granted it has been lost."""
        ...

    def sent(self, token: Token) -> None:
        """Count the token from now: its request has been written."""
        ...

    def give_back(self, token: Token) -> None:
        """Free an unsent token's place; nothing for one that was sent."""
        ...

    def slow(self, upstream: str, windows: Sequence[Window], slowing: Slowing) -> None:
        """Tell everybody who shares the store how slowly the upstream wishes to be asked."""
        ...

    def slowing(self, upstream: str) -> Slowing | None:
        """What others told, as learnt with the last `take` or `look`; None for nothing."""
        ...

    async def look(self, upstream: str, windows: Sequence[Window]) -> None:
        """Learn where an upstream stands without taking anything."""
        ...

    def forecast(self, upstream: str, windows: Sequence[Window], ahead: int) -> float:
        """Seconds until a token is likely to be had when `ahead` others are to have one first."""
        ...

    def used(self, upstream: str, windows: Sequence[Window]) -> tuple[int, ...]:
        """How much of each window is taken up, as last known."""
        ...

    def tell(self, report: Callable[[], str]) -> None:
        """Let the others read what `report` gives: this gateway's own figures, as JSON."""
        ...

    async def reports(self) -> list[str]:
        """What every gateway that shares the store reports, this one included where it has used the store."""
        ...

    async def aclose(self) -> None:
        """Write what is not yet written and let go of the store."""
        ...


class _Ledger:
    """What was sent to one upstream, by how long it counts, and how many tokens are out unsent.

    Limits are given with each question: they may change, and then count what was sent before.
    """

    def __init__(self) -> None:
        self.sent: dict[float, deque[float]] = {}
        self.out = 0

    def times(self, window: Window, now: float) -> deque[float]:
        """The times of what the window still holds, the earliest first."""
        times = self.sent.get(window.held_s)
        if times is None:
            # Of all that is known the longest window holds the most.
            times = self.sent[window.held_s] = deque(self.sent[max(self.sent)] if self.sent else ())
        while times and times[0] + window.held_s <= now:
            times.popleft()
        return times

    def wait_s(self, windows: Sequence[Window], now: float, ahead: int = 0) -> float:
        """Seconds until the request after `ahead` others fits into every window, if all of them go out at once."""
        longest = 0.0
        for window in windows:
            times = self.times(window, now)
            rounds, place = divmod(ahead, window.limit)
            # Of the `limit` places the free ones come first, then those of sent requests by age, then unsent ones.
            index = place - (window.limit - len(times) - self.out)
            if index < 0:
                wait = 0.0
            elif index < len(times):
                wait = times[index] + window.held_s - now
            else:
                wait = window.held_s
            longest = max(longest, wait + rounds * window.held_s)
        return longest


class MemoryQuotas:
    """A `QuotaStore` for one process."""

    kind = "memory"
    trouble: str | None = None
    members = 1

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ledgers: dict[str, _Ledger] = {}

    async def take(self, upstream: str, windows: Sequence[Window]) -> Token | float:
        return self.take_now(upstream, windows)

    def take_now(self, upstream: str, windows: Sequence[Window]) -> Token | float:
        """`take`, which has nothing to wait for here."""
        ledger = self._ledger(upstream)
        wait_s = ledger.wait_s(windows, self._clock.monotonic())
        if wait_s > 0:
            return wait_s
        ledger.out += 1
        return Token(upstream)

    async def may_go(self, token: Token) -> bool:
        return True

    def sent(self, token: Token) -> None:
        if token.spent:
            return
        token.spent = True
        ledger = self._ledgers[token.upstream]
        ledger.out -= 1
        now = self._clock.monotonic()
        for times in ledger.sent.values():
            times.append(now)

    def recall(self, upstream: str, windows: Sequence[Window], times: Sequence[float]) -> None:
        """Count tokens that were sent at these monotonic times, the earliest first, before anything is taken."""
        ledger, now = self._ledger(upstream), self._clock.monotonic()
        for window in windows:
            ledger.times(window, now)
        for counted in ledger.sent.values():
            counted.extend(times)

    def sends(self) -> dict[str, list[float]]:
        """Monotonic times of what was sent to each upstream, for as long as its longest window holds them."""
        found: dict[str, list[float]] = {}
        for name, ledger in self._ledgers.items():
            found[name] = list(ledger.sent[max(ledger.sent)]) if ledger.sent else []
        return found

    def give_back(self, token: Token) -> None:
        if not token.spent:
            token.spent = True
            self._ledgers[token.upstream].out -= 1

    def slow(self, upstream: str, windows: Sequence[Window], slowing: Slowing) -> None:
        """Nobody else to tell."""

    def slowing(self, upstream: str) -> Slowing | None:
        return None

    async def look(self, upstream: str, windows: Sequence[Window]) -> None:
        """Nothing to learn: all is known here."""

    def tell(self, report: Callable[[], str]) -> None:
        """Nobody else to tell."""

    async def reports(self) -> list[str]:
        return []

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def forecast(self, upstream: str, windows: Sequence[Window], ahead: int) -> float:
        return self._ledger(upstream).wait_s(windows, self._clock.monotonic(), ahead)

    def used(self, upstream: str, windows: Sequence[Window]) -> tuple[int, ...]:
        ledger, now = self._ledger(upstream), self._clock.monotonic()
        return tuple(len(ledger.times(window, now)) + ledger.out for window in windows)

    def _ledger(self, upstream: str) -> _Ledger:
        return self._ledgers.setdefault(upstream, _Ledger())
