"""Tell the audit log of every call, whatever became of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace as otel

from scigate.arguments import disclosed
from scigate.audit import AuditLog
from scigate.call import Call
from scigate.dialogue import InputRequired
from scigate.failure import INTERNAL_ERROR, Failure
from scigate.output import Success

if TYPE_CHECKING:
    from scigate.policy import Outcome

__all__ = ["Recorder"]

_LONGEST: Final = 4096
"""Characters of arguments that a line holds; longer ones are told by their size and digest."""


class Recorder:
    """Hands one entry over for each call.

    Args:
        log: Where it goes.
    """

    def __init__(self, log: AuditLog) -> None:
        self._log = log

    async def __call__(self, call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
        """Run the call and tell how it ended, also when it is cancelled."""
        outcome, reason = "failure", INTERNAL_ERROR.name
        try:
            result = await proceed(call)
            match result:
                case Failure():
                    reason = result.reason
                case InputRequired():
                    outcome, reason = result.reason, None
                case Success():
                    outcome, reason = "ok", None
            return result
        except asyncio.CancelledError:
            outcome, reason = "cancelled", None
            raise
        finally:
            self._log.write(self._entry(call, outcome, reason))

    def _entry(self, call: Call, outcome: str, reason: str | None) -> dict[str, object]:
        usage = call.usage
        entry: dict[str, object] = {
            "event": "call",
            "call": call.id,
            "caller": call.caller.id,
            "tool": call.operation.name,
            "arguments": self._arguments(call),
            "rule": call.rule,
            "outcome": outcome,
            "reason": reason,
            "durationMs": round((call.clock.monotonic() - call.started) * 1000, 1),
            "requests": usage.requests,
            "cached": usage.cached,
        }
        span = otel.get_current_span().get_span_context()
        if span.is_valid:
            entry["trace"] = otel.format_trace_id(span.trace_id)
        return entry

    def _arguments(self, call: Call) -> Mapping[str, object]:
        # Written here, although the log does so again: what waits for the disk must not hold a body of megabytes.
        told: Mapping[str, Any] = (
            call.raw if self._log.digests_only else disclosed(call.operation.input_model, call.raw)
        )
        try:
            text = json.dumps(told, sort_keys=True, separators=(",", ":"), allow_nan=False)
        except (ValueError, RecursionError):
            return {"unwritable": True}
        if self._log.digests_only or len(text) > _LONGEST:
            return {"sha256": self._log.digest(text.encode()), "characters": len(text)}
        return told
