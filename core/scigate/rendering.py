"""Any structured result as compact Markdown for a model: single facts first, then records, then the notice.

The text says what the structured content says; labels stand once. Text from third parties is data: no control or
direction-changing characters, no line of its own outside a quote, no Markdown that could act.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

__all__ = ["inline", "markdown", "quoted"]

_NOTICE: Final = "notice"
_PROSE_LENGTH: Final = 240
"""Text over this many characters is prose: it gets a quote block, not a table cell."""

# Bidirectional overrides and isolates, zero-width characters, the byte-order mark and the tag block can hide or
# reorder text (Unicode Technical Report 36, section 3).
_INVISIBLE: Final = "\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f"
_CONTROL: Final = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_INVISIBLE}\ud800-\udfff]")
_SPECIAL: Final = re.compile(f"[\x00-\x1f\x7f-\x9f\\\\`*~|<{_INVISIBLE}\ud800-\udfff]|!\\[")
# A link acts when somebody follows it; an image is fetched as soon as it is shown. A backslash acts before a sign and
# at an end, `<` before what can begin a tag: SMILES (`C/C=C\C`) and comparisons (`p<0.05`) can be copied as they are.
_ESCAPED: Final = re.compile(r"[`*~|]|\\(?=[!-/:-@\[-`{-~]|$)|<(?=[A-Za-z/!?])|!(?=\[)")
# A number begins a list only with white space behind its stop: a DOI and a decimal do not.
_BLOCK_START: Final = re.compile(r"^(\s*)(?:(\d+)(?=[.)](?:\s|$))|(?=[#>+\-=]))")
_BACKSLASH: Final = r"\\\g<0>"
_SPACE: Final = re.compile(r"\s")

Json = Mapping[str, Any]


def markdown(structured: Json) -> str:
    """The text rendition of a structured result: plain dicts, lists and JSON values."""
    lines = _fields({key: value for key, value in structured.items() if key != _NOTICE}, "")
    if notice := structured.get(_NOTICE):
        lines.append(f"Notice: {inline(str(notice))}")
    return "\n".join(lines) or "(empty)"


def inline(text: str) -> str:
    """Text for one line: white space collapsed, invisible characters removed, Markdown's signs escaped."""
    if _SPECIAL.search(text) is None:
        return text
    # White space first: some of it is among the control characters, and words must not grow together.
    return _ESCAPED.sub(_BACKSLASH, " ".join(_CONTROL.sub("", _SPACE.sub(" ", text)).split()))


def quoted(text: str, indent: str = "") -> list[str]:
    """Prose as a quote block, line by line; a line cannot leave it or start a block of its own."""
    lines = [_CONTROL.sub("", line).rstrip() for line in text.splitlines()]
    return [f"{indent}> {_unstarted(_ESCAPED.sub(_BACKSLASH, line))}".rstrip() for line in lines]


def _fields(record: Json, indent: str) -> list[str]:
    """A record's own facts on one line, then its prose and its lists."""
    facts: list[str] = []
    below: list[str] = []
    for name, value in _flat(record).items():
        if not _is_block(value):
            facts.append(f"{name}: {_cell(value)}")
        elif isinstance(value, str):
            below += [f"{indent}{name}:", *quoted(value, indent)]
        else:
            below += _records(name, value, indent)
    return ([indent + " | ".join(facts)] if facts else []) + below


def _records(name: str, records: Sequence[Json], indent: str) -> list[str]:
    """Records as a table, labels once; as a list where cells would hold prose or further records, or nothing mostly."""
    rows = [_flat(record) for record in records]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    is_sparse = 2 * sum(map(len, rows)) < len(rows) * len(columns)
    if is_sparse or any(_is_block(value) for row in rows for value in row.values()):
        lines = [f"{indent}{name} ({len(records)}):"]
        for record in records:
            first, *rest = _fields(record, indent + "  ") or [indent + "  "]
            lines += [f"{indent}- {first.lstrip()}", *rest]
        return lines
    if len(columns) == 1:
        cells = _cell([row.get(columns[0]) for row in rows])
        return [f"{indent}{name}.{columns[0]} ({len(records)}): {cells}"]
    table = [indent + _unstarted(" | ".join([_cell(row.get(column)) for column in columns])) for row in rows]
    return [f"{indent}{name} ({len(records)}):", indent + " | ".join(columns), *table]


def _flat(record: Json) -> dict[str, Any]:
    """The record's entries; those of nested records stand beside them under joined names."""
    entries: dict[str, Any] = {}
    for name, value in record.items():
        if type(value) is dict and value:
            nested = _flat(cast("Json", value))
            entries.update({f"{inline(name)}.{inner}": item for inner, item in nested.items()})
        else:
            entries[inline(name)] = value
    return entries


def _is_block(value: Any) -> bool:
    """Whether a value needs lines of its own: prose, or a list of records."""
    if type(value) is str:
        return len(value) > _PROSE_LENGTH or "\n" in value
    if type(value) is not list:
        return False
    items = cast("list[object]", value)
    return bool(items) and all(type(item) is dict for item in items)


def _unstarted(line: str) -> str:
    """The line, its beginning escaped where Markdown would take it for a heading, a quote or a list."""
    return _BLOCK_START.sub(r"\1\2\\", line)


def _cell(value: Any) -> str:
    if type(value) is str:
        return inline(value)
    if value is None:
        return ""
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is list:
        return "; ".join([_item(item) for item in cast("list[object]", value)]) or "none"
    if type(value) is dict:
        return ", ".join([f"{name}: {_item(item)}" for name, item in _flat(cast("Json", value)).items()]) or "none"
    return str(cast("object", value))


def _item(value: Any) -> str:
    """An entry of a list; the sign between entries is escaped in it, so that one cannot pass for two."""
    return inline(value).replace(";", "\\;") if type(value) is str else _cell(value)
