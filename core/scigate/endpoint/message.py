"""What may pass on the wire: JSON-RPC messages of bounded size and depth, as UTF-8, with numbers that JSON knows.

Python's strings and floats hold more than JSON's: half of a surrogate pair, not-a-number, infinity. A client's parser
refuses a message with one of them and its caller then waits for an answer that has come.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final, cast

import pydantic_core
from mcp.server.context import ServerRequestContext
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import BaseModel, ValidationError

__all__ = [
    "MAX_DEPTH",
    "Context",
    "RefusedMessageError",
    "Result",
    "as_wire",
    "carried",
    "is_too_deep",
    "read_message",
    "written",
]

Context = ServerRequestContext[dict[str, Any]]
Result = dict[str, Any]

MAX_DEPTH: Final = 201
"""Levels of nesting in one message: where pydantic's JSON parser stops, and far from Python's recursion limit."""

_NO_MESSAGE: Final = "Not a single JSON-RPC request, notification or response"

_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""One escape of a JSON text; the group holds it where it is half of a surrogate pair alone."""

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class RefusedMessageError(Exception):
    """A line that is no message to serve; `answer` is what its sender is told."""

    def __init__(self, code: int, message: str, request_id: RequestId | None = None) -> None:
        super().__init__(message)
        self.answer = JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))


def read_message(line: bytes, *, max_bytes: int) -> JSONRPCMessage:
    """Parse one JSON-RPC message.

    A lone surrogate is let through inside arguments, so that their own validation can name the field.

    Raises:
        RefusedMessageError: The line is too long, is not JSON, is nested too deeply or is not one JSON-RPC message.
    """
    if len(line) > max_bytes:
        message = f"Message of {len(line):,} bytes or more; at most {max_bytes:,} are read"
        raise RefusedMessageError(INVALID_REQUEST, message, _request_id(_decoded_or_none(line)))
    try:
        read = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        decoded = _decoded(line)
        try:
            read = jsonrpc_message_adapter.validate_python(decoded, by_name=False)
        except ValidationError as error:
            if _is_response(decoded) and (asked := _request_id(decoded)) is not None:
                # A response to it would be taken for the answer to a request of the client's own.
                wrong = ErrorData(code=INVALID_REQUEST, message="The answer is no JSON-RPC response")
                return JSONRPCError(jsonrpc="2.0", id=asked, error=wrong)
            raise RefusedMessageError(INVALID_REQUEST, _NO_MESSAGE, _request_id(decoded)) from error
    if isinstance(read, JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line):
        # The models take a request whose id is null for a notification, which nobody would answer.
        raise RefusedMessageError(INVALID_REQUEST, _NO_MESSAGE)
    return read


def as_wire(model: BaseModel) -> Result:
    """A message's part as JSON values under its names on the wire, what is None left out."""
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


def is_too_deep(body: bytes) -> bool:
    """Whether a JSON text is nested deeper than `MAX_DEPTH`; False where it is not JSON in the first place."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return False
    try:
        pydantic_core.from_json(_paired(body), cache_strings="none")
    except ValueError as error:
        return "recursion limit" in str(error)
    return False


def written(message: JSONRPCMessage) -> bytes:
    """The message as one line of UTF-8."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except pydantic_core.PydanticSerializationError:
        text = pydantic_core.to_json(carried(message.model_dump(by_alias=True, exclude_unset=True)))
    return text + b"\n"


def carried(result: Mapping[str, object]) -> dict[str, Any]:
    """The result with every lone surrogate as U+FFFD and every number that is not finite as null."""
    try:
        # Serialising twice costs a few microseconds a kilobyte; walking the values in Python costs twenty times that.
        text = pydantic_core.to_json(result, inf_nan_mode="constants")
    except pydantic_core.PydanticSerializationError:
        return cast(dict[str, Any], _carried(result))
    if b"NaN" in text or b"Infinity" in text:
        return cast(dict[str, Any], _carried(result))
    return dict(result)


def _carried(value: object) -> object:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        pairs = cast(Mapping[object, object], value)
        return {_carried(key): _carried(item) for key, item in pairs.items()}
    if isinstance(value, list | tuple):
        return [_carried(item) for item in cast(list[object], value)]
    return value


def _paired(text: bytes) -> bytes:
    if b"\\u" not in text:
        return text
    return _ESCAPE.sub(lambda escape: b"\\ufffd" if escape[1] else escape[0], text)


def _decoded(line: bytes) -> object:
    try:
        # Checks syntax, UTF-8 and depth; only json accepts the lone surrogates, and only then.
        pydantic_core.from_json(_paired(line), cache_strings="none")
        return json.loads(line)
    except ValueError as error:
        raise RefusedMessageError(PARSE_ERROR, f"Parse error: {error}") from error


def _decoded_or_none(line: bytes) -> object:
    try:
        return _decoded(line)
    except RefusedMessageError:
        return None


def _is_response(decoded: object) -> bool:
    """Whether it is meant for an answer to a request of the server's."""
    return isinstance(decoded, dict) and "method" not in decoded and ("result" in decoded or "error" in decoded)


def _request_id(decoded: object) -> RequestId | None:
    if not isinstance(decoded, dict):
        return None
    request_id = cast(dict[str, object], decoded).get("id")
    return request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
