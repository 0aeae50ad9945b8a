"""Windows in a real Redis server, shared by a fleet, and what is left of them while it is away."""

import asyncio
import errno
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol

import pytest
import redis.exceptions
from scigate.clock import Clock, SystemClock
from scigate.testing.clock import ManualClock
from scigate.upstream.pace import Slowing
from scigate.upstream.redis_quotas import BEAT_S, GONE_S, STALE_S, TIMEOUT_S, RedisQuotas
from scigate.upstream.share import Contact, Share
from scigate.upstream.window import Token, Window

# Longer than any test, and than what a server that was started anew waits out.
THREE = (Window(3, 1000.0),)
BOTH = (Window(2, 1000.0), Window(3, 2000.0))
BOUND_S = 20
"""Seconds that any wait may take: a bound on a hang, not an expectation."""
FLEET = "scigate:{scigate}:fleet"


class Server(Protocol):
    url: str

    def start(self) -> None: ...
    def kill(self) -> None: ...
    def say(self, *words: str) -> str: ...


class AheadClock(SystemClock):
    """The machine's clock, which a test sets ahead: the server's own cannot be stopped."""

    ahead_s = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead_s

    def advance(self, seconds: float) -> None:
        self.ahead_s += seconds


Open = Callable[..., RedisQuotas]


@pytest.fixture
def clock() -> AheadClock:
    return AheadClock()


@pytest.fixture
async def opened(redis: Server, clock: AheadClock) -> AsyncIterator[Open]:
    """Makes another member of the fleet."""
    stores: list[RedisQuotas] = []

    def another(url: str = redis.url, clock: Clock = clock, replicas: int = 1) -> RedisQuotas:
        stores.append(RedisQuotas(url, clock, replicas=replicas))
        return stores[-1]

    yield another
    for store in stores:
        await store.aclose()


async def soon(step: Callable[[], Awaitable[Any]], wanted: Callable[[Any], bool]) -> Any:
    """Repeat a step until what was told the store behind the caller's back has reached it."""
    for _ in range(1000):
        if wanted(outcome := await step()):
            return outcome
    raise AssertionError(f"still {outcome!r}")


async def send(store: RedisQuotas, windows: tuple[Window, ...] = THREE) -> float | None:
    """Take and send; the seconds to wait where nothing can be had."""
    token = await store.take("pubchem", windows)
    if not isinstance(token, Token):
        return token
    store.sent(token)
    return None


async def settle(store: RedisQuotas, clock: AheadClock) -> None:
    """Let the other members have had the time to learn of this one."""
    await store.meet()
    clock.advance(2 * BEAT_S)
    await store.meet()


async def test_members_share_one_budget(opened: Open) -> None:
    """What one sends leaves less for the other, which is told when the next place is free."""
    one, other = opened(), opened()
    assert [await send(store) for store in (one, other, one)] == [None] * 3
    assert await send(other) == pytest.approx(THREE[0].held_s, abs=10)
    await one.meet()
    assert (one.members, other.members) == (2, 2)
    assert (one.kind, one.trouble) == ("redis", None)


async def test_takes_from_every_window_or_from_none(opened: Open) -> None:
    """A request that one window refuses leaves the others as they were."""
    one, other = opened(), opened()
    assert [await send(one, BOTH), await send(other, BOTH)] == [None, None]
    assert isinstance(await send(one, BOTH), float)
    assert one.used("pubchem", BOTH) == (2, 2)


async def test_window_slides(opened: Open) -> None:
    """A place is free again when the window has passed, by the server's own time."""
    store, window = opened(), (Window(1, 0.05),)
    for _ in range(3):
        while isinstance(wait_s := await send(store, window), float):
            await SystemClock().sleep(wait_s)
    assert await send(store, window) == pytest.approx(window[0].held_s, abs=window[0].held_s)


async def test_unsent_token_is_given_back_to_all(opened: Open) -> None:
    """A token whose request never went out is there for any member's next request."""
    one, other, window = opened(), opened(), (Window(1, 1000.0),)
    token = await one.take("pubchem", window)
    assert isinstance(token, Token)
    assert isinstance(await send(other, window), float)
    one.give_back(token)
    await one.aclose()
    assert await send(other, window) is None


