"""Bound a call in time, and tell the upstreams underneath until when an answer is of use."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from scigate.call import Call
from scigate.failure import DEADLINE_EXCEEDED
from scigate.upstream.context import CURRENT, Demand

if TYPE_CHECKING:
    from scigate.policy import Outcome

__all__ = ["deadline"]

_MARGIN_S: Final = 0.1
_MARGIN_SHARE: Final = 0.02
"""How much earlier an upstream's time is up than the call's, at most and as a share: so it is the upstream's late
answer that is told, by the provider's own reason, and what a batch has finished is still put together."""


async def deadline(call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
    """Run the call with its demand on upstreams set, and cancel it when its time is up."""
    last = call.deadline - min(_MARGIN_S, _MARGIN_SHARE * call.remaining_s)
    token = CURRENT.set(Demand(deadline=last, caller=call.caller.id, priority="interactive", usage=call.usage))
    timeout: asyncio.Timeout | None = None
    try:
        async with call.clock.timeout(call.remaining_s) as timeout:
            return await proceed(call)
    except TimeoutError:
        # A TimeoutError that is not the deadline's own comes from the handler, and is a fault like any other.
        if timeout is None or not timeout.expired():
            raise
        seconds = call.deadline - call.started
        return DEADLINE_EXCEEDED.failure(f"{call.operation.name} was not done within {seconds:g} s.")
    finally:
        CURRENT.reset(token)
