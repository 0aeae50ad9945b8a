"""A form that a person fills in, derived from a model: MCP's restricted schema of flat objects with primitive fields.

The rules are those of MCP's `PrimitiveSchemaDefinition` (specification 2026-07-28, client/elicitation). What such a
schema cannot say, a pattern for instance, the model still checks when the answer comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, cast

from pydantic import BaseModel, ValidationError

__all__ = ["complaint", "form_schema"]

Json = dict[str, Any]

_TEXTS: Final = frozenset({"title", "description", "default", "type"})

_KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    "string": _TEXTS | {"minLength", "maxLength", "format", "enum"},
    "integer": _TEXTS | {"minimum", "maximum"},
    "number": _TEXTS | {"minimum", "maximum"},
    "boolean": _TEXTS,
    "array": _TEXTS | {"minItems", "maxItems", "items"},
}
"""What the schema of a field may say, by its type."""

_FORMATS: Final = ("email", "uri", "date", "date-time")

_COMPLAINTS: Final = 3
"""Wrong fields that one message names."""


@cache
def form_schema(model: type[BaseModel]) -> Json:
    """The `requestedSchema` of a model.

    Raises:
        TypeError: A field is no text, number, truth value, choice of texts or list of choices.
    """
    whole = model.model_json_schema()
    definitions: Json = whole.get("$defs", {})
    fields = {name: _field(schema, definitions) for name, schema in whole.get("properties", {}).items()}
    for name, schema in fields.items():
        if schema is None:
            raise TypeError(
                f"{model.__name__}.{name} cannot be asked for in a form: a field is str, int, float, bool, a Literal "
                "of texts or a list of such a Literal"
            )
    required: list[str] = whole.get("required", [])
    return {"type": "object", "properties": fields, **({"required": required} if required else {})}


def complaint(error: ValidationError) -> str:
    """What is wrong with a filled-in form, in one line for its reader."""
    found = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:_COMPLAINTS]]
    return "; ".join(found)


def _field(schema: Json, definitions: Json) -> Json | None:
    schema = _flat(schema, definitions)
    if "const" in schema:
        schema = {**schema, "enum": [schema["const"]]}
    kind: object = schema.get("type")
    allowed = _KEYWORDS.get(kind) if isinstance(kind, str) else None
    if allowed is None or not _is_choice_of_texts(schema):
        return None
    kept = {key: value for key, value in schema.items() if key in allowed}
    if kept.get("format") not in _FORMATS:
        kept.pop("format", None)
    if kept.get("default", "") is None:
        # An optional field is one that is not required: a form has no null.
        del kept["default"]
    if kind == "array":
        items = _flat(schema.get("items", {}), definitions)
        if items.get("type") != "string" or not items.get("enum") or not _is_choice_of_texts(items):
            return None
        kept["items"] = {"type": "string", "enum": items["enum"]}
    return kept


def _is_choice_of_texts(schema: Json) -> bool:
    return all(isinstance(value, str) for value in schema.get("enum", ()))


def _flat(schema: Json, definitions: Json) -> Json:
    """The schema without reference and without null."""
    if (reference := schema.get("$ref")) is not None:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return {**definitions[reference.rpartition("/")[2]], **beside}
    alternatives = [each for each in cast("list[Json]", schema.get("anyOf", [])) if each.get("type") != "null"]
    if len(alternatives) == 1:
        return _flat(
            {**alternatives[0], **{key: value for key, value in schema.items() if key != "anyOf"}}, definitions
        )
    return schema
