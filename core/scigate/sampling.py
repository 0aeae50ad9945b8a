"""How many traces are begun: one for each call while there are few, and no more than so many in a second."""

from __future__ import annotations

from math import inf

from scigate.clock import Clock

__all__ = ["Traces"]


class Traces:
    """Counts the traces that are begun here; a client that has begun one is not asked.

    Spans cost a third of a short call, and under load nobody reads thousands of like traces.

    Args:
        per_s: Traces begun in a second at most, and at once; infinite for no bound.
        clock: The clock of the seconds.

    Attributes:
        left_out: Requests that were not traced for their number.
    """

    def __init__(self, per_s: float, clock: Clock) -> None:
        self.left_out = 0
        self._per_s = per_s
        self._most = max(per_s, 1.0)
        self._saved = self._most
        self._clock = clock
        self._at = clock.monotonic()

    def begin(self) -> bool:
        """Whether one more may begin now."""
        if self._per_s == inf:
            return True
        now = self._clock.monotonic()
        self._saved = min(self._saved + (now - self._at) * self._per_s, self._most)
        self._at = now
        if self._saved < 1.0:
            self.left_out += 1
            return False
        self._saved -= 1.0
        return True
