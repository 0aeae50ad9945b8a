"""All upstreams together: declarations, settings, status, and the whole stack over a real socket."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace

import httpx
import pytest
from scigate.testing.clock import ManualClock
from scigate.upstream import (
    CURRENT,
    CircuitOpen,
    DeadlineExceeded,
    Demand,
    Lifetime,
    MemoryCache,
    MemoryQuotas,
    QuotaExhausted,
    Upstream,
    Upstreams,
    Usage,
    wish,
)
from scigate.upstream.breaker import FAILURES
from scigate.upstream.pace import Slowing
from scigate.upstream.window import Token, Window

PUBCHEM = Upstream("pubchem", "https://pubchem.example/rest", quotas=("5/second",), lifetimes=(Lifetime("GET /", 60),))


@dataclass(frozen=True)
class Set:
    """An operator's settings."""

    base_url: str | None = None
    quotas: tuple[str, ...] | None = None
    concurrency: int | None = None
    timeout_s: float | None = None
    retries: int | None = None
    cache: bool | None = None


class Far(httpx.AsyncBaseTransport):
    """The network: answers 200 unless told otherwise, and keeps what it was sent."""

    def __init__(self) -> None:
        self.status = 200
        self.seen: list[httpx.Request] = []
        self.hang = False
        self.connected = True

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        if self.connected:
            await request.extensions["trace"]("http11.send_request_headers.started", {})
        if self.hang:
            await asyncio.Event().wait()
        return httpx.Response(self.status, headers={"Set-Cookie": "a=b"}, text="answer")


@pytest.fixture
def far() -> Far:
    return Far()


def opened(far: Far, clock: ManualClock, *declarations: Upstream, **overrides: Set) -> Upstreams:
    return Upstreams(
        declarations or [PUBCHEM], overrides=overrides, clock=clock, cache=MemoryCache(), far_end=lambda *_: far
    )


@pytest.mark.parametrize("base_url", ["http://example.org", "ftp://example.org", "example.org", "http://10.0.0.1"])
def test_only_https_leaves_the_machine(base_url: str) -> None:
    """Plain http is for loopback addresses alone."""
    with pytest.raises(ValueError, match="base_url"):
        Upstream("pubchem", base_url)


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:80", "http://localhost:1/x", "http://[::1]:1", "https://a.b"])
def test_loopback_may_be_plain(base_url: str) -> None:
    """An emulator or a proxy on this machine needs no certificate."""
    assert Upstream("pubchem", base_url).base_url == base_url


@pytest.mark.parametrize(
    "wrong",
    [{"name": "Pub Chem"}, {"quotas": ("5 a second",)}, {"concurrency": 0}, {"timeout_s": 0.0}, {"retries": -1}],
)
def test_wrong_declarations_are_refused(wrong: dict[str, object]) -> None:
    """A declaration that can't work is refused when it is made."""
    with pytest.raises(ValueError, match=r"name|quota|concurrency"):
        replace(PUBCHEM, **wrong)


def test_two_providers_share_an_upstream() -> None:
    """What only one of two declarations says is taken from it, and lifetimes are joined."""
    bare = Upstream("pubchem", PUBCHEM.base_url, retries=2, lifetimes=(Lifetime("GET /other", 5),))
    upstreams = Upstreams([bare, PUBCHEM])
    merged = upstreams.declaration("pubchem")
    assert (merged.quotas, merged.retries) == (("5/second",), 2)
    assert [lifetime.pattern for lifetime in merged.lifetimes] == ["GET /other", "GET /"]
    assert len(upstreams) == 1


@pytest.mark.parametrize(("field", "value"), [("base_url", "https://other.example"), ("quotas", ("9/second",))])
def test_contradiction_is_named(field: str, value: object) -> None:
    """Two declarations that differ are refused with the field and both values."""
    upstreams = Upstreams([PUBCHEM])
    with pytest.raises(ValueError, match=field) as raised:
        upstreams.declare(replace(PUBCHEM, **{field: value}))
    assert repr(value) in str(raised.value)
    assert repr(getattr(PUBCHEM, field)) in str(raised.value)


