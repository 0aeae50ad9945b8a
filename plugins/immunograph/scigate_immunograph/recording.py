"""Recording: the policy that puts every finished step into the ledger before its answer is sent.

It stands outside core's other policies, so that what it records is the outcome as it is answered. A call that never
reached its handler (refused arguments, no room) or was cancelled is no finished step, and is not recorded.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Final

import anyio
import structlog
from pydantic import BaseModel
from scigate import Call, Failure, InputRequired, Reason, Success, Tool, tool

from scigate_immunograph.ledger import Ledger, LedgerError, RecordedStep
from scigate_immunograph.step import Step
from scigate_immunograph.workbench import Workbench

__all__ = ["EVIDENCE", "recorded_as", "recording", "step_tool"]

Outcome = Success | Failure | InputRequired
Proceed = Callable[[Call], Awaitable[Outcome]]
Handler = Callable[[Any, Workbench, Call], Awaitable[BaseModel]]

EVIDENCE: Final = "immunograph.evidence"
"""Where a handler leaves what a source said, for replaying the step without it: a JSON object."""

_LEDGER: Final = "immunograph.ledger"
_STEP: Final = "immunograph.step"


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What the ledger holds of a call: the step, and the outcome that it was made of."""

    outcome: Outcome
    step: Step


_log: Final = structlog.get_logger("scigate_immunograph.recording")


def step_tool(name: str, *, title: str, errors: list[Reason], open_world: bool = False) -> Callable[[Handler], Tool]:
    """A tool whose calls are steps of a run: read-only, idempotent, and recorded."""

    def make(function: Handler) -> Tool:
        @wraps(function)
        async def handler(args: Any, bench: Workbench, call: Call) -> BaseModel:
            call.state[_LEDGER] = bench.ledger
            return await function(args, bench, call)

        return tool(name, title=title, errors=errors, open_world=open_world)(handler)

    return make


async def recording(call: Call, proceed: Proceed) -> Outcome:
    """Record the step that a call of this provider was."""
    outcome = await proceed(call)
    ledger = call.state.get(_LEDGER)
    if not isinstance(ledger, Ledger) or isinstance(outcome, InputRequired):
        return outcome
    step = Step.of(call, outcome)
    evidence: Any = call.state.get(EVIDENCE)
    try:
        await anyio.to_thread.run_sync(ledger.append, RecordedStep(step, call.caller.id, evidence))
    except LedgerError as error:
        _log.error("step not recorded", call_id=call.id, tool=call.operation.name, exc_info=error)
        missing = "This step is not in the run ledger, which could not be written."
        step = replace(step, notice=f"{step.notice} {missing}" if step.notice else missing)
    call.state[_STEP] = _Recorded(outcome, step)
    return outcome


def recorded_as(call: Call, outcome: Outcome) -> Step | None:
    """The step that was recorded of a call with this outcome, or None."""
    recorded = call.state.get(_STEP)
    return recorded.step if isinstance(recorded, _Recorded) and recorded.outcome is outcome else None
