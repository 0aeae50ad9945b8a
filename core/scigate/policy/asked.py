"""The boundary at which a question to the client ends a run, and becomes the call's outcome."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar, cast

from scigate.call import Call
from scigate.dialogue import Asking, InputRequired

if TYPE_CHECKING:
    from scigate.policy import Outcome, PolicyFunction

__all__ = ["asked", "asking"]

ResultT = TypeVar("ResultT")


async def asked(step: Awaitable[ResultT]) -> ResultT | InputRequired:
    """What a step gives, or what it has to ask first; of several tasks that ask at once, one is heard in each round."""
    try:
        return await step
    except Asking as question:
        return question.required
    except BaseExceptionGroup as group:
        if (question := _question(group)) is None:
            raise
        return question.required


def asking(policy: PolicyFunction) -> PolicyFunction:
    """A policy that may ask the client, as any outside of core may."""

    @wraps(policy)
    async def run(call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
        return await asked(policy(call, proceed))

    return run


def _question(error: BaseException) -> Asking | None:
    if isinstance(error, BaseExceptionGroup):
        inner = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return next((found for each in inner if (found := _question(each)) is not None), None)
    return error if isinstance(error, Asking) else None
