"""An outcome as an answer ready for the wire: its structured content, its content blocks and what it cost.

Above is the host, which ends each call here; below are the envelopes, which say how an outcome looks.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Final

import structlog

from scigate.call import Call
from scigate.envelope import Envelope
from scigate.failure import INTERNAL_ERROR, RESULT_TOO_LARGE, Failure
from scigate.output import Audio, Embedded, Image, Success

__all__ = ["MAX_TEXT", "USAGE_KEY", "Reading", "Reply", "content_block", "reply_to"]

_log: Final = structlog.get_logger("scigate.host")

Json = dict[str, Any]

MAX_TEXT: Final = 1_000_000
"""Characters of one result's text; some four times what the largest model contexts hold."""

USAGE_KEY: Final = "scigate/usage"
"""Key of the call's cost in the `_meta` of a result."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A call's answer, ready for the wire.

    Attributes:
        structured: The structured content.
        content: MCP content blocks as dicts, the text first.
        is_error: Whether the call failed.
        meta: For the result's `_meta`: the call's id and what it cost upstream.
        failure: Why it failed; None for a result.
    """

    structured: Json
    content: list[Json]
    is_error: bool
    meta: Json
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A resource's content: text or bytes, one of the two."""

    uri: str
    mime_type: str
    text: str | None = None
    blob: bytes | None = None


def reply_to(call: Call, outcome: Success | Failure, envelope: Envelope) -> Reply:
    """The answer of a call; an outcome that cannot be written, or is too large, becomes a failure."""
    if isinstance(outcome, Failure):
        return _failed(call, outcome, envelope)
    try:
        return _succeeded(call, outcome, envelope)
    except Exception:  # noqa: BLE001  # no policy stands around this: an output that is no output, or cannot be written
        _log.exception("fault", call_id=call.id, tool=call.operation.name)
        sentence = f"The result of {call.operation.name} cannot be written."
        return _failed(call, INTERNAL_ERROR.failure(sentence, callId=call.id), envelope)


def _succeeded(call: Call, outcome: Success, envelope: Envelope) -> Reply:
    rendered = envelope.success(call, outcome)
    if len(rendered.text) > MAX_TEXT:
        size = f"The result is {len(rendered.text):,} characters, the most is {MAX_TEXT:,}."
        return _failed(call, RESULT_TOO_LARGE.failure(size), envelope)
    content = [content_block(part) for part in (rendered.text, *outcome.images, *outcome.attachments)]
    return Reply(rendered.structured, content, False, _meta(call))


def _failed(call: Call, failure: Failure, envelope: Envelope) -> Reply:
    rendered = envelope.failure(call, failure)
    return Reply(rendered.structured, [content_block(rendered.text)], True, _meta(call), failure)


def content_block(part: str | Image | Audio | Embedded) -> Json:
    """One part of a result or of a prompt as MCP's content block."""
    match part:
        case str():
            return {"type": "text", "text": part}
        case Image():
            return {"type": "image", "data": base64.b64encode(part.png).decode(), "mimeType": "image/png"}
        case Audio():
            return {"type": "audio", "data": base64.b64encode(part.content).decode(), "mimeType": part.mime_type}
        case Embedded():
            return {"type": "resource", "resource": {"uri": part.uri, "mimeType": part.mime_type, "text": part.text}}


def _meta(call: Call) -> Json:
    usage = call.usage
    cost: Json = {
        "requests": usage.requests,
        "attempts": usage.attempts,
        "cached": usage.cached,
        "waitedMs": round(usage.waited_s * 1000),
    }
    if usage.cached:
        cost["oldestAgeMs"] = round(usage.oldest_age_s * 1000)
    if usage.stale:
        cost["stale"] = usage.stale
    return {"scigate/call": call.id, USAGE_KEY: cost}
