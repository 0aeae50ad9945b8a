"""Answers to what a tool asks, for tests of providers whose tools ask."""

from collections.abc import Mapping
from typing import Any, Final

from scigate.call import LOCAL
from scigate.dialogue import InputRequest, concluded
from scigate.host import Host, Reply

__all__ = ["FORMS", "answering", "filled_in"]

FORMS: Final[Mapping[str, Any]] = {"elicitation": {"form": {}}}
"""The capabilities of a client whose person can be asked to fill in forms."""


async def answering(
    host: Host, tool: str, arguments: Mapping[str, Any], answers: Mapping[str, Mapping[str, Any] | None]
) -> Reply:
    """Call a tool as a client whose person fills in its forms, and get what it gives in the end.

    Args:
        host: The opened host.
        tool: The tool's name.
        arguments: Its arguments as they are on the wire.
        answers: By the key of each question, what is filled in; None declines.

    Raises:
        AssertionError: The tool asks something that has no answer here.
    """

    async def answer(key: str, request: InputRequest) -> dict[str, Any]:
        if key not in answers:
            raise AssertionError(f"{tool} asks {key}: {request.params.get('message')}")
        content = answers[key]
        return {"action": "decline"} if content is None else {"action": "accept", "content": dict(content)}

    return await concluded(
        lambda dialogue: host.call(tool, arguments, LOCAL, dialogue=dialogue),
        FORMS,
        answer,
    )


def filled_in(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Values that fit a form as far as its schema tells."""
    return {name: _value(field) for name, field in schema["properties"].items()}


def _value(field: Mapping[str, Any]) -> Any:
    if "default" in field:
        return field["default"]
    if "enum" in field:
        return field["enum"][0]
    match field["type"]:
        case "boolean":
            return True
        case "integer" | "number":
            return field.get("minimum", min(1, field.get("maximum", 1)))
        case "array":
            return [field["items"]["enum"][0]]
        case _:
            formats = {"email": "ada@lab.example", "uri": "https://lab.example/", "date": "2026-01-01"}
            formats["date-time"] = "2026-01-01T00:00:00Z"
            return formats.get(field.get("format", ""), "a" * max(1, field.get("minLength", 1)))
