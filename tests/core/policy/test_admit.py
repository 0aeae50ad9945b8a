"""Nobody holds more calls in flight than their share."""

from collections.abc import Callable
from typing import Any

import anyio
from scigate import Call, Caller, Input, Output, tool


class Nothing(Input):
    pass


class Done(Output):
    said: str = "done"


async def test_a_caller_over_the_share_is_refused_and_others_are_not(hosting: Callable[..., Any]) -> None:
    """The share counts all tools together; a call that ends, by success, fault or cancellation, makes room."""
    gate = anyio.Event()
    inside = anyio.Semaphore(0)

    @tool("lab_wait", title="Wait")
    async def wait(args: Nothing, client: object, call: Call) -> Done:
        """Wait at the gate."""
        inside.release()
        await gate.wait()
        return Done()

    @tool("lab_fail", title="Fail")
    async def fail(args: Nothing, client: object, call: Call) -> Done:
        """Fail."""
        raise KeyError

    ann, bob = Caller("ann"), Caller("bob")
    async with hosting(wait, fail, settings={"server": {"concurrency": 2}}) as host, anyio.create_task_group() as tasks:
        for caller in (ann, ann, bob):
            tasks.start_soon(host.call, "lab_wait", {}, caller)
            await inside.acquire()
        refused = await host.call("lab_fail", {}, ann)
        error = refused.structured["error"]
        assert (error["code"], error["data"]["reason"]) == (-32003, "caller_rate_limited")
        assert error["data"]["retryable"]
        assert error["message"].startswith("2 calls are in flight")
        assert (await host.call("lab_fail", {}, bob)).structured["error"]["data"]["reason"] == "internal_error"
        tasks.cancel_scope.cancel()

    # Nothing of the first host is left to a second one; here one caller's calls come one after another.
    async with hosting(fail, settings={"server": {"concurrency": 1}}) as host:
        for _ in range(3):
            reply = await host.call("lab_fail", {}, ann)
            assert reply.structured["error"]["data"]["reason"] == "internal_error"


async def test_a_cancelled_call_makes_room(hosting: Callable[..., Any]) -> None:
    """A client that goes away holds no place."""
    inside = anyio.Event()

    @tool("lab_wait", title="Wait")
    async def wait(args: Nothing, client: object, call: Call) -> Done:
        """Wait for ever, the first time."""
        if not inside.is_set():
            inside.set()
            await anyio.sleep_forever()
        return Done()

    async with hosting(wait, settings={"server": {"concurrency": 1}}) as host:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(host.call, "lab_wait", {}, Caller("ann"))
            await inside.wait()
            tasks.cancel_scope.cancel()
        assert not (await host.call("lab_wait", {}, Caller("ann"))).is_error
