"""The gateway as an MCP server: which methods there are, and what stands around all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any, Final, TypeVar

import mcp_types as types
import structlog
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from scigate.endpoint.changes import Changes
from scigate.endpoint.dialogue import sealing
from scigate.endpoint.lists import FRESH_MS
from scigate.endpoint.measured import Measured
from scigate.endpoint.message import Context, Result
from scigate.endpoint.methods import Methods, caller_in
from scigate.endpoint.traced import Traced
from scigate.gateway import Gateway
from scigate.policy.trace import spans_are_kept

__all__ = ["build_server"]

_log: Final = structlog.get_logger("scigate.endpoint")

ParamsT = TypeVar("ParamsT", bound=BaseModel)

_CONTENTS: Final = CacheHint(ttl_ms=60_000, scope="private")
"""A resource can depend on its upstream and on its reader."""

_CACHE_HINTS: Final[dict[CacheableMethod, CacheHint]] = {
    "server/discover": CacheHint(ttl_ms=FRESH_MS, scope="public"),
    "resources/read": _CONTENTS,
}


class _Server(Server[dict[str, Any]]):
    """The SDK's server, which says in the handshake too whether it tells of changes."""

    announced = NotificationOptions()

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        return super().create_initialization_options(
            notification_options or self.announced, experimental_capabilities, extensions
        )


def build_server(gateway: Gateway, changes: Changes | None = None) -> Server[dict[str, Any]]:
    """Bind a gateway to the SDK's low-level server; one server may serve any number of connections.

    Only what the host has is announced: without a prompt there is no prompts capability, and its methods do not exist.
    Where another host may take its place, everything is, and that its lists may change.

    Args:
        gateway: What is served.
        changes: What the gateway's clients are told by; None for one of its own.
    """
    changes = changes or Changes(gateway)
    lists, catalogue = changes.lists, gateway.host.catalogue
    server = _Server(
        "scigate",
        version=version("scigate"),
        title="scigate",
        description="One endpoint for scientific data providers.",
        instructions=gateway.host.instructions,
        cache_hints=_CACHE_HINTS,
        # Without it the SDK runs tools/list before each tools/call, to look in the schema for arguments that headers
        # mirror; where it gets a schema it walks it each time.
        get_tool_input_schema=lambda name: lists.now.mirrored.get(name),
    )
    if not spans_are_kept():
        # The SDK's spans go nowhere then, and cost 7 % of a short call.
        server.middleware.clear()

    if (telemetry := gateway.host.telemetry) is not None:
        metrics = telemetry.metrics
        if telemetry.traces is not None:
            server.middleware[:] = [Traced(spanned, telemetry.traces) for spanned in server.middleware]
        server.middleware.insert(0, Measured(metrics, lambda: gateway.host.catalogue.tools))

    server.middleware.append(sealing(gateway.host.settings, lambda context: caller_in(context, gateway)))

    methods = Methods(gateway, changes, lambda revision: server.get_capabilities(protocol_version=revision))

    def add_lists(*names: str) -> None:
        for method in names:
            server.add_request_handler(method, types.PaginatedRequestParams, methods.listing(method))

    server.add_request_handler("server/discover", types.RequestParams, methods.discover)
    add_lists("tools/list")
    server.add_request_handler("tools/call", types.CallToolRequestParams, _discreet(methods.call_tool))
    if gateway.is_live or catalogue.resources or catalogue.resource_templates:
        add_lists("resources/list", "resources/templates/list")
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, _discreet(methods.read_resource))
    if gateway.is_live or catalogue.prompts:
        add_lists("prompts/list")
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, _discreet(methods.get_prompt))
        server.add_request_handler("completion/complete", types.CompleteRequestParams, _discreet(methods.complete))
    if gateway.is_live:
        server.announced = NotificationOptions(tools_changed=True, resources_changed=True, prompts_changed=True)
        server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, methods.listen)

        async def follow_instructions() -> None:
            server.instructions = gateway.host.instructions

        gateway.on_replaced(follow_instructions)
    return server


def _discreet(
    handler: Callable[[Context, ParamsT], Awaitable[Result]],
) -> Callable[[Context, ParamsT], Awaitable[Result]]:
    """Keep the text of an unforeseen exception off the wire, where the SDK puts it in the handshake era."""

    async def handle(context: Context, params: ParamsT) -> Result:
        try:
            return await handler(context, params)
        except MCPError:
            raise
        except Exception as error:
            _log.exception("request failed", method=context.method)
            raise MCPError(types.INTERNAL_ERROR, "Internal error; the gateway's log has the cause") from error

    return handle