async def test_upstream_in_use_is_not_changed(far: Far, clock: ManualClock) -> None:
    """After the first use a declaration may only repeat what is known."""
    upstreams = opened(far, clock)
    assert upstreams["pubchem"] is upstreams["pubchem"]
    upstreams.declare(Upstream("pubchem", PUBCHEM.base_url))
    with pytest.raises(ValueError, match="in use"):
        upstreams.declare(replace(PUBCHEM, licence="CC0"))
    await upstreams.aclose()


async def test_settings_go_before_declarations(far: Far, clock: ManualClock) -> None:
    """An operator's address and quotas are the ones in force."""
    upstreams = opened(far, clock, pubchem=Set(base_url="http://127.0.0.1:9/x", quotas=("2/second",), cache=False))
    for _ in range(2):
        await upstreams["pubchem"].get("/cid/1")
    status = upstreams.status()[0]
    assert str(far.seen[0].url) == "http://127.0.0.1:9/x/cid/1"
    assert (status.quotas, status.used, status.cache_hits, len(far.seen)) == (("2/second",), (2,), 0, 2)


async def test_says_who_asks_and_keeps_no_cookie(far: Far, clock: ManualClock) -> None:
    """Each request names scigate, and none carries a cookie of an earlier answer."""
    upstreams = opened(far, clock)
    for cid in (1, 2):
        await upstreams["pubchem"].get(f"/cid/{cid}")
    assert all(request.headers["user-agent"].startswith("scigate/") for request in far.seen)
    assert all("cookie" not in request.headers for request in far.seen)


async def test_redirect_is_handed_on(far: Far, clock: ManualClock) -> None:
    """A redirect is the provider's to judge."""
    far.status = 302
    assert (await opened(far, clock)["pubchem"].get("/cid/1")).status_code == 302
    assert len(far.seen) == 1


async def test_status_tells_where_the_budget_goes(far: Far, clock: ManualClock) -> None:
    """Requests, cache, waiters and pause can be read at any moment."""
    upstreams = opened(far, clock, replace(PUBCHEM, quotas=("2/second",), retries=0))
    client = upstreams["pubchem"]
    for path in ("/cid/1", "/cid/1", "/cid/2"):
        await client.get(path)
    waiting = asyncio.create_task(client.get("/cid/3"))
    await clock.settle()
    status = upstreams.status()[0]
    assert (status.requests, status.used, status.waiting, status.in_flight) == (2, (2,), 1, 0)
    assert (status.cache_hits, status.cache_misses, status.cache_entries) == (1, 2, 2)
    assert (status.breaker, status.failures, status.paused_for_s, status.slowed_by) == ("closed", 0, 0.0, None)
    far.status = 429
    await clock.advance(1.1)
    await waiting
    assert (upstreams.status()[0].slowed_by, upstreams.status()[0].paused_for_s > 0) == ("429", True)


def test_status_of_what_is_not_used_yet() -> None:
    """A declared upstream is listed before anybody has asked it."""
    status = Upstreams([PUBCHEM], offline=True).status()[0]
    assert (status.name, status.offline, status.requests, status.used) == ("pubchem", True, 0, (0,))


def test_offline_needs_an_emulator() -> None:
    """Without an emulator an upstream is refused offline, rather than asked over the network."""
    with pytest.raises(ValueError, match="no emulator"):
        Upstreams([PUBCHEM], offline=True)["pubchem"]


def test_unknown_upstream_is_a_key_error() -> None:
    """Only declared upstreams are served."""
    upstreams = Upstreams([PUBCHEM])
    assert "ncbi" not in upstreams
    with pytest.raises(KeyError):
        upstreams["ncbi"]


async def test_usage_is_counted_for_the_call(far: Far, clock: ManualClock, demand: Demand) -> None:
    """Attempts, requests and cached answers of a call are its own."""
    client = opened(far, clock)["pubchem"]
    await client.get("/cid/1")
    await client.get("/cid/1")
    assert demand.usage == Usage(requests=1, attempts=1, cached=1)
    answer = await client.get("/cid/1", extensions={wish.CACHE: False})
    assert answer.extensions[wish.SERVED] == "live"
    assert (demand.usage.requests, answer.text) == (2, "answer")


