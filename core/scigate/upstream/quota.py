"""Transport: a request starts when the upstream's quota and pace let it, and its answer sets the pace."""

from collections.abc import Callable

import httpx

from scigate.clock import Clock
from scigate.upstream.context import Usage, current
from scigate.upstream.pace import Pace, retry_after_s, spent_for_s
from scigate.upstream.turnstile import Slot, Turnstile

# Request extensions by which the wire says that the request is about to be written, which raises `SlotLost` where that
# may not be (connecting may have taken a while), and that it has been.
GOING = "scigate.going"
SENT = "scigate.sent"
# Request extension: seconds that the attempt waited for its slot.
WAITED = "scigate.waited_s"

Throttle = Callable[[httpx.Headers], float | None]


class SlotLost(Exception):
    """The request must not go out on its slot any more; nothing of it was sent."""


class QuotaTransport(httpx.AsyncBaseTransport):
    """Takes a slot for each attempt.

    429 and 503 pause the upstream for everybody; `throttle` reads a vendor's header for the seconds to leave between
    requests (0 for none, None when the header says nothing).
    """

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        *,
        turnstile: Turnstile,
        pace: Pace,
        clock: Clock,
        throttle: Throttle | None = None,
        is_transient: Callable[[httpx.Response], bool],
    ) -> None:
        self._inner = inner
        self._turnstile = turnstile
        self._pace = pace
        self._clock = clock
        self._throttle = throttle
        self._is_transient = is_transient
        self.requests = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        demand = current()
        since = self._clock.monotonic()
        while True:
            slot = await self._turnstile.enter(demand)
            request.extensions[WAITED] = self._clock.monotonic() - since
            try:
                return await self._sent(request, slot, demand.usage)
            except SlotLost:
                continue

    async def _sent(self, request: httpx.Request, slot: Slot, usage: Usage) -> httpx.Response:
        async def going() -> None:
            if not await slot.may_go():
                raise SlotLost

        def sent() -> None:
            if not slot.was_sent:
                slot.sent()
                usage.requests += 1
                self.requests += 1

        request.extensions[GOING] = going
        request.extensions[SENT] = sent
        try:
            response = await self._inner.handle_async_request(request)
            self._heed(response, slot.started_at)
        finally:
            slot.leave()
        return response

    async def aclose(self) -> None:
        await self._turnstile.aclose()
        await self._inner.aclose()

    def _heed(self, response: httpx.Response, started_at: float) -> None:
        """Slow down as the answer asks; before the slot is left, so that no waiter slips in at the old pace."""
        status = response.status_code
        refused = status in (429, 503) or (400 <= status < 500 and self._is_transient(response))
        if refused:
            self._pace.refused(str(status), started_at, retry_after_s(response.headers, self._clock.now()))
        spacing_s = self._throttle(response.headers) if self._throttle is not None else None
        if spacing_s:
            self._pace.asked(spacing_s)
        spent_s = spent_for_s(response.headers, self._clock.now())
        if spent_s and not refused:
            self._pace.spent(spent_s)
        if refused or spacing_s or spent_s:
            self._turnstile.slowed()
