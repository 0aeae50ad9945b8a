"""Each call is one log line, with what it cost and how it ended."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from scigate import Call, Code, Input, Output, Reason, tool
from scigate.call import LOCAL
from scigate.testing.clock import ManualClock
from structlog.testing import capture_logs

UNKNOWN = Reason("unknown_sample", Code.NOT_FOUND, "no sample has the name", "Check name.")


class Ask(Input):
    how: str


class Done(Output):
    said: str = "done"


@pytest.mark.parametrize(
    ("how", "reason"), [("well", "ok"), ("unknown", "unknown_sample"), ("fault", "internal_error")]
)
async def test_one_line_tells_how_a_call_ended(hosting: Callable[..., Any], how: str, reason: str) -> None:
    """Keys are the same whatever the outcome; arguments are not in it."""

    @tool("lab_do", title="Do", errors=[UNKNOWN])
    async def do(args: Ask, client: object, call: Call) -> Done:
        """Do it."""
        await clock.advance(0.25)
        call.usage.requests, call.usage.cached = 2, 1
        if args.how == "unknown":
            raise UNKNOWN.error("none")
        if args.how == "fault":
            raise KeyError
        return Done()

    clock = ManualClock()
    async with hosting(do, clock=clock) as host:
        with capture_logs() as lines:
            reply = await host.call("lab_do", {"how": how}, LOCAL)
    (line,) = [line for line in lines if line["event"] == "call"]
    assert line == {
        "event": "call",
        "log_level": "info",
        "call_id": reply.meta["scigate/call"],
        "tool": "lab_do",
        "caller": "local",
        "reason": reason,
        "duration_ms": 250.0,
        "requests": 2,
        "cached": 1,
    }


async def test_a_call_whose_client_went_away_is_told_too(hosting: Callable[..., Any]) -> None:
    """As cancelled: it has neither result nor failure."""
    inside = anyio.Event()

    @tool("lab_wait", title="Wait")
    async def wait(args: Ask, client: object, call: Call) -> Done:
        """Wait for ever."""
        inside.set()
        await anyio.sleep_forever()
        return Done()

    async with hosting(wait) as host:
        with capture_logs() as lines:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(host.call, "lab_wait", {"how": "long"}, LOCAL)
                await inside.wait()
                tasks.cancel_scope.cancel()
    assert [line["reason"] for line in lines if line["event"] == "call"] == ["cancelled"]
