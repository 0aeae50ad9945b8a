"""JSON Schemas (2020-12, which is MCP's default and so goes without saying) of tools, derived from their models.

Every tool's definition costs each agent tokens, so what a reader does not need is left out: the titles that pydantic
derives from names, the null that an optional field accepts (it may be left out; null is taken as the same), references
to what is used once, and in outputs the descriptions: models are rarely shown the output schema, and the tool's own
description says what comes back.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

from pydantic import BaseModel

from scigate.arguments import MAX_SAFE_INTEGER, Limits
from scigate.failure import CORE_REASONS, Reason

__all__ = ["error_schema", "input_schema", "output_schema", "result_schema"]

Json = dict[str, Any]


def input_schema(model: type[BaseModel]) -> Json:
    """The `inputSchema` of a tool: a closed object without null."""
    return _inlined(_tidy(model.model_json_schema(by_alias=True, mode="validation")))


def result_schema(model: type[BaseModel]) -> Json:
    """The schema of a result by itself, for an envelope that puts the result into a member of its own.

    References in it point to `$defs` at the root, which the envelope moves there. What a record is, its fields say;
    its docstring is for readers of code.
    """
    schema = _tidy(model.model_json_schema(by_alias=True, mode="serialization"))
    for definition in schema.get("$defs", {}).values():
        definition.pop("description", None)
    return schema


def output_schema(model: type[BaseModel], reasons: Iterable[Reason], limits: Limits | None = None) -> Json:
    """The `outputSchema` of a tool in the standard envelope: either the result or an error, never both.

    Args:
        model: The result.
        reasons: The tool's own failures.
        limits: Those of the tool's arguments: a result that they cannot cap or cut has no fields that say so.
    """
    schema = _silent(result_schema(model))
    required = _required(model)
    properties = {**schema.pop("properties", {}), "error": error_schema(reasons)}
    if limits is not None:
        _without(properties, schema, limits)
    schema.pop("required", None)
    schema.pop("additionalProperties", None)
    whole = {
        **schema,
        "properties": properties,
        "anyOf": [{"not": {"required": ["error"]}, "required": required}, {"required": ["error"]}],
    }
    return _inlined(whole)


def error_schema(reasons: Iterable[Reason]) -> Json:
    """The failure in the standard envelope; the tool's own reasons come first, then core's, as examples."""
    own = [reason.name for reason in reasons]
    core = [reason.name for reason in CORE_REASONS if reason.name not in own]
    return {
        "type": "object",
        "additionalProperties": {},
        "properties": {
            "code": {"type": "integer", "minimum": -MAX_SAFE_INTEGER, "maximum": MAX_SAFE_INTEGER},
            "message": {"type": "string"},
            "data": {
                "type": "object",
                "additionalProperties": {},
                "properties": {
                    "reason": {"type": "string", "examples": own or core[:1]},
                    "recovery": {
                        "type": "object",
                        "additionalProperties": {},
                        "properties": {"hint": {"type": "string"}},
                        "required": ["hint"],
                    },
                    "retryable": {"type": "boolean"},
                    "retryAfterMs": {"type": "integer"},
                },
            },
        },
        "required": ["code", "message"],
    }


def _without(properties: Json, schema: Json, limits: Limits) -> None:
    """Leave out what core never fills in the result of a tool with these limits."""
    capped = any(limit.cap < limit.accepts for _, limit in (*limits.batches, *limits.caps))
    if limits.page_size is not None:
        capped = capped or limits.page_size[1].cap < limits.page_size[1].accepts
    if not capped:
        properties.pop("cappedInputs", None)
        schema.get("$defs", {}).pop("CappedInput", None)
    if not limits.batches:
        properties.pop("unprocessed", None)


def _required(model: type[BaseModel]) -> list[str]:
    """Wire names of the fields that every result has: those that cannot be None, in the model's order."""
    names = [
        field.serialization_alias or field.alias or name
        for name, field in model.model_fields.items()
        if field.is_required() or field.get_default(call_default_factory=False) is not None
    ]
    return sorted(names)


def _silent(node: Any, *, is_property_map: bool = False) -> Any:
    """The schema without descriptions."""
    if isinstance(node, list):
        return [_silent(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    return {
        key: _silent(value, is_property_map=not is_property_map and key in ("properties", "$defs"))
        for key, value in cast("Json", node).items()
        if is_property_map or key != "description"
    }


def _inlined(schema: Json) -> Json:
    """The schema with each definition that is referred to once put into its place."""
    definitions: Json = schema.pop("$defs", {})
    uses = Counter(re.findall(r'"#/\$defs/([^"]+)"', json.dumps([schema, definitions])))

    def put(node: Any) -> Any:
        if isinstance(node, list):
            return [put(item) for item in cast("list[Any]", node)]
        if not isinstance(node, dict):
            return node
        source = cast("Json", node)
        name = str(source.get("$ref", "")).removeprefix("#/$defs/")
        if uses[name] == 1:
            return put({**definitions[name], **{key: value for key, value in source.items() if key != "$ref"}})
        return {key: put(value) for key, value in source.items()}

    kept = {name: put(definition) for name, definition in definitions.items() if uses[name] > 1}
    return put(schema) | ({"$defs": kept} if kept else {})


def _tidy(node: Any, *, is_property_map: bool = False) -> Any:
    if isinstance(node, list):
        return [_tidy(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    source = cast("Json", node)
    if is_property_map:
        return {name: _tidy(value) for name, value in source.items()}
    tidy = {
        key: _tidy(value, is_property_map=key in ("properties", "$defs"))
        for key, value in source.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and value is None)
    }
    alternatives = tidy.get("anyOf")
    if isinstance(alternatives, list):
        kept = [item for item in cast("list[Json]", alternatives) if item.get("type") != "null"]
        if len(kept) == 1:
            del tidy["anyOf"]
            tidy = {**kept[0], **tidy}
        elif len(kept) < len(cast("list[Json]", alternatives)):
            tidy["anyOf"] = kept
    return tidy
