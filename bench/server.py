"""Run one server of the comparison in a process of its own: `python bench/server.py KIND PORT [COLLECTOR]`.

`bare` is the SDK's low-level server with one tool that gives a constant answer, as its documentation builds it;
`tuned` is the same without its tracing middleware and told the tool's schema, so that it does not list the tools
before each call; `gateway` is scigate with a provider whose one tool gives the same; `pubchem` is scigate with the
PubChem provider, offline. These two may end in `-none`, for a chain without telemetry, or in a name of `TELEMETRY`, for
what is sent to the COLLECTOR; `collector` is one that keeps nothing. All run on uvloop and httptools, without an access
log.
"""

from __future__ import annotations

import gc
import importlib
import math
import sys
from contextlib import nullcontext
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from answer import STRUCTURED, TEXT, Provider
from mcp.server.lowlevel import Server
from scigate.clock import SystemClock
from scigate.endpoint.http import serve_http
from scigate.exporters import exporting
from scigate.gateway import Gateway
from scigate.settings import LogSettings, ServerSettings, Settings, TelemetrySettings
from scigate.telemetry import configure_logging

TELEMETRY: dict[str, dict[str, Any]] = {
    "": {},
    "none": {},
    "off": {},
    "figures": {"prometheus": True},
    "usual": {"otlp_endpoint": ""},
    "every": {"otlp_endpoint": "", "traces_per_s": math.inf},
}
"""What `gateway-` and `pubchem-` may end in, besides `none`."""


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


async def gateway(port: int, plugins: dict[str, object], telemetry: TelemetrySettings) -> None:
    """scigate, on its own HTTP server."""
    settings = Settings(offline=True, server=ServerSettings(port=port, concurrency=1024), telemetry=telemetry)
    clock = SystemClock()
    with exporting(telemetry, clock) if telemetry.wanted else nullcontext() as kept:
        async with Gateway.open(settings, plugins=plugins, clock=clock, telemetry=kept) as served:
            gc.collect()
            gc.freeze()  # as `scigate serve` does
            await serve_http(served, settings.server)


def without_telemetry() -> None:
    """Take what traces and measures a call out of the chain and leave its log line: what "off" is compared with."""
    module: Any = importlib.import_module("scigate.host")
    policies: Any = importlib.import_module("scigate.policy")
    traces: Any = importlib.import_module("scigate.policy.trace")
    whole = module.core_policies
    module.core_policies = lambda *given, **named: [
        policies.Policy("trace", traces._logged) if policy.name == "trace" else policy
        for policy in whole(*given, **named)
        if policy.name != "measure"
    ]
    policies.spans_are_kept = lambda: False


async def collector(scope: Any, receive: Any, send: Any) -> None:
    """An OTLP/HTTP collector that takes everything and keeps nothing."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


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
    if kind == "collector":
        uvicorn.run(collector, port=port, http="httptools", access_log=False, log_config=None, lifespan="off")
        return
    tool, _, telemetry = kind.partition("-")
    plugins: dict[str, object] = {"bench": Provider()}
    if tool == "pubchem":
        plugins = {"pubchem": importlib.import_module("scigate_pubchem")}
    if telemetry == "none":
        without_telemetry()
    wanted = TELEMETRY[telemetry]
    if "otlp_endpoint" in wanted:
        wanted = wanted | {"otlp_endpoint": sys.argv[3]}
    anyio.run(gateway, port, plugins, TelemetrySettings(**wanted), backend_options={"use_uvloop": True})


if __name__ == "__main__":
    main()
