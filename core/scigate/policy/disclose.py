"""Say in the result what was capped, set aside, sampled, aged or remarked on the way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from scigate.call import Call
from scigate.output import Output, Success

if TYPE_CHECKING:
    from scigate.policy import Outcome

__all__ = ["disclose"]

_AGE_WORTH_TELLING_S: Final = 60.0
"""Seconds from which a cached answer's age is told in the notice; `_meta` of the result tells it always."""


async def disclose(call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
    """Run the call and write what is to be known about its result into it."""
    outcome = await proceed(call)
    if isinstance(outcome, Success):
        if call.usage.sample_sources:
            names = ", ".join(sorted(call.usage.sample_sources))
            call.notice(f"Sample data: answered by the offline emulator of {names}, not by the live service.")
        if call.usage.stale:
            call.notice("The upstream failed: in part an earlier answer is served, past its lifetime.")
        if call.usage.oldest_age_s >= _AGE_WORTH_TELLING_S:
            call.notice(f"Served in part from cache, up to {round(call.usage.oldest_age_s):,} s old.")
        if isinstance(outcome.output, Output):
            _write(outcome.output, call)
    return outcome


def _write(output: Output, call: Call) -> None:
    if call.capped:
        output.capped_inputs = call.capped
    if call.unprocessed:
        output.unprocessed = call.unprocessed
    if call.notices:
        output.notice = " ".join(call.notices)
