"""What the gateway measures of itself, and who may ask for it."""

import re
import socket
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import pytest
from mcp import Client, MCPError
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from pydantic import BaseModel
from scigate import Code, Dialogue, Input, Output, Reason, tool
from scigate.call import LOCAL, Call
from scigate.endpoint.http import create_app, running
from scigate.exporters import exporting
from scigate.gateway import Gateway
from scigate.host import Host
from scigate.metrics import BEAT_S, BUCKETS, Metrics, Telemetry
from scigate.settings import SettingsError, TelemetrySettings
from scigate.testing.clock import ManualClock
from structlog.testing import capture_logs

BROKEN = Reason("sample_broken", Code.NOT_FOUND, "the sample is broken", "Take another.")
Hosting = Callable[..., AbstractAsyncContextManager[Host]]


class Ask(Input):
    blocks_s: float = 0.0
    breaks: bool = False
    asks: bool = False


class Sure(BaseModel):
    sure: bool


class Empty(Output):
    pass


class Jumping(ManualClock):
    """A clock on which time can pass while nothing else runs."""

    def jump(self, seconds: float) -> None:
        self._elapsed += seconds


@pytest.fixture
def reader() -> InMemoryMetricReader:
    return InMemoryMetricReader()


@pytest.fixture
def telemetry(reader: InMemoryMetricReader, clock: Jumping) -> Telemetry:
    return Telemetry(Metrics(MeterProvider([reader], shutdown_on_exit=False), clock))


@pytest.fixture
def clock() -> Jumping:
    return Jumping()


def points(reader: InMemoryMetricReader, name: str) -> list[Any]:
    """The data points of one instrument."""
    read = reader.get_metrics_data()
    return [
        point
        for resource in (read.resource_metrics if read else [])
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == name
        for point in metric.data.data_points
    ]


def tool_that_uses(clock: Jumping) -> Any:
    @tool("lab_ask", title="Ask", errors=[BROKEN])
    async def ask(args: Ask, client: object, call: Call) -> Empty:
        """Ask the lab."""
        await anyio.lowlevel.checkpoint()
        # Time passes without a pause, as it does where a handler computes.
        clock.jump(args.blocks_s)
        await anyio.lowlevel.checkpoint()
        if args.asks:
            await call.elicit("sure", "Sure?", Sure)
        if args.breaks:
            raise BROKEN.error("broken")
        return Empty()

    return ask


async def test_a_call_is_counted_by_tool_and_outcome(
    hosting: Hosting, reader: InMemoryMetricReader, telemetry: Telemetry, clock: Jumping
) -> None:
    """Its outcome is `ok`, the failure's reason or that the client is asked, and its buckets are the convention's."""
    async with hosting(tool_that_uses(clock), clock=clock, telemetry=telemetry) as host:
        await host.call("lab_ask", {}, LOCAL)
        await host.call("lab_ask", {"breaks": True}, LOCAL)
        await host.call("lab_ask", {"asks": True}, LOCAL, dialogue=Dialogue({"elicitation": {}}))
    found = points(reader, "scigate.call.duration")
    assert [(dict(point.attributes), point.count) for point in found] == [
        ({"gen_ai.tool.name": "lab_ask", "scigate.outcome": "ok"}, 1),
        ({"gen_ai.tool.name": "lab_ask", "scigate.outcome": "sample_broken"}, 1),
        ({"gen_ai.tool.name": "lab_ask", "scigate.outcome": "input_required"}, 1),
    ]
    assert found[0].explicit_bounds == BUCKETS


async def test_a_tool_that_blocks_the_loop_is_named(
    hosting: Hosting, reader: InMemoryMetricReader, telemetry: Telemetry, clock: Jumping
) -> None:
    """The time between two of its pauses is measured, and a long one is in the log."""
    async with hosting(tool_that_uses(clock), clock=clock, telemetry=telemetry) as host:
        with capture_logs() as logs:
            await host.call("lab_ask", {"blocksS": 2.5}, LOCAL)
    (point,) = points(reader, "scigate.loop.block")
    assert (point.attributes["gen_ai.tool.name"], point.sum) == ("lab_ask", 2.5)
    assert [(line["tool"], line["duration_ms"]) for line in logs if line["event"] == "loop blocked"] == [
        ("lab_ask", 2500.0)
    ]


async def test_how_things_stand_is_read_from_time_to_time(
    hosting: Hosting, reader: InMemoryMetricReader, telemetry: Telemetry, clock: Jumping
) -> None:
    """Providers and the loop's lag are seen by an exporter without a call."""
    async with hosting(tool_that_uses(clock), clock=clock, telemetry=telemetry):
        await clock.advance(BEAT_S)
        (serving,) = points(reader, "scigate.provider.serving")
        (lag,) = points(reader, "scigate.loop.lag")
    assert (dict(serving.attributes), serving.value) == ({"scigate.provider": "lab"}, 1)
    assert lag.value == 0.0


