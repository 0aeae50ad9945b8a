"""Which requests the SDK makes a span of: those whose client has begun a trace, and so many more in a second."""

from __future__ import annotations

import random
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from opentelemetry.context import attach, detach
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

from scigate.sampling import Traces

__all__ = ["Traced"]

_UNSAMPLED = TraceFlags(TraceFlags.DEFAULT)


class Traced(ServerMiddleware[Any]):
    """Stands in for the SDK's own middleware, and has it make a span where there is to be one.

    What is not traced has ids all the same, which nothing below makes a span of: logs can be told apart by them.

    Args:
        spanned: The SDK's.
        traces: How many there may be.
    """

    def __init__(self, spanned: ServerMiddleware[Any], traces: Traces) -> None:
        self._spanned = spanned
        self._traces = traces

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        begun_by_client = ctx.meta is not None and "traceparent" in ctx.meta
        if begun_by_client or self._traces.begin():
            return await self._spanned(ctx, call_next)
        # They tell requests apart and guard nothing.
        ids = SpanContext(random.getrandbits(128) or 1, random.getrandbits(64) or 1, False, _UNSAMPLED)
        token = attach(set_span_in_context(NonRecordingSpan(ids)))
        try:
            return await call_next(ctx)
        finally:
            detach(token)
