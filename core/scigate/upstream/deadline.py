"""Transport: no request outlives the deadline of the call that it serves."""

import httpx

from scigate.clock import Clock
from scigate.upstream.context import CURRENT
from scigate.upstream.errors import DeadlineExceeded


class DeadlineTransport(httpx.AsyncBaseTransport):
    """Cancels what is below when the call's time is up; above the single-flight, so that each waiter has its own."""

    def __init__(self, inner: httpx.AsyncBaseTransport, *, upstream: str, clock: Clock) -> None:
        self._inner = inner
        self._upstream = upstream
        self._clock = clock

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        demand = CURRENT.get()
        if demand is None:
            return await self._inner.handle_async_request(request)
        left_s = demand.deadline - self._clock.monotonic()
        if left_s <= 0:
            raise self._exceeded()
        if left_s > _UNBOUNDED_S:
            return await self._inner.handle_async_request(request)
        try:
            async with self._clock.timeout(left_s):
                return await self._inner.handle_async_request(request)
        except TimeoutError:
            raise self._exceeded() from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _exceeded(self) -> DeadlineExceeded:
        return DeadlineExceeded(f"{self._upstream}: no answer before the deadline", upstream=self._upstream)


# The event loop's timers do not take infinity.
_UNBOUNDED_S = 30 * 86400.0
