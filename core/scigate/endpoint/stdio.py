"""The host on standard input and output: one client, one line a message, until the client closes or a signal comes."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Final

import anyio
import structlog
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification

from scigate.endpoint.changes import Changes
from scigate.endpoint.message import RefusedMessageError, read_message, written
from scigate.endpoint.server import build_server
from scigate.endpoint.signals import at_stop_signal
from scigate.endpoint.wire import Wire, claimed
from scigate.gateway import Gateway

__all__ = ["claimed", "serve_stdio"]

_log: Final = structlog.get_logger("scigate.endpoint")

MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""The longest line that is served, the same as the HTTP endpoint's default limit for a body."""

_LAST_WORDS_S: Final = 2
"""Seconds for the last answers to be written once the client has closed its side; it may have stopped reading."""


async def serve_stdio(gateway: Gateway, wire: Wire | None = None) -> None:
    """Serve one client until it closes standard input, SIGTERM or SIGINT comes, or standard output breaks.

    Args:
        gateway: What is served.
        wire: The streams, where the caller has `claimed` them, as it must before providers are imported; None claims
            them here.

    Calls under way when it ends are cancelled.
    """
    with nullcontext(wire) if wire is not None else claimed() as lines:
        changes = Changes(gateway)
        server = build_server(gateway, changes)
        to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(at_stop_signal, tasks.cancel_scope.cancel)
            shaken = anyio.Event()
            tasks.start_soon(_receive, lines, to_server, to_client.clone(), shaken)
            sent = anyio.Event()
            tasks.start_soon(_send, lines, from_server, sent, tasks.cancel_scope)
            async with anyio.create_task_group() as telling:
                telling.start_soon(_tell, changes, to_client.clone(), shaken)
                await server.run(from_client, to_client, server.create_initialization_options())
                telling.cancel_scope.cancel()
            with anyio.move_on_after(_LAST_WORDS_S):
                await sent.wait()
            tasks.cancel_scope.cancel()


async def _receive(
    wire: Wire,
    to_server: ObjectSendStream[SessionMessage | Exception],
    to_client: ObjectSendStream[SessionMessage],
    shaken: anyio.Event,
) -> None:
    async with to_server, to_client:
        async for line in wire.lines():
            try:
                message = read_message(line, max_bytes=MAX_MESSAGE_BYTES)
            except RefusedMessageError as error:
                # The SDK drops what is not a message; its sender is owed an answer all the same.
                await to_client.send(SessionMessage(error.answer))
                continue
            if isinstance(message, JSONRPCNotification) and message.method == "notifications/initialized":
                shaken.set()
            await to_server.send(SessionMessage(message))


async def _tell(changes: Changes, to_client: ObjectSendStream[SessionMessage], shaken: anyio.Event) -> None:
    """Notify a client that began with a handshake; one that did not asks to be told."""
    async with to_client:
        await shaken.wait()
        with changes.notifications() as notifications:
            async for notification in notifications:
                await to_client.send(SessionMessage(notification))


async def _send(
    wire: Wire, from_server: ObjectReceiveStream[SessionMessage], sent: anyio.Event, scope: anyio.CancelScope
) -> None:
    try:
        async with from_server:
            async for message in from_server:
                await wire.write(written(message.message))
    except OSError:
        _log.info("client gone")
        scope.cancel()
    finally:
        sent.set()
