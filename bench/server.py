"""Run one server of the comparison in a process of its own: `python bench/server.py KIND PORT`.

`bare` is the SDK's low-level server with one tool that gives a constant answer, as its documentation builds it;
`tuned` is the same without its tracing middleware and told the tool's schema, so that it does not list the tools
before each call; `gateway` is scigate with a provider whose one tool gives the same; `pubchem` is scigate with the
PubChem provider, offline; `observed` is `gateway` with every span and figure taken. All run on uvloop and httptools,
without an access log.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from answer import STRUCTURED, TEXT, Provider
from mcp.server.lowlevel import Server
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from scigate.clock import SystemClock
from scigate.endpoint.http import serve_http
from scigate.exporters import exporting
from scigate.gateway import Gateway
from scigate.host import Host
from scigate.settings import LogSettings, ServerSettings, Settings, TelemetrySettings
from scigate.telemetry import configure_logging


def bare_app(*, tuned: bool) -> Any:
    """The SDK's own server."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    tools = [types.Tool(name="bench_rows", description="Give twenty rows.", input_schema=schema)]
    answer = types.CallToolResult(content=[types.TextContent(type="text", text=TEXT)], structured_content=STRUCTURED)

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        return answer

    server: Server[Any] = Server(
        "bare",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=(lambda name: schema) if tuned else None,
    )
    if tuned:
        server.middleware.clear()
    return server.streamable_http_app(stateless_http=True)


async def gateway(port: int, plugins: dict[str, object], observed: bool) -> None:
    """scigate, on its own HTTP server."""
    settings = Settings(offline=True, server=ServerSettings(port=port, concurrency=1024))
    with ExitStack() as stack:
        telemetry = None
        if observed:
            tracer = TracerProvider(shutdown_on_exit=False)
            tracer.add_span_processor(BatchSpanProcessor(Dropped()))
            trace.set_tracer_provider(tracer)
            telemetry = stack.enter_context(exporting(TelemetrySettings(prometheus=True), SystemClock()))
        async with Host.open(settings, plugins=plugins, telemetry=telemetry) as host:
            await serve_http(Gateway(host), settings.server)


class Dropped(SpanExporter):
    """Takes spans in batches and sends them nowhere: what the collector costs is not the gateway's."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


def main() -> None:
    """Serve until the process is ended."""
    kind, port = sys.argv[1], int(sys.argv[2])
    configure_logging(LogSettings(level="warning"))
    if kind in ("bare", "tuned"):
        uvicorn.run(
            bare_app(tuned=kind == "tuned"),
            port=port,
            loop="uvloop",
            http="httptools",
            access_log=False,
            log_config=None,
            lifespan="on",
        )
        return
    plugins: dict[str, object] = {"bench": Provider()}
    if kind == "pubchem":
        plugins = {"pubchem": importlib.import_module("scigate_pubchem")}
    anyio.run(gateway, port, plugins, kind == "observed", backend_options={"use_uvloop": True})


if __name__ == "__main__":
    main()
