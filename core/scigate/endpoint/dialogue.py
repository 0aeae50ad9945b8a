"""The rounds of a call on the wire: what a client sent along, and the questions to it.

In the stateless revisions a question is a result, and its answer comes with the same request sent again, together with
the state, which is sealed against whoever carries it. A client of the handshake era is sent each question as a request
of its own, and the host is called again here; over HTTP, where there are no sessions, nothing can be sent to it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import mcp_types as types
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from scigate.call import Caller
from scigate.dialogue import Dialogue, InputRequest, InputRequired, concluded
from scigate.endpoint.message import Context, Result, as_wire
from scigate.failure import INPUT_UNAVAILABLE, Failure
from scigate.settings import Settings

__all__ = ["conducted", "input_required", "is_answered", "missing_capability", "sealing"]

ResultT = TypeVar("ResultT")
ANSWERED_IN_S: Final = 1800.0
"""Seconds that a person has for an answer; then the state has expired. Long enough to look something up."""

_REQUESTS: Final[TypeAdapter[types.InputRequest]] = TypeAdapter(types.InputRequest)


async def conducted(
    context: Context,
    params: types.InputResponseRequestParams,
    run: Callable[[Dialogue], Awaitable[ResultT | InputRequired]],
) -> ResultT | InputRequired:
    """Run what may ask the client, with what it sent along.

    Raises:
        MCPError: A client of the handshake era answers a question with an error, or not at all.
    """
    declared = context.session.client_capabilities
    capabilities = as_wire(declared) if declared is not None else {}
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        responses = {key: as_wire(response) for key, response in (params.input_responses or {}).items()}
        return await run(Dialogue(capabilities, responses, params.request_state))
    reachable = capabilities if context.session.can_send_request else None
    return await concluded(run, reachable, lambda _, request: _sent(context, request))


def input_required(required: InputRequired) -> Result:
    """The result that asks."""
    questions = {
        key: {"method": request.method, "params": dict(request.params)} for key, request in required.requests.items()
    }
    return {"resultType": "input_required", "inputRequests": questions, "requestState": required.state}


def is_answered(params: types.InputResponseRequestParams) -> bool:
    """Whether a request is one that goes on: then its result is good for this dialogue alone."""
    return params.input_responses is not None or params.request_state is not None


def missing_capability(context: Context, failure: Failure) -> MCPError | None:
    """The protocol's own error for a call that has to ask what the client does not declare; None for other failures.

    The handshake era has no such error.
    """
    needed = failure.data.get("requiredCapabilities")
    if failure.reason != INPUT_UNAVAILABLE.name or needed is None:
        return None
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return None
    return MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, failure.message, {"requiredCapabilities": needed})


def sealing(settings: Settings, caller: Callable[[Context], Caller]) -> RequestStateBoundary:
    """The middleware that seals each state on its way out, and refuses one that is not this request's and caller's."""
    keys = [key.get_secret_value() for key in settings.server.state_keys]
    security = (
        RequestStateSecurity(keys=keys, ttl=ANSWERED_IN_S)
        if keys
        else RequestStateSecurity.ephemeral(ttl=ANSWERED_IN_S)
    )
    security.bind_principal = lambda context: caller(context).id
    return RequestStateBoundary(security, default_audience=settings.auth.resource_url or "scigate")


async def _sent(context: Context, request: InputRequest) -> Result:
    """A question as a request to a client of the handshake era, and its answer."""
    try:
        question = _REQUESTS.validate_python({"method": request.method, "params": dict(request.params)}, by_name=False)
        answer = await context.session.send_request(
            question,
            _kind_of_answer(question),
            ANSWERED_IN_S,
            ServerMessageMetadata(related_request_id=context.request_id),
        )
    except (MCPError, ValidationError) as error:
        why = error.error.message if isinstance(error, MCPError) else "the answer is none to this question"
        raise MCPError(types.INVALID_REQUEST, f"The client did not answer {request.method}: {why}") from error
    return as_wire(answer)


def _kind_of_answer(
    question: types.InputRequest,
) -> type[types.ElicitResult | types.CreateMessageResult | types.CreateMessageResultWithTools | types.ListRootsResult]:
    match question:
        case types.ElicitRequest():
            return types.ElicitResult
        case types.CreateMessageRequest():
            return types.CreateMessageResultWithTools if question.params.tools else types.CreateMessageResult
        case types.ListRootsRequest():
            return types.ListRootsResult
