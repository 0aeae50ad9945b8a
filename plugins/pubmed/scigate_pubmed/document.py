"""Answers in XML, read without trust: no entity of theirs is expanded, nothing is fetched, size and depth are bounded.

lxml is imported when a document is first read: it costs a start of the gateway more than everything else here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from scigate_pubmed.errors import NcbiOtherDocument, NcbiUnreadable

if TYPE_CHECKING:
    # lxml has no public name for what it reads.
    from lxml.etree import _Element as Element  # pyright: ignore[reportPrivateUsage]
else:
    Element = object

__all__ = ["Element", "children", "document", "is_named", "records", "text_of"]

MAX_BYTES: Final = 48 * 1024 * 1024
"""Two hundred of the longest records of PubMed are a third of this."""

# libxml2 itself refuses 256 levels and text nodes of 10 MB as long as huge_tree is off. Character references are not
# entities: a document may hold as many as it likes.
_SAFELY: Final[dict[str, Any]] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "dtd_validation": False,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}


def document(endpoint: str, body: bytes) -> Element:
    """The root of a document.

    Raises:
        NcbiUnreadable: It is not well-formed, too large, too deep, or it declares entities.
    """
    from lxml import etree

    _check(endpoint, body)
    try:
        root = etree.fromstring(body, etree.XMLParser(**_SAFELY))
    except etree.XMLSyntaxError as error:
        raise NcbiUnreadable(endpoint, "is not well-formed XML") from error
    # lxml's stubs promise a root, but a document may have none.
    if root is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise NcbiUnreadable(endpoint, "is an empty document")
    return root


def records(endpoint: str, body: bytes, roots: frozenset[str], tags: frozenset[str]) -> Iterator[Element]:
    """The children of the root that have one of the tags, one at a time: each is emptied when the next is asked for.

    Raises:
        NcbiUnreadable: As `document`, or the root is none of `roots`.
    """
    from lxml import etree

    _check(endpoint, body)
    try:
        for root, element in _under_root(etree.iterparse(BytesIO(body), events=("start", "end"), **_SAFELY)):
            if root.tag not in roots:
                raise NcbiOtherDocument(endpoint, f"has no {sorted(roots)[0]} at its root")
            if element is not None and element.tag in tags:
                yield element
    except etree.XMLSyntaxError as error:
        raise NcbiUnreadable(endpoint, "is not well-formed XML") from error


def _under_root(events: Iterable[tuple[str, Element]]) -> Iterator[tuple[Element, Element | None]]:
    """The root as soon as it begins, with None; then with each child that has ended, emptied when the next is due."""
    root: Element | None = None
    depth = 0
    for event, element in events:
        if root is None:
            root = element
            yield root, None
        depth += 1 if event == "start" else -1
        if event == "end" and depth == 1:
            yield root, element
            root.clear()


def text_of(parent: Element | None, path: str = ".") -> str:
    """The text at a path below an element, that of its children included, white space collapsed; "" without one."""
    found = parent.find(path) if parent is not None else None
    # itertext is typed for bytes too; an element's text is str.
    return "" if found is None else " ".join("".join(map(str, found.itertext())).split())


def is_named(node: Element) -> bool:
    """Whether a node has a name: one that is no element, such as an entity left alone, has a function for its tag.

    The stubs promise a name of every node.
    """
    return not callable(node.tag)


def children(parent: Element | None, path: str) -> list[Element]:
    """The elements at a path below an element that may be absent."""
    return [] if parent is None else list(parent.findall(path))


def _check(endpoint: str, body: bytes) -> None:
    if len(body) > MAX_BYTES:
        raise NcbiUnreadable(endpoint, f"is longer than {MAX_BYTES:,} bytes")
    if b"<!ENTITY" in body:
        raise NcbiUnreadable(endpoint, "declares entities of its own, which no answer of NCBI does")
