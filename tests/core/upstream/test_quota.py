"""The quota transport, and what the windows promise the upstream."""

import asyncio
from dataclasses import dataclass
from itertools import pairwise

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate.testing.clock import ManualClock
from scigate.upstream.context import CURRENT, Demand
from scigate.upstream.pace import Pace
from scigate.upstream.quota import GOING, SENT, QuotaTransport, Throttle
from scigate.upstream.turnstile import Turnstile
from scigate.upstream.window import TRAVEL_MARGIN_S, MemoryQuotas, QuotaStore, Token, Window


class Far(httpx.AsyncBaseTransport):
    """An upstream that notes when requests arrive, `travel_s` after they were sent, and answers as it is told."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.answers: list[httpx.Response] = []
        self.arrivals: list[float] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await self.clock.sleep(request.extensions.get("connect_s", 0.0))
        await request.extensions[GOING]()
        request.extensions[SENT]()
        await self.clock.sleep(request.extensions.get("travel_s", 0.0))
        self.arrivals.append(self.clock.monotonic())
        await self.clock.sleep(request.extensions.get("service_s", 0.0))
        return self.answers.pop(0) if self.answers else httpx.Response(200)


def limited(
    far: Far,
    *windows: Window,
    concurrency: int = 50,
    throttle: Throttle | None = None,
    store: QuotaStore | None = None,
) -> QuotaTransport:
    clock, store = far.clock, store or MemoryQuotas(far.clock)
    pace = Pace(clock, max((window.span_s / window.limit for window in windows), default=0.0))
    turnstile = Turnstile("pubchem", windows, concurrency=concurrency, store=store, pace=pace, clock=clock)
    return QuotaTransport(
        far,
        turnstile=turnstile,
        pace=pace,
        clock=clock,
        throttle=throttle,
        is_transient=lambda response: response.headers.get("fault") == "ServerBusy",
    )


def request(**extensions: object) -> httpx.Request:
    return httpx.Request("GET", "https://example.org/", extensions=dict(extensions))


@dataclass(frozen=True)
class Plan:
    """One request of a simulated hour: when it comes, what it takes, and whether its caller goes away."""

    gap_s: float
    caller: str
    connect_s: float
    travel_s: float
    service_s: float
    patience_s: float | None


plans = st.builds(
    Plan,
    gap_s=st.sampled_from([0.0, 0.0, 0.0, 0.01, 0.3, 1.0]),
    caller=st.sampled_from("abc"),
    connect_s=st.sampled_from([0.0, 0.0, 0.0, 0.2, 1.5]),
    travel_s=st.floats(0, TRAVEL_MARGIN_S),
    service_s=st.floats(0, 2),
    patience_s=st.sampled_from([None, None, None, 0.0, 0.5, 2.0]),
)
windows = st.builds(Window, st.integers(1, 6), st.sampled_from([0.5, 1.0, 3.0, 10.0]))


@given(st.lists(windows, min_size=1, max_size=3), st.lists(plans, max_size=40), st.integers(1, 8))
def test_never_more_than_the_quota_arrives_in_any_window(
    quota: list[Window], requests: list[Plan], concurrency: int
) -> None:
    """With connecting, travel up to the margin and callers that go away, no window of any offset holds more."""

    async def scenario() -> tuple[list[float], QuotaTransport]:
        clock = ManualClock(turns=8)
        far = Far(clock)
        transport = limited(far, *quota, concurrency=concurrency)

        async def visit(plan: Plan) -> None:
            CURRENT.set(Demand(caller=plan.caller))
            timings = {"connect_s": plan.connect_s, "travel_s": plan.travel_s, "service_s": plan.service_s}
            try:
                async with clock.timeout(1e6 if plan.patience_s is None else plan.patience_s):
                    await transport.handle_async_request(request(**timings))
            except TimeoutError:
                pass

        tasks: list[asyncio.Task[None]] = []
        for plan in requests:
            await clock.advance(plan.gap_s)
            tasks.append(asyncio.create_task(visit(plan)))
        await clock.advance(2000.0)
        await asyncio.gather(*tasks)
        await clock.advance(20.0)
        return sorted(far.arrivals), transport

    arrivals, transport = asyncio.run(scenario())
    for window in quota:
        for first, one_too_many in zip(arrivals, arrivals[window.limit :], strict=False):
            assert one_too_many - first >= window.span_s - 1e-9
    assert len(arrivals) >= sum(plan.patience_s is None for plan in requests)
    assert transport.requests >= len(arrivals)
    turnstile = transport._turnstile  # pyright: ignore[reportPrivateUsage]
    assert (turnstile.waiting, turnstile.in_flight) == (0, 0)


@pytest.mark.parametrize("quota", [(Window(5, 1.0),), (Window(3, 1.0), Window(100, 60.0)), (Window(10, 1.0),)])
async def test_uses_the_budget(clock: ManualClock, quota: tuple[Window, ...]) -> None:
    """With always somebody waiting, 97 % of what the quota allows is sent."""
    far = Far(clock)
    transport = limited(far, *quota)
    allowed = min(60.0 * window.limit / window.span_s for window in quota)
    tasks = [asyncio.create_task(transport.handle_async_request(request())) for _ in range(int(allowed) + 20)]
    await clock.advance(60.0)
    assert len(far.arrivals) >= 0.97 * allowed
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    await transport.aclose()


async def test_cancelled_while_connecting_gives_the_token_back(clock: ManualClock) -> None:
    """A request that never reached the wire costs nothing."""
    far = Far(clock)
    transport = limited(far, Window(1, 60.0))
    gone = asyncio.create_task(transport.handle_async_request(request(connect_s=5.0)))
    await clock.advance(1.0)
    gone.cancel()
    await asyncio.wait({gone})
    await transport.handle_async_request(request())
    assert far.arrivals == [1.0]
    assert transport.requests == 1


async def test_cancelled_after_sending_keeps_the_token_spent(clock: ManualClock) -> None:
    """The upstream has counted what it was sent, whether or not anybody waits for the answer."""
    far = Far(clock)
    transport = limited(far, Window(1, 60.0))
    gone = asyncio.create_task(transport.handle_async_request(request(service_s=5.0)))
    await clock.advance(1.0)
    gone.cancel()
    later = asyncio.create_task(transport.handle_async_request(request()))
    await clock.advance(59.0)
    assert far.arrivals == [0.0]
    await clock.advance(1.1)
    await later


@pytest.mark.parametrize(
    ("answer", "pause_s"),
    [
        (httpx.Response(429, headers={"Retry-After": "7"}), 7.0),
        (httpx.Response(503, headers={"Retry-After": "Thu, 01 Jan 2026 00:00:20 GMT"}), 20.0),
        (httpx.Response(503), 1.0),
        (httpx.Response(400, headers={"fault": "ServerBusy"}), 1.0),
        (httpx.Response(400), 0.0),
        (httpx.Response(500), 0.0),
    ],
)
async def test_refusal_pauses_everybody(clock: ManualClock, answer: httpx.Response, pause_s: float) -> None:
    """429, 503 and what the upstream calls busy hold the next request of any caller back, other errors don't."""
    far = Far(clock)
    far.answers.append(answer)
    transport = limited(far, Window(100, 1.0))
    await transport.handle_async_request(request())
    other = asyncio.create_task(transport.handle_async_request(request()))
    await clock.advance(100.0)
    await other
    assert far.arrivals == [0.0, pause_s]


