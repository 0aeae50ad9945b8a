"""What happened on the way to a result is said in it."""

from collections.abc import Callable
from typing import Any

import pytest
from scigate import Call, Input, Output, Record, tool
from scigate.call import LOCAL
from scigate.host import Reply


class Nothing(Input):
    pass


class Done(Output):
    said: str = "done"


class Bare(Record):
    said: str = "bare"


async def told(hosting: Callable[..., Any], prepare: Callable[[Call], None], output: Any = Done) -> Reply:
    async def handler(args: Nothing, client: object, call: Call) -> Any:
        """Prepare the call."""
        prepare(call)
        return output()

    handler.__annotations__ = {"args": Nothing, "client": object, "call": Call, "return": output}
    async with hosting(tool("lab_do", title="Do")(handler)) as host:
        return await host.call("lab_do", {}, LOCAL)


@pytest.mark.parametrize(
    ("prepare", "notice"),
    [
        (lambda call: None, None),
        (lambda call: call.notice("Look out."), "Look out."),
        (lambda call: [call.notice(text) for text in ("One.", "Two.", "One.")], "One. Two."),
        (
            lambda call: call.usage.sample_sources.update({"ncbi", "lab"}),
            "Sample data: answered by the offline emulator of lab, ncbi, not by the live service.",
        ),
        (lambda call: setattr(call.usage, "oldest_age_s", 59.9), None),
        (
            lambda call: setattr(call.usage, "oldest_age_s", 3600.4),
            "Served in part from cache, up to 3,600 s old.",
        ),
    ],
)
async def test_the_notice_says_it(
    hosting: Callable[..., Any], prepare: Callable[[Call], None], notice: str | None
) -> None:
    """Sentences are joined in order without repeats; nothing to say is no field."""
    reply = await told(hosting, prepare)
    assert reply.structured.get("notice") == notice
    text = reply.content[0]["text"]
    assert ("Notice:" in text) == (notice is not None)


async def test_all_that_is_to_be_said_stands_together(hosting: Callable[..., Any]) -> None:
    """The handler's own sentences come first."""

    def prepare(call: Call) -> None:
        call.usage.oldest_age_s = 75
        call.usage.sample_sources.add("lab")
        call.notice("Mine.")

    reply = await told(hosting, prepare)
    assert reply.structured["notice"].startswith("Mine. Sample data: ")
    assert reply.structured["notice"].endswith("up to 75 s old.")


async def test_cost_is_told_beside_every_result(hosting: Callable[..., Any]) -> None:
    """`_meta` counts requests, cached answers and waiting, whatever the notice says."""

    def prepare(call: Call) -> None:
        call.usage.requests, call.usage.attempts, call.usage.cached = 2, 3, 1
        call.usage.waits, call.usage.oldest_age_s = [(1.0, 1.25)], 12.5

    reply = await told(hosting, prepare)
    assert reply.meta["scigate/usage"] == {
        "requests": 2,
        "attempts": 3,
        "cached": 1,
        "waitedMs": 250,
        "oldestAgeMs": 12500,
    }


async def test_a_result_without_core_fields_is_left_as_it_is(hosting: Callable[..., Any]) -> None:
    """Only an `Output` has a notice; a provider with an envelope of its own reads the call instead."""
    reply = await told(hosting, lambda call: call.notice("Unheard."), Bare)
    assert reply.structured == {"said": "bare"}
