"""Each caller has an allowance of its own, in sliding windows."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate import Call, Caller, Input, Output, tool
from scigate.policy.allowance import Allowances
from scigate.settings import LimitSettings
from scigate.testing.clock import ManualClock

ADA = Caller("key:ada", "key")
BOB = Caller("key:bob", "key")


class Nothing(Input):
    pass


class Done(Output):
    said: str = "done"


@tool("lab_do", title="Do")
async def do(args: Nothing, client: object, call: Call) -> Done:
    """Do."""
    return Done()


def limited(reply: Any) -> dict[str, Any] | None:
    if not reply.is_error:
        return None
    data = reply.structured["error"]["data"]
    assert data["reason"] == "caller_rate_limited"
    return data


async def test_a_caller_over_its_rate_is_told_when_to_come_back(hosting: Callable[..., Any]) -> None:
    """Both windows hold at once; other callers do not notice."""
    clock = ManualClock()
    limits = [{"rates": ["2/10s", "3/day"]}]
    async with hosting(do, settings={"limits": limits}, clock=clock) as host:
        assert limited(await host.call("lab_do", {}, ADA)) is None
        await clock.advance(4)
        assert limited(await host.call("lab_do", {}, ADA)) is None
        refused = limited(await host.call("lab_do", {}, ADA))
        assert refused is not None
        assert (refused["retryable"], refused["retryAfterMs"]) == (True, 6_000)
        assert limited(await host.call("lab_do", {}, BOB)) is None
        await clock.advance(6)
        assert limited(await host.call("lab_do", {}, ADA)) is None
        await clock.advance(60)
        refused = limited(await host.call("lab_do", {}, ADA))
        assert refused is not None
        assert refused["retryAfterMs"] == 86_330_000


async def test_a_refused_call_uses_nothing_up(hosting: Callable[..., Any]) -> None:
    """Who asks too often is not locked out for ever."""
    clock = ManualClock()
    async with hosting(do, settings={"limits": [{"rates": ["1/second"]}]}, clock=clock) as host:
        await host.call("lab_do", {}, ADA)
        for _ in range(7):
            await clock.advance(0.125)
            assert limited(await host.call("lab_do", {}, ADA)) is not None
        await clock.advance(0.125)
        assert limited(await host.call("lab_do", {}, ADA)) is None


async def test_the_first_limit_that_fits_a_caller_is_its_own(hosting: Callable[..., Any]) -> None:
    """A caller that none fits has no bound."""
    limits = [{"caller": "key:ada", "rates": ["5/hour"]}, {"caller": "key:*", "rates": ["1/hour"]}]
    async with hosting(do, settings={"limits": limits}, clock=ManualClock()) as host:
        counts = {}
        for caller in (ADA, BOB, Caller("local")):
            replies = [limited(await host.call("lab_do", {}, caller)) for _ in range(7)]
            counts[caller.id] = replies.count(None)
    assert counts == {"key:ada": 5, "key:bob": 1, "local": 7}


async def test_calls_in_flight_are_counted_until_they_end(hosting: Callable[..., Any]) -> None:
    """A cancelled one makes room like any other."""
    inside = anyio.Event()

    @tool("lab_wait", title="Wait")
    async def wait(args: Nothing, client: object, call: Call) -> Done:
        """Wait for ever."""
        inside.set()
        await anyio.sleep_forever()
        raise AssertionError

    async with hosting(do, wait, settings={"limits": [{"concurrency": 1}]}) as host:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(host.call, "lab_wait", {}, ADA)
            await inside.wait()
            assert limited(await host.call("lab_do", {}, ADA)) is not None
            assert limited(await host.call("lab_do", {}, BOB)) is None
            tasks.cancel_scope.cancel()
        assert limited(await host.call("lab_do", {}, ADA)) is None


async def test_callers_that_are_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory stays bounded however many names there are; who has used something is not among the forgotten."""
    monkeypatch.setattr("scigate.policy.allowance._IDLE_CALLERS", 10)
    clock = ManualClock()
    allowances = Allowances([LimitSettings(rates=["1/minute"])])

    async def proceed(call: Any) -> None:
        return None

    for number in range(100):
        await allowances(SimpleNamespace(caller=Caller(f"key:{number}"), clock=clock), proceed)
        await clock.advance(10)
    assert len(allowances._spent) <= 16
    assert await allowances(SimpleNamespace(caller=Caller("key:99"), clock=clock), proceed) is not None


@given(st.lists(st.floats(0, 3), min_size=1, max_size=60), st.integers(1, 5))
def test_no_window_ever_holds_more_than_the_rate(gaps: list[float], limit: int) -> None:
    """Wherever it starts; and a call that is refused succeeds once the told time has passed."""

    async def walk() -> None:
        clock = ManualClock(turns=1)
        allowances = Allowances([LimitSettings(rates=[f"{limit}/5s"])])
        served: list[float] = []

        async def proceed(call: Any) -> None:
            served.append(clock.monotonic())

        for gap in gaps:
            await clock.advance(gap)
            answer = await allowances(SimpleNamespace(caller=ADA, clock=clock), proceed)
            if answer is not None:
                await clock.advance(answer.retry_after_ms / 1000)
                assert await allowances(SimpleNamespace(caller=ADA, clock=clock), proceed) is None
        for start in served:
            assert sum(start <= at < start + 5 for at in served) <= limit

    anyio.run(walk)
