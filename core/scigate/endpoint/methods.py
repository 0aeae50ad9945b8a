"""What each MCP method asks the gateway for, and which faults are protocol errors.

A failure that a model can act on is a result with `isError`, made by the host. A protocol error is what only the
client's author can mend: an unknown tool, resource or prompt, a cursor that no list gave out.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from scigate.call import LOCAL, Caller, ProgressSink
from scigate.catalogue import UnknownPrompt, UnknownResource, UnknownTool
from scigate.dialogue import InputRequired
from scigate.endpoint.caller import caller_of
from scigate.endpoint.changes import Changes
from scigate.endpoint.dialogue import conducted, input_required, is_answered, missing_capability
from scigate.endpoint.message import Context, Result, as_wire, carried
from scigate.endpoint.passage import give_place_back
from scigate.envelope import failure_detail
from scigate.failure import Code, Failure
from scigate.gateway import Gateway
from scigate.host import ReadFailed, Reading
from scigate.reply import content_block

__all__ = ["Methods", "caller_in"]

_PROTOCOL_VERSIONS: Final = [*reversed(MODERN_PROTOCOL_VERSIONS), *reversed(HANDSHAKE_PROTOCOL_VERSIONS)]
"""What is served, newest first: the stateless revisions and those that begin with a handshake."""


class Methods:
    """The handlers of one server.

    Args:
        gateway: What is served.
        changes: What the gateway's clients are told by.
        capabilities: What the server can do, in a version of the protocol.
    """

    def __init__(
        self, gateway: Gateway, changes: Changes, capabilities: Callable[[str], types.ServerCapabilities]
    ) -> None:
        self._gateway = gateway
        self._changes = changes
        self._capabilities = capabilities

    async def discover(self, context: Context, params: types.RequestParams) -> Result:
        """server/discover."""
        capabilities = as_wire(self._capabilities(context.protocol_version))
        # The SDK takes listening to lists for listening to single resources, of whose changes upstreams say nothing.
        capabilities.get("resources", {}).pop("subscribe", None)
        return {
            "resultType": "complete",
            "supportedVersions": _PROTOCOL_VERSIONS,
            "capabilities": capabilities,
            "instructions": self._gateway.host.instructions,
        }

    def listing(self, method: str) -> Callable[[Context, types.PaginatedRequestParams], Awaitable[Result]]:
        """The handler of one of the four lists, by its method."""

        async def listed(context: Context, params: types.PaginatedRequestParams) -> Result:
            if params.cursor is not None:
                message = f"Unknown cursor: {params.cursor[:100]}. {method} answers in one page and gives out none."
                raise MCPError(types.INVALID_PARAMS, *_texts(message, {"cursor": params.cursor[:100]}))
            return self._changes.lists.now.shown_to(caller_in(context, self._gateway), method)

        return listed

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> Result:
        """tools/call: a result, whatever goes wrong in the call; or the questions that come before it."""
        try:
            caller, progress = caller_in(context, self._gateway), _progress_sink(context)
            with self._gateway.serving() as host:
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

    async def read_resource(self, context: Context, params: types.ReadResourceRequestParams) -> Result:
        """resources/read."""
        try:
            caller = caller_in(context, self._gateway)
            with self._gateway.serving() as host:
                reading = await conducted(context, params, lambda asked: host.read(params.uri, caller, dialogue=asked))
        except UnknownResource as error:
            raise _unknown(error, error.suggestions, uri=params.uri) from None
        except ReadFailed as error:
            raise missing_capability(context, error.failure) or _protocol_error(error.failure) from error
        if isinstance(reading, InputRequired):
            return carried(input_required(reading))
        kept = {"ttlMs": 0, "cacheScope": "private"} if is_answered(params) else {}
        return carried({"resultType": "complete", "contents": [_contents(reading)], **kept})

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> Result:
        """prompts/get."""
        try:
            caller = caller_in(context, self._gateway)
            with self._gateway.serving() as host:
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

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> Result:
        """completion/complete: of a prompt's arguments; a resource's can be anything."""
        values: list[str] = []
        if isinstance(params.ref, types.PromptReference):
            try:
                asked = params.argument
                values = self._gateway.host.catalogue.completions(params.ref.name, asked.name, asked.value)
            except UnknownPrompt as error:
                raise _unknown(error, error.suggestions) from None
        return {"resultType": "complete", "completion": {"values": values, "total": len(values), "hasMore": False}}

    async def listen(self, context: Context, params: types.SubscriptionsListenRequestParams) -> BaseModel:
        """subscriptions/listen: told until the client goes, or the server stops."""
        give_place_back(context.request)
        return await self._changes.listen(context, params)


def caller_in(context: Context, gateway: Gateway) -> Caller:
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
