"""The answer of ESummary (`retmode=json`) for the database of MeSH as records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from scigate_pubmed.errors import NcbiUnreadable
from scigate_pubmed.faults import scalars
from scigate_pubmed.markup import flatten


@dataclass(frozen=True)
class Heading:
    """A heading, qualifier or supplementary concept of MeSH; a text that NCBI does not give is empty."""

    uid: str
    """Entrez's own number for the record."""
    mesh_id: str
    """MeSH's unique identifier, such as D003924; the Entrez number where it is not known."""
    name: str
    scope_note: str = ""
    tree_numbers: tuple[str, ...] = ()
    """Places in the tree; a supplementary concept has none."""
    entry_terms: tuple[str, ...] = ()
    """Synonyms, without the name itself."""


def parse_headings(answer: object, uids: tuple[str, ...]) -> list[Heading]:
    """The records of a decoded JSON body in the order of `uids`; one that is missing is left out.

    Raises:
        NcbiUnreadable: The body has no result at all.
    """
    result = cast("dict[str, object]", answer).get("result") if isinstance(answer, dict) else None
    if not isinstance(result, dict):
        raise NcbiUnreadable("esummary", "has no result")
    records = cast("dict[str, object]", result)
    return [
        _heading(uid, cast("dict[str, object]", record))
        for uid in uids
        if isinstance(record := records.get(uid), dict) and "error" not in record
    ]


def decoded(uid: str) -> str:
    """MeSH's identifier that an Entrez number of eight digits spells: its first two are a letter's code.

    >>> decoded("68003924")
    'D003924'

    Newer supplementary concepts have plain numbers, which stay as they are.
    """
    letter = chr(int(uid[:2])) if len(uid) == 8 and uid.isdigit() else ""
    return letter + uid[2:] if letter in ("C", "D", "Q") else uid


def _heading(uid: str, record: Mapping[str, object]) -> Heading:
    terms = [flatten(term) for term in scalars(record.get("ds_meshterms"))]
    links = record.get("ds_idxlinks")
    places = [
        str(cast("dict[str, object]", link).get("treenum") or "")
        for link in (cast("list[object]", links) if isinstance(links, list) else [])
        if isinstance(link, dict)
    ]
    return Heading(
        uid=uid,
        mesh_id=next(iter(scalars(record.get("ds_meshui"))), "") or decoded(uid),
        name=terms[0] if terms else "",
        scope_note=flatten(" ".join(scalars(record.get("ds_scopenote")))),
        # A supplementary concept has a pointer such as @218176 in this place.
        tree_numbers=tuple(dict.fromkeys(place for place in places if place and not place.startswith("@"))),
        entry_terms=tuple(dict.fromkeys(term for term in terms[1:] if term)),
    )
