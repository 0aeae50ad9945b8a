"""Outermost: one log line and one span for each call, and the last stop for faults nobody expected."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import structlog
from opentelemetry import trace as otel
from opentelemetry.context import attach, detach

from scigate.call import Call
from scigate.failure import INTERNAL_ERROR, Failure
from scigate.output import Success

if TYPE_CHECKING:
    from scigate.policy import Outcome

__all__ = ["answered", "is_traced", "noted", "spans_are_kept", "trace"]

_log: Final = structlog.get_logger("scigate.call")
_tracer: Final = otel.get_tracer("scigate")


def spans_are_kept() -> bool:
    """Whether the process has set a tracer provider.

    Without one there is no span to make; asking costs a hundredth of making one that records nothing.
    """
    return not isinstance(otel.get_tracer_provider(), otel.ProxyTracerProvider | otel.NoOpTracerProvider)


def is_traced() -> bool:
    """Whether what is under way is traced, or would begin a trace: not where a span above is not kept."""
    span = otel.get_current_span()
    return span.is_recording() or not span.get_span_context().is_valid


def noted(
    name: str, run: Callable[[Call, Callable[[Call], Awaitable[Outcome]]], Awaitable[Outcome]]
) -> Callable[[Call, Callable[[Call], Awaitable[Outcome]]], Awaitable[Outcome]]:
    """A policy that leaves an event on the call's span when it refuses the call or turns its outcome into a failure."""

    async def policy(call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
        outcome = await run(call, proceed)
        failed = isinstance(outcome, Failure)
        if failed and not call.failed:
            otel.get_current_span().add_event("policy", {"scigate.policy": name, "error.type": outcome.reason})
        call.failed = failed
        return outcome

    return policy


def answered(handler: Callable[[Call], Awaitable[Outcome]]) -> Callable[[Call], Awaitable[Outcome]]:
    """A handler that leaves word of its failure, so that no policy around it is named for it."""

    async def handle(call: Call) -> Outcome:
        outcome = await handler(call)
        call.failed = isinstance(outcome, Failure)
        return outcome

    return handle


async def trace(call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
    """Run the call inside a span and tell how it ended."""
    if not spans_are_kept() or not is_traced():
        return await _logged(call, proceed)
    attributes = {"gen_ai.tool.name": call.operation.name, "scigate.call_id": call.id}
    span = _tracer.start_span("host.call", attributes=attributes)
    token = attach(otel.set_span_in_context(span))
    try:
        outcome = await _logged(call, proceed)
        if span.is_recording():
            _describe(span, call, outcome)
        return outcome
    finally:
        detach(token)
        span.end()


def _describe(span: otel.Span, call: Call, outcome: Outcome) -> None:
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
