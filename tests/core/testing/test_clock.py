"""The clock that tests move by hand."""

import asyncio

import pytest
from scigate.clock import Clock, SystemClock
from scigate.testing.clock import ManualClock


async def test_wakes_sleepers_in_order_of_time() -> None:
    """Sleepers wake by their time, whoever began first, and see that time."""
    clock = ManualClock()
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic()))

    async with asyncio.TaskGroup() as tasks:
        for name, seconds in (("late", 3.0), ("early", 1.0), ("middle", 2.0)):
            tasks.create_task(sleeper(name, seconds))
        await clock.advance(5.0)
    assert woken == [("early", 1.0), ("middle", 2.0), ("late", 3.0)]


async def test_sleep_begun_while_advancing_ends_in_the_same_advance() -> None:
    """A task that sleeps again after waking is woken again before the advance is over."""
    clock = ManualClock()
    ticks: list[float] = []

    async def ticker() -> None:
        for _ in range(4):
            await clock.sleep(0.25)
            ticks.append(clock.monotonic())

    task = asyncio.create_task(ticker())
    await clock.advance(1.0)
    assert ticks == [0.25, 0.5, 0.75, 1.0]
    await task


async def test_timeout_expires_on_the_manual_clock() -> None:
    """A block is cut off with TimeoutError when the clock passes its time."""
    clock = ManualClock()

    async def wait() -> None:
        async with clock.timeout(2.0):
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await clock.advance(1.9)
    assert not task.done()
    await clock.advance(0.2)
    with pytest.raises(TimeoutError):
        await task


async def test_timeout_leaves_a_finished_block_alone() -> None:
    """Time that passes after a block has ended cancels nothing."""
    clock = ManualClock()
    async with clock.timeout(1.0) as scope:
        pass
    await clock.advance(5.0)
    assert not scope.expired()


async def test_utc_moves_with_monotonic() -> None:
    """Both readings move by the same amount, and UTC is aware."""
    clock = ManualClock()
    before = clock.now()
    await clock.advance(90.0)
    assert (clock.now() - before).total_seconds() == 90.0
    assert clock.now().utcoffset() is not None


def test_both_clocks_are_clocks() -> None:
    """The manual clock can stand wherever the system's can."""
    clocks: list[Clock] = [SystemClock(), ManualClock()]
    assert all(clock.monotonic() >= 0 and clock.now().tzinfo for clock in clocks)