async def test_waiters_of_a_dead_upstream_fail_together(far: Far, clock: ManualClock) -> None:
    """When the circuit opens, who waits for a slot is told so, and later calls fail at once."""
    far.status = 504
    client = opened(far, clock, replace(PUBCHEM, retries=0, quotas=("5/second",)))["pubchem"]
    tasks = [asyncio.create_task(client.get(f"/cid/{cid}")) for cid in range(20)]
    await clock.settle()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert sum(isinstance(outcome, httpx.Response) for outcome in outcomes) == FAILURES
    assert sum(isinstance(outcome, CircuitOpen) for outcome in outcomes) == 20 - FAILURES
    with pytest.raises(CircuitOpen):
        await client.get("/cid/99")
    assert len(far.seen) == FAILURES


async def test_deadline_bounds_every_wait(far: Far, clock: ManualClock) -> None:
    """Of calls with three seconds, one that hangs ends at three seconds and one without a chance ends at once."""
    far.hang = True
    client = opened(far, clock, replace(PUBCHEM, quotas=("1/10s",)))["pubchem"]

    async def call(path: str) -> tuple[type[BaseException], float]:
        CURRENT.set(Demand(deadline=3.0))
        try:
            await client.get(path)
        except httpx.TransportError as error:
            return type(error), clock.monotonic()
        raise AssertionError

    hanging = asyncio.create_task(call("/cid/1"))
    await clock.settle()
    hopeless = asyncio.create_task(call("/cid/2"))
    await clock.advance(5.0)
    assert await hopeless == (QuotaExhausted, 0.0)
    assert await hanging == (DeadlineExceeded, 3.0)


@pytest.mark.parametrize(("connected", "used"), [(False, 0), (True, 1)])
async def test_caller_that_goes_away_cancels_its_request(
    far: Far, clock: ManualClock, connected: bool, used: int
) -> None:
    """What is under way for a cancelled call ends, and its token is lost only if the upstream has counted it."""
    far.hang, far.connected = True, connected
    upstreams = opened(far, clock)
    call = asyncio.create_task(upstreams["pubchem"].get("/cid/1"))
    await clock.settle()
    assert upstreams.status()[0].in_flight == 1
    call.cancel()
    await clock.settle()
    status = upstreams.status()[0]
    assert (status.in_flight, status.used, status.requests) == (0, (used,), used)


async def test_retry_takes_a_slot_of_its_own(far: Far, clock: ManualClock, demand: Demand) -> None:
    """A second attempt is within the quota like any other request."""
    far.status = 504
    upstreams = opened(far, clock, replace(PUBCHEM, quotas=("1/10s",)))
    call = asyncio.create_task(upstreams["pubchem"].get("/cid/1"))
    await clock.advance(10.0)
    assert (len(far.seen), demand.usage.attempts, demand.usage.requests) == (1, 0, 0)
    await clock.advance(0.1)
    assert (await call).status_code == 504
    assert (len(far.seen), demand.usage.attempts, demand.usage.requests) == (2, 2, 2)


async def test_closing_ends_what_is_under_way(far: Far, clock: ManualClock) -> None:
    """After closing, requests that waited or were under way have failed by a transport error, and no task is left."""
    far.hang = True
    before = asyncio.all_tasks()
    upstreams = opened(far, clock, replace(PUBCHEM, quotas=("2/second",)))
    tasks = [asyncio.create_task(upstreams["pubchem"].get(f"/cid/{cid}")) for cid in range(6)]
    await clock.settle()
    await upstreams.aclose()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(outcome, httpx.TransportError) for outcome in outcomes)
    await clock.settle()
    assert asyncio.all_tasks() == before


