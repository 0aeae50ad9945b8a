"""One form of a definition for all that means the same, and its hash."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, cast

__all__ = ["PARTS", "canonical", "compact", "digest"]

PARTS: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""What is pinned: all of a tool that a model or a client acts on."""

# Lists whose order has no meaning (JSON Schema 2020-12, validation, sections 6.1.2 and 6.5.3).
_SETS: Final = frozenset({"required", "enum", "type"})


def canonical(definition: Mapping[str, Any]) -> dict[str, Any]:
    """The pinned parts of a tool's definition; what only names the schema's dialect is left out."""
    return {part: _tidy(definition[part], schema=True) for part in PARTS if definition.get(part) is not None}


def digest(definition: Mapping[str, Any]) -> str:
    """SHA-256, in hex, over the canonical form as compact JSON with sorted keys."""
    return hashlib.sha256(compact(canonical(definition)).encode()).hexdigest()


def compact(value: object) -> str:
    """A value as compact JSON with sorted keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _tidy(node: Any, *, schema: bool, ordered: bool = True) -> Any:
    """A node of the definition; `schema` is off inside a map whose keys are names, where `required` is a property."""
    if isinstance(node, list):
        items = [_tidy(item, schema=True) for item in cast("list[Any]", node)]
        return items if ordered else sorted(items, key=compact)
    if not isinstance(node, dict):
        return node
    return {
        key: _tidy(value, schema=not (schema and key in ("properties", "$defs")), ordered=not (schema and key in _SETS))
        for key, value in cast("dict[str, Any]", node).items()
        if not (schema and key == "$schema")
    }
