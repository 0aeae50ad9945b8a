"""The endpoint with the `lab` provider, over a socket or a subprocess, in either era of the protocol."""

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from scigate.endpoint.http import running
from scigate.endpoint.stdio import serve_stdio
from scigate.endpoint.wire import Wire
from scigate.gateway import Gateway
from scigate.host import Host
from scigate.settings import Settings

LAB = Path(__file__).with_name("lab.py")
BOUND_S = 10
"""Seconds that any wait may take: a bound on a hang, not an expectation."""
REVISION = {"legacy": "2025-11-25", "auto": "2026-07-28"}

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture(scope="session")
def lab_module(module_at: Callable[[Path], ModuleType]) -> ModuleType:
    return module_at(LAB)


@pytest.fixture
def lab(lab_module: ModuleType) -> Any:
    """A provider of this test's own."""
    return lab_module.Provider()


@pytest.fixture
def lab_command() -> list[str]:
    """The command of a stdio server with the provider."""
    return [sys.executable, "-W", "error", str(LAB)]


@pytest.fixture
def lab_host(lab: Any) -> Callable[[], AbstractAsyncContextManager[Host]]:
    """Opens a host with the provider."""
    return lambda: Host.open(Settings(), plugins={"lab": lab})


@pytest.fixture(params=["legacy", "auto"], ids=["handshake", "stateless"])
def era(request: pytest.FixtureRequest) -> str:
    """The client's mode: the handshake, or the stateless revision found by asking the server."""
    return request.param


@pytest.fixture(params=["http", "stdio"])
def connect(request: pytest.FixtureRequest, era: str, lab_host: Any) -> Connect:
    """Connects the SDK's client over a socket or over a pair of pipes, in an era."""
    transport = request.param

    @asynccontextmanager
    async def connected(**options: Any) -> AsyncIterator[Client]:
        with anyio.fail_after(BOUND_S):
            async with lab_host() as host:
                carried = running(host) if transport == "http" else piped(host)
                async with carried as server, Client(server, mode=era, **options) as client:
                    assert client.protocol_version == REVISION[era]
                    yield client

    return connected


@asynccontextmanager
async def piped(host: Host) -> AsyncIterator[Any]:
    """Serve the host's stdio endpoint over pipes and give the client's end as a transport of the SDK."""
    server_reads, client_writes = os.pipe()
    client_reads, server_writes = os.pipe()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_stdio, Gateway(host), Wire(server_reads, server_writes))
        try:
            yield client_end(Wire(client_reads, client_writes))
        finally:
            os.close(client_writes)
    # The server is gone; closing its end lets the client's reading thread come to its end too.
    os.close(server_writes)


@asynccontextmanager
async def client_end(wire: Wire) -> AsyncIterator[Any]:
    """A wire as the pair of streams that the SDK's client speaks through."""
    to_client, incoming = anyio.create_memory_object_stream[Any](0)
    outgoing, from_client = anyio.create_memory_object_stream[Any](0)

    async def receive() -> None:
        async with to_client:
            async for line in wire.lines():
                await to_client.send(SessionMessage(jsonrpc_message_adapter.validate_json(line)))

    async def send() -> None:
        async with from_client:
            async for item in from_client:
                await wire.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    async with incoming, outgoing, anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        tasks.start_soon(send)
        yield incoming, outgoing
        tasks.cancel_scope.cancel()
