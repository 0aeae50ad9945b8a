"""Waiting for a slot."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate.testing.clock import ManualClock
from scigate.upstream.context import Demand, Usage
from scigate.upstream.errors import CircuitOpen, QuotaExhausted
from scigate.upstream.pace import Pace, Slowing
from scigate.upstream.turnstile import Slot, Turnstile
from scigate.upstream.window import MemoryQuotas, Token, Window

ONE_A_SECOND = Window(1, 1.0)
TURN_S = ONE_A_SECOND.held_s


class Site:
    """A turnstile with what it is made of, and the order in which callers came through."""

    def __init__(self, clock: ManualClock, *windows: Window, concurrency: int = 100, max_waiting: int = 5000) -> None:
        self.clock = clock
        self.pace = Pace(clock, 1.0)
        self.store = MemoryQuotas(clock)
        self.windows = windows or (ONE_A_SECOND,)
        self.turnstile = Turnstile(
            "pubchem",
            self.windows,
            concurrency=concurrency,
            store=self.store,
            pace=self.pace,
            clock=clock,
            max_waiting=max_waiting,
        )
        self.passed: list[tuple[str, float]] = []

    async def enter(self, demand: Demand) -> Slot:
        slot = await self.turnstile.enter(demand)
        slot.sent()
        self.passed.append((demand.caller, self.clock.monotonic()))
        return slot

    async def visit(self, demand: Demand) -> None:
        (await self.enter(demand)).leave()


async def test_batch_of_one_caller_does_not_hold_up_another(clock: ManualClock) -> None:
    """A single request that comes after a batch of 1,000 starts within two turns."""
    site = Site(clock)
    batch = [asyncio.create_task(site.visit(Demand(caller="batch"))) for _ in range(1000)]
    await clock.advance(3 * TURN_S)
    single = asyncio.create_task(site.visit(Demand(caller="single")))
    await clock.advance(2 * TURN_S)
    assert single.done()
    assert site.turnstile.waiting == 1000 - len(site.passed) + 1
    for task in batch:
        task.cancel()
    await asyncio.wait(batch)
    assert site.turnstile.waiting == 0
    await site.turnstile.aclose()


async def test_slots_are_shared_equally_by_hungry_callers(clock: ManualClock) -> None:
    """Callers with different appetites get the same number of slots while all have something waiting."""
    site = Site(clock, Window(8, 1.0))
    appetites = {"a": 20, "b": 40, "c": 80, "d": 200}
    tasks = [
        asyncio.create_task(site.visit(Demand(caller=caller)))
        for caller, appetite in appetites.items()
        for _ in range(appetite)
    ]
    await clock.advance(8.5)
    counts = [sum(caller == passed for passed, _ in site.passed) for caller in appetites]
    jain = sum(counts) ** 2 / (len(counts) * sum(count**2 for count in counts))
    assert jain >= 0.95
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_refuses_at_once_what_cannot_start_in_time(clock: ManualClock) -> None:
    """With five waiting at one a second, a deadline in three seconds is hopeless and told so without a wait."""
    site = Site(clock)
    waiting = [asyncio.create_task(site.visit(Demand())) for _ in range(6)]
    await clock.settle()
    with pytest.raises(QuotaExhausted) as refused:
        await site.turnstile.enter(Demand(deadline=3.0))
    assert refused.value.retry_after_s == pytest.approx(6 * TURN_S)
    assert refused.value.upstream == "pubchem"
    await clock.advance(10.0)
    await asyncio.gather(*waiting)


async def test_pause_sends_the_hopeless_away_at_once(clock: ManualClock) -> None:
    """When the upstream asks for a long pause, those whose deadline lies within it are refused then, the rest wait."""
    site = Site(clock)
    refused = await site.enter(Demand())
    short, long = (asyncio.create_task(site.visit(Demand(deadline=deadline))) for deadline in (10.0, 100.0))
    await clock.settle()
    site.pace.refused("429", clock.monotonic(), 60.0)
    refused.leave()
    await clock.settle()
    assert isinstance(short.exception(), QuotaExhausted)
    assert not long.done()
    await clock.advance(60.0)
    assert long.done()


async def test_who_is_overtaken_past_its_deadline_is_refused(clock: ManualClock) -> None:
    """A background request that interactive ones overtake is told QuotaExhausted at the last turn before its time."""
    site = Site(clock)
    await site.visit(Demand())
    background = asyncio.create_task(site.visit(Demand(deadline=3.5, priority="background")))
    await clock.settle()
    interactive = [asyncio.create_task(site.visit(Demand())) for _ in range(8)]
    await clock.advance(3.2)
    with pytest.raises(QuotaExhausted):
        await background
    await clock.advance(10.0)
    await asyncio.gather(*interactive)


async def test_cancelled_waiter_uses_no_slot(clock: ManualClock) -> None:
    """The turn of a waiter that has gone is the next one's."""
    site = Site(clock)
    await site.visit(Demand(caller="a"))
    gone = asyncio.create_task(site.visit(Demand(caller="a")))
    next_one = asyncio.create_task(site.visit(Demand(caller="a")))
    await clock.settle()
    gone.cancel()
    await clock.advance(TURN_S)
    assert next_one.done()
    assert site.passed[-1][1] == pytest.approx(TURN_S)


