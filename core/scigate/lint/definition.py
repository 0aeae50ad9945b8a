"""A tool's definition as the rules read it, and what they find in it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

__all__ = ["Definition", "Finding", "Schema", "sentences", "stem", "words"]

Schema = Mapping[str, Any]

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9'-]*")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that costs points.

    Attributes:
        dimension: Which of the six.
        where: The part of the definition: `description`, `annotations`, or a path such as `inputSchema.query`.
        words: The words at fault as they stand there, or what is missing in angle brackets.
        instead: A better form, or how to write one.
        costs: Points, of the four between the best and the worst grade.
    """

    dimension: str
    where: str
    words: str
    instead: str
    costs: float


@dataclass(frozen=True, slots=True)
class Definition:
    """One tool on the wire.

    Attributes:
        siblings: Names of all tools that are listed with it, its own left out.
        parameters: The properties of the input schema by name.
    """

    name: str
    title: str
    description: str
    annotations: Mapping[str, Any]
    input_schema: Schema
    output_schema: Schema | None
    siblings: frozenset[str]
    parameters: Mapping[str, Schema] = field(default_factory=dict[str, Schema])

    @classmethod
    def read(cls, wire: Mapping[str, Any], names: frozenset[str]) -> "Definition":
        """The definition of a tool as `tools/list` gives it; what is missing is empty."""
        name = str(wire.get("name", ""))
        schema = _mapping(wire.get("inputSchema"))
        hints = _mapping(wire.get("annotations"))
        return cls(
            name=name,
            title=str(wire.get("title") or hints.get("title") or ""),
            description=str(wire.get("description") or ""),
            annotations=hints,
            input_schema=schema,
            output_schema=_mapping(wire.get("outputSchema")) or None,
            siblings=names - {name},
            parameters=dict(_properties(schema, schema)),
        )

    @property
    def first_sentence(self) -> str:
        """The description's first sentence, or ""."""
        return next(iter(sentences(self.description)), "")

    @property
    def texts(self) -> str:
        """The description and those of the parameters, as one text."""
        return "\n".join([self.description, *(str(each.get("description", "")) for each in self.parameters.values())])


def _mapping(value: object) -> Schema:
    """A JSON object, or an empty one for anything else."""
    return cast("Schema", value) if isinstance(value, Mapping) else {}


def _properties(schema: Schema, root: Schema) -> Iterator[tuple[str, Schema]]:
    """The properties of a schema and of its alternatives, references resolved."""
    for name, value in cast("Mapping[str, Any]", schema.get("properties") or {}).items():
        yield name, _resolved(_mapping(value), root)
    for keyword in ("anyOf", "oneOf", "allOf"):
        for part in cast("list[Schema]", schema.get(keyword) or []):
            yield from _properties(_resolved(part, root), root)


def _resolved(schema: Schema, root: Schema) -> Schema:
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    found = cast("Mapping[str, Schema]", root.get("$defs") or {}).get(name)
    return schema if found is None else {**found, **schema}


def sentences(text: str) -> list[str]:
    """The sentences of a text; a full stop inside a name or number ends none."""
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+", text) if part.strip()]


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def stem(word: str) -> str:
    """A word without its ending, so that singular and plural, and forms of a verb, are one."""
    word = word.lower().removesuffix("'s")
    for ending in ("ies", "ing", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
