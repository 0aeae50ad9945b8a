"""Pauses and spacing."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate.testing.clock import ManualClock
from scigate.upstream.pace import (
    FIRST_PAUSE_S,
    RECOVERY_STEP_S,
    SLOWEST,
    Pace,
    Slowing,
    retry_after_s,
    spent_for_s,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("1.5", 1.5),
        ("-3", 0.0),
        ("Thu, 01 Jan 2026 00:01:00 GMT", 60.0),
        ("Thu, 01 Jan 2026 00:01:00", 60.0),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 0.0),
        ("Fri, 01 Jan 2027 00:00:00 GMT", 3600.0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("", None),
    ],
)
def test_reads_retry_after(clock: ManualClock, text: str, seconds: float | None) -> None:
    """Retry-After is seconds or a date; the unreadable is as good as none, and an hour is the most believed."""
    assert retry_after_s(httpx.Headers({"Retry-After": text}), clock.now()) == seconds


@given(st.text())
def test_no_header_is_too_odd(text: str) -> None:
    """Whatever stands in Retry-After, it is a time from zero to an hour, or no word at all."""
    headers = httpx.Headers([(b"Retry-After", text.encode(errors="replace"))])
    seconds = retry_after_s(headers, ManualClock().now())
    assert seconds is None or 0 <= seconds <= 3600


def test_no_header_asks_for_nothing(clock: ManualClock) -> None:
    """A missing Retry-After is no pause of zero seconds but no word at all."""
    assert retry_after_s(httpx.Headers(), clock.now()) is None


async def test_pauses_as_long_as_asked(clock: ManualClock) -> None:
    """A refusal with Retry-After stops everybody for that time."""
    pace = Pace(clock, 0.2)
    pace.refused("429", clock.monotonic(), 12.0)
    assert (pace.paused_for_s, pace.slowed_by) == (12.0, "429")
    await clock.advance(12.0)
    assert pace.paused_for_s == 0


async def test_recovers_step_by_step(clock: ManualClock) -> None:
    """After a pause the spacing is halved at each step until the quota alone governs."""
    pace = Pace(clock, 0.2)
    for _ in range(3):
        pace.refused("503", clock.monotonic(), 1.0)
        await clock.advance(1.0)
    seen = [pace.spacing_s]
    while pace.spacing_s:
        await clock.advance(RECOVERY_STEP_S)
        seen.append(pace.spacing_s)
    assert seen == pytest.approx([1.6, 0.8, 0.4, 0.0])
    assert pace.slowed_by is None


async def test_refusals_under_way_together_are_one(clock: ManualClock) -> None:
    """Ten requests refused at the same time slow down no more than one does."""
    one, ten = Pace(clock, 0.2), Pace(clock, 0.2)
    started = clock.monotonic()
    await clock.advance(0.5)
    one.refused("429", started, None)
    for _ in range(10):
        ten.refused("429", started, None)
    assert (one.spacing_s, one.paused_for_s) == (ten.spacing_s, ten.paused_for_s) == (0.4, FIRST_PAUSE_S)


async def test_spacing_by_refusals_is_bounded(clock: ManualClock) -> None:
    """However often it refuses, an upstream is asked again at an eighth of its rate after the pause."""
    pace = Pace(clock, 0.2)
    for _ in range(20):
        pace.refused("503", clock.monotonic(), 0.0)
        await clock.advance(0.1)
    assert pace.spacing_s == pytest.approx(SLOWEST * 0.2)


async def test_pause_without_retry_after_grows(clock: ManualClock) -> None:
    """Refusals in a row that do not say how long are answered with longer and longer pauses, up to half a minute."""
    pace = Pace(clock, 0.2)
    pauses: list[float] = []
    for _ in range(7):
        pace.refused("503", clock.monotonic(), None)
        pauses.append(pace.paused_for_s)
        await clock.advance(pace.paused_for_s)
    assert pauses == pytest.approx([1, 2, 4, 8, 16, 30, 30])


async def test_vendor_header_spaces_requests_out(clock: ManualClock) -> None:
    """Seconds asked for by a header lie between starts, and a lower wish does not end them at once."""
    pace = Pace(clock, 0.2)
    pace.asked(1.0)
    pace.started()
    pace.asked(0.4)
    assert (pace.wait_s(), pace.wait_s(ahead=3), pace.slowed_by) == (1.0, 4.0, "throttle")
    await clock.advance(RECOVERY_STEP_S)
    assert pace.spacing_s == pytest.approx(0.5)


async def test_what_others_were_told_is_heeded(clock: ManualClock) -> None:
    """A slower pace from elsewhere is taken over, a faster one is not, and our own refusals meanwhile are the same."""
    mine, theirs = Pace(clock, 0.2), Pace(clock, 0.2)
    started = clock.monotonic()
    await clock.advance(0.1)
    theirs.refused("429", started, 10.0)
    assert theirs.slowing is not None
    mine.heed(theirs.slowing)
    mine.refused("429", started, 10.0)
    assert (mine.paused_for_s, mine.spacing_s) == (theirs.paused_for_s, theirs.spacing_s) == (10.0, 0.4)
    mine.heed(Slowing(1.0, 0.1, 0.0, "throttle"))
    assert (mine.paused_for_s, mine.spacing_s, mine.slowed_by) == (10.0, 0.4, "429")
    await clock.advance(30.0)
    assert mine.slowing is None


@pytest.mark.parametrize(
    ("headers", "pause_s"),
    [
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "7"}, 7.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767225609"}, 9.0),
        ({"RateLimit-Remaining": "0", "RateLimit-Reset": "3"}, 3.0),
        ({"X-RateLimit-Remaining": "2", "X-RateLimit-Reset": "7"}, 0.0),
        ({"X-RateLimit-Remaining": "0"}, 0.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"}, 0.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "nan"}, 0.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "-5"}, 0.0),
        ({}, 0.0),
    ],
)
def test_a_limit_that_is_used_up_is_waited_out(clock: ManualClock, headers: dict[str, str], pause_s: float) -> None:
    """`X-RateLimit` headers of an answer say for how long nothing more will be given, as seconds or as a Unix time."""
    assert spent_for_s(httpx.Headers(headers), clock.now()) == pytest.approx(pause_s)


def test_reset_stands_in_for_retry_after(clock: ManualClock) -> None:
    """A refusal without Retry-After may still say when the limit is full again."""
    assert retry_after_s(httpx.Headers({"X-RateLimit-Reset": "11"}), clock.now()) == 11.0
    assert retry_after_s(httpx.Headers({"X-RateLimit-Reset": "11", "Retry-After": "2"}), clock.now()) == 2.0


async def test_used_up_limit_pauses_without_slowing(clock: ManualClock) -> None:
    """Nobody was refused, so that after the wait the full rate is used again."""
    pace = Pace(clock, 0.2)
    pace.spent(4.0)
    assert (pace.paused_for_s, pace.spacing_s, pace.slowed_by) == (4.0, 0.0, "limit used up")
    await clock.advance(4.0)
    assert (pace.wait_s(), pace.slowed_by) == (0.0, None)
