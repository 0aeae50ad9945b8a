"""How an outcome looks on the wire: the standard envelope, and the protocol for a provider's own.

Policies never know which envelope is in force; the host asks it once, at the end of a call.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from scigate.call import Call
from scigate.failure import Failure
from scigate.operation import Tool
from scigate.output import Image, Success, structured
from scigate.rendering import inline, markdown
from scigate.schema import output_schema

__all__ = ["Envelope", "Rendered", "StandardEnvelope"]


@dataclass(frozen=True, slots=True)
class Rendered:
    """An outcome ready for the wire.

    Attributes:
        structured: The structured content: JSON values only, in agreement with the tool's output schema.
        text: The same facts as text, for a model.
    """

    structured: dict[str, Any]
    text: str


class Envelope(Protocol):
    """What a provider with a wire contract of its own gives from `register_envelope`."""

    def output_schema(self, tool: Tool) -> dict[str, Any]:
        """The `outputSchema` to serve for a tool."""
        ...

    def success(self, call: Call, success: Success) -> Rendered:
        """The result of a call; `call.notices` hold what is to be told with it."""
        ...

    def failure(self, call: Call, failure: Failure) -> Rendered:
        """A failed call; `call.arguments` is None when the arguments were refused."""
        ...


class StandardEnvelope:
    """The envelope of every provider that does not bring one.

    Success: the output itself. Failure: `{"error": {"code", "message", "data": {"reason", "recovery": {"hint"},
    "retryable", ...}}}`, and the text says the reason, the message and the hint.
    """

    def output_schema(self, tool: Tool) -> dict[str, Any]:
        """The output's schema with the error as its alternative."""
        return output_schema(tool.output_model, tool.errors, tool.limits)

    def success(self, call: Call, success: Success) -> Rendered:
        """The output and its rendition, in which an image is what it shows."""
        content = structured(success.output)
        return Rendered(content, markdown(_described(content, success.images)))

    def failure(self, call: Call, failure: Failure) -> Rendered:
        """The failure and its rendition."""
        error = {"code": int(failure.code), "message": failure.message, "data": failure_detail(failure)}
        return Rendered({"error": error}, failure_text(failure))


def failure_detail(failure: Failure) -> dict[str, Any]:
    """A failure's `data` on the wire: its reason, hint and retryability, and what else is known of it."""
    detail: dict[str, Any] = {
        "reason": failure.reason,
        "recovery": {"hint": failure.hint},
        "retryable": failure.retryable,
    }
    if failure.retry_after_ms is not None:
        detail["retryAfterMs"] = failure.retry_after_ms
    return detail | {name: value for name, value in failure.data.items() if name not in detail}


def _described(content: Mapping[str, Any], images: Sequence[Image]) -> Mapping[str, Any]:
    """The content for a reader of text: an image is told in words, also where its bytes stand among the facts."""
    if not images:
        return content
    alts = {base64.b64encode(image.png).decode(): image.alt for image in images}
    told = {name: alts.get(value, value) if isinstance(value, str) else value for name, value in content.items()}
    elsewhere = [alt for data, alt in alts.items() if data not in content.values()]
    return {**told, "images": elsewhere} if elsewhere else told


def failure_text(failure: Failure) -> str:
    """A failure for a model: what happened, its reason, and what to do next."""
    lines = [f"Error ({failure.reason}): {inline(failure.message)}", f"Recovery: {inline(failure.hint)}"]
    if failure.retry_after_ms is not None:
        lines.append(f"Retry after {failure.retry_after_ms} ms.")
    # A list repeats in parts what the message says in a sentence.
    lines += [f"{name}: {inline(str(value))}" for name, value in failure.data.items() if not isinstance(value, list)]
    return "\n".join(lines)
