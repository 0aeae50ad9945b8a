"""The boundary at which a question to the client ends a run, and becomes the call's outcome."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

from scigate.call import Call
from scigate.dialogue import Asking, InputRequired

if TYPE_CHECKING:
    from scigate.policy import Outcome, PolicyFunction

__all__ = ["asked", "asking"]

ResultT = TypeVar("ResultT")


async def asked(step: Awaitable[ResultT]) -> ResultT | InputRequired:
    """What a step gives, or what it has to ask first; of several tasks that ask at once one is heard."""
    try:
        return await step
    except Asking as question:
        return question.required
    except BaseExceptionGroup as group:
        questions, faults = group.split(Asking)
        if questions is None or faults is not None:
            # A fault goes first: nobody should answer what cannot be used.
            raise faults or group from None
        return _first(questions).required


def asking(policy: PolicyFunction) -> PolicyFunction:
    """A policy that may ask the client, as any outside of core may."""

    @wraps(policy)
    async def run(call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
        return await asked(policy(call, proceed))

    return run


def _first(questions: BaseExceptionGroup[Asking]) -> Asking:
    first = questions.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
