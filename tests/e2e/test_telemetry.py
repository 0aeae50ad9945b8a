"""A gateway in a process of its own sends what it measures to a collector, and its last spans when it is stopped."""

import os
import re
import sys
from subprocess import PIPE
from typing import Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp import Client
from scigate.emulator import serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

BOUND_S = 60


async def test_spans_and_figures_reach_a_collector(tmp_path: Any) -> None:
    """Over OTLP/HTTP, under the names of the semantic conventions, the arguments not among them."""
    received: dict[str, bytes] = {"traces": b"", "metrics": b""}

    async def take(request: Request) -> Response:
        received[request.path_params["signal"]] += await request.body()
        return Response(b"", media_type="application/x-protobuf")

    collector = Starlette(routes=[Route("/v1/{signal}", take, methods=["POST"])])
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SCIGATE_", "OTEL_"))}
    with anyio.fail_after(BOUND_S):
        async with serving(collector) as address:
            variables = {"SCIGATE_TELEMETRY__OTLP_ENDPOINT": address, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
            command = [sys.executable, "-m", "scigate.cli", "serve", "--http", "--port", "0", "--offline"]
            async with await anyio.open_process(
                command, stdin=None, stdout=PIPE, stderr=PIPE, env=kept | variables
            ) as process:
                assert process.stderr is not None
                log = BufferedByteReceiveStream(process.stderr)
                while (found := re.search(rb"http://[\d.:]+/mcp", await log.receive_until(b"\n", 100_000))) is None:
                    pass
                async with Client(found[0].decode()) as client:
                    arguments = {"searchType": "identifier", "identifierType": "name", "identifiers": ["aspirin"]}
                    await client.call_tool("pubchem_search_compounds", arguments)
                process.terminate()
                async for _ in process.stderr:
                    pass
                assert await process.wait() == 0
    assert b"tools/call pubchem_search_compounds" in received["traces"]
    assert b"host.call" in received["traces"]
    assert b"http.request.method" in received["traces"]
    assert b"aspirin" not in received["traces"].replace(b"/compound/name/aspirin", b"")
    assert b"mcp.server.operation.duration" in received["metrics"]
    assert b"scigate.call.duration" in received["metrics"]
