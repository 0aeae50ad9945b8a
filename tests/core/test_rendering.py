"""The text of a result: all its facts, and no text of others outside its place."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate.rendering import inline, markdown, quoted

NAMES = st.from_regex(r"[a-z][a-zA-Z]{0,6}", fullmatch=True).filter(lambda name: name != "notice")
HOSTILE = st.text(st.sampled_from("ab|*`~<>#+-=1.;:! []()\\\n\r\t\v\x00\x1b\x85\u2028\u202e\u200b\ufeff\U000e0041"))
TEXTS = HOSTILE | st.text(max_size=30) | HOSTILE.map(lambda text: text + "prose " * 50)
LEAVES = TEXTS | st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
RECORDS = st.dictionaries(NAMES, VALUES, max_size=5)
# Control, format and surrogate characters that hide or reorder text.
HIDING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, bool):
        yield "true" if value else "false"
    else:
        yield str(value)


def words(text: str) -> str:
    """Text as it reads: without what is not seen, white space as single spaces."""
    spaced = re.sub(r"\s", " ", text)
    seen = (
        sign
        for sign in spaced
        if not HIDING.match(sign) and sign not in "\u00ad\u180e" and not "\u2060" <= sign <= "\u2065"
    )
    return " ".join("".join(sign for sign in seen if unicodedata.category(sign) != "Cs").split())


def readable(text: str) -> str:
    """Markdown as it is shown: quote marks and backslashes gone."""
    lines = (re.sub(r"^\s*> ?", "", line) for line in text.split("\n"))
    return words(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", " ".join(lines)))


@given(record=RECORDS)
def test_every_leaf_is_in_the_text(record: dict[str, Any]) -> None:
    """Whatever the shape: records in records, tables, lists of unlike things, prose."""
    text = readable(markdown(record))
    for leaf in leaves(record):
        assert words(leaf) in text


@given(record=RECORDS)
def test_nothing_hides_or_reorders_text(record: dict[str, Any]) -> None:
    """Control, zero-width and direction-changing characters, and the tag block, do not reach a model."""
    assert HIDING.search(markdown(record)) is None
    assert markdown(record).encode()


@given(text=TEXTS, number=st.integers(0, 9))
def test_text_stays_in_its_cell(text: str, number: int) -> None:
    """A table has as many lines and cells as without it, and no line of it is a heading, a quote or a list."""
    rows = [{"name": text, "rank": number}, {"name": "b", "rank": number}]
    lines = markdown({"total": 2, "rows": rows}).split("\n")
    if lines[2] == "name | rank":
        assert len(lines) == 5
        assert len(re.split(r"(?<!\\) \| ", re.sub(r"\\\\", "", lines[3]))) == 2
        assert not re.match(r"\s*([#>+\-=]|\d+[.)](\s|$))", lines[3])
    else:
        # Prose among the values: each row is an entry of a list, and the prose is quoted.
        assert all(re.match(r"- (rank|name): ?|  name:$|  rank: |  > |  >$", line) for line in lines[2:])


@given(text=TEXTS)
def test_text_stays_in_its_quote(text: str) -> None:
    """Each line of it begins with the quote's sign, and none begins a block of its own inside."""
    for line in quoted(text):
        assert line.startswith(">")
        assert not re.match(r"> \s*([#>+\-=]|\d+[.)](\s|$))", line)
        assert "\r" not in line