@asynccontextmanager
async def counting(arrivals: list[float]) -> AsyncIterator[str]:
    """A keep-alive HTTP server that notes when each request is complete, by its address."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                arrivals.append(time.monotonic())
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                await writer.drain()
        except asyncio.IncompleteReadError:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def arrivals_of(calls: int, limit: int) -> list[float]:
    """When a server on a socket noted the requests of as many callers at once."""
    arrivals = list[float]()
    async with counting(arrivals) as url:
        upstreams = Upstreams([Upstream("counted", url, quotas=(f"{limit}/second",), concurrency=limit)])
        client = upstreams["counted"]

        async def call(number: int) -> httpx.Response:
            CURRENT.set(Demand(caller=f"caller {number}", deadline=time.monotonic() + 60))
            return await client.get(f"/{number}")

        answers = await asyncio.gather(*(call(number) for number in range(calls)))
        await upstreams.aclose()
    assert all(answer.text == "ok" for answer in answers)
    return arrivals


async def test_64_callers_use_the_quota_and_never_pass_it() -> None:
    """As a server on a socket counts, no sliding second holds more than the quota, and nearly all of it is used.

    The server shares this process and its busy machine: what it notes late is not sent late, so a second is taken
    shorter by a tenth, and a machine that stalls for longer may try again.
    """
    limit = 16
    for _ in range(3):
        arrivals = await arrivals_of(64, limit)
        closest_s = min(late - early for early, late in zip(arrivals, arrivals[limit:], strict=False))
        # 64 calls in four full windows: the last window begins three spans after the first at the earliest.
        used = (64 / limit - 1) * 1.0 / (arrivals[64 - limit] - arrivals[0])
        if closest_s >= 0.9 and used >= 0.9:
            break
    assert closest_s >= 0.9
    assert used >= 0.9


class Shared(MemoryQuotas):
    """A store in which two other gateways stand, as a process that only asks finds it."""

    kind = "redis"
    trouble = "Redis is away"

    async def look(self, upstream: str, windows: Sequence[Window]) -> None:
        token = await self.take(upstream, windows)
        assert isinstance(token, Token)
        self.sent(token)

    def slowing(self, upstream: str) -> Slowing | None:
        return Slowing(7.0, 0.5, 12.0, "429")

    async def reports(self) -> list[str]:
        one = {"waiting": 2, "cache_hits": 3, "requests": 10, "breaker": "closed"}
        other = {"waiting": 1, "cache_hits": 4, "requests": 1, "breaker": "open"}
        return [json.dumps({"pubchem": one}), json.dumps({"pubchem": other, "unknown": one}), ""]


async def test_survey_counts_the_others_in(clock: ManualClock) -> None:
    """Whoever asks sees the fleet: windows and slowing down as the store has them, the gateways' figures summed up."""
    async with aclosing(Upstreams([PUBCHEM], clock=clock, quotas=Shared(clock))) as upstreams:
        [status] = await upstreams.survey()
    assert (status.used, status.store, status.members, status.trouble) == ((1,), "redis", 2, "Redis is away")
    assert (status.waiting, status.cache_hits, status.requests, status.breaker) == (3, 7, 11, "open")
    assert (status.paused_for_s, status.spacing_s, status.slowed_by) == (7.0, 0.5, "429")


async def test_figures_that_are_reported_are_those_that_are_read(far: Far, clock: ManualClock) -> None:
    """What one gateway tells the store, another can add up."""
    told: list[Callable[[], str]] = []

    class Telling(MemoryQuotas):
        def tell(self, report: Callable[[], str]) -> None:
            told.append(report)

        async def reports(self) -> list[str]:
            return [told[0]()]

    store = Telling(clock)
    one = Upstreams([PUBCHEM], clock=clock, cache=MemoryCache(), quotas=store, far_end=lambda *_: far)
    one.announce()
    await one["pubchem"].get("/cid/1")
    await one["pubchem"].get("/cid/1")
    [status] = await Upstreams([PUBCHEM], clock=clock, quotas=store).survey()
    assert (status.requests, status.cache_hits, status.cache_misses, status.members) == (1, 1, 1, 1)
    await one.aclose()


async def test_open_breaker_serves_what_is_past_its_lifetime(far: Far, clock: ManualClock) -> None:
    """While an upstream is left alone an earlier answer is given at once, without a request and without a wait."""
    upstreams = Upstreams([PUBCHEM], clock=clock, cache=MemoryCache(), stale_s=1000.0, far_end=lambda *_: far)
    client = upstreams["pubchem"]
    await client.get("/cid/1")
    await clock.advance(70.0)
    far.status = 502
    for number in range(FAILURES):
        failing = asyncio.create_task(client.get(f"/cid/{number + 2}"))
        await clock.advance(10.0)
        await asyncio.wait({failing})
    sent, usage = len(far.seen), Usage()
    token = CURRENT.set(Demand(usage=usage))
    answer = await client.get("/cid/1")
    with pytest.raises(CircuitOpen):
        await client.get("/cid/1", extensions={wish.STALE: False})
    CURRENT.reset(token)
    assert (answer.text, answer.extensions[wish.IS_STALE], usage.stale, usage.waited_s) == ("answer", True, 1, 0.0)
    assert len(far.seen) == sent
    await upstreams.aclose()
