"""One call as a trace: the request, the call, what its policies did, and each attempt upstream."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx
import pytest
import structlog
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scigate import Input, Output, Upstream, tool
from scigate.call import LOCAL, Call
from scigate.clock import SystemClock
from scigate.endpoint.http import running
from scigate.host import Host
from scigate.metrics import Metrics, Telemetry
from scigate.sampling import Traces
from scigate.settings import LogSettings
from scigate.telemetry import configure_logging
from scigate.testing.clock import ManualClock
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

TRACE = "0af7651916cd43dd8448eb211c80319c"
Hosting = Callable[..., AbstractAsyncContextManager[Host]]


class Ask(Input):
    name: str


class Heard(Output):
    traceparent: str | None


@tool("lab_ask", title="Ask")
async def ask(args: Ask, client: httpx.AsyncClient, call: Call) -> Heard:
    """What the upstream hears of the trace."""
    return Heard(traceparent=(await client.get("/sample")).json()["traceparent"])


async def sample(request: Request) -> JSONResponse:
    return JSONResponse({"traceparent": request.headers.get("traceparent")})


def emulator() -> Starlette:
    """An upstream that tells the header it was sent."""
    return Starlette(routes=[Route("/sample", sample)])


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What is exported while a tracer provider is set."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    # The API lets a process set its provider once only, and its tracers keep the one that they met first.
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    monkeypatch.setattr(sys.modules["scigate.policy.trace"], "_tracer", provider.get_tracer("scigate"))
    monkeypatch.setattr(sys.modules["mcp.shared._otel"], "_tracer", provider.get_tracer("mcp"))
    yield exporter
    provider.shutdown()


@pytest.fixture
def lab(hosting: Hosting, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AbstractAsyncContextManager[Host]]:
    """Opens a host whose one tool asks an upstream, offline, with some settings."""
    upstream = Upstream("lab", "https://lab.example", quotas=("5/second",), emulator="lab_emulator:emulator")
    module = type("Module", (), {"emulator": staticmethod(emulator)})
    monkeypatch.setitem(sys.modules, "lab_emulator", module)

    def opened(measured: Telemetry | None = None, **settings: Any) -> AbstractAsyncContextManager[Host]:
        return hosting(
            ask,
            telemetry=measured,
            settings={"offline": True, **settings},
            register_upstreams=lambda: [upstream],
            build_client=lambda upstreams: upstreams["lab"],
        )

    return opened


def by_name(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans.get_finished_spans()}


async def posted(url: str, name: str, *, traced: bool = True, **told: Any) -> Any:
    """Call the tool as a client inside a trace does, or as one that has none."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    if traced:
        meta["traceparent"] = f"00-{TRACE}-b7ad6b7169203331-01"
    meta |= told
    params = {"name": "lab_ask", "arguments": {"name": name}, "_meta": meta}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "lab_ask",
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(url, headers=headers, json=message)
    return answer.json()


async def test_a_call_is_one_trace_that_begins_with_the_client(lab: Any, spans: InMemorySpanExporter) -> None:
    """The request is the child of the client's span, the call the request's, the attempt the call's."""
    async with lab() as host, running(host) as url:
        await posted(url, "a")
    found = by_name(spans)
    request, call, attempt = found["tools/call lab_ask"], found["host.call"], found["GET"]
    assert all(span.context and trace.format_trace_id(span.context.trace_id) == TRACE for span in found.values())
    assert request.parent is not None
    assert trace.format_span_id(request.parent.span_id) == "b7ad6b7169203331"
    assert (call.parent, attempt.parent) == (request.context, call.context)
    assert (call.attributes or {})["scigate.requests"] == 1
    assert (attempt.attributes or {})["scigate.quota.wait_ms"] == 0.0


async def test_beyond_the_bound_a_call_leaves_no_span(lab: Any, spans: InMemorySpanExporter) -> None:
    """Neither of itself nor of what it asks upstream; a client's own trace is kept all the same."""
    clock = ManualClock()
    traces = Traces(1.0, clock)
    measured = Telemetry(Metrics(MeterProvider(shutdown_on_exit=False), clock, traces), traces=traces)
    async with lab(measured) as host, running(host) as url:
        await posted(url, "a", traced=False)
        assert sorted(by_name(spans)) == ["GET", "host.call", "tools/call lab_ask"]
        spans.clear()
        await posted(url, "b", traced=False)
        assert by_name(spans) == {}
        await posted(url, "c")
        assert sorted(by_name(spans)) == ["GET", "host.call", "tools/call lab_ask"]
    assert traces.left_out == 1


@pytest.mark.parametrize(("told", "heard"), [([], None), (["lab"], TRACE)])
async def test_only_a_chosen_upstream_learns_the_trace(
    lab: Any, spans: InMemorySpanExporter, told: list[str], heard: str | None
) -> None:
    """A third party need not know whose requests belong together."""
    async with lab(telemetry={"trace_upstreams": told}) as host, running(host) as url:
        answer = await posted(url, "a")
    told_of = answer["result"]["structuredContent"].get("traceparent")
    assert (told_of and told_of.split("-")[1]) == heard


async def test_the_policy_that_refused_is_on_the_span(lab: Any, spans: InMemorySpanExporter) -> None:
    """An event names it and the reason; the arguments are not told."""
    async with lab() as host:
        await host.call("lab_ask", {"unknown": "s3cret"}, LOCAL)
    call = by_name(spans)["host.call"]
    assert [(event.name, dict(event.attributes or {})) for event in call.events] == [
        ("policy", {"scigate.policy": "validate", "error.type": "invalid_arguments"})
    ]
    assert "s3cret" not in call.to_json()


async def test_log_lines_name_their_trace(
    lab: Any, spans: InMemorySpanExporter, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line of a call leads to its trace."""
    configure_logging(LogSettings(format="json"))
    try:
        async with lab() as host:
            await host.call("lab_ask", {"name": "a"}, LOCAL)
    finally:
        structlog.reset_defaults()
    (line,) = [found for found in map(json.loads, capsys.readouterr().err.splitlines()) if found["event"] == "call"]
    context = by_name(spans)["host.call"].context
    assert context is not None
    assert line["trace_id"] == trace.format_trace_id(context.trace_id)


@pytest.mark.parametrize(
    "told",
    [
        {"tracestate": "a=\r\nforged line"},
        {"tracestate": "a" * 1_000_000},
        {"baggage": 5},
        {"baggage": "a=\x1b[31m"},
        {"traceparent": ["00"]},
        {"traceparent": "\r\nforged line"},
    ],
    ids=["line", "long", "number", "escape", "list", "no parent"],
)
async def test_what_a_client_says_badly_of_its_trace_is_not_heard(
    lab: Any, spans: InMemorySpanExporter, caplog: pytest.LogCaptureFixture, told: dict[str, Any]
) -> None:
    """The call is served, and nothing of it reaches a log."""
    clock = SystemClock()
    traces = Traces(100.0, clock)
    measured = Telemetry(Metrics(MeterProvider(shutdown_on_exit=False), clock, traces), traces=traces)
    async with lab(measured) as host, running(host) as url:
        answer = await posted(url, "a", **told)
    assert answer["result"]["isError"] is False
    assert [record for record in caplog.records if record.name.startswith("opentelemetry")] == []
