"""The host as an MCP server: which method asks the host for what, and which faults are protocol errors.

A failure that a model can act on is a result with `isError`, made by the host. A protocol error is what only the
client's author can mend: an unknown tool, resource or prompt, a cursor that no list gave out.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final, TypeVar

import mcp_types as types
import structlog
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from opentelemetry.trace import NoOpTracerProvider, ProxyTracerProvider, get_tracer_provider
from pydantic import BaseModel

from scigate.call import LOCAL, Caller, ProgressSink
from scigate.catalogue import UnknownPrompt, UnknownResource, UnknownTool
from scigate.dialogue import InputRequired
from scigate.endpoint.caller import caller_of
from scigate.endpoint.changes import Changes
from scigate.endpoint.dialogue import conducted, input_required, is_answered, missing_capability, sealing
from scigate.endpoint.lists import FRESH_MS, Lists
from scigate.endpoint.measured import Measured
from scigate.endpoint.message import carried
from scigate.endpoint.passage import give_place_back
from scigate.envelope import failure_detail
from scigate.failure import Code, Failure
from scigate.gateway import Gateway, View
from scigate.host import ReadFailed, Reading
from scigate.reply import content_block

__all__ = ["build_server"]

_log: Final = structlog.get_logger("scigate.endpoint")

ParamsT = TypeVar("ParamsT", bound=BaseModel)
Context = ServerRequestContext[dict[str, Any]]
Result = dict[str, Any]

_CONTENTS: Final = CacheHint(ttl_ms=60_000, scope="private")
"""A resource can depend on its upstream and on its reader."""

_CACHE_HINTS: Final[dict[CacheableMethod, CacheHint]] = {
    "server/discover": CacheHint(ttl_ms=FRESH_MS, scope="public"),
    "resources/read": _CONTENTS,
}

_PROTOCOL_VERSIONS: Final = [*reversed(MODERN_PROTOCOL_VERSIONS), *reversed(HANDSHAKE_PROTOCOL_VERSIONS)]
"""What is served, newest first: the stateless revisions and those that begin with a handshake."""


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
    if isinstance(get_tracer_provider(), ProxyTracerProvider | NoOpTracerProvider):
        # The SDK's spans go nowhere then, and cost 7 % of a short call.
        server.middleware.clear()

    if gateway.host.telemetry is not None:
        metrics = gateway.host.telemetry.metrics
        server.middleware.insert(0, Measured(metrics, lambda: gateway.host.catalogue.tools))

    server.middleware.append(sealing(gateway.host.settings, lambda context: _caller(context, gateway)))

    async def discover(context: Context, params: types.RequestParams) -> Result:
        capabilities = _wire(server.get_capabilities(protocol_version=context.protocol_version))
        # The SDK takes listening to lists for listening to single resources, of whose changes upstreams say nothing.
        capabilities.get("resources", {}).pop("subscribe", None)
        return {
            "resultType": "complete",
            "supportedVersions": _PROTOCOL_VERSIONS,
            "capabilities": capabilities,
            "instructions": gateway.host.instructions,
        }

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> Result:
        try:
            caller, progress = _caller(context, gateway), _progress_sink(context)
            with gateway.serving() as host:
                reply = await conducted(
                    context,
                    params,
                    lambda asked: host.call(params.name, params.arguments, caller, progress=progress, dialogue=asked),
                )
        except UnknownTool as error:
            raise _unknown(error, error.suggestions) from None
        if isinstance(reply, InputRequired):
            return carried(input_required(reply))
        if reply.failure is not None and (missing := missing_capability(context, reply.failure)) is not None:
            raise missing
        return carried(
            {
                "resultType": "complete",
                "content": reply.content,
                "structuredContent": reply.structured,
                "isError": reply.is_error,
                "_meta": reply.meta,
            }
        )

    async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> Result:
        try:
            caller = _caller(context, gateway)
            with gateway.serving() as host:
                reading = await conducted(context, params, lambda asked: host.read(params.uri, caller, dialogue=asked))
        except UnknownResource as error:
            raise _unknown(error, error.suggestions, uri=params.uri) from None
        except ReadFailed as error:
            raise missing_capability(context, error.failure) or _protocol_error(error.failure) from error
        if isinstance(reading, InputRequired):
            return carried(input_required(reading))
        kept = {"ttlMs": 0, "cacheScope": "private"} if is_answered(params) else {}
        return carried({"resultType": "complete", "contents": [_contents(reading)], **kept})

    async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> Result:
        try:
            caller = _caller(context, gateway)
            with gateway.serving() as host:
                made = await conducted(
                    context, params, lambda asked: host.prompt(params.name, params.arguments, caller, dialogue=asked)
                )
        except UnknownPrompt as error:
            raise _unknown(error, error.suggestions) from None
        except ReadFailed as error:
            raise missing_capability(context, error.failure) or _protocol_error(error.failure) from error
        if isinstance(made, InputRequired):
            return carried(input_required(made))
        prompt, said = made
        parts = [said] if isinstance(said, str) else said
        messages = [{"role": "user", "content": content_block(part)} for part in parts]
        return carried({"resultType": "complete", "description": prompt.description, "messages": messages})

    async def complete(context: Context, params: types.CompleteRequestParams) -> Result:
        values: list[str] = []
        if isinstance(params.ref, types.PromptReference):
            try:
                asked = params.argument
                values = gateway.host.catalogue.completions(params.ref.name, asked.name, asked.value)
            except UnknownPrompt as error:
                raise _unknown(error, error.suggestions) from None
        return {"resultType": "complete", "completion": {"values": values, "total": len(values), "hasMore": False}}

    async def listen(context: Context, params: types.SubscriptionsListenRequestParams) -> BaseModel:
        give_place_back(context.request)
        return await changes.listen(context, params)

    def add_lists(*methods: str) -> None:
        for method in methods:
            server.add_request_handler(method, types.PaginatedRequestParams, _list(gateway, lists, method))

    server.add_request_handler("server/discover", types.RequestParams, discover)
    add_lists("tools/list")
    server.add_request_handler("tools/call", types.CallToolRequestParams, _discreet(call_tool))
    if gateway.is_live or catalogue.resources or catalogue.resource_templates:
        add_lists("resources/list", "resources/templates/list")
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, _discreet(read_resource))
    if gateway.is_live or catalogue.prompts:
        add_lists("prompts/list")
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, _discreet(get_prompt))
        server.add_request_handler("completion/complete", types.CompleteRequestParams, _discreet(complete))
    if gateway.is_live:
        server.announced = NotificationOptions(tools_changed=True, resources_changed=True, prompts_changed=True)
        server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, listen)

        async def introduce() -> None:
            server.instructions = gateway.host.instructions

        gateway.on_replaced(introduce)
    return server


def _list(
    gateway: Gateway, lists: View[Lists], method: str
) -> Callable[[Context, types.PaginatedRequestParams], Awaitable[Result]]:
    async def listed(context: Context, params: types.PaginatedRequestParams) -> Result:
        if params.cursor is not None:
            message = f"Unknown cursor: {params.cursor[:100]}. {method} answers in one page and gives out none."
            raise MCPError(types.INVALID_PARAMS, *_texts(message, {"cursor": params.cursor[:100]}))
        return lists.now.shown_to(_caller(context, gateway), method)

    return listed


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


def _caller(context: Context, gateway: Gateway) -> Caller:
    """Who sent the request: whoever was let in with it, or the user of this machine where nobody is asked."""
    if context.request is None:
        # Standard input: whoever started the process.
        return LOCAL
    caller = caller_of(context.request)
    if caller is None and gateway.host.settings.auth.accept:
        raise MCPError(types.INTERNAL_ERROR, "Internal error; the request has come past the sign-in")
    return caller or LOCAL


def _progress_sink(context: Context) -> ProgressSink | None:
    if context.meta is None or "progress_token" not in context.meta:
        return None

    async def report(done: float, total: float | None = None, message: str | None = None) -> None:
        text = None if message is None else carried({"message": message})["message"]
        await context.session.report_progress(done, total, text)

    return report


def _contents(reading: Reading) -> Result:
    held: Result = {"uri": reading.uri, "mimeType": reading.mime_type}
    if reading.blob is not None:
        return held | {"blob": base64.b64encode(reading.blob).decode()}
    return held | {"text": reading.text or ""}


def _unknown(error: Exception, nearest: Sequence[str], **asked: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, *_texts(str(error), {"nearest": list(nearest), **asked}))


def _protocol_error(failure: Failure) -> MCPError:
    """A failed read or prompt: there is no `isError` on its result, so the failure travels in the error's data."""
    mendable = failure.code in (Code.INVALID_PARAMS, Code.NOT_FOUND)
    code = types.INVALID_PARAMS if mendable else types.INTERNAL_ERROR
    return MCPError(code, *_texts(failure.message, failure_detail(failure)))


def _texts(message: str, data: Mapping[str, object]) -> tuple[str, dict[str, Any]]:
    clean = carried({"message": message, "data": data})
    return clean["message"], clean["data"]


def _wire(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)
