"""What the transports know of the call they work for, through one context variable.

Whoever serves a call sets `CURRENT` around it; the transports read it and count into `Demand.usage`. Neither a tool nor
a caller's rights are known here.
"""

from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf
from typing import Literal

Priority = Literal["interactive", "background"]


@dataclass
class Usage:
    """What one call cost upstream, each figure counted from 0 for that call.

    Attributes:
        requests: put on the wire, retries included.
        attempts: tries, including those refused before the wire by quota or breaker.
        cached: answers taken from the cache.
        stale: those of them that were past their lifetime, served because the upstream failed.
        coalesced: answers shared with an identical request that was already on its way.
        waits: when a request began and when it ceased to wait for a slot, in monotonic seconds.
        sample_sources: names of upstreams whose emulator answered.
        oldest_age_s: seconds since the oldest cached answer was fetched; 0 when none was used.
    """

    requests: int = 0
    attempts: int = 0
    cached: int = 0
    stale: int = 0
    coalesced: int = 0
    waits: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    sample_sources: set[str] = field(default_factory=set[str])
    oldest_age_s: float = 0.0

    @property
    def waited_s(self) -> float:
        """Seconds in which at least one request waited for a slot: those that waited side by side count once."""
        waited_s, counted_until = 0.0, -inf
        for since, until in sorted(self.waits):
            waited_s += max(until - max(since, counted_until), 0.0)
            counted_until = max(counted_until, until)
        return waited_s

    def add(self, other: "Usage") -> None:
        """Count what `other` counted."""
        self.requests += other.requests
        self.attempts += other.attempts
        self.cached += other.cached
        self.stale += other.stale
        self.coalesced += other.coalesced
        self.waits += other.waits
        self.sample_sources |= other.sample_sources
        self.oldest_age_s = max(self.oldest_age_s, other.oldest_age_s)


@dataclass
class Demand:
    """One call's claim on the upstreams.

    Attributes:
        deadline: monotonic seconds on the injected clock; infinite for none.
        caller: whom slots are shared out between.
        priority: interactive requests go before background ones.
        usage: where the call's upstream work is counted.
    """

    deadline: float = inf
    caller: str = "local"
    priority: Priority = "interactive"
    usage: Usage = field(default_factory=Usage)


CURRENT: ContextVar[Demand | None] = ContextVar("scigate_demand", default=None)


def current() -> Demand:
    """The demand being served; for work outside any call, one of `local` without a deadline."""
    return CURRENT.get() or Demand()
