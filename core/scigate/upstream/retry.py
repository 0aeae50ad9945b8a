"""Transport: what failed by chance is asked again, within the call's time and a budget of the upstream.

Written by hand, since httpx-retries waits on the real clock with the global random generator, and knows neither a
deadline nor a budget.
"""

from collections.abc import Callable
from math import inf
from random import Random

import httpx

from scigate.clock import Clock
from scigate.upstream import wish
from scigate.upstream.context import current
from scigate.upstream.errors import DeadlineExceeded, ForeignUrl, RefusedError, ResponseTooLarge
from scigate.upstream.pace import retry_after_s

# Before the n-th retry a random part of 2**(n-1) times this is waited, in seconds ("full jitter").
BACKOFF_S = 1.0
LONGEST_BACKOFF_S = 8.0
# A Retry-After beyond this is the caller's to wait for, deadline or not.
LONGEST_WAIT_S = 60.0

_FINAL = (
    RefusedError,
    DeadlineExceeded,
    ResponseTooLarge,
    ForeignUrl,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)


def is_fault(error: BaseException) -> bool:
    """Whether the exception tells of the network or the upstream, and not of us, the request or the call's end."""
    return isinstance(error, httpx.TransportError | httpx.DecodingError) and not isinstance(error, _FINAL)


class RetryBudget:
    """Keeps an outage from multiplying the load: retries are at most a fifth of the requests, and a few more.

    A full budget is `SIZE` retries; each request earns `EARNED` of one back.
    """

    SIZE = 10.0
    EARNED = 0.2

    def __init__(self) -> None:
        self._left = self.SIZE

    def earn(self) -> None:
        """A request was made."""
        self._left = min(self.SIZE, self._left + self.EARNED)

    def spend(self) -> bool:
        """Take one retry out; False when there is none."""
        if self._left < 1:
            return False
        self._left -= 1
        return True


class RetryTransport(httpx.AsyncBaseTransport):
    """Repeats a safe request after a transport error or a transient status, `retries` times at most.

    Each attempt goes through the breaker and takes a slot of its own. When no retry is left, allowed or possible in
    time, the last response or exception is handed on as it came.
    """

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        *,
        retries: int,
        is_transient: Callable[[httpx.Response], bool],
        clock: Clock,
        random: Random,
    ) -> None:
        self._inner = inner
        self._retries = retries
        self._is_transient = is_transient
        self._clock = clock
        self._random = random
        self._budget = RetryBudget()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._budget.earn()
        retries = self._retries if wish.is_safe(request) else 0
        outcome = await self._attempt(request)
        for retry in range(retries):
            wait_s = self._wait_s(outcome, retry)
            if wait_s is None or not self._budget.spend():
                break
            await self._clock.sleep(wait_s)
            latest = await self._attempt(request)
            if isinstance(latest, RefusedError):
                break  # What the upstream itself said tells more than that it can't be asked again.
            outcome = latest
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _attempt(self, request: httpx.Request) -> httpx.Response | httpx.RequestError:
        current().usage.attempts += 1
        try:
            return await self._inner.handle_async_request(request)
        except httpx.RequestError as error:
            return error

    def _wait_s(self, outcome: httpx.Response | httpx.RequestError, retry: int) -> float | None:
        """Seconds to wait before repeating; None when that is of no use or too late."""
        asked_s = 0.0
        if isinstance(outcome, httpx.Response):
            if not self._is_transient(outcome):
                return None
            asked_s = retry_after_s(outcome.headers, self._clock.now()) or 0.0
        elif not is_fault(outcome):
            return None
        backoff_s = self._random.uniform(0.0, min(BACKOFF_S * 2**retry, LONGEST_BACKOFF_S))
        left_s = current().deadline - self._clock.monotonic()
        # The pause that Retry-After asks for is kept by the quota's pace, where waiters keep their turns.
        if max(backoff_s, asked_s) >= min(left_s, LONGEST_WAIT_S if asked_s else inf):
            return None
        return backoff_s
