"""Transport: one OpenTelemetry client span and one debug line for each attempt.

The span holds no path and neither holds a query, which repeat what the caller asked, nor headers, which may hold keys.
"""

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import httpx
import structlog

from scigate.clock import Clock
from scigate.upstream.quota import WAITED

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from opentelemetry.trace import Span

_log = structlog.stdlib.get_logger("scigate.upstream")


class TraceTransport(httpx.AsyncBaseTransport):
    """Spans are made only once an application has set a tracer provider.

    Args:
        told: whether the upstream learns the trace's id, in the header `traceparent`.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport, *, upstream: str, clock: Clock, told: bool = False) -> None:
        self._inner = inner
        self._upstream = upstream
        self._clock = clock
        self._told = told

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        since = self._clock.monotonic()
        outcome: int | str = "cancelled"
        with self._span(request) as span:
            if span is not None and self._told:
                _tell(request)
            try:
                response = await self._inner.handle_async_request(request)
                outcome = response.status_code
                return response
            except Exception as error:
                outcome = type(error).__name__
                raise
            finally:
                if span is not None:
                    _describe(span, outcome)
                _log.debug(
                    "upstream_attempt",
                    upstream=self._upstream,
                    method=request.method,
                    path=request.url.path,
                    outcome=outcome,
                    duration_ms=round(1000 * (self._clock.monotonic() - since), 1),
                )

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _span(self, request: httpx.Request) -> "AbstractContextManager[Span | None]":
        # Nobody can have set a provider through an API that nobody has imported; importing it costs start-up time.
        if "opentelemetry.trace" not in sys.modules:
            return nullcontext()
        from opentelemetry import trace

        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            return nullcontext()
        return trace.get_tracer("scigate.upstream").start_as_current_span(
            request.method,
            kind=trace.SpanKind.CLIENT,
            attributes={
                "scigate.upstream": self._upstream,
                "http.request.method": request.method,
                "server.address": request.url.host,
                "server.port": request.url.port or (443 if request.url.scheme == "https" else 80),
                "url.scheme": request.url.scheme,
                "scigate.quota.wait_ms": round(1000 * request.extensions.get(WAITED, 0.0), 1),
            },
            # An exception's text and traceback may hold the URL; its class is noted below.
            record_exception=False,
            set_status_on_exception=False,
        )


def _tell(request: httpx.Request) -> None:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    # Without baggage, in which a client may have put anything.
    TraceContextTextMapPropagator().inject(request.headers)


def _describe(span: "Span", outcome: int | str) -> None:
    from opentelemetry.trace import StatusCode

    if isinstance(outcome, int):
        span.set_attribute("http.response.status_code", outcome)
    if isinstance(outcome, str) or outcome >= 400:
        span.set_attribute("error.type", str(outcome))
        span.set_status(StatusCode.ERROR)
