"""Which requests the SDK makes a span of: those whose client has begun a trace, and so many more in a second."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from opentelemetry.context import attach, detach
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

from scigate.sampling import Traces

__all__ = ["Traced"]

_UNSAMPLED = TraceFlags(TraceFlags.DEFAULT)

_PARENT: Final = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_STATE: Final = re.compile(r"[\x20-\x7e]{1,512}")
_LONGEST_NAME: Final = 128


def _told(meta: Mapping[str, object] | None) -> dict[str, object]:
    """What a client says of its trace, where it is well formed (W3C Trace Context): the rest goes into no log.

    Baggage is left out, in which anything may stand.
    """
    found: dict[str, object] = {}
    for key, form in (("traceparent", _PARENT), ("tracestate", _STATE)):
        value = meta.get(key) if meta else None
        if isinstance(value, str) and form.fullmatch(value):
            found[key] = value
    return found


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
        told = _told(ctx.meta)
        if "traceparent" in told or self._traces.begin():
            name = ctx.params.get("name") if ctx.params else None
            if isinstance(name, str) and len(name) > _LONGEST_NAME:
                return await call_next(ctx)
            untouched = ctx

            async def proceed(_: ServerRequestContext[Any, Any]) -> HandlerResult:
                return await call_next(untouched)

            return await self._spanned(replace(ctx, meta=cast("Any", told)), proceed)
        # They tell requests apart and guard nothing.
        ids = SpanContext(random.getrandbits(128) or 1, random.getrandbits(64) or 1, False, _UNSAMPLED)
        token = attach(set_span_in_context(NonRecordingSpan(ids)))
        try:
            return await call_next(ctx)
        finally:
            detach(token)
