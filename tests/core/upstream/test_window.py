"""Sliding windows."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate.testing.clock import ManualClock
from scigate.upstream.window import TRAVEL_MARGIN_S, MemoryQuotas, Token, Window

FIVE_A_SECOND = Window(5, 1.0)
SEVEN_A_MINUTE = Window(7, 60.0)


@pytest.mark.parametrize(
    ("text", "limit", "span_s"),
    [("5/second", 5, 1), ("400/minute", 400, 60), ("100/hour", 100, 3600), ("9/day", 9, 86400), (" 3 / 10s ", 3, 10)],
)
def test_reads_a_quota(text: str, limit: int, span_s: float) -> None:
    """A quota is a number of requests per second, minute, hour, day or some seconds."""
    assert Window.parse(text) == Window(limit, span_s)


@pytest.mark.parametrize("text", ["", "5", "five/second", "0/second", "5/fortnight", "5/0s", "-1/second"])
def test_rejects_what_is_no_quota(text: str) -> None:
    """A text that is no quota, or allows nothing, is refused with the text in the message."""
    with pytest.raises(ValueError, match="quota"):
        Window.parse(text)


async def take(store: MemoryQuotas, *windows: Window) -> Token | float:
    return await store.take("pubchem", windows)


async def test_takes_from_every_window_or_from_none(clock: ManualClock) -> None:
    """A request that one window refuses leaves the others as they were."""
    store, both = MemoryQuotas(clock), (FIVE_A_SECOND, SEVEN_A_MINUTE)
    for _ in range(2):
        for _ in range(5):
            outcome = await take(store, *both)
            if isinstance(outcome, Token):
                store.sent(outcome)
        await clock.advance(FIVE_A_SECOND.held_s)
    assert store.used("pubchem", both) == (0, 7)
    assert await take(store, *both) == pytest.approx(60 + TRAVEL_MARGIN_S - 2 * FIVE_A_SECOND.held_s)
    assert store.used("pubchem", both) == (0, 7)


async def test_unused_token_is_given_back(clock: ManualClock) -> None:
    """A token whose request never went out is there for the next request."""
    store, window = MemoryQuotas(clock), Window(1, 10.0)
    token = await take(store, window)
    assert isinstance(token, Token)
    assert isinstance(await take(store, window), float)
    store.give_back(token)
    assert isinstance(await take(store, window), Token)


async def test_sent_token_is_not_given_back(clock: ManualClock) -> None:
    """A request that went out counts, whatever became of it."""
    store, window = MemoryQuotas(clock), Window(1, 10.0)
    token = await take(store, window)
    assert isinstance(token, Token)
    store.sent(token)
    store.give_back(token)
    assert store.used("pubchem", (window,)) == (1,)


async def test_token_counts_from_when_it_is_sent(clock: ManualClock) -> None:
    """The upstream counts arrivals, so time spent on connecting does not shorten the window."""
    store, window = MemoryQuotas(clock), Window(1, 1.0)
    token = await take(store, window)
    assert isinstance(token, Token)
    await clock.advance(3.0)
    store.sent(token)
    assert await take(store, window) == pytest.approx(window.held_s)


async def test_upstreams_have_windows_of_their_own(clock: ManualClock) -> None:
    """What one upstream is sent takes nothing from another."""
    store, window = MemoryQuotas(clock), Window(1, 10.0)
    await store.take("pubchem", (window,))
    assert isinstance(await store.take("ncbi", (window,)), Token)


@given(
    limit=st.integers(1, 5),
    sends=st.lists(st.floats(0, 0.5), max_size=12),
    ahead=st.integers(0, 12),
)
def test_forecast_is_when_the_token_is_had(limit: int, sends: list[float], ahead: int) -> None:
    """The forecast for the request after `ahead` others is exact when those go out as soon as they can."""
    window = Window(limit, 1.0)

    async def scenario() -> None:
        clock = ManualClock(turns=1)
        store = MemoryQuotas(clock)

        async def send() -> None:
            while not isinstance(outcome := await take(store, window), Token):
                await clock.advance(outcome)
            store.sent(outcome)

        for gap in sends:
            await clock.advance(gap)
            await send()
        expected = clock.monotonic() + store.forecast("pubchem", (window,), ahead)
        for _ in range(ahead + 1):
            await send()
        assert clock.monotonic() == pytest.approx(expected)

    asyncio.run(scenario())
