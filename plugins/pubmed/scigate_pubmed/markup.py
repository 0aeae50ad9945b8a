"""Titles and abstracts as NCBI marks them up, made readable as plain text.

ESummary gives inline elements as text, escaped or not (`m&lt;sup&gt;2&lt;/sup&gt;`), so they are found in both forms.
Only what has the form of a tag is taken for one: `P<0.001` loses nothing. EFetch gives them as elements.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from scigate_pubmed.document import Element, is_named

_SUPERSCRIPTS = str.maketrans("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ")
_SUBSCRIPTS = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")

_ESCAPED_TAG = re.compile(r"&lt;(/?(?:b|i|inf|sc|sub|sup|u)/?)&gt;", re.IGNORECASE)
_SHIFTED = re.compile(r"<(sup|sub|inf)>((?:(?!</?(?:sup|sub|inf)>).)*)</\1>", re.IGNORECASE | re.DOTALL)
_INLINE_TAG = re.compile(r"</?(?:b|em|i|inf|sc|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


def flatten(text: str) -> str:
    """The text without markup, entities decoded once, soft hyphens gone, whitespace collapsed.

    Raised and lowered runs become the characters for them (`m²`, `CO₂`), or are led by `^` or `_` where a character
    is missing (`^+/+`).
    """
    text = _ESCAPED_TAG.sub(r"<\1>", text)
    shifted = _SHIFTED.sub(_shift, text)
    while shifted != text:
        text, shifted = shifted, _SHIFTED.sub(_shift, shifted)
    text = _TAG.sub(" ", _INLINE_TAG.sub("", text))
    return " ".join(html.unescape(text).replace("\u00ad", "").split())


def readable(element: Element | None) -> str:
    """The text of an element and all below it in document order, as `flatten` gives it; "" for None."""
    if element is None:
        return ""
    # Most titles and abstracts have no inline elements.
    text = (element.text or "") if len(element) == 0 else "".join(_runs(element))
    return " ".join(text.replace("\u00ad", "").split())


def _runs(element: Element) -> Iterator[str]:
    # libxml2 bounds the depth of a document at 256 levels.
    yield element.text or ""
    for child in element:
        name = child.tag
        if name in ("sup", "sub", "inf"):
            shift = raised if name == "sup" else lowered
            yield shift("".join(_runs(child)))
        elif is_named(child):
            yield from _runs(child)
        yield child.tail or ""


def raised(text: str) -> str:
    """Plain text as a superscript: the characters for it, or the text led by `^` where one is missing."""
    return _as(text, _SUPERSCRIPTS, "^")


def lowered(text: str) -> str:
    """Plain text as a subscript: the characters for it, or the text led by `_` where one is missing."""
    return _as(text, _SUBSCRIPTS, "_")


def _as(text: str, table: dict[int, int], mark: str) -> str:
    content = text.replace("\u2212", "-").strip()
    if all(ord(letter) in table for letter in content):
        return content.translate(table)
    return mark + content


def _shift(run: re.Match[str]) -> str:
    shift = raised if run[1].lower() == "sup" else lowered
    return shift(_INLINE_TAG.sub("", run[2]))
