"""A served tool definition against a contract skeleton: what differs, one sentence each.

A skeleton states what a client can rely on: names, types, enums, bounds, defaults, required lists, closed objects,
declared reasons, annotations. What it leaves out is free, and descriptions are never compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["differences"]

Json = Mapping[str, Any]

BOUNDS: Final = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"),
    *("minItems", "maxItems", "pattern", "default"),
)


def differences(tool: Json, contract: Json) -> list[str]:
    """How a tool as it stands in `tools/list` departs from its contract; empty when it holds.

    Args:
        tool: With `inputSchema`, `outputSchema` and `annotations`.
        contract: With the same keys; `tool` is its name.
    """
    found: list[str] = []
    if tool["name"] != contract["tool"]:
        found.append(f"the tool is {tool['name']}, the contract is that of {contract['tool']}")
    served: Json = tool.get("annotations") or {}
    found += [
        f"annotations.{name} is {served.get(name)!r}, not {value!r}"
        for name, value in contract.get("annotations", {}).items()
        if served.get(name) != value
    ]
    found += _Side("inputSchema", tool["inputSchema"], takes=True).compare(contract["inputSchema"])
    found += _Side("outputSchema", tool["outputSchema"], takes=False).compare(contract["outputSchema"])
    return found


@dataclass(frozen=True)
class _Side:
    """One of the two schemas of a tool.

    Attributes:
        name: Which one.
        root: The whole schema, for its references.
        takes: Whether a client writes what it describes: then nothing may be accepted beyond the contract.
    """

    name: str
    root: Json
    takes: bool

    def compare(self, contract: Json) -> Iterator[str]:
        yield from self._node(contract, self.root, self.name)
        for alternative in contract.get("anyOf", ()):
            yield from self._alternative(alternative)

    def _node(self, want: Json, given: Json, path: str) -> Iterator[str]:
        have = self._plain(given)
        if self.takes and self._accepts_null(given):
            yield f"{path} accepts null"
        if "type" in want and not self._same_type(want["type"], have.get("type")):
            yield f"{path} has type {have.get('type')!r}, not {want['type']!r}"
        if "enum" in want and _values(have) != _values(want):
            yield f"{path} allows {sorted(_values(have))}, not {sorted(_values(want))}"
        for bound in BOUNDS:
            if bound in want and have.get(bound) != want[bound]:
                yield f"{path} has {bound} {have.get(bound)!r}, not {want[bound]!r}"
        if "required" in want and "anyOf" not in want and set(have.get("required", ())) != set(want["required"]):
            yield f"{path} requires {sorted(have.get('required', ()))}, not {sorted(want['required'])}"
        if "additionalProperties" in want and _closed(want) != _closed(have):
            yield f"{path} is {'closed' if _closed(have) else 'open'} to further properties, the contract is not"
        if path.endswith(".reason"):
            missing = set(want.get("examples", ())) - set(have.get("examples", ()))
            if missing:
                yield f"{path} does not declare {sorted(missing)}"
        yield from self._properties(want, have, path)
        if isinstance(want.get("items"), Mapping):
            yield from self._node(want["items"], have.get("items", {}), f"{path}[]")

    def _properties(self, want: Json, have: Json, path: str) -> Iterator[str]:
        wanted: Json = want.get("properties", {})
        given: Json = have.get("properties", {})
        for name, node in wanted.items():
            if name in given:
                yield from self._node(node, given[name], f"{path}.{name}")
            else:
                yield f"{path}.{name} is absent"
        if wanted and (self.takes or _closed(want)):
            yield from (f"{path}.{name} is not in the contract" for name in given if name not in wanted)

    def _alternative(self, want: Json) -> Iterator[str]:
        same = [one for one in self.root.get("anyOf", ()) if set(one.get("required", ())) == set(want["required"])]
        if not same:
            yield f"{self.name} has no alternative that requires exactly {sorted(want['required'])}"
        elif same[0].get("not") != want.get("not"):
            yield f"{self.name}: the alternative that requires {want['required']} excludes {same[0].get('not')!r}"

    def _plain(self, node: Json) -> Json:
        """The node without references and without the null of an optional field."""
        node = self._resolved(node)
        others = [one for one in map(self._resolved, node.get("anyOf", ())) if one.get("type") != "null"]
        if len(others) == 1:
            return {**{key: value for key, value in node.items() if key != "anyOf"}, **self._plain(others[0])}
        return node

    def _accepts_null(self, node: Json) -> bool:
        return any(self._resolved(one).get("type") == "null" for one in self._resolved(node).get("anyOf", ()))

    def _resolved(self, node: Json) -> Json:
        while "$ref" in node:
            target: Any = self.root
            for step in node["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
        return node

    def _same_type(self, want: object, have: object) -> bool:
        # A whole number is a number: a result may promise more than the contract, an argument may not ask for more.
        return have == want or (not self.takes and (want, have) == ("number", "integer"))


def _values(node: Json) -> set[str]:
    return {str(value) for value in node.get("enum", [node["const"]] if "const" in node else [])}


def _closed(node: Json) -> bool:
    return node.get("additionalProperties") is False
