"""`key=value` words of a command line turned into a tool's arguments, as the tool's input schema wants them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from scigate.cli.refusal import Refusal

Schema = Mapping[str, Any]

_TYPES: Mapping[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


def parse_arguments(words: Sequence[str], schema: Schema) -> dict[str, object]:
    """The arguments that `key=value` words say.

    A value is taken as JSON where it is JSON of a type that the schema accepts for that key, and as text otherwise. A
    list is a JSON array, or one value for each time its key is given. Whether the arguments are right is the tool's to
    say.

    Args:
        words: What stands after the tool's name.
        schema: The tool's input schema.

    Raises:
        Refusal: A word has no `=`, or a key that takes one value is given twice.
    """
    known = properties(schema)
    arguments: dict[str, object] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise Refusal(f"{word!r} is not an argument; write key=value (keys: {', '.join(known) or 'none'})")
        wanted = _accepted(known.get(key, {}), schema)
        value = _value(text, wanted)
        if "array" in wanted and not isinstance(value, list):
            value = [value]
        if key in arguments:
            earlier = arguments[key]
            if not isinstance(earlier, list) or not isinstance(value, list):
                raise Refusal(f"{key} is given twice and takes one value")
            value = [*cast("list[object]", earlier), *cast("list[object]", value)]
        arguments[key] = value
    return arguments


def accepted(value: Schema, schema: Schema) -> str:
    """What a property of a tool's input schema takes, in a word or two: `integer`, `text, several`, or its choices."""
    types = _accepted(value, schema)
    elements = types.get("array", frozenset[str]())
    choices = _choices(value, schema)
    names = choices or sorted((types.keys() | elements) - {"array", "null"})
    words = " or ".join("text" if name == "string" and not choices else name for name in names) or "anything"
    return f"{words}, several" if "array" in types else words


def _value(text: str, wanted: Mapping[str, frozenset[str]]) -> object:
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    # A text stays as it is typed: the quotes of a search phrase belong to it. An element of a list needs no brackets.
    kind = _TYPES.get(type(value), "string")
    accepted = (wanted.keys() | wanted.get("array", frozenset[str]())) - {"string"}
    if kind in accepted or (kind == "integer" and "number" in accepted):
        return value
    return text


def properties(schema: Schema) -> dict[str, Schema]:
    """The properties of a schema and of its alternatives."""
    found: dict[str, Schema] = dict(schema.get("properties", {}))
    for part in _parts(schema):
        found |= properties(_resolved(part, schema))
    return found


def _accepted(schema: Schema, root: Schema) -> dict[str, frozenset[str]]:
    """The JSON types that a schema accepts; for `array`, also those of its elements."""
    schema = _resolved(schema, root)
    named = schema.get("type", [])
    accepted = {name: frozenset[str]() for name in ([named] if isinstance(named, str) else named)}
    if "array" in accepted:
        accepted["array"] = frozenset(_accepted(schema.get("items", {}), root))
    for part in _parts(schema):
        accepted |= _accepted(part, root)
    return accepted


def _choices(schema: Schema, root: Schema) -> list[str]:
    """The values of an enumeration, its elements' if it is a list; empty where others are taken too."""
    schema = _resolved(schema, root)
    inner = [_choices(part, root) for part in [*_parts(schema), schema.get("items", {})] if part]
    return [str(value) for value in schema.get("enum", [])] or [name for names in inner for name in names]


def _parts(schema: Schema) -> list[Schema]:
    return [part for word in ("anyOf", "oneOf", "allOf") for part in schema.get(word, [])]


def _resolved(schema: Schema, root: Schema) -> Schema:
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    node: Any = root
    for step in reference[2:].split("/"):
        node = node[step.replace("~1", "/").replace("~0", "~")]
    return cast("Schema", node)
