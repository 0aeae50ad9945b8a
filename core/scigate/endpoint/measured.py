"""How long each MCP request takes, in the words of the semantic conventions for MCP servers.

The SDK makes the spans and leaves the measurement out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final, cast

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared.exceptions import MCPError

from scigate.metrics import Metrics

__all__ = ["Measured"]

_METHODS: Final = frozenset(
    {
        "completion/complete",
        "initialize",
        "notifications/cancelled",
        "notifications/initialized",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "server/discover",
        "subscriptions/listen",
        "tools/call",
        "tools/list",
    }
)


class Measured(ServerMiddleware[Any]):
    """Records `mcp.server.operation.duration`.

    Args:
        metrics: Where.
        tools: Gives the tools that there are: what a caller makes up is no label.
    """

    def __init__(self, metrics: Metrics, tools: Callable[[], Collection[str]]) -> None:
        self._metrics = metrics
        self._tools = tools

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        since = self._metrics.clock.monotonic()
        attributes = {"network.transport": "tcp" if ctx.request is not None else "pipe"}
        if ctx.protocol_version:
            attributes["mcp.protocol.version"] = ctx.protocol_version
        tool = ctx.params.get("name") if ctx.params else None
        if ctx.method == "tools/call":
            attributes["gen_ai.operation.name"] = "execute_tool"
            if isinstance(tool, str) and tool in self._tools():
                attributes["gen_ai.tool.name"] = tool
        try:
            result = await call_next(ctx)
            if isinstance(result, dict) and cast("dict[str, object]", result).get("isError") is True:
                attributes["error.type"] = "tool_error"
            return result
        except MCPError as error:
            attributes["error.type"] = attributes["rpc.response.status_code"] = str(error.error.code)
            raise
        except BaseException as error:
            attributes["error.type"] = type(error).__name__
            raise
        finally:
            method = ctx.method if ctx.method in _METHODS else "_OTHER"
            self._metrics.operation(method, self._metrics.clock.monotonic() - since, attributes)