async def test_slot_of_a_waiter_cancelled_as_it_is_granted_is_given_back(clock: ManualClock) -> None:
    """A waiter cancelled between being granted a slot and running again leaves token and place to others."""
    site = Site(clock, Window(1, 100.0))
    unused = await site.turnstile.enter(Demand())
    waiter = asyncio.create_task(site.visit(Demand()))
    await clock.settle()
    unused.leave()
    for _ in range(10):
        if site.turnstile.in_flight:
            break
        await asyncio.sleep(0)
    waiter.cancel()
    await asyncio.wait({waiter})
    assert waiter.cancelled()
    assert site.turnstile.in_flight == 0
    assert site.store.used("pubchem", site.windows) == (0,)


async def test_concurrency_is_capped(clock: ManualClock) -> None:
    """The next request starts when one that is under way ends, however much quota there is."""
    site = Site(clock, Window(100, 1.0), concurrency=2)
    slots = [await site.enter(Demand()) for _ in range(2)]
    third = asyncio.create_task(site.enter(Demand()))
    await clock.advance(50.0)
    assert not third.done()
    slots[0].leave()
    await clock.settle()
    assert third.done()


async def test_number_of_waiters_is_bounded(clock: ManualClock) -> None:
    """A request too many is refused instead of kept in memory."""
    site = Site(clock, max_waiting=3)
    tasks = [asyncio.create_task(site.visit(Demand())) for _ in range(4)]
    await clock.settle()
    with pytest.raises(QuotaExhausted, match="3 requests wait"):
        await site.turnstile.enter(Demand())
    await clock.advance(10.0)
    await asyncio.gather(*tasks)


async def test_waiting_is_counted_for_the_call(clock: ManualClock) -> None:
    """Seconds in the queue are added to the usage of the call that waited."""
    site, usage = Site(clock), Usage()
    await site.visit(Demand())
    waiting = asyncio.create_task(site.visit(Demand(usage=usage)))
    await clock.advance(5.0)
    await waiting
    assert usage.waited_s == pytest.approx(TURN_S)


async def test_requests_that_wait_side_by_side_wait_once(clock: ManualClock) -> None:
    """What a call is said to have waited is not more than it lasted, however many requests it made."""
    site, usage = Site(clock), Usage()
    await site.visit(Demand())
    both = [asyncio.create_task(site.visit(Demand(usage=usage))) for _ in range(2)]
    await clock.advance(10.0)
    await asyncio.gather(*both)
    assert usage.waited_s == pytest.approx(2 * TURN_S)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)), max_size=12))
