"""The way in to one upstream: a request waits here for its slot.

A slot is a token of every quota window, a place under the concurrency cap, and the upstream's pace. Above is the quota
transport; the order among waiters is `fairness.py`, the windows are `window.py`.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context
from math import inf

from scigate.clock import Clock
from scigate.upstream.context import Demand, Priority
from scigate.upstream.errors import QuotaExhausted, RefusedError
from scigate.upstream.fairness import FairQueue
from scigate.upstream.pace import Pace
from scigate.upstream.window import QuotaStore, Token, Window

MAX_WAITING = 5000


class Slot:
    """One request's leave to start.

    `may_go` is asked before it is written, `sent` told when it has been, and `leave`, once, when it is over.
    """

    __slots__ = ("_leave", "_store", "_token", "started_at", "was_sent")

    def __init__(self, store: QuotaStore, token: Token, started_at: float, leave: Callable[[], None]) -> None:
        self._store = store
        self._token = token
        self._leave = leave
        self.started_at = started_at
        self.was_sent = False

    async def may_go(self) -> bool:
        """Whether the slot still holds; waiting for a connection, it may have been lost with the store."""
        return await self._store.may_go(self._token)

    def sent(self) -> None:
        """The request has been written: its token counts from now."""
        if not self.was_sent:
            self.was_sent = True
            self._store.sent(self._token)

    def leave(self) -> None:
        """The request is over; a token that was not used is given back."""
        if not self.was_sent:
            self.was_sent = True
            self._store.give_back(self._token)
        self._leave()


class _Waiter:
    __slots__ = ("demand", "priority", "slot")

    def __init__(self, demand: Demand) -> None:
        self.demand = demand
        # As queued: the demand's own may be raised meanwhile.
        self.priority: Priority = demand.priority
        self.slot: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()

    @property
    def caller(self) -> str:
        return self.demand.caller


class Turnstile:
    """Lets requests in, fairly, as the windows, the pace and the concurrency cap of one upstream allow.

    A task runs only while somebody waits.

    Args:
        upstream: the name under which `store` keeps the windows.
        concurrency: requests under way at most.
        max_waiting: requests that may wait at most; a further one is refused.
    """

    def __init__(
        self,
        upstream: str,
        windows: tuple[Window, ...],
        *,
        concurrency: int,
        store: QuotaStore,
        pace: Pace,
        clock: Clock,
        max_waiting: int = MAX_WAITING,
    ) -> None:
        self._upstream = upstream
        self._windows = windows
        self._concurrency = concurrency
        self._store = store
        self._pace = pace
        self._clock = clock
        self._max_waiting = max_waiting
        self._queue: FairQueue[_Waiter] = FairQueue()
        self._in_flight = 0
        self._asking = False
        self._changed = asyncio.Event()
        self._doorman: asyncio.Task[None] | None = None
        # No waiter's deadline is before this, so that most turns need not look at all of them.
        self._soonest_deadline = inf

    @property
    def waiting(self) -> int:
        """Requests that wait for a slot."""
        return len(self._queue)

    @property
    def in_flight(self) -> int:
        """Requests that have a slot."""
        return self._in_flight

    async def enter(self, demand: Demand) -> Slot:
        """Wait for a slot, whose `leave` must be called in the end.

        Raises:
            QuotaExhausted: no slot is to be expected before the demand's deadline (told at once, or as soon as a pause
                makes it so), or too many wait already.
        """
        # One at a time asks the store: those who come meanwhile queue, so that they go in their turn.
        free = not self._queue and not self._asking and self._in_flight < self._concurrency
        if free and not self._pace.wait_s():
            slot = await self._take()
            if isinstance(slot, Slot):
                return slot
        self._refuse_if_hopeless(demand)
        waiter = _Waiter(demand)
        self._queue.push(waiter)
        self._soonest_deadline = min(self._soonest_deadline, demand.deadline)
        if self._doorman is None:
            # A context of its own: the task outlives the call that happened to start it.
            self._doorman = asyncio.create_task(self._admit(), name=f"turnstile {self._upstream}", context=Context())
        since = self._clock.monotonic()
        try:
            return await waiter.slot
        except asyncio.CancelledError:
            self._abandon(waiter)
            raise
        finally:
            demand.usage.waits.append((since, self._clock.monotonic()))

    def refuse_waiting(self, error: Callable[[], RefusedError]) -> None:
        """Send everybody who waits away with an exception of their own."""
        for waiter in self._queue:
            self._send_away(waiter, error())

    def raise_priority(self, demand: Demand) -> None:
        """An interactive call has joined what waits for `demand`: its requests go before background ones from now."""
        demand.priority = "interactive"
        for waiter in self._queue:
            if waiter.demand is demand:
                self._queue.leave(waiter)
                waiter.priority = demand.priority
                self._queue.push(waiter)

    def slowed(self) -> None:
        """The pace has become slower: whoever shares the upstream's budget is told."""
        slowing = self._pace.slowing
        if slowing is not None:
            self._store.slow(self._upstream, self._windows, slowing)

    async def aclose(self) -> None:
        """Send everybody away and stop."""
        self.refuse_waiting(
            lambda: QuotaExhausted(f"{self._upstream} is closing", upstream=self._upstream, retry_after_s=0.0)
        )
        if self._doorman is not None:
            doorman, self._doorman = self._doorman, None
            doorman.cancel()
            await asyncio.wait({doorman})

    async def _take(self) -> Slot | float:
        """A slot, or seconds until asking again is worth it."""
        self._in_flight += 1
        self._asking = True
        admitted = False
        try:
            token = await self._store.take(self._upstream, self._windows)
            slowing = self._store.slowing(self._upstream)
            if slowing is not None:
                self._pace.heed(slowing)
            if not isinstance(token, Token):
                return token
            admitted = True
        finally:
            self._asking = False
            if not admitted:
                self._in_flight -= 1
        self._pace.started()
        return Slot(self._store, token, self._clock.monotonic(), self._left)

    def _left(self) -> None:
        self._in_flight -= 1
        self._changed.set()

    async def _admit(self) -> None:
        try:
            while self._queue:
                self._changed.clear()
                if self._in_flight >= self._concurrency:
                    await self._changed.wait()
                    continue
                wait_s = self._pace.wait_s()
                if not wait_s:
                    slot = await self._take()
                    if isinstance(slot, Slot):
                        self._hand_over(slot)
                        continue
                    wait_s = slot
                self._send_away_hopeless(self._clock.monotonic() + wait_s)
                if self._queue:
                    await self._pause(wait_s)
        except Exception as error:  # noqa: BLE001  # The top of a task: it goes to those who wait.
            for waiter in self._queue:
                self._send_away(waiter, error)
        finally:
            if self._doorman is asyncio.current_task():
                self._doorman = None

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with self._clock.timeout(seconds):
                await self._changed.wait()

    def _hand_over(self, slot: Slot) -> None:
        waiter = self._queue.pop()
        if waiter is None:
            slot.leave()
        else:
            waiter.slot.set_result(slot)

    def _abandon(self, waiter: _Waiter) -> None:
        """The waiter's task is cancelled: it may hold a slot that it never learnt of."""
        self._queue.leave(waiter)
        if waiter.slot.done() and not waiter.slot.cancelled() and waiter.slot.exception() is None:
            waiter.slot.result().leave()

    def _send_away(self, waiter: _Waiter, error: Exception) -> None:
        self._queue.leave(waiter)
        if not waiter.slot.done():
            waiter.slot.set_exception(error)

    def _refuse_if_hopeless(self, demand: Demand) -> None:
        ahead = self._queue.ahead_of(demand.caller, demand.priority)
        wait_s = max(self._store.forecast(self._upstream, self._windows, ahead), self._pace.wait_s(ahead))
        if self._clock.monotonic() + wait_s >= demand.deadline:
            raise self._exhausted("no slot before the deadline", wait_s)
        if len(self._queue) >= self._max_waiting:
            raise self._exhausted(f"{len(self._queue)} requests wait already", wait_s)

    def _send_away_hopeless(self, next_start: float) -> None:
        if self._soonest_deadline > next_start:
            return
        for waiter in self._queue:
            if waiter.demand.deadline <= next_start:
                wait_s = next_start - self._clock.monotonic()
                self._send_away(waiter, self._exhausted("no slot before the deadline", wait_s))
        self._soonest_deadline = min((waiter.demand.deadline for waiter in self._queue), default=inf)

    def _exhausted(self, why: str, wait_s: float) -> QuotaExhausted:
        return QuotaExhausted(
            f"{self._upstream}: {why}; ask again in {wait_s:.1f} s", upstream=self._upstream, retry_after_s=wait_s
        )
