"""Tell clients that a list has changed, each in the way of its era.

Since 2026-07-28 a client listens by a request whose answer is the stream. Before, a notification came on the connection
itself: on stdio's one pair of streams, or over HTTP on the stream that a client opens by GET.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import anyio
import mcp_types as types
from anyio.abc import ObjectReceiveStream
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ServerEvent,
    ToolsListChanged,
    event_to_notification,
)

from scigate.endpoint.lists import Lists
from scigate.gateway import Gateway

__all__ = ["Changes"]

_EVENTS: Final[dict[str, ServerEvent]] = {
    "tools/list": ToolsListChanged(),
    "resources/list": ResourcesListChanged(),
    "resources/templates/list": ResourcesListChanged(),
    "prompts/list": PromptsListChanged(),
}

_HELD: Final = 64
"""Notifications that one slow reader is owed before its stream ends; it lists anew when it opens another."""


class Changes:
    """What is told of one gateway.

    Args:
        gateway: Whose lists they are.

    Attributes:
        lists: The lists as they are now.
        listen: Answers `subscriptions/listen`.
    """

    def __init__(self, gateway: Gateway) -> None:
        self.lists = gateway.view(Lists)
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus, max_subscriptions=gateway.host.settings.server.connections)
        self._streams: set[MemoryObjectSendStream[types.JSONRPCNotification]] = set()
        gateway.on_replaced(self._tell)

    async def _tell(self) -> None:
        methods = sorted(self.lists.now.changed_from(self.lists.before))
        for event in dict.fromkeys(_EVENTS[method] for method in methods):
            await self._bus.publish(event)

    @contextmanager
    def notifications(self) -> Generator[ObjectReceiveStream[types.JSONRPCNotification]]:
        """Each change from now on as the notification of the handshake era; the stream ends with `close`."""
        send, receive = anyio.create_memory_object_stream[types.JSONRPCNotification](_HELD)

        def deliver(event: ServerEvent) -> None:
            method = event_to_notification(event, {}).method
            try:
                send.send_nowait(types.JSONRPCNotification(jsonrpc="2.0", method=method))
            except anyio.WouldBlock:
                send.close()
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass

        forget = self._bus.subscribe(deliver)
        self._streams.add(send)
        try:
            yield receive
        finally:
            forget()
            self._streams.discard(send)
            send.close()
            receive.close()

    def close(self) -> None:
        """End every stream, so that the server can stop."""
        self.listen.close()
        for stream in list(self._streams):
            stream.close()