@given(texts=st.lists(st.text(st.sampled_from("ab;\\ ")), min_size=1))
def test_items_of_a_list_can_be_told_apart(texts: list[str]) -> None:
    """Names hold commas and semicolons of their own: the separator is escaped inside an item."""
    (line,) = markdown({"names": texts}).split("\n")
    escaped = re.sub(r"\\.", "_", line.removeprefix("names: "))
    assert escaped.count(";") == len(texts) - 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("CC(=O)OC1=CC=CC=C1C(=O)O", "CC(=O)OC1=CC=CC=C1C(=O)O"),
        ("C[C@H](N)C(=O)O", "C[C@H](N)C(=O)O"),
        ("C/C=C\\C", "C/C=C\\C"),
        ("C\\[nH]", "C\\\\[nH]"),
        ("ends in \\", "ends in \\\\"),
        ("p<0.05, <= 500", "p<0.05, <= 500"),
        ("a|b", "a\\|b"),
        ("*bold* `code` ~no~ <b>", "\\*bold\\* \\`code\\` \\~no\\~ \\<b>"),
        ("![](https://lab.example/?leak)", "\\![](https://lab.example/?leak)"),
        ("two\nlines\u2028three", "two lines three"),
        ("next\x85line\x0btab", "next line tab"),
        ("pass\u202eword\u200b", "password"),
        ("half \ud800", "half"),
        ("", ""),
    ],
)
def test_text_on_one_line(text: str, shown: str) -> None:
    """What every chemical name and structure is made of stays readable; what would act is escaped."""
    assert inline(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# heading", ["> \\# heading"]),
        ("1. item", ["> 1\\. item"]),
        ("12) item", ["> 12\\) item"]),
        ("- item\n+ item", ["> \\- item", "> \\+ item"]),
        ("  > quote", ["> \\> quote"]),
        ("===\n", ["> \\==="]),
        ("a\r# b\r\nc\u2029d", ["> a", "> \\# b", "> c", "> d"]),
        ("one\n\ntwo", ["> one", ">", "> two"]),
        ("3.5 mg", ["> 3.5 mg"]),
        ("10.1000/xyz", ["> 10.1000/xyz"]),
        ("7.", ["> 7\\."]),
    ],
)
def test_prose_in_a_quote(text: str, shown: list[str]) -> None:
    """A sign that would begin a block is escaped, by the form that Markdown has for it."""
    assert [re.sub(r"^>\s+", "> ", line) for line in quoted(text)] == shown


def test_facts_come_first_then_records_then_the_notice() -> None:
    """Labels stand once; the notice is last wherever its field is."""
    result = {
        "notice": "Two of three.",
        "total": 3,
        "rows": [{"cid": 1, "about": {"name": "a", "known": True}}, {"cid": 2, "about": {"name": "b", "known": False}}],
        "names": ["x", "y"],
        "empty": [],
        "ids": [{"cid": 7}, {"cid": 8}],
    }
    assert markdown(result).split("\n") == [
        "total: 3 | names: x; y | empty: none",
        "rows (2):",
        "cid | about.name | about.known",
        "1 | a | true",
        "2 | b | false",
        "ids.cid (2): 7; 8",
        "Notice: Two of three.",
    ]


def test_records_with_prose_are_a_list() -> None:
    """Each record's facts on one line, its prose quoted below, records within it indented."""
    result = {"rows": [{"name": "a", "text": "one\ntwo"}, {"name": "b", "parts": [{"n": 1, "m": 2}]}]}
    assert markdown(result).split("\n") == [
        "rows (2):",
        "- name: a",
        "  text:",
        "  > one",
        "  > two",
        "- name: b",
        "  parts (1):",
        "  n | m",
        "  1 | 2",
    ]


def test_records_unlike_each_other_are_a_list() -> None:
    """A table of mostly empty cells is hard to count off: each record has its own labels instead."""
    result = {"rows": [{"n": 1, "a": 2, "b": 3}, {"n": 2, "c": 4, "d": 5}, {"n": 3, "e": 6}]}
    assert markdown(result).split("\n") == [
        "rows (3):",
        "- n: 1 | a: 2 | b: 3",
        "- n: 2 | c: 4 | d: 5",
        "- n: 3 | e: 6",
    ]


def test_an_empty_result_says_so() -> None:
    """No text at all would look like a broken answer."""
    assert markdown({}) == "(empty)"


def test_names_are_text_of_others_too() -> None:
    """Keys may come from an upstream; they cannot begin a line either."""
    text = markdown({"a\n# b": {"c\n# d": 1}, "e\n# f": [{"g\n# h": 1, "i": 2}]})
    assert text.split("\n") == ["a # b.c # d: 1", "e # f (1):", "g # h | i", "1 | 2"]
