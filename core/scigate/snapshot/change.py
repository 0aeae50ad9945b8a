"""What differs between two definitions of a tool, in words, and what it means for whoever calls it.

What a caller sends may become wider without harm, what it receives narrower; the other way round breaks. A default
that changes breaks too: the same call no longer asks the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from scigate.snapshot.canonical import canonical, compact

__all__ = ["Change", "Kind", "changes"]

Kind = Literal["breaking", "compatible", "wording"]
Json = Mapping[str, Any]

_ABSENT: Final[Any] = object()

_WORDING: Final = frozenset({"title", "description", "examples", "$comment", "$id"})
_UPPER: Final = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_LOWER: Final = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_NAMES: Final = frozenset({"properties", "patternProperties"})
_SUBSCHEMAS: Final = frozenset({"items", "additionalProperties", "contains", "propertyNames"})
_SCHEMA_LISTS: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})

# The value of each hint that asks for more care; a change to it is not harmless.
_CAREFUL: Final = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}

LONGEST_VALUE: Final = 200
"""Characters of a value that a change's words quote."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    Attributes:
        path: Where, from the definition's root; empty for the tool as a whole.
        words: What happened: `changed inputSchema / properties / maxResults / maximum: 200 -> 1000`.
        kind: What it means for callers.
    """

    path: tuple[str, ...]
    words: str
    kind: Kind


def changes(old: Json | None, new: Json | None) -> list[Change]:
    """The differences between two definitions of one tool; None stands for a tool that is not there."""
    if old is None or new is None:
        if old is new:
            return []
        return [
            Change((), "added the tool", "compatible") if old is None else Change((), "removed the tool", "breaking")
        ]
    before: dict[str, Any] = canonical(old)
    after: dict[str, Any] = canonical(new)
    if _same(before, after):
        return []
    found: list[Change] = []
    for part in dict.fromkeys([*before, *after]):
        one, other = before.get(part, _ABSENT), after.get(part, _ABSENT)
        if _are(Mapping, one, other):
            found += _part(part, _map(one), _map(other))
        elif not _same(one, other):
            found.append(_change((part,), one, other, "wording" if part in _WORDING else "breaking"))
    # References may be arranged otherwise and mean the same; the hash is another, so it is said.
    return found or [Change((), "arranged the schema's definitions otherwise", "wording")]


def _part(part: str, one: Json, other: Json) -> Iterator[Change]:
    if part == "annotations":
        for hint in dict.fromkeys([*one, *other]):
            before, after = one.get(hint, _ABSENT), other.get(hint, _ABSENT)
            if not _same(before, after):
                kind: Kind = "wording" if hint == "title" else "compatible"
                yield _change((part, hint), before, after, "breaking" if after is _CAREFUL.get(hint, _ABSENT) else kind)
    else:
        yield from _Walk(is_input=part == "inputSchema", old_root=one, new_root=other).schema((part,), one, other, ())


@dataclass(frozen=True, slots=True)
class _Walk:
    """Goes through two schemas side by side."""

    is_input: bool
    old_root: Json
    new_root: Json

    def schema(self, path: tuple[str, ...], one: Any, other: Any, seen: tuple[str, ...]) -> Iterator[Change]:
        """The differences of two subschemas; `seen` are the pairs of references on the way here."""
        if not _are(Mapping, one, other):
            if not _same(one, other):
                yield _change(path, one, other, "breaking")
            return
        left, right = _map(one), _map(other)
        pair = f"{left.get('$ref')} {right.get('$ref')}"
        if pair != "None None":
            if pair in seen:
                return
            seen = (*seen, pair)
        left, right = _resolved(left, self.old_root), _resolved(right, self.new_root)
        for key in dict.fromkeys([*left, *right]):
            before, after = left.get(key, _ABSENT), right.get(key, _ABSENT)
            # A reference may read the same and point to what has changed.
            if _same(before, after) and "$ref" not in compact(before):
                continue
            yield from self._keyword((*path, key), key, before, after, seen)

    def _keyword(
        self, path: tuple[str, ...], key: str, one: object, other: object, seen: tuple[str, ...]
    ) -> Iterator[Change]:
        if key in _NAMES:
            yield from self._named(path, _map(one), _map(other), seen)
        elif key in _SUBSCHEMAS and _are(Mapping, one, other):
            yield from self.schema(path, one, other, seen)
        elif key in ("required", "enum") and _are(list, one, other):
            yield from self._members(path, key, cast("list[Any]", one), cast("list[Any]", other))
        elif (
            key in _SCHEMA_LISTS
            and _are(list, one, other)
            and len(cast("list[Any]", one)) == len(cast("list[Any]", other))
        ):
            for index, (before, after) in enumerate(zip(cast("list[Any]", one), cast("list[Any]", other), strict=True)):
                yield from self.schema((*path, str(index)), before, after, seen)
        elif not _same(one, other):
            yield _change(path, one, other, self._kind(key, one, other))

    def _named(self, path: tuple[str, ...], one: Json, other: Json, seen: tuple[str, ...]) -> Iterator[Change]:
        for name in dict.fromkeys([*one, *other]):
            here = (*path, name)
            if name not in one:
                # One that is required shows among the required ones.
                yield Change(here, f"added {' / '.join(here)}: {_short(other[name])}", "compatible")
            elif name not in other:
                yield Change(here, f"removed {' / '.join(here)}", "breaking")
            else:
                yield from self.schema(here, one[name], other[name], seen)

    def _members(self, path: tuple[str, ...], key: str, one: list[Any], other: list[Any]) -> Iterator[Change]:
        before, after = {compact(each): each for each in one}, {compact(each): each for each in other}
        gained = [after[each] for each in after if each not in before]
        lost = [before[each] for each in before if each not in after]
        # A value more in an enumeration is wider, a name more among the required ones is narrower.
        wider, narrower = (gained, lost) if key == "enum" else (lost, gained)
        meant: list[tuple[list[Any], Kind]] = [(wider, self._widened), (narrower, self._tightened)]
        for values, kind in meant:
            if values:
                verb = "added to" if values is gained else "removed from"
                yield Change(path, f"{verb} {' / '.join(path)}: {', '.join(map(_short, values))}", kind)

    @property
    def _widened(self) -> Kind:
        return "compatible" if self.is_input else "breaking"

    @property
    def _tightened(self) -> Kind:
        return "breaking" if self.is_input else "compatible"

    def _kind(self, key: str, one: Any, other: Any) -> Kind:
        if key in _WORDING:
            return "wording"
        if key == "type":
            before, after = _types(one), _types(other)
            if before <= after:
                return self._widened
            return self._tightened if after <= before else "breaking"
        if key in _UPPER or key in _LOWER:
            if one is _ABSENT or other is _ABSENT:
                return self._widened if other is _ABSENT else self._tightened
            if not (isinstance(one, int | float) and isinstance(other, int | float)):
                return "breaking"
            return self._widened if (one < other) == (key in _UPPER) else self._tightened
        if key == "default":
            return "breaking" if self.is_input else "compatible"
        if key == "additionalProperties":
            return self._tightened if other is False else self._widened
        if other is _ABSENT:
            return self._widened
        return self._tightened if one is _ABSENT else "breaking"


def _same(one: object, other: object) -> bool:
    """Whether two JSON values are one; Python takes true for 1."""
    return one is other if _ABSENT in (one, other) else compact(one) == compact(other)


def _are(kind: type, one: object, other: object) -> bool:
    return isinstance(one, kind) and isinstance(other, kind)


def _types(value: Any) -> set[str]:
    """The JSON types that a `type` allows; every integer is a number, and no `type` allows all."""
    if value is _ABSENT:
        return {"array", "boolean", "integer", "null", "number", "object", "string"}
    found = set(map(str, cast("list[Any]", value))) if isinstance(value, list) else {str(value)}
    return found | {"integer"} if "number" in found else found


def _resolved(schema: Json, root: Json) -> Json:
    """A schema without its `$ref`, and the definitions that references point to left out."""
    rest = {key: value for key, value in schema.items() if key not in ("$ref", "$defs")}
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return rest
    found = _map(root.get("$defs")).get(reference.removeprefix("#/$defs/"))
    return {"$ref": reference, **rest} if found is None else {**_resolved(_map(found), {}), **rest}


def _map(value: object) -> Json:
    return cast("Json", value) if isinstance(value, Mapping) else {}


def _change(path: tuple[str, ...], one: object, other: object, kind: Kind) -> Change:
    place = " / ".join(path)
    if one is _ABSENT:
        return Change(path, f"added {place}: {_short(other)}", kind)
    if other is _ABSENT:
        return Change(path, f"removed {place}: {_short(one)}", kind)
    return Change(path, f"changed {place}: {_short(one)} -> {_short(other)}", kind)


def _short(value: object) -> str:
    text = compact(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."
