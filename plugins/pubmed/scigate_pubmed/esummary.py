"""The answer of ESummary 2.0 (`retmode=json`) for PubMed as records."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from scigate_pubmed.dates import iso_date
from scigate_pubmed.errors import NcbiUnreadable
from scigate_pubmed.markup import flatten

_PMCID = re.compile(r"PMC\d+", re.IGNORECASE)


@dataclass(frozen=True)
class Contributor:
    """A person or group with a part in a record; `role` is NCBI's word: Author, CollectiveName, Editor, ..."""

    name: str
    role: str


@dataclass(frozen=True)
class ArticleSummary:
    """The short form of one PubMed record; a text that NCBI does not give is empty."""

    pmid: str
    title: str
    contributors: tuple[Contributor, ...]
    """In NCBI's order, which has a book's editors before a chapter's authors."""
    source: str
    """The journal's abbreviated name; empty on a record of Bookshelf."""
    book_title: str
    publisher: str
    doc_type: str
    """`citation`, `book` or `chapter`."""
    pub_date: str
    """As `iso_date` gives it."""
    doi: str
    """In NCBI's letter case."""
    pmcid: str

    @property
    def in_bookshelf(self) -> bool:
        """Whether it is a book or a chapter, and no journal article."""
        return self.doc_type in ("book", "chapter")

    @property
    def authors(self) -> tuple[str, ...]:
        """Who wrote this very record, groups included."""
        return tuple(who.name for who in self.contributors if "editor" not in who.role.lower())

    @property
    def editors(self) -> tuple[str, ...]:
        """Who edited the book."""
        return tuple(who.name for who in self.contributors if "editor" in who.role.lower())


def parse_summaries(answer: object, pmids: tuple[str, ...]) -> list[ArticleSummary]:
    """The records of a decoded JSON body in the order of `pmids`; a PMID without a record is left out.

    Raises:
        NcbiUnreadable: the body has no result at all.
    """
    result = cast("dict[str, object]", answer).get("result") if isinstance(answer, dict) else None
    if not isinstance(result, dict):
        raise NcbiUnreadable("esummary", "has no result")
    records = cast("dict[str, object]", result)
    found: list[ArticleSummary] = []
    for pmid in pmids:
        record = records.get(pmid)
        # {"uid": "99999999", "error": "cannot get document summary"} is one missing record, not a failed call.
        if isinstance(record, dict) and "error" not in record:
            found.append(_summary(pmid, cast("dict[str, object]", record)))
    return found


def _summary(pmid: str, record: Mapping[str, object]) -> ArticleSummary:
    ids = {_text(entry, "idtype"): _text(entry, "value") for entry in _entries(record, "articleids")}
    # The entry "pmcid" may read "pmc-id: PMC123;", so "pmc" is asked first and only the number itself is taken.
    pmcid = _PMCID.search(ids.get("pmc", "")) or _PMCID.search(ids.get("pmcid", ""))
    return ArticleSummary(
        pmid=pmid,
        title=flatten(_text(record, "title")),
        contributors=tuple(
            Contributor(name, _text(entry, "authtype"))
            for entry in _entries(record, "authors")
            if (name := flatten(_text(entry, "name")))
        ),
        source=flatten(_text(record, "source")),
        book_title=flatten(_text(record, "booktitle") or _text(record, "bookname")),
        publisher=flatten(_text(record, "publishername")),
        doc_type=_text(record, "doctype"),
        pub_date=iso_date(_text(record, "pubdate") or _text(record, "epubdate")),
        doi=ids.get("doi", ""),
        pmcid=pmcid[0].upper() if pmcid else "",
    )


def _text(record: Mapping[str, object], name: str) -> str:
    value = record.get(name)
    return "" if value is None or isinstance(value, dict | list) else str(value).strip()


def _entries(record: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    value = record.get(name)
    entries = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, object]", entry) for entry in entries if isinstance(entry, dict)]
