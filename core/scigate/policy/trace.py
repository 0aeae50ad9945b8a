"""Outermost: one log line and one span for each call, and the last stop for faults nobody expected."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import structlog
from opentelemetry import trace as otel

from scigate.call import Call
from scigate.failure import INTERNAL_ERROR, Failure
from scigate.output import Success

if TYPE_CHECKING:
    from scigate.policy import Outcome

__all__ = ["noted", "spans_are_kept", "trace"]

_log: Final = structlog.get_logger("scigate.call")
_tracer: Final = otel.get_tracer("scigate")


def spans_are_kept() -> bool:
    """Whether the process has set a tracer provider.

    Without one there is no span to make; asking costs a hundredth of making one that records nothing.
    """
    return not isinstance(otel.get_tracer_provider(), otel.ProxyTracerProvider)


def noted(
    name: str, run: Callable[[Call, Callable[[Call], Awaitable[Outcome]]], Awaitable[Outcome]]
) -> Callable[[Call, Callable[[Call], Awaitable[Outcome]]], Awaitable[Outcome]]:
    """A policy that leaves an event on the call's span when it refuses the call or turns its outcome into a failure."""

    async def policy(call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
        inner: list[Outcome] = []

        async def proceeding(call: Call) -> Outcome:
            inner.append(await proceed(call))
            return inner[-1]

        outcome = await run(call, proceeding)
        if isinstance(outcome, Failure) and not any(isinstance(each, Failure) for each in inner):
            otel.get_current_span().add_event("policy", {"scigate.policy": name, "error.type": outcome.reason})
        return outcome

    return policy


async def trace(call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
    """Run the call inside a span and tell how it ended."""
    if not spans_are_kept():
        return await _logged(call, proceed)
    attributes = {"gen_ai.tool.name": call.operation.name, "scigate.call_id": call.id}
    with _tracer.start_as_current_span("host.call", attributes=attributes) as span:
        outcome = await _logged(call, proceed)
        if isinstance(outcome, Failure):
            span.set_attribute("error.type", outcome.reason)
        for capped in call.capped:
            span.add_event("policy", {"scigate.policy": "cap", "scigate.input": capped.input})
        if call.rule is not None:
            span.set_attribute("scigate.rule", call.rule)
        usage = call.usage
        span.set_attributes(
            {
                "scigate.requests": usage.requests,
                "scigate.cached": usage.cached,
                "scigate.quota.wait_ms": round(1000 * usage.waited_s, 1),
            }
        )
        return outcome


async def _logged(call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
    reason = "cancelled"
    try:
        outcome = await proceed(call)
        reason = "ok" if isinstance(outcome, Success) else outcome.reason
        return outcome
    except Exception:  # noqa: BLE001  # outermost: nothing above could answer the caller
        reason = INTERNAL_ERROR.name
        _log.exception("fault", call_id=call.id, tool=call.operation.name)
        return INTERNAL_ERROR.failure(f"The gateway failed in call {call.id}.", callId=call.id)
    finally:
        _log.info(
            "call",
            call_id=call.id,
            tool=call.operation.name,
            caller=call.caller.id,
            reason=reason,
            duration_ms=round((call.clock.monotonic() - call.started) * 1000, 1),
            requests=call.usage.requests,
            cached=call.usage.cached,
        )
