"""Spans and log lines of attempts."""

import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scigate.testing.clock import ManualClock
from scigate.upstream.trace import TraceTransport
from structlog.testing import capture_logs

SECRET = "https://example.org/cid/2244?api_key=secret"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What is exported while a tracer provider is set."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    # The API lets a process set its provider once only.
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield exporter
    provider.shutdown()


def answer(request: httpx.Request) -> httpx.Response:
    if request.url.path == "/fail":
        raise httpx.ReadTimeout(f"no answer from {request.url}")
    return httpx.Response(503 if request.url.path == "/busy" else 200)


async def attempt(clock: ManualClock, url: str) -> None:
    transport = TraceTransport(httpx.MockTransport(answer), upstream="pubchem", clock=clock)
    await transport.handle_async_request(httpx.Request("GET", url, headers={"Authorization": "secret"}))


async def test_attempt_is_a_client_span(clock: ManualClock, spans: InMemorySpanExporter) -> None:
    """An attempt is a span that names upstream, host, path and status, and neither query nor headers."""
    await attempt(clock, SECRET)
    (span,) = spans.get_finished_spans()
    assert span.kind is trace.SpanKind.CLIENT
    attributes = dict(span.attributes or {})
    assert attributes["scigate.upstream"] == "pubchem"
    assert attributes["server.address"] == "example.org"
    assert "2244" not in str(dict(attributes))
    assert attributes["http.response.status_code"] == 200
    assert span.status.is_unset
    assert "secret" not in span.to_json()


@pytest.mark.parametrize(("path", "kind"), [("fail", "ReadTimeout"), ("busy", "503")])
async def test_failed_attempt_is_marked(clock: ManualClock, spans: InMemorySpanExporter, path: str, kind: str) -> None:
    """An error's class or status is on the span, its text, which may hold the URL, is not."""
    if path == "fail":
        with pytest.raises(httpx.ReadTimeout):
            await attempt(clock, f"https://example.org/{path}?api_key=secret")
    else:
        await attempt(clock, f"https://example.org/{path}?api_key=secret")
    (span,) = spans.get_finished_spans()
    assert not span.status.is_ok
    assert dict(span.attributes or {})["error.type"] == kind
    assert "secret" not in span.to_json()


async def test_attempt_is_one_debug_line(clock: ManualClock) -> None:
    """An attempt is logged with its outcome and duration, without the query."""
    with capture_logs() as lines:
        await attempt(clock, SECRET)
    assert lines == [
        {
            "event": "upstream_attempt",
            "log_level": "debug",
            "upstream": "pubchem",
            "method": "GET",
            "path": "/cid/2244",
            "outcome": 200,
            "duration_ms": 0.0,
        }
    ]


def test_stack_does_not_import_opentelemetry() -> None:
    """Who does not trace does not pay for the import."""
    code = "import sys, scigate.upstream; print([name for name in sys.modules if name.startswith('opentelemetry')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
