"""Transport: an upstream that is down is left alone for a while, and calls fail at once meanwhile."""

from collections.abc import Callable
from math import inf
from typing import Literal

import httpx

from scigate.clock import Clock
from scigate.upstream.errors import CircuitOpen
from scigate.upstream.retry import is_fault

# Consecutive failures that open the circuit.
FAILURES = 5
# Seconds for which it opens, doubled each time the probe fails.
FIRST_OPEN_S = 5.0
LONGEST_OPEN_S = 60.0
# What callers are told while a probe is under way, in seconds.
PROBE_S = 1.0

State = Literal["closed", "open", "half-open"]
Verdict = Literal["success", "failure", "neither"]


class Circuit:
    """The state of one upstream's breaker: closed, open until a time, or half-open with one probe under way.

    Args:
        on_open: called when it opens.
    """

    def __init__(self, upstream: str, clock: Clock, on_open: Callable[[], None]) -> None:
        self._upstream = upstream
        self._clock = clock
        self._on_open = on_open
        self._failures = 0
        self._open_until = -inf
        self._open_s = FIRST_OPEN_S
        self._probing = False
        # Requests of an earlier period (before it opened or closed last) have no say in this one.
        self._period = 0

    @property
    def state(self) -> State:
        """As a request would find it now."""
        if self._open_until == -inf:
            return "closed"
        return "open" if self._clock.monotonic() < self._open_until else "half-open"

    def enter(self) -> int:
        """Let a request pass, or refuse it. What is returned goes back with the verdict.

        Raises:
            CircuitOpen: the circuit is open, or half-open and being probed.
        """
        state = self.state
        if state == "closed":
            return self._period
        if state == "open" or self._probing:
            raise self.refusal()
        self._probing = True
        return self._period

    def judge(self, period: int, verdict: Verdict) -> None:
        """Take a request's outcome into account; of a probe, `neither` leaves the next request to probe."""
        if period != self._period:
            return
        if self._probing:
            self._probing = False
            if verdict == "success":
                self._close()
            elif verdict == "failure":
                self._open(min(self._open_s * 2, LONGEST_OPEN_S))
        elif verdict == "success":
            self._failures = 0
        elif verdict == "failure":
            self._failures += 1
            if self._failures >= FAILURES:
                self._open(FIRST_OPEN_S)

    def refusal(self) -> CircuitOpen:
        """What a request is told that may not pass."""
        wait_s = max(self._open_until - self._clock.monotonic(), PROBE_S)
        return CircuitOpen(
            f"{self._upstream} failed {FAILURES} times in a row; ask again in {wait_s:.1f} s",
            upstream=self._upstream,
            retry_after_s=wait_s,
        )

    def _open(self, seconds: float) -> None:
        self._period += 1
        self._failures = 0
        self._open_s = seconds
        self._open_until = self._clock.monotonic() + seconds
        self._on_open()

    def _close(self) -> None:
        self._period += 1
        self._failures = 0
        self._open_until = -inf


class BreakerTransport(httpx.AsyncBaseTransport):
    """Tells the circuit how each attempt ended, and asks it first.

    | outcome | counts as |
    | --- | --- |
    | transport error, undecodable body | failure |
    | 5xx that the upstream calls transient | failure |
    | 429, 503 with Retry-After | success: it is there, and says when |
    | other 5xx (it may be about the query) | neither |
    | any other answer | success |
    | refused before the wire, deadline passed, cancelled | neither |
    """

    def __init__(
        self, inner: httpx.AsyncBaseTransport, *, circuit: Circuit, is_transient: Callable[[httpx.Response], bool]
    ) -> None:
        self._inner = inner
        self._circuit = circuit
        self._is_transient = is_transient
        self.failures = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        period = self._circuit.enter()
        verdict: Verdict = "neither"
        try:
            response = await self._inner.handle_async_request(request)
            verdict = self._verdict(response)
            return response
        except httpx.RequestError as error:
            if is_fault(error):
                verdict = "failure"
            raise
        finally:
            if verdict == "failure":
                self.failures += 1
            self._circuit.judge(period, verdict)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _verdict(self, response: httpx.Response) -> Verdict:
        status = response.status_code
        if status < 500 or (status == 503 and "retry-after" in response.headers):
            return "success"
        return "failure" if self._is_transient(response) else "neither"