async def test_vendor_header_slows_and_recovery_is_gradual(clock: ManualClock) -> None:
    """After one answer that asks for a second between requests, gaps shrink back to the quota's own."""
    far = Far(clock)
    far.answers.append(httpx.Response(200, headers={"X-Throttling-Control": "Red"}))

    def throttle(headers: httpx.Headers) -> float | None:
        return {"Red": 1.0}.get(headers.get("X-Throttling-Control", ""))

    transport = limited(far, Window(5, 1.0), throttle=throttle)
    await transport.handle_async_request(request())
    tasks = [asyncio.create_task(transport.handle_async_request(request())) for _ in range(30)]
    await clock.advance(30.0)
    await asyncio.gather(*tasks)
    gaps = [round(late - early, 1) for early, late in pairwise(far.arrivals)]
    assert gaps[:5] == [1.0] * 5
    assert 0.5 in gaps
    assert gaps[-1] < 0.5
    assert transport.requests == 31


class Forgetful(MemoryQuotas):
    """Loses what it granted before the first request goes out, as a store on a network may."""

    lost = 1

    async def may_go(self, token: Token) -> bool:
        self.lost -= 1
        return self.lost < 0


async def test_a_request_whose_slot_is_lost_waits_for_another(clock: ManualClock) -> None:
    """The caller gets its answer, one request went out, and the lost token takes up nothing."""
    far, store = Far(clock), Forgetful(clock)
    transport = limited(far, Window(1, 1.0), store=store)
    response = await transport.handle_async_request(request())
    assert (response.status_code, transport.requests, len(far.arrivals)) == (200, 1, 1)
    assert store.used("pubchem", (Window(1, 1.0),)) == (1,)
