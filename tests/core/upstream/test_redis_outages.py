"""Fleets whose Redis dies, comes back, with its data or without, and cannot be reached: on simulated time.

The rules are those of `quotas.lua`, run by a real server on the simulated clock; what is simulated is the way there.
"""

import asyncio
from random import Random
from typing import Any, Protocol

import pytest
import redis as blocking
from redis.exceptions import ConnectionError as Lost
from redis.exceptions import TimeoutError as NoAnswer
from scigate.testing.clock import ManualClock
from scigate.upstream.redis_quotas import TIMEOUT_S, RedisQuotas
from scigate.upstream.window import Token, Window

LATENCY_S = 0.001
FIVE = (Window(5, 1.0),)
MEMBERS = 4


class RealServer(Protocol):
    url: str


class Server:
    """One address; behind it a server that is `up` or not, in its `life`-th life."""

    def __init__(self, url: str, clock: ManualClock) -> None:
        self.clock = clock
        self.real = blocking.Redis.from_url(url)
        self.up = True
        self.life = 0
        self.died = asyncio.Event()

    def kill(self) -> None:
        self.up = False
        self.died.set()

    def start(self, *, empty: bool) -> None:
        if empty:
            self.real.flushall()
        self.up, self.died = True, asyncio.Event()
        self.life += 1


class Way:
    """A member's way to the server, which may be cut."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.cut = False

    def client(self, _url: str, *, patient: bool = False) -> Any:
        return Client(self)


class Client:
    """What the store asks of a client of the library."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self._life: int | None = None

    async def _there(self) -> None:
        """The way to the server or back."""
        server = self._way.server
        await server.clock.sleep(LATENCY_S)
        if self._way.cut:
            await server.clock.sleep(TIMEOUT_S)
            raise NoAnswer("Timeout connecting to server")
        if self._life is None and not server.up:
            raise Lost("Error 111 connecting") from ConnectionRefusedError(111, "refused")
        if self._life is None:
            self._life = server.life
        if self._life != server.life or not server.up:
            raise Lost("Connection closed by server.")

    async def info(self, _section: str) -> dict[str, str]:
        await self._there()
        return {"run_id": f"run {self._life}"}

    async def script_load(self, script: str) -> Any:
        await self._there()
        timed = script.replace("redis.call('TIME')", "{ redis.call('GET', 'now'), 0 }")
        assert timed != script
        return self._way.server.real.script_load(timed)

    async def time(self) -> tuple[int, int]:
        await self._there()
        seconds, part = divmod(self._now(), 1)
        return int(seconds), int(part * 1e6)

    async def evalsha(self, *words: Any) -> Any:
        await self._there()
        real = self._way.server.real
        real.set("now", f"{self._now():.6f}")
        answer = real.evalsha(*words)
        await self._there()
        return answer

    async def blpop(self, _keys: list[str], **_options: Any) -> None:
        await self._there()
        await self._way.server.died.wait()
        await self._there()

    async def aclose(self) -> None:
        pass

    def _now(self) -> float:
        return 1e9 + self._way.server.clock.monotonic()


class Fleet:
    """Members that always have another request, and the times at which the upstream gets them."""

    def __init__(self, url: str, clock: ManualClock, random: Random, connect_s: list[float], *, members: int) -> None:
        self.clock = clock
        self.random = random
        self.connect_s = connect_s
        self.server = Server(url, clock)
        self.server.start(empty=True)
        self.ways = [Way(self.server) for _ in range(members)]
        self.stores = [RedisQuotas("", clock, replicas=members, connect=way.client) for way in self.ways]
        for store in self.stores:
            # Its rank follows from it; the run is to be the same each time.
            store._member = f"{random.getrandbits(128):032x}"  # pyright: ignore[reportPrivateUsage]
        self.arrivals: list[float] = []
        self._tasks = [asyncio.create_task(self._ask(store)) for store in self.stores for _ in range(2)]

    async def _ask(self, store: RedisQuotas) -> None:
        while True:
            token = await store.take("pubchem", FIVE)
            if not isinstance(token, Token):
                await self.clock.sleep(token)
                continue
            await self.clock.sleep(self.random.choice(self.connect_s))
            if await store.may_go(token):
                self.arrivals.append(self.clock.monotonic())
                store.sent(token)
            else:
                store.give_back(token)

    def peak(self) -> int:
        """The most that arrived in any second."""
        return max(sum(at <= other < at + 1.0 - 1e-9 for other in self.arrivals) for at in self.arrivals)

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.server.start(empty=True)
        for way, store in zip(self.ways, self.stores, strict=True):
            way.cut = False
            closing = asyncio.create_task(store.aclose())
            while not closing.done():
                await self.clock.advance(1.0)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(turns=12)


@pytest.mark.parametrize("seed", range(8))
async def test_no_outage_lets_more_than_the_quota_through(redis: RealServer, clock: ManualClock, seed: int) -> None:
    """However it dies, starts, keeps its data or not, and whoever is cut off from it, no second holds a sixth."""
    random = Random(seed)
    fleet = Fleet(redis.url, clock, random, [0.0, 0.0, 0.0, 0.01, 0.3, 1.5], members=random.randint(1, 5))
    try:
        await clock.advance(4.0)
        for _ in range(20):
            match random.choice(["kill", "kill", "start", "start", "cut", "mend", "mend"]):
                case "kill":
                    fleet.server.kill()
                case "start" if not fleet.server.up:
                    fleet.server.start(empty=random.random() < 0.7)
                case "cut":
                    random.choice(fleet.ways).cut = True
                case _:
                    random.choice(fleet.ways).cut = False
            await clock.advance(random.choice([0.05, 0.2, 0.6, 1.0, 2.5, 5.0]))
    finally:
        await fleet.end()
    assert fleet.peak() <= FIVE[0].limit


@pytest.mark.parametrize("away_s", [0.2, 1.5, 10.0])
async def test_an_outage_costs_little(redis: RealServer, clock: ManualClock, away_s: float) -> None:
    """From before the server dies to after it is back, 97 % of what the quota allows is sent in a minute."""
    fleet = Fleet(redis.url, clock, Random(1), [0.0], members=MEMBERS)
    try:
        await clock.advance(5.0)
        begun = clock.monotonic()
        await clock.advance(20.3)
        fleet.server.kill()
        await clock.advance(away_s)
        fleet.server.start(empty=True)
        await clock.advance(begun + 60.0 - clock.monotonic())
    finally:
        await fleet.end()
    used = sum(begun <= at < begun + 60.0 for at in fleet.arrivals)
    assert used >= (0.97 if away_s > 1 else 0.95) * 60 * FIVE[0].limit
    assert fleet.peak() <= FIVE[0].limit
