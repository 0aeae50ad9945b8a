"""Changes of definitions in words, and what they mean for callers."""

import copy
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate.snapshot import canonical, changes, digest

SEARCH = {
    "name": "lab_search",
    "title": "Search",
    "description": "Search samples.",
    "inputSchema": {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "kind": {"type": "string", "enum": ["core", "grab"]},
            "maxResults": {"type": "integer", "minimum": 1, "maximum": 200, "default": 20},
            "range": {"$ref": "#/$defs/Range"},
        },
        "required": ["kind"],
        "$defs": {"Range": {"type": "object", "properties": {"from": {"type": "integer"}}}},
    },
    "outputSchema": {
        "type": "object",
        "properties": {"samples": {"type": "array", "items": {"type": "string"}}, "error": {}},
        "anyOf": [{"not": {"required": ["error"]}, "required": ["samples"]}, {"required": ["error"]}],
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": True},
}


def with_value(path: str, value: Any) -> dict[str, Any]:
    """The definition with a value at a path, or without it where the value is None."""
    changed = copy.deepcopy(SEARCH)
    *way, last = path.split("/")
    node: Any = changed
    for step in way:
        node = node[int(step)] if isinstance(node, list) else node[step]
    if value is None:
        del node[last]
    else:
        node[last] = value
    return changed


SHORT = {
    "P": ["inputSchema", "properties"],
    "R": ["outputSchema", "properties"],
    "I": ["inputSchema"],
    "O": ["outputSchema"],
}
B, C, W = "breaking", "compatible", "wording"


def spelt(text: str, joint: str) -> str:
    """A path, or a sentence with one, in which the table's short names are written out."""
    return re.sub(rf"\b([PRIO])(?={joint})", lambda match: joint.join(SHORT[match[1]]), text)


@pytest.mark.parametrize(
    ("path", "value", "words", "kind"),
    [
        ("description", "Search cores.", 'changed description: "Search samples." -> "Search cores."', W),
        ("P/maxResults/maximum", 1000, "changed P / maxResults / maximum: 200 -> 1000", C),
        ("P/maxResults/maximum", 100, "changed P / maxResults / maximum: 200 -> 100", B),
        ("P/maxResults/maximum", None, "removed P / maxResults / maximum: 200", C),
        ("P/maxResults/minimum", 0, "changed P / maxResults / minimum: 1 -> 0", C),
        ("P/maxResults/default", 50, "changed P / maxResults / default: 20 -> 50", B),
        ("P/maxResults/type", "number", 'changed P / maxResults / type: "integer" -> "number"', C),
        ("P/kind/enum", ["core", "grab", "dredge"], 'added to P / kind / enum: "dredge"', C),
        ("P/kind/enum", ["core"], 'removed from P / kind / enum: "grab"', B),
        ("P/kind/pattern", "^c", 'added P / kind / pattern: "^c"', B),
        ("P/depth", {"type": "number"}, 'added P / depth: {"type":"number"}', C),
        ("P/kind", None, "removed P / kind", B),
        ("I/required", ["kind", "maxResults"], 'added to I / required: "maxResults"', B),
        ("I/required", [], 'removed from I / required: "kind"', C),
        ("I/additionalProperties", True, "changed I / additionalProperties: false -> true", C),
        ("I/$defs/Range/type", "array", 'changed P / range / type: "object" -> "array"', B),
        ("R/total", {"type": "integer"}, 'added R / total: {"type":"integer"}', C),
        ("R/samples", None, "removed R / samples", B),
        ("R/samples/items/type", "integer", 'changed R / samples / items / type: "string" -> "integer"', B),
        ("O/anyOf/0/required", ["samples", "total"], 'added to O / anyOf / 0 / required: "total"', C),
        ("annotations/readOnlyHint", False, "changed annotations / readOnlyHint: true -> false", B),
        ("annotations/openWorldHint", False, "changed annotations / openWorldHint: true -> false", C),
    ],
)  # fmt: skip
def test_a_change_is_told_in_words_and_classed(path: str, value: Any, words: str, kind: str) -> None:
    """What is sent may become wider, what is received narrower; the other way round breaks."""
    [change] = changes(SEARCH, with_value(spelt(path, "/"), value))
    assert (change.words, change.kind) == (spelt(words, " / "), kind)


def test_tools_come_and_go() -> None:
    """A new tool harms nobody, a missing one its callers."""
    assert [(each.words, each.kind) for each in changes(None, SEARCH)] == [("added the tool", "compatible")]
    assert [(each.words, each.kind) for each in changes(SEARCH, None)] == [("removed the tool", "breaking")]


def test_order_without_meaning_and_the_dialects_name_are_no_change() -> None:
    """Keys, required names and values of an enumeration are sets."""
    other = with_value("inputSchema/properties/kind/enum", ["grab", "core"])
    other["inputSchema"] = {"$schema": "https://json-schema.org/draft/2020-12/schema", **other["inputSchema"]}
    assert changes(SEARCH, dict(reversed(other.items()))) == []
    assert digest(SEARCH) == digest(other)


def test_a_property_may_have_a_keywords_name() -> None:
    """`required`, `type` and `enum` name arguments too, and are then compared as such."""
    names = {
        "properties": {"required": {"type": "boolean"}, "type": {"enum": ["b", "a"]}, "$schema": {"type": "string"}}
    }
    tool = {"name": "x", "inputSchema": names}
    assert canonical(tool)["inputSchema"]["properties"].keys() == {"required", "type", "$schema"}
    [change] = changes(
        tool, {"name": "x", "inputSchema": {"properties": {**names["properties"], "type": {"enum": ["a"]}}}}
    )
    assert change.words == 'removed from inputSchema / properties / type / enum: "b"'


def test_references_arranged_otherwise_are_said_so() -> None:
    """The hash differs, so a list of changes without words would leave a reader at a loss."""
    other = with_value("inputSchema/properties/range", SEARCH["inputSchema"]["$defs"]["Range"])  # type: ignore[index]
    [change] = changes(SEARCH, other)
    assert change.kind == "wording"


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    """A tree of samples is a legal argument."""
    tree = {"$ref": "#/$defs/Tree"}
    node = {"type": "object", "properties": {"left": tree, "name": {"type": "string"}}}
    tool = {"name": "x", "inputSchema": {"properties": {"tree": tree}, "$defs": {"Tree": node}}}
    other = copy.deepcopy(tool)
    other["inputSchema"]["$defs"]["Tree"]["properties"]["name"]["maxLength"] = 5  # type: ignore[index]
    assert [change.kind for change in changes(tool, other)] == ["breaking"]


SCHEMAS = st.recursive(
    st.dictionaries(
        st.sampled_from(["type", "maximum", "minLength", "default", "enum", "description", "required"]),
        st.sampled_from(["string", 1, ["a", "b"], ["b"], None, True]),
        max_size=3,
    ),
    lambda inner: st.builds(
        lambda names, items: {"properties": names, "items": items},
        st.dictionaries(st.sampled_from(["a", "b", "required"]), inner, max_size=2),
        inner,
    ),
    max_leaves=5,
)


@given(SCHEMAS, SCHEMAS)
def test_definitions_differ_in_words_exactly_when_their_hashes_differ(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    """Whatever the schemas hold: no silent change, no change out of nothing."""
    old, new = {"name": "x", "inputSchema": one}, {"name": "x", "inputSchema": other}
    assert bool(changes(old, new)) == (digest(old) != digest(new))