async def test_token_is_void_once_its_store_is_lost(opened: Open, redis: Server, clock: AheadClock) -> None:
    """A request that waited for a connection meanwhile must not go; the server learns that its place is free."""
    store, window = opened(), (Window(1, 1000.0),)
    token = await store.take("pubchem", window)
    assert isinstance(token, Token)
    assert await store.may_go(token)
    redis.say("CLIENT KILL TYPE normal SKIPME yes")
    clock.advance(BEAT_S)
    assert not await store.may_go(token)
    store.give_back(token)
    await store.meet()
    assert await soon(lambda: store.take("pubchem", window), lambda outcome: isinstance(outcome, Token))


async def test_death_of_the_server_is_noticed_at_once(opened: Open, redis: Server) -> None:
    """Without a request or a sign of life being due, which by this clock none ever is."""
    still = ManualClock()
    store = opened(clock=still)
    await send(store)
    redis.kill()
    try:
        async with asyncio.timeout(BOUND_S):
            while store.trouble is None:
                await still.settle()
    finally:
        redis.start()


@pytest.mark.parametrize("turns", range(8))
async def test_closes_while_the_connection_is_lost(opened: Open, redis: Server, turns: int) -> None:
    """Whatever it was doing about that, at whichever turn of the event loop."""
    store = opened()
    await send(store)
    redis.say("CLIENT KILL TYPE normal SKIPME yes")
    for _ in range(turns):
        await asyncio.sleep(0)
    async with asyncio.timeout(BOUND_S):
        await store.aclose()


async def test_caller_that_goes_away_leaves_no_token(opened: Open) -> None:
    """A token that is granted to a task that was cancelled meanwhile is given back."""
    store, window = opened(), (Window(1, 1000.0),)
    await store.meet()
    asking = asyncio.create_task(store.take("pubchem", window))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})
    assert await soon(lambda: store.take("pubchem", window), lambda outcome: isinstance(outcome, Token))


async def test_slowing_down_is_shared(opened: Open) -> None:
    """A refusal that one member met holds the other up, and is told with its cause."""
    one, other = opened(), opened()
    await send(one)
    one.slow("pubchem", THREE, Slowing(70.0, 400.0, 75.0, "429"))
    wait_s = await soon(lambda: send(other), lambda outcome: outcome is not None)
    assert wait_s == pytest.approx(70.0, abs=5) or wait_s == pytest.approx(400.0, abs=5)
    slowing = other.slowing("pubchem")
    assert slowing is not None
    assert (slowing.spacing_s, slowing.cause) == (400.0, "429")


async def test_a_server_that_was_started_anew_waits_short_windows_out(opened: Open, redis: Server) -> None:
    """It may have forgotten what was sent a moment ago; what a member sent itself it tells again."""
    store, short = opened(), (Window(3, 8.0), Window(100, 1000.0))
    redis.say("FLUSHALL")
    assert await send(store, short) == pytest.approx(short[0].held_s, abs=5)


async def test_share_is_sent_while_the_server_is_away(opened: Open, redis: Server, clock: AheadClock) -> None:
    """After the time in which the server may still have served the others, this member's part; back, it is counted."""
    nine = (Window(9, 1000.0),)
    one, other = opened(replicas=3), opened(replicas=3)
    assert [await send(one, nine), await send(other, nine)] == [None, None]
    for store in (one, other):
        await settle(store, clock)
    redis.kill()
    try:
        assert await send(one, nine) == pytest.approx(TIMEOUT_S + STALE_S, abs=3)
        assert one.forecast("pubchem", nine, 0) == pytest.approx(TIMEOUT_S + STALE_S, abs=3)
        assert one.trouble is not None
        clock.advance(TIMEOUT_S + STALE_S)
        # A third of the seven places that were left, rounded down.
        assert [await send(one, nine), await send(one, nine)] == [None, None]
        assert isinstance(await send(one, nine), float)
        clock.advance(nine[0].held_s)
        assert [await send(one, nine) for _ in range(3)] == [None] * 3
        assert isinstance(await send(one, nine), float)
    finally:
        redis.start()
    await one.meet()
    assert one.trouble is None
    # The server began anew, and knows what this member sent alone.
    assert await send(one, nine) is None
    assert one.used("pubchem", nine)[0] >= 3


