"""Answers of Europe PMC's search (`format=json`) as records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from scigate_pubmed.europepmc_reasons import EuropePmcRefused, EuropePmcUnreadable
from scigate_pubmed.jats import pmcid
from scigate_pubmed.markup import flatten

_SAID = 200


@dataclass(frozen=True)
class EuropePmcRecord:
    """One record; a text that Europe PMC does not give is empty.

    `source` is its code for the corpus: MED, PMC, PPR, PAT, AGR, and others that a search without a filter can find.
    """

    source: str
    id: str
    title: str
    authors: str
    journal: str
    """The journal, or a preprint's server."""
    year: str
    first_published: str
    pmid: str
    pmcid: str
    doi: str
    """In lower case, as Europe PMC keeps it."""
    open_access: bool | None
    has_full_text: bool | None
    abstract: str
    cited_by: int | None

    @property
    def url(self) -> str:
        """The record on Europe PMC's pages."""
        return f"https://europepmc.org/article/{self.source}/{self.id}"


@dataclass(frozen=True)
class EuropePmcPage:
    """One page of a search.

    `next_cursor` is None on the last page; `query` is the query as Europe PMC repeats it, "" when it does not.
    """

    records: tuple[EuropePmcRecord, ...]
    count: int
    next_cursor: str | None
    query: str


def parse_page(answer: object, *, cursor: str, page_size: int, sort: str | None = None) -> EuropePmcPage:
    """The page in a decoded body.

    Args:
        answer: The body.
        cursor: The cursor that was sent: Europe PMC repeats it where nothing follows.
        page_size: How many records were asked for.
        sort: The order that was asked for, for the exception to name.

    Raises:
        EuropePmcRefused: A refusal, which comes with status 200.
        EuropePmcUnreadable: Neither a page nor a refusal.
    """
    if not isinstance(answer, dict):
        raise EuropePmcUnreadable("the answer of Europe PMC's search is no object")
    body = cast("dict[str, object]", answer)
    if "errCode" in body or "errMsg" in body:
        raise EuropePmcRefused(flatten(_text(body, "errMsg"))[:_SAID], sort=sort)
    if "hitCount" not in body:
        # {"version": "6.9"} alone is how a sort or cursor is refused that Europe PMC does not know.
        if set(body) <= {"version", "request"}:
            raise EuropePmcRefused(sort=sort)
        raise EuropePmcUnreadable("the answer of Europe PMC's search has no count")
    count = _number(body, "hitCount")
    if count is None:
        raise EuropePmcUnreadable("the answer of Europe PMC's search has no count")
    records = tuple(_record(item) for item in _entries(_below(body, "resultList"), "result"))
    following = _text(body, "nextCursorMark")
    last = not following or following == cursor or len(records) < page_size
    request = _below(body, "request")
    return EuropePmcPage(
        records, count, None if last else following, _text(request, "queryString") or _text(request, "query")
    )


def _record(item: Mapping[str, object]) -> EuropePmcRecord:
    # The lite form has the journal's title flat, the core form nests it.
    journal = _text(_below(_below(item, "journalInfo"), "journal"), "title")
    server = _text(_below(item, "bookOrReportDetails"), "publisher")
    return EuropePmcRecord(
        source=_text(item, "source"),
        id=_text(item, "id"),
        title=flatten(_text(item, "title")),
        authors=flatten(_text(item, "authorString")),
        journal=flatten(_text(item, "journalTitle") or journal or server),
        year=_text(item, "pubYear"),
        first_published=_text(item, "firstPublicationDate"),
        pmid=_text(item, "pmid"),
        pmcid=pmcid(_text(item, "pmcid")),
        doi=_text(item, "doi"),
        open_access=_flag(item, "isOpenAccess"),
        has_full_text=_flag(item, "inPMC"),
        abstract=flatten(_text(item, "abstractText")),
        cited_by=_number(item, "citedByCount"),
    )


def _text(item: Mapping[str, object], name: str) -> str:
    value = item.get(name)
    return "" if value is None or isinstance(value, dict | list) else str(value).strip()


def _flag(item: Mapping[str, object], name: str) -> bool | None:
    return {"Y": True, "N": False}.get(_text(item, name))


def _number(item: Mapping[str, object], name: str) -> int | None:
    text = _text(item, name)
    return int(text) if text.isascii() and text.isdigit() else None


def _below(item: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = item.get(name)
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _entries(item: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """A list of objects, where a single one may stand alone."""
    value = item.get(name)
    entries = cast("list[object]", value) if isinstance(value, list) else [value]
    return [cast("dict[str, object]", entry) for entry in entries if isinstance(entry, dict)]
