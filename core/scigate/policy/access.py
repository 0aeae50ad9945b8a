"""Refuse a call that the rules do not allow: by its tool before anything else is told, by its arguments once known."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from scigate.call import Call
from scigate.failure import FORBIDDEN, Failure
from scigate.rules import Decision, Rules

if TYPE_CHECKING:
    from scigate.policy import Outcome

__all__ = ["Access"]


class Access:
    """Asks the rules twice: outside of the validation for the tool, inside of it for the arguments.

    Args:
        rules: What decides.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    async def to_tool(self, call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
        """Run the call unless its caller may not call the tool, whatever the arguments."""
        decision = self.rules.decide(call.caller, call.operation.name)
        if decision is not None:
            call.rule = decision.rule
            if not decision.allowed:
                return _refusal(decision, call)
        return await proceed(call)

    async def with_arguments(self, call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
        """Run the call unless its caller may not call the tool with these arguments."""
        if call.rule is None:
            # As validated: the defaults stand in them, and an argument has one form however it was written.
            arguments = call.arguments.model_dump(mode="json", by_alias=True)
            decision = self.rules.decide_with(call.caller, call.operation.name, arguments)
            call.rule = decision.rule
            if not decision.allowed:
                return _refusal(decision, call)
        return await proceed(call)


def _refusal(decision: Decision, call: Call) -> Failure:
    message = decision.message or f"{call.caller.id} may not make this call of {call.operation.name}."
    return FORBIDDEN.failure(message, rule=decision.rule)