async def test_a_cancelled_call_reaches_the_handler_and_is_counted(
    hosting: Hosting, reader: InMemoryMetricReader, telemetry: Telemetry, clock: Jumping
) -> None:
    """Measuring passes a cancellation on."""
    ended: list[str] = []
    started = anyio.Event()

    @tool("lab_wait", title="Wait")
    async def wait(args: Ask, client: object, call: Call) -> Empty:
        """Wait for ever."""
        try:
            started.set()
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")
        return Empty()

    async with hosting(wait, clock=clock, telemetry=telemetry) as host, anyio.create_task_group() as tasks:
        tasks.start_soon(host.call, "lab_wait", {}, LOCAL)
        await started.wait()
        tasks.cancel_scope.cancel()
    assert ended == ["cancelled"]
    (point,) = points(reader, "scigate.call.duration")
    assert point.attributes["scigate.outcome"] == "cancelled"


async def test_a_request_is_measured_by_the_convention(
    hosting: Hosting, reader: InMemoryMetricReader, telemetry: Telemetry, clock: Jumping
) -> None:
    """By method, tool, transport and error; a tool or a method that a caller makes up is no label."""
    lab = hosting(tool_that_uses(clock), clock=clock, telemetry=telemetry)
    async with lab as host, running(host) as url, Client(url) as client:
        await client.call_tool("lab_ask", {"breaks": True})
        with pytest.raises(MCPError):
            await client.call_tool("made_up", {})
    found = [dict(point.attributes) for point in points(reader, "mcp.server.operation.duration")]
    calls = [attributes for attributes in found if attributes["mcp.method.name"] == "tools/call"]
    common = {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2026-07-28",
        "network.transport": "tcp",
        "gen_ai.operation.name": "execute_tool",
    }
    assert calls == [
        {**common, "gen_ai.tool.name": "lab_ask", "error.type": "tool_error"},
        {**common, "error.type": "-32602", "rpc.response.status_code": "-32602"},
    ]


async def scrape(host: Host, **headers: str) -> httpx.Response:
    transport = httpx.ASGITransport(create_app(Gateway(host)))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
        return await client.get("/metrics", headers=headers)


async def test_prometheus_reads_the_figures(hosting: Hosting, clock: Jumping) -> None:
    """`/metrics` has the call that was made and the providers that serve."""
    with exporting(TelemetrySettings(prometheus=True), clock) as telemetry:
        async with hosting(tool_that_uses(clock), clock=clock, telemetry=telemetry) as host:
            await host.call("lab_ask", {}, LOCAL)
            page = (await scrape(host)).text
    assert re.search(r'scigate_call_duration_seconds_count\{[^}]*gen_ai_tool_name="lab_ask"[^}]*\} 1.0', page)
    assert 'scigate_provider_serving{scigate_provider="lab"} 1.0' in page


@pytest.mark.parametrize(
    ("settings", "headers", "status"),
    [
        ({"auth": {"accept": ["keys"]}}, {}, 401),
        ({}, {"Host": "evil.example"}, 421),
        ({}, {"Origin": "http://evil.example"}, 403),
    ],
)
async def test_the_figures_are_behind_the_endpoints_checks(
    hosting: Hosting, clock: Jumping, settings: dict[str, Any], headers: dict[str, str], status: int
) -> None:
    """They tell which tools are called, and how often."""
    with exporting(TelemetrySettings(prometheus=True), clock) as telemetry:
        async with hosting(tool_that_uses(clock), settings=settings, clock=clock, telemetry=telemetry) as host:
            assert (await scrape(host, **headers)).status_code == status


async def test_nothing_is_measured_unless_wanted(hosting: Hosting, clock: Jumping) -> None:
    """By default there is no `/metrics`."""
    async with hosting(tool_that_uses(clock), clock=clock) as host:
        assert (await scrape(host)).status_code == 404
    assert not TelemetrySettings().wanted


@pytest.mark.parametrize(
    ("settings", "module", "extra"),
    [
        ({"prometheus": True}, "opentelemetry.exporter.prometheus", "scigate[prometheus]"),
        (
            {"otlp_endpoint": "http://127.0.0.1:1"},
            "opentelemetry.exporter.otlp.proto.http.trace_exporter",
            "scigate[otlp]",
        ),
    ],
)
def test_a_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, clock: Jumping, settings: dict[str, Any], module: str, extra: str
) -> None:
    """The text says what to install."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SettingsError, match=re.escape(extra)), exporting(TelemetrySettings(**settings), clock):
        pass


def test_a_collector_that_does_not_answer_holds_no_stop_up(monkeypatch: pytest.MonkeyPatch, clock: Jumping) -> None:
    """What is left is given up after a while, and the log says so."""
    monkeypatch.setattr("opentelemetry.trace.set_tracer_provider", lambda provider: None)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = TelemetrySettings(otlp_endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}")
        with capture_logs() as logs, exporting(settings, clock, patience_s=0.01) as telemetry:
            telemetry.metrics.operation("tools/call", 0.1, {})
            telemetry.metrics.look()
    assert [line["event"] for line in logs] == ["telemetry lost"]
