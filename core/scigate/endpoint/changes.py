"""Tell clients that a list has changed, each in the way of its era.

Since 2026-07-28 a client listens by a request whose answer is the stream. Before, a notification came on the connection
itself: on stdio's one pair of streams, or over HTTP on the stream that a client opens by GET.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ServerEvent,
    ToolsListChanged,
    event_to_notification,
)

from scigate.endpoint.lists import Lists
from scigate.gateway import Gateway

__all__ = ["Changes", "Notifications"]

_EVENTS: Final[dict[str, ServerEvent]] = {
    "tools/list": ToolsListChanged(),
    "resources/list": ResourcesListChanged(),
    "resources/templates/list": ResourcesListChanged(),
    "prompts/list": PromptsListChanged(),
}


class Changes:
    """What is told of one gateway.

    Args:
        gateway: Whose lists they are.

    Attributes:
        lists: The lists as they are now.
    """

    def __init__(self, gateway: Gateway) -> None:
        self.lists = gateway.view(Lists)
        self._bus = InMemorySubscriptionBus()
        self._closed = False
        # The other connections are for calls, and for whoever asks whether the gateway is alive.
        self._most = max(1, gateway.host.settings.server.connections // 2)
        self._listening = ListenHandler(self._bus, max_subscriptions=self._most)
        self._open: set[Notifications] = set()
        gateway.on_replaced(self._tell)

    async def _tell(self) -> None:
        methods = sorted(self.lists.now.changed_from(self.lists.before))
        for event in dict.fromkeys(_EVENTS[method] for method in methods):
            await self._bus.publish(event)

    @property
    def is_full(self) -> bool:
        """Whether there are as many streams of the handshake era as there may be."""
        return len(self._open) >= self._most

    @contextmanager
    def notifications(self) -> Generator[Notifications]:
        """Each change from now on, as the handshake era tells it."""
        notifications = Notifications()
        if self._closed:
            # A client that opens its stream again at once must not hold the stop up.
            notifications.end()
        forget = self._bus.subscribe(lambda event: notifications.add(event_to_notification(event, {}).method))
        self._open.add(notifications)
        try:
            yield notifications
        finally:
            forget()
            self._open.discard(notifications)

    async def listen(
        self, context: ServerRequestContext[Any, Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Answer `subscriptions/listen`, which ends when its client goes or the server stops."""
        if self._closed:
            raise MCPError(types.INTERNAL_ERROR, "The gateway is stopping; listen again")
        return await self._listening(context, params)

    def close(self) -> None:
        """End every stream, and those that are opened from now on, so that the server can stop."""
        self._closed = True
        self._listening.close()
        for notifications in self._open:
            notifications.end()


class Notifications(AsyncIterator[types.JSONRPCNotification]):
    """What one reader is still to be told; a slow one is told once of what has changed several times."""

    def __init__(self) -> None:
        self._methods: dict[str, None] = {}
        self._ended = False
        self._news = anyio.Event()

    def add(self, method: str) -> None:
        """Tell it this."""
        self._methods[method] = None
        self._news.set()

    def end(self) -> None:
        """Tell it no more than it is owed."""
        self._ended = True
        self._news.set()

    async def __anext__(self) -> types.JSONRPCNotification:
        while not self._methods:
            if self._ended:
                raise StopAsyncIteration
            self._news = anyio.Event()
            await self._news.wait()
        method = next(iter(self._methods))
        del self._methods[method]
        return types.JSONRPCNotification(jsonrpc="2.0", method=method)