async def test_member_that_nobody_knows_of_yet_sends_nothing_alone(opened: Open, redis: Server) -> None:
    """The others' shares leave no part for one that joined a moment before the server went away."""
    one, other = opened(), opened()
    await one.meet()
    await other.meet()
    redis.kill()
    try:
        await other.meet()
        assert other.forecast("pubchem", THREE, 0) == 1.0
    finally:
        redis.start()


async def test_server_away_at_start(opened: Open, redis: Server) -> None:
    """A member that has never seen the fleet sends its part of the size that the settings say it has."""
    nobody = redis.url.replace("127.0.0.1", "127.0.0.2").rsplit(":", 1)[0] + ":1/0"
    store = opened(nobody, replicas=3)
    assert await send(store) is None
    assert isinstance(await send(store), float)
    few = opened(nobody, replicas=4)
    assert isinstance(await send(few), float)


async def test_full_server_counts_on(opened: Open, redis: Server) -> None:
    """A cache that has filled the server's memory does not let the quota be overrun, nor stop the calls."""
    one, other = opened(), opened()
    redis.say("CONFIG SET maxmemory 1")
    try:
        assert [await send(store) for store in (one, other, one)] == [None] * 3
        assert isinstance(await send(other), float)
        assert (one.trouble, other.trouble) == (None, None)
    finally:
        redis.say("CONFIG SET maxmemory 0")


async def test_slow_server_is_as_good_as_away(opened: Open, redis: Server) -> None:
    """The call goes on with this member's share, and the next sign of life after the fault brings it back."""
    store = opened()
    await send(store)
    redis.say("CLIENT PAUSE 60000 WRITE")
    try:
        assert isinstance(await send(store), float)
        assert store.trouble is not None
    finally:
        redis.say("CLIENT UNPAUSE")
    await store.meet()
    assert store.trouble is None
    assert await send(store) is None


async def test_share_of_a_silent_member_is_kept_for_it(opened: Open, redis: Server) -> None:
    """A member that fell silent may be sending alone, so the others have that much less, until it signs off."""
    one, other = opened(), opened()
    await one.meet()
    await other.meet()
    member = other._member  # pyright: ignore[reportPrivateUsage]
    redis.say("ZADD", FLEET, str(time.time() - 10), member)
    sent = [await send(one) for _ in range(3)]
    assert sent.count(None) in (1, 2)
    await other.aclose()
    redis.say("ZREM", FLEET, member)
    await soon(lambda: send(one), lambda outcome: outcome is None)


async def test_figures_are_there_for_others(opened: Open) -> None:
    """What a member reports of itself is read by one that only asks, which is no member."""
    store, asking = opened(), opened()
    store.tell(lambda: '{"pubchem": {"waiting": 3}}')
    await send(store)
    await asking.look("pubchem", THREE)
    assert await asking.reports() == ['{"pubchem": {"waiting": 3}}']
    assert asking.used("pubchem", THREE) == (1,)
    await store.meet()
    assert store.members == 1


def test_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, clock: AheadClock) -> None:
    """Without the library the error says what to install."""
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(ModuleNotFoundError, match=r"scigate\[redis\]"):
        RedisQuotas("redis://127.0.0.1", clock)


@pytest.mark.parametrize(
    ("error", "cut_off"),
    [
        (ConnectionRefusedError(), False),
        (TimeoutError("slow"), False),
        (redis.exceptions.BusyLoadingError(), False),
        (redis.exceptions.TimeoutError("Timeout connecting to server"), True),
        (socket.gaierror(-2, "Name or service not known"), True),
        (OSError(errno.EHOSTUNREACH, "No route to host"), True),
    ],
)
async def test_member_that_is_cut_off_gives_its_share_up(clock: AheadClock, error: Exception, cut_off: bool) -> None:
    """Where nothing even refuses at the address the others may be served, and have our share after a minute."""
    store, window = RedisQuotas("redis://127.0.0.1:1/0", clock), (Window(5, 1.0),)
    store._contact = Contact(clock.monotonic(), Share(1, 0), settled=True)  # pyright: ignore[reportPrivateUsage]
    await store._lost(error)  # pyright: ignore[reportPrivateUsage]
    store._tried.set()  # pyright: ignore[reportPrivateUsage]
    clock.advance(GONE_S - 1)
    assert store.forecast("pubchem", window, 0) == 0.0
    clock.advance(2)
    assert (store.forecast("pubchem", window, 0) > 0) is cut_off