def test_waited_seconds_are_those_in_which_anything_waited(waits: list[tuple[int, int]]) -> None:
    """Each second counts once, in whatever order the requests are counted and through however many usages."""
    usage, part = Usage(), Usage()
    for number, (since, lasting) in enumerate(waits):
        (usage, part)[number % 2].waits.append((since, since + lasting))
    usage.add(part)
    assert usage.waited_s == len({second for since, lasting in waits for second in range(since, since + lasting)})


async def test_waiters_can_be_refused_together(clock: ManualClock) -> None:
    """Whoever waits for an upstream that turns out to be down gets an exception of its own."""
    site = Site(clock)
    await site.visit(Demand())
    tasks = [asyncio.create_task(site.visit(Demand())) for _ in range(3)]
    await clock.settle()
    site.turnstile.refuse_waiting(lambda: CircuitOpen("down", upstream="pubchem", retry_after_s=5.0))
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert len({id(outcome) for outcome in outcomes if isinstance(outcome, CircuitOpen)}) == 3


async def test_no_task_is_left_when_nobody_waits(clock: ManualClock) -> None:
    """The turnstile's task ends with the last waiter."""
    site, before = Site(clock), len(asyncio.all_tasks())
    tasks = [asyncio.create_task(site.visit(Demand())) for _ in range(3)]
    await clock.advance(10.0)
    await asyncio.gather(*tasks)
    await clock.settle()
    assert len(asyncio.all_tasks()) == before


async def test_raised_priority_overtakes_what_is_in_the_background(clock: ManualClock) -> None:
    """A background request that an interactive call has come to wait for goes before the other background ones."""
    site = Site(clock)
    await site.visit(Demand())
    demands = [Demand(caller=name, priority="background") for name in ("first", "second", "third")]
    tasks = [asyncio.create_task(site.visit(demand)) for demand in demands]
    await clock.settle()
    site.turnstile.raise_priority(demands[2])
    await clock.advance(4 * TURN_S)
    await asyncio.gather(*tasks)
    assert [caller for caller, _ in site.passed[1:]] == ["third", "first", "second"]
    assert demands[2].priority == "interactive"


async def test_others_refusals_hold_us_up(clock: ManualClock) -> None:
    """A pause that the store tells of keeps whoever waits here waiting, and those whose time it exceeds are told."""

    class Told(MemoryQuotas):
        def slowing(self, upstream: str) -> Slowing | None:
            return Slowing(60.0, 2.0, 65.0, "429") if clock.monotonic() < 1.0 else None

    site = Site(clock)
    site.turnstile = Turnstile("pubchem", site.windows, concurrency=10, store=Told(clock), pace=site.pace, clock=clock)
    await site.visit(Demand())
    assert (site.pace.paused_for_s, site.pace.spacing_s, site.pace.slowed_by) == (60.0, 2.0, "429")
    with pytest.raises(QuotaExhausted):
        await site.enter(Demand(deadline=30.0))


async def test_newcomers_queue_while_the_store_is_asked(clock: ManualClock) -> None:
    """Those who come while a first one waits for the store's answer go in their turn, one question at a time."""
    asked: list[int] = []

    class Far(MemoryQuotas):
        under_way = 0

        async def take(self, upstream: str, windows: Sequence[Window]) -> Token | float:
            self.under_way += 1
            asked.append(self.under_way)
            await clock.sleep(0.01)
            self.under_way -= 1
            return await super().take(upstream, windows)

    site = Site(clock)
    site.turnstile = Turnstile(
        "pubchem", (Window(100, 1.0),), concurrency=100, store=Far(clock), pace=site.pace, clock=clock
    )
    tasks = [asyncio.create_task(site.visit(Demand(caller=str(number)))) for number in range(10)]
    await clock.advance(1.0)
    await asyncio.gather(*tasks)
    assert [caller for caller, _ in site.passed] == [str(number) for number in range(10)]
    assert max(asked) <= 2
