"""A call ends at its deadline, and upstreams know it."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from scigate import Call, Input, Output, tool
from scigate.call import LOCAL
from scigate.host import Reply
from scigate.testing.clock import ManualClock
from scigate.upstream.context import CURRENT, Demand


class Nothing(Input):
    pass


class Done(Output):
    said: str = "done"


@pytest.mark.parametrize(("own", "seconds"), [(None, 30), (5, 5), (90, 90)])
async def test_a_handler_is_cancelled_at_the_deadline(
    hosting: Callable[..., Any], own: float | None, seconds: float
) -> None:
    """The tool's own deadline goes before the gateway's; not a moment earlier, and the failure names it."""
    cancelled: list[bool] = []

    @tool("lab_wait", title="Wait", deadline_s=own)
    async def wait(args: Nothing, client: object, call: Call) -> Done:
        """Wait for ever."""
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            cancelled.append(True)
            raise
        return Done()

    clock = ManualClock()
    replies: list[Reply] = []
    async with hosting(wait, settings={"deadline_s": 30}, clock=clock) as host, anyio.create_task_group() as tasks:

        async def call() -> None:
            replies.append(await host.call("lab_wait", {}, LOCAL))

        tasks.start_soon(call)
        await clock.advance(seconds - 0.01)
        assert not replies
        await clock.advance(0.01)
    error = replies[0].structured["error"]
    assert cancelled == [True]
    assert (error["code"], error["data"]["reason"]) == (-32004, "deadline_exceeded")
    assert error["message"] == f"lab_wait was not done within {seconds} s."


async def test_upstreams_know_the_deadline_and_the_caller(hosting: Callable[..., Any]) -> None:
    """They are told to end a little before the call, so that there is time to say so; nothing is set afterwards."""
    seen: list[Demand | None] = []

    @tool("lab_look", title="Look")
    async def look(args: Nothing, client: object, call: Call) -> Done:
        """Look at the demand."""
        seen.append(CURRENT.get())
        assert CURRENT.get() is not None
        seen[0].usage.requests += 3  # type: ignore[union-attr]
        return Done()

    async with hosting(look, settings={"deadline_s": 50}, clock=ManualClock()) as host:
        reply = await host.call("lab_look", {}, LOCAL)
    (demand,) = seen
    assert demand is not None
    assert 49 < demand.deadline <= 50
    assert (demand.caller, demand.priority) == ("local", "interactive")
    assert CURRENT.get() is None
    assert reply.meta["scigate/usage"]["requests"] == 3


async def test_a_timeout_of_the_handlers_own_is_no_deadline(hosting: Callable[..., Any]) -> None:
    """What a handler raises is its fault, even when it bears the deadline's name."""

    @tool("lab_late", title="Late")
    async def late(args: Nothing, client: object, call: Call) -> Done:
        """Raise a timeout."""
        raise TimeoutError

    async with hosting(late, clock=ManualClock()) as host:
        reply = await host.call("lab_late", {}, LOCAL)
    assert reply.structured["error"]["data"]["reason"] == "internal_error"


async def test_a_cancelled_caller_is_not_answered(hosting: Callable[..., Any]) -> None:
    """Cancellation from outside passes through: it is neither a failure nor a result."""
    replies: list[Reply] = []
    inside = anyio.Event()

    @tool("lab_wait", title="Wait")
    async def wait(args: Nothing, client: object, call: Call) -> Done:
        """Wait for ever."""
        inside.set()
        await anyio.sleep_forever()
        return Done()

    async with hosting(wait, clock=ManualClock()) as host, anyio.create_task_group() as tasks:

        async def call() -> None:
            replies.append(await host.call("lab_wait", {}, LOCAL))

        tasks.start_soon(call)
        await inside.wait()
        tasks.cancel_scope.cancel()
    assert replies == []
