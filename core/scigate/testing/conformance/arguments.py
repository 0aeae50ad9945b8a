"""Arguments to try a tool with: its examples, what earlier answers offer, and what its schema allows.

Generated arguments come from hypothesis strategies derived from the input schema; the same schema always gives the same
ones, so that a provider fails or passes everywhere alike.
"""

import string
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["Pool", "generated"]

Json = Mapping[str, Any]

_KEPT: Final = 3
"""Values of one name that are kept; more teach a provider's author nothing."""


class Pool:
    """Values by the name under which examples or answers have them, for tools that no example calls."""

    def __init__(self) -> None:
        self._values: dict[str, list[Any]] = {}

    def take(self, node: object, name: str = "") -> None:
        """Keep what stands in arguments or in an answer; of a list also its entries, by the singular of its name."""
        if isinstance(node, Mapping):
            for key, value in cast("Json", node).items():
                self.take(value, key)
        elif isinstance(node, list):
            entries = cast("list[Any]", node)
            if entries and not isinstance(entries[0], Mapping | list):
                self._keep(name, entries[:_KEPT])
            for entry in entries[:_KEPT]:
                self.take(entry, name.removesuffix("s"))
        elif node is not None and name:
            self._keep(name, node)

    def arguments(self, schema: Json) -> dict[str, Any] | None:
        """The required arguments of a tool, or None where a value for one is not known."""
        found: dict[str, Any] = {}
        for name in cast("list[str]", schema.get("required", [])):
            value = self._value(name, cast("Json", schema.get("properties", {}).get(name, {})))
            if value is None:
                return None
            found[name] = value
        if not found:
            # A tool that takes one of several: the first that is known.
            for name, wanted in cast("dict[str, Json]", schema.get("properties", {})).items():
                value = self._value(name, wanted)
                if "enum" not in wanted and "default" not in wanted and value is not None:
                    return {name: value}
        return found

    def _keep(self, name: str, value: Any) -> None:
        values = self._values.setdefault(name, [])
        if value not in values and len(values) < _KEPT:
            values.append(value)

    def _value(self, name: str, wanted: Json) -> Any:
        if wanted.get("type") == "array":
            items = cast("Json", wanted.get("items", {}))
            known = [*self._values.get(name, []), *([one] for one in self._values.get(name.removesuffix("s"), []))]
            for value in known:
                entries = [
                    _fitting(one, items) for one in cast("list[Any]", value if isinstance(value, list) else [value])
                ]
                if all(one is not None for one in entries):
                    return entries
            inner = self._value(name.removesuffix("s"), items) if items else None
            return None if inner is None else [inner]
        if wanted.get("type") == "object":
            return self.arguments(wanted)
        for value in self._values.get(name, []):
            if (fitting := _fitting(value, wanted)) is not None:
                return fitting
        return wanted["enum"][0] if "enum" in wanted else None


_PYTHON: Final[Mapping[str, Any]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": Mapping,
}


def _fitting(value: Any, wanted: Json) -> Any:
    """The value as the schema wants it, or None; a number may stand for a text of digits."""
    kind = wanted.get("type")
    if kind == "string" and isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    python = _PYTHON.get(str(kind))
    fits = (python is None or isinstance(value, python)) and ("enum" not in wanted or value in wanted["enum"])
    return value if fits else None


def generated(schema: Json, base: Json, count: int) -> list[dict[str, Any]]:
    """Arguments that the schema allows, around `base`: each of its values kept or replaced, others added.

    Args:
        schema: A tool's input schema.
        base: Arguments that are known to work, or none.
        count: How many to make at most.
    """
    from hypothesis import HealthCheck, Phase, given, settings  # the extra `testing`
    from hypothesis import strategies as st

    properties = cast("dict[str, Json]", schema.get("properties", {}))
    required = set(cast("list[str]", schema.get("required", [])))
    fixed: dict[str, SearchStrategy[Any]] = {}
    free: dict[str, SearchStrategy[Any]] = {}
    for name, wanted in properties.items():
        fresh = _values(wanted, schema)
        if name in base:
            fixed[name] = st.one_of(st.just(base[name]), st.just(base[name]), fresh)
        elif name in required:
            fixed[name] = fresh
        else:
            free[name] = fresh
    found: list[dict[str, Any]] = []

    @settings(
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=count,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(st.fixed_dictionaries(fixed, optional=free))
    def collect(arguments: dict[str, Any]) -> None:
        found.append(arguments)

    collect()
    return found


def _values(schema: Json, root: Json) -> "SearchStrategy[Any]":
    from hypothesis import strategies as st

    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix("#/$defs/")
        return _values(cast("Json", root.get("$defs", {}).get(name, {})), root)
    if "enum" in schema:
        return st.sampled_from(cast("list[Any]", schema["enum"]))
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return st.one_of([_values(part, root) for part in cast("list[Json]", schema[keyword])])
    match schema.get("type"):
        case "integer":
            low, high = schema.get("minimum", -(2**31)), schema.get("maximum", 2**31)
            near = min(int(high), int(low) + 50)
            return st.one_of(st.integers(int(low), near), st.integers(int(low), int(high)))
        case "number":
            return st.floats(schema.get("minimum", -1e6), schema.get("maximum", 1e6), allow_nan=False)
        case "boolean":
            return st.booleans()
        case "array":
            items = _values(cast("Json", schema.get("items", {})), root)
            return st.lists(items, min_size=schema.get("minItems", 0), max_size=min(schema.get("maxItems", 3), 3))
        case "object":
            wanted = {name: _values(part, root) for name, part in cast("dict[str, Json]", schema["properties"]).items()}
            needed = set(cast("list[str]", schema.get("required", [])))
            return st.fixed_dictionaries(
                {name: each for name, each in wanted.items() if name in needed},
                optional={name: each for name, each in wanted.items() if name not in needed},
            )
        case "string" if "pattern" in schema:
            longest = schema.get("maxLength", 40)
            return st.from_regex(str(schema["pattern"])).filter(lambda text: len(text) <= longest)
        case _:
            longest = min(int(schema.get("maxLength", 40)), 40)
            letters = st.sampled_from(string.printable + "αé²\u200b")
            return st.text(letters, min_size=schema.get("minLength", 0), max_size=longest)
