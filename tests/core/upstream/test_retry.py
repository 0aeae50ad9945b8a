"""What is tried again."""

import asyncio
from random import Random

import httpx
import pytest
from scigate.testing.clock import ManualClock
from scigate.upstream import Demand, wish
from scigate.upstream.errors import CircuitOpen, DeadlineExceeded, QuotaExhausted, ResponseTooLarge
from scigate.upstream.retry import RetryBudget, RetryTransport

Outcome = int | httpx.Response | Exception


class Full(Random):
    """Always the whole of the range."""

    def uniform(self, a: float, b: float) -> float:
        return b


class Scripted(httpx.AsyncBaseTransport):
    """Answers with each outcome in turn, then with 200."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = list(outcomes)
        self.calls = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.calls += 1
        outcome = self.outcomes.pop(0) if self.outcomes else 200
        if isinstance(outcome, Exception):
            raise outcome
        return httpx.Response(outcome) if isinstance(outcome, int) else outcome


def retrying(far: Scripted, clock: ManualClock, retries: int = 3) -> RetryTransport:
    return RetryTransport(
        far,
        retries=retries,
        is_transient=lambda response: response.status_code in (429, 502, 503, 504),
        clock=clock,
        random=Full(),
    )


async def sent(
    transport: RetryTransport, clock: ManualClock, method: str = "GET", **extensions: object
) -> httpx.Response:
    request = httpx.Request(method, "https://example.org/", extensions=dict(extensions))
    task = asyncio.create_task(transport.handle_async_request(request))
    await clock.advance(500.0)
    return await task


@pytest.mark.parametrize(
    "outcome",
    [429, 502, 503, 504, httpx.ConnectError("x"), httpx.ReadTimeout("x"), httpx.RemoteProtocolError("x")],
)
async def test_repeats_what_fails_by_chance(clock: ManualClock, outcome: Outcome) -> None:
    """Transport errors and transient statuses are tried again."""
    far = Scripted(outcome)
    assert (await sent(retrying(far, clock), clock)).status_code == 200
    assert far.calls == 2


@pytest.mark.parametrize("status", [200, 400, 404, 500, 501])
async def test_other_statuses_are_answers(clock: ManualClock, status: int) -> None:
    """A status that is not transient is handed on at once."""
    far = Scripted(status)
    assert (await sent(retrying(far, clock), clock)).status_code == status
    assert far.calls == 1


@pytest.mark.parametrize(
    "error",
    [
        QuotaExhausted("x", upstream="u", retry_after_s=1),
        CircuitOpen("x", upstream="u", retry_after_s=1),
        DeadlineExceeded("x", upstream="u"),
        ResponseTooLarge("x", upstream="u", limit=1),
        httpx.UnsupportedProtocol("x"),
    ],
)
async def test_our_own_refusals_are_final(clock: ManualClock, error: Exception) -> None:
    """What the stack itself refused would be refused again."""
    far = Scripted(error)
    with pytest.raises(type(error)):
        await sent(retrying(far, clock), clock)
    assert far.calls == 1


async def test_only_reads_are_repeated(clock: ManualClock) -> None:
    """A POST is repeated when its sender says that it only reads."""
    plain, declared = Scripted(503), Scripted(503)
    assert (await sent(retrying(plain, clock), clock, "POST")).status_code == 503
    assert (await sent(retrying(declared, clock), clock, "POST", **{wish.SAFE: True})).status_code == 200


async def test_waits_grow_exponentially(clock: ManualClock, demand: Demand) -> None:
    """Before the n-th retry up to 2**(n-1) seconds are waited, and each attempt is counted."""
    times: list[float] = []

    class Timed(Scripted):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            times.append(clock.monotonic())
            return await super().handle_async_request(request)

    await sent(retrying(Timed(503, 503, 503), clock), clock)
    assert times == [0.0, 1.0, 3.0, 7.0]
    assert demand.usage.attempts == 4


@pytest.mark.parametrize("last", [httpx.ReadError("third"), httpx.Response(504, text="third")])
async def test_hands_the_last_outcome_on_unchanged(clock: ManualClock, last: httpx.ReadError | httpx.Response) -> None:
    """When retries run out the caller sees what came last, the object itself."""
    transport = retrying(Scripted(502, httpx.ConnectError("second"), last), clock, retries=2)
    if isinstance(last, httpx.Response):
        assert await sent(transport, clock) is last
    else:
        with pytest.raises(httpx.ReadError) as raised:
            await sent(transport, clock)
        assert raised.value is last


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "20"}])
async def test_no_wait_that_would_pass_the_deadline(
    clock: ManualClock, demand: Demand, headers: dict[str, str]
) -> None:
    """When backoff or Retry-After reaches past the deadline the failure is handed on now."""
    demand.deadline = 20.0 if headers else 0.5
    far = Scripted(httpx.Response(503, headers=headers))
    transport = retrying(far, clock)
    response = await transport.handle_async_request(httpx.Request("GET", "https://example.org/"))
    assert (response.status_code, far.calls, clock.monotonic()) == (503, 1, 0.0)


async def test_long_retry_after_is_the_callers_to_wait_for(clock: ManualClock) -> None:
    """A call without a deadline does not wait an hour because the upstream says so."""
    far = Scripted(httpx.Response(429, headers={"Retry-After": "3600"}))
    assert (await sent(retrying(far, clock), clock)).status_code == 429
    assert far.calls == 1


async def test_refused_retry_hands_on_what_the_upstream_said(clock: ManualClock) -> None:
    """When the second attempt gets no slot, the first one's answer is the outcome."""
    far = Scripted(503, QuotaExhausted("x", upstream="u", retry_after_s=1))
    assert (await sent(retrying(far, clock), clock)).status_code == 503


async def test_outage_does_not_multiply_the_load(clock: ManualClock) -> None:
    """With every request failing, retries stay at the budget: its size and a fifth of the requests."""
    far = Scripted(*[503] * 1000)
    transport = retrying(far, clock, retries=1)
    for _ in range(100):
        await sent(transport, clock)
    assert 100 < far.calls <= 100 + RetryBudget.SIZE + 100 * RetryBudget.EARNED
