"""Fill the page fields of an output from the page that its handler cut."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from scigate.call import Call
from scigate.output import Page, Success

if TYPE_CHECKING:
    from scigate.policy import Outcome

__all__ = ["page"]


async def page(call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
    """Run the call and complete its page."""
    outcome = await proceed(call)
    if isinstance(outcome, Success) and isinstance(outcome.output, Page):
        _fill(outcome.output, call)
    return outcome


def _fill(output: Page, call: Call) -> None:
    window = call.page
    if window.shown is None:
        raise RuntimeError(f"the handler of {call.operation.name} returned a Page without cutting one")
    output.offset = window.offset
    output.total_found, output.total_found_at_least = window.total, window.at_least
    output.next_offset = window.next_offset
    if window.more:
        output.truncated, output.shown, output.cap = True, window.shown, window.size
    if window.sentence:
        call.notice(window.sentence)
