"""The call's deadline."""

import asyncio

import httpx
import pytest
from scigate.testing.clock import ManualClock
from scigate.upstream import CURRENT, DeadlineExceeded, Demand
from scigate.upstream.deadline import DeadlineTransport


class Hanging(httpx.AsyncBaseTransport):
    cancelled = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        raise AssertionError


async def test_request_ends_at_the_deadline(clock: ManualClock, demand: Demand) -> None:
    """What is under way is cancelled when the call's time is up."""
    demand.deadline = 3.0
    far = Hanging()
    transport = DeadlineTransport(far, upstream="pubchem", clock=clock)
    task = asyncio.create_task(transport.handle_async_request(httpx.Request("GET", "https://example.org/")))
    await clock.advance(2.9)
    assert not task.done()
    await clock.advance(0.1)
    with pytest.raises(DeadlineExceeded) as raised:
        await task
    assert (raised.value.upstream, far.cancelled) == ("pubchem", True)


async def test_late_request_is_not_begun(clock: ManualClock, demand: Demand) -> None:
    """After the deadline nothing is sent."""
    demand.deadline = 0.0
    transport = DeadlineTransport(Hanging(), upstream="pubchem", clock=clock)
    with pytest.raises(DeadlineExceeded):
        await transport.handle_async_request(httpx.Request("GET", "https://example.org/"))


@pytest.mark.parametrize("demand_or_none", [None, Demand()])
async def test_without_a_deadline_there_is_none(clock: ManualClock, demand_or_none: Demand | None) -> None:
    """Work outside any call, or of a call without a deadline, is bounded by the attempt's own timeout only."""
    CURRENT.set(demand_or_none)
    far = httpx.MockTransport(lambda request: httpx.Response(204))
    transport = DeadlineTransport(far, upstream="pubchem", clock=clock)
    response = await transport.handle_async_request(httpx.Request("GET", "https://example.org/"))
    assert response.status_code == 204
