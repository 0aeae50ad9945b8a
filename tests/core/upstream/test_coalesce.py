"""Identical requests on their way together."""

import asyncio
from contextvars import copy_context

import httpx
import pytest
from scigate.testing.clock import ManualClock
from scigate.upstream import CURRENT, Demand, QuotaExhausted, Usage, wish
from scigate.upstream.coalesce import CoalesceTransport
from scigate.upstream.context import current
from scigate.upstream.deadline import DeadlineTransport


class Gate(httpx.AsyncBaseTransport):
    """An upstream that answers when the test opens it."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.demands: list[Demand] = []
        self.cancelled = 0
        self.error: Exception | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.demands.append(current())
        current().usage.requests += 1
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error:
            raise self.error
        return httpx.Response(200, headers={"X-A": "1"}, text="answer")


class Site:
    """A single-flight transport over a gate, below deadlines."""

    def __init__(self, clock: ManualClock) -> None:
        self.gate = Gate()
        self.coalesce = CoalesceTransport(self.gate, upstream="pubchem")
        self.transport = DeadlineTransport(self.coalesce, upstream="pubchem", clock=clock)

    def ask(
        self, demand: Demand | None = None, method: str = "GET", url: str = "https://example.org/", **extensions: object
    ) -> asyncio.Task[httpx.Response]:
        context = copy_context()
        context.run(CURRENT.set, demand or Demand())
        request = httpx.Request(method, url, extensions=dict(extensions))
        return asyncio.create_task(self.transport.handle_async_request(request), context=context)


@pytest.fixture
def site(clock: ManualClock) -> Site:
    return Site(clock)


async def test_identical_requests_are_one(site: Site, clock: ManualClock) -> None:
    """Five together are one request; one is charged with it and the others with a shared answer."""
    usages = [Usage() for _ in range(5)]
    tasks = [site.ask(Demand(usage=usage)) for usage in usages]
    await clock.settle()
    site.gate.open.set()
    responses = await asyncio.gather(*tasks)
    assert len(site.gate.demands) == 1
    assert [(usage.requests, usage.coalesced) for usage in usages] == [(1, 0)] + [(0, 1)] * 4
    assert len({id(response) for response in responses}) == 5
    assert {(await response.aread(), response.headers["x-a"]) for response in responses} == {(b"answer", "1")}


async def test_later_request_is_another(site: Site) -> None:
    """An answer is shared only with those who asked before it came."""
    site.gate.open.set()
    await site.ask()
    await site.ask()
    assert len(site.gate.demands) == 2


@pytest.mark.parametrize(
    ("method", "extensions", "sent"),
    [("GET", {}, 1), ("GET", {wish.CACHE: False}, 1), ("POST", {}, 2), ("POST", {wish.SAFE: True}, 1)],
)
async def test_only_reads_are_shared(
    site: Site, clock: ManualClock, method: str, extensions: dict[str, object], sent: int
) -> None:
    """Reads join what is on its way, also those that wish a live answer; a plain POST is always its own."""
    tasks = [site.ask(method=method, **extensions) for _ in range(2)]
    await clock.settle()
    site.gate.open.set()
    await asyncio.gather(*tasks)
    assert len(site.gate.demands) == sent


async def test_fetch_outlives_its_starter(site: Site, clock: ManualClock) -> None:
    """When the one who started it goes away, the others still get the answer, and one of them is charged."""
    usage = Usage()
    starter, other = site.ask(), site.ask(Demand(usage=usage))
    await clock.settle()
    starter.cancel()
    await asyncio.wait({starter})
    site.gate.open.set()
    assert (await other).status_code == 200
    assert (len(site.gate.demands), site.gate.cancelled, usage.requests) == (1, 0, 1)


async def test_fetch_ends_with_the_last_waiter(site: Site, clock: ManualClock) -> None:
    """When everybody has gone the request is cancelled, and what comes next does not join it."""
    tasks = [site.ask(), site.ask()]
    await clock.settle()
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    late = site.ask()
    await clock.settle()
    assert (site.gate.cancelled, len(site.gate.demands)) == (1, 2)
    site.gate.open.set()
    await late


async def test_deadlines_are_each_waiters_own(site: Site, clock: ManualClock) -> None:
    """The short deadline ends one wait; the fetch has the latest deadline of those who wait."""
    short, long = site.ask(Demand(deadline=2.0)), site.ask(Demand(deadline=9.0))
    await clock.advance(3.0)
    assert short.done()
    assert not long.done()
    assert site.gate.demands[0].deadline == 9.0
    site.gate.open.set()
    await long
    assert isinstance(short.exception(), httpx.TransportError)


async def test_failure_is_each_waiters_own(site: Site, clock: ManualClock) -> None:
    """A failing fetch fails everybody with an exception of the same class and attributes, none shared."""
    site.gate.error = QuotaExhausted("full", upstream="pubchem", retry_after_s=4.0)
    tasks = [site.ask() for _ in range(3)]
    await clock.settle()
    site.gate.open.set()
    await asyncio.wait(tasks)
    errors = [task.exception() for task in tasks]
    assert len({id(error) for error in errors}) == 3
    assert {(type(error), str(error), getattr(error, "retry_after_s", None)) for error in errors} == {
        (QuotaExhausted, "full", 4.0)
    }


async def test_requests_with_credentials_are_not_shared(site: Site, clock: ManualClock) -> None:
    """Two callers' authorised requests are two, however alike they look."""
    requests = [httpx.Request("GET", "https://example.org/", headers={"Authorization": "Bearer x"}) for _ in range(2)]
    tasks = [asyncio.create_task(site.transport.handle_async_request(request)) for request in requests]
    await clock.settle()
    site.gate.open.set()
    await asyncio.gather(*tasks)
    assert len(site.gate.demands) == 2


async def test_closing_fails_those_who_wait(site: Site, clock: ManualClock) -> None:
    """A stack that is closed leaves no task, and tells waiters by a transport error."""
    task = site.ask()
    await clock.settle()
    await site.coalesce.aclose()
    with pytest.raises(httpx.TransportError, match="closing"):
        await task


async def test_interactive_call_hurries_a_background_fetch(clock: ManualClock) -> None:
    """What somebody waits for does not queue behind other background work, even if it was begun as such."""
    site, urgent = Site(clock), list[Demand]()
    site.coalesce._on_urgent = urgent.append  # pyright: ignore[reportPrivateUsage]
    tasks = [site.ask(Demand(priority="background")), site.ask(Demand(priority="background"))]
    await clock.settle()
    assert urgent == []
    tasks.append(site.ask(Demand()))
    await clock.settle()
    site.gate.open.set()
    await asyncio.gather(*tasks)
    assert urgent == site.gate.demands
