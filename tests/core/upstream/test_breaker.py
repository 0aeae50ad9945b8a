"""When an upstream is left alone."""

import asyncio

import httpx
import pytest
from scigate.testing.clock import ManualClock
from scigate.upstream.breaker import FAILURES, FIRST_OPEN_S, BreakerTransport, Circuit
from scigate.upstream.errors import CircuitOpen, DeadlineExceeded, QuotaExhausted


class Site(httpx.AsyncBaseTransport):
    """A breaker over an upstream whose outcome is set by the test."""

    def __init__(self, clock: ManualClock) -> None:
        self.outcome: int | httpx.Response | Exception | asyncio.Event = 200
        self.calls = 0
        self.opened = 0
        self.circuit = Circuit("pubchem", clock, self.on_open)
        self.transport = BreakerTransport(
            self, circuit=self.circuit, is_transient=lambda response: response.status_code in (502, 503, 504)
        )

    def on_open(self) -> None:
        self.opened += 1

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.calls += 1
        outcome = self.outcome
        if isinstance(outcome, asyncio.Event):
            await outcome.wait()
            return httpx.Response(200)
        if isinstance(outcome, Exception):
            raise outcome
        return httpx.Response(outcome) if isinstance(outcome, int) else outcome

    async def ask(self, outcome: int | httpx.Response | Exception | asyncio.Event, times: int = 1) -> None:
        self.outcome = outcome
        for _ in range(times):
            try:
                await self.transport.handle_async_request(httpx.Request("GET", "https://example.org/"))
            except httpx.TransportError:
                pass


@pytest.fixture
def site(clock: ManualClock) -> Site:
    return Site(clock)


@pytest.mark.parametrize(
    "failure", [503, 504, httpx.ConnectError("x"), httpx.ReadTimeout("x"), httpx.RemoteProtocolError("x")]
)
async def test_opens_after_failures_in_a_row(site: Site, failure: int | Exception) -> None:
    """After five failures in a row the upstream is not asked, and the refusal says when it will be."""
    await site.ask(failure, FAILURES)
    assert (site.circuit.state, site.opened) == ("open", 1)
    with pytest.raises(CircuitOpen) as refused:
        await site.transport.handle_async_request(httpx.Request("GET", "https://example.org/"))
    assert refused.value.retry_after_s == FIRST_OPEN_S
    assert site.calls == FAILURES


@pytest.mark.parametrize(
    "outcome",
    [
        200,
        404,
        429,
        500,
        501,
        httpx.Response(503, headers={"Retry-After": "3"}),
        QuotaExhausted("x", upstream="u", retry_after_s=1),
        DeadlineExceeded("x", upstream="u"),
        httpx.UnsupportedProtocol("x"),
    ],
)
async def test_stays_closed(site: Site, outcome: int | httpx.Response | Exception) -> None:
    """Answers, rate limits, faults that may be about the query, and our own refusals never open it."""
    await site.ask(outcome, 3 * FAILURES)
    assert site.circuit.state == "closed"


async def test_success_starts_the_count_again(site: Site) -> None:
    """Failures that are not in a row do not add up."""
    for _ in range(3):
        await site.ask(503, FAILURES - 1)
        await site.ask(200)
    assert site.circuit.state == "closed"


async def test_one_request_probes(site: Site, clock: ManualClock) -> None:
    """Half-open, one request goes through while the others are refused; its success closes the circuit."""
    await site.ask(503, FAILURES)
    await clock.advance(FIRST_OPEN_S)
    assert site.circuit.state == "half-open"
    answer = asyncio.Event()
    probe = asyncio.create_task(site.ask(answer))
    await clock.settle()
    with pytest.raises(CircuitOpen):
        await site.transport.handle_async_request(httpx.Request("GET", "https://example.org/"))
    answer.set()
    await probe
    assert (site.circuit.state, site.calls) == ("closed", FAILURES + 1)


async def test_failed_probe_opens_for_longer(site: Site, clock: ManualClock) -> None:
    """Each probe that fails doubles the time until the next."""
    await site.ask(503, FAILURES)
    await clock.advance(FIRST_OPEN_S)
    await site.ask(503)
    await clock.advance(FIRST_OPEN_S)
    assert site.circuit.state == "open"
    await clock.advance(FIRST_OPEN_S)
    assert site.circuit.state == "half-open"


@pytest.mark.parametrize("state", ["closed", "half-open"])
async def test_cancelled_call_counts_as_neither(site: Site, clock: ManualClock, state: str) -> None:
    """A call that its caller gave up is no failure, and a probe given up leaves the next call to probe."""
    if state == "half-open":
        await site.ask(503, FAILURES)
        await clock.advance(FIRST_OPEN_S)
    for _ in range(2 * FAILURES):
        call = asyncio.create_task(site.ask(asyncio.Event()))
        await clock.settle()
        call.cancel()
        await asyncio.wait({call})
    assert site.circuit.state == state
    await site.ask(200)
    assert site.circuit.state == "closed"


async def test_late_failures_do_not_prolong(site: Site, clock: ManualClock) -> None:
    """Requests that were under way when it opened have no say in how long it stays open."""
    periods = [site.circuit.enter() for _ in range(3 * FAILURES)]
    for period in periods:
        site.circuit.judge(period, "failure")
    assert site.opened == 1
    await clock.advance(FIRST_OPEN_S)
    assert site.circuit.state == "half-open"
