"""`pubmed_lookup_citation`: the PMIDs of partial references."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator
from scigate import Call, Output, Record, tool

from scigate_pubmed.arguments import Arguments
from scigate_pubmed.ecitmatch import Match, Reference
from scigate_pubmed.esummary import ArticleSummary
from scigate_pubmed.reasons import NCBI_REASONS
from scigate_pubmed.sources import Sources
from scigate_pubmed.summaries import extra

_YEAR: Final = re.compile(r"\d{4}")
_SUFFIXES: Final = frozenset({"jr", "sr", "2nd", "3rd", "4th", "ii", "iii", "iv"})
_DETAIL: Final = 200


class PartialCitation(Arguments):
    """What is known of a reference; journal or year is a must."""

    journal: str | None = Field(default=None, description="Title or abbreviation.")
    year: str | None = None
    volume: str | None = None
    first_page: str | None = None
    author_name: str | None = Field(default=None, description="Surname and initials.")
    key: str | None = Field(default=None, description="Your label; else its position.")

    @model_validator(mode="after")
    def _can_match(self) -> "PartialCitation":
        if not (self.journal or "").strip() and not (self.year or "").strip():
            raise ValueError("give journal or year: ECitMatch finds nothing without either")
        return self

    @property
    def reference(self) -> Reference:
        """The citation in ECitMatch's five fields, empty where one is not given."""
        return Reference(
            self.journal or "", self.year or "", self.volume or "", self.first_page or "", self.author_name or ""
        )


class LookupCitation(Arguments):
    """References to match."""

    citations: Annotated[list[PartialCitation], Field(min_length=1, max_length=25)]


class Doubt(Record):
    """Why a match may be the wrong paper."""

    code: Literal["author_mismatch", "year_mismatch"]
    message: str


class CitationMatch(Record):
    """The outcome of one reference."""

    key: str
    pmid: str | None = None
    matched: bool
    status: Literal["matched", "not_found", "ambiguous"]
    detail: str | None = Field(default=None, description="ECitMatch's own words.")
    candidate_pmids: list[str] | None = None
    matched_first_author: str | None = None
    warnings: list[Doubt] | None = Field(default=None, description="Doubts; the PMID is kept.")


class CitationMatches(Output):
    """The outcomes in the order of the references."""

    results: list[CitationMatch]
    total_matched: int
    total_submitted: int
    total_warnings: int = Field(description="Results with a doubt.")


@tool("pubmed_lookup_citation", title="Pubmed Lookup Citation", errors=NCBI_REASONS)
async def lookup_citation(args: LookupCitation, sources: Sources, call: Call) -> CitationMatches:
    """Find the PMIDs of references of which journal, year, volume, first page or author are known.

    Each needs journal or year; volume and first page decide. For a DOI or PMCID use pubmed_convert_ids, for title words
    pubmed_search_articles. NCBI tolerates a wrong author or year: see warnings before you trust a match. Two requests.
    """
    matches = await sources.entrez.matches([one.reference for one in args.citations])
    pmids = list(dict.fromkeys(match.pmid for match in matches if match.pmid))
    records = await extra(
        call,
        sources.entrez,
        pmids,
        lost="Authors and years of the matches were not checked, NCBI could not give their summaries.",
    )
    results = [
        _result(one.key or str(place), one, match, (records or {}).get(match.pmid))
        for place, (one, match) in enumerate(zip(args.citations, matches, strict=True), start=1)
    ]
    for sentence in _notices(results):
        call.notice(sentence)
    return CitationMatches(
        results=results,
        total_matched=sum(result.matched for result in results),
        total_submitted=len(results),
        total_warnings=sum(result.warnings is not None for result in results),
    )


def _notices(results: list[CitationMatch]) -> Iterator[str]:
    """What to try for the references without a PMID."""
    statuses = [result.status for result in results]
    if count := statuses.count("not_found"):
        yield (
            f"{count} of {len(results)} not found: leave out or correct volume, firstPage or year, "
            "or look for title words with pubmed_search_articles."
        )
    if count := statuses.count("ambiguous"):
        yield f"{count} of {len(results)} ambiguous: add volume and firstPage, or choose among candidatePmids."


def _result(key: str, asked: PartialCitation, match: Match, record: ArticleSummary | None) -> CitationMatch:
    if not match.pmid:
        return CitationMatch(
            key=key,
            matched=False,
            status="ambiguous" if match.ambiguous else "not_found",
            detail=match.said[:_DETAIL],
            candidate_pmids=list(match.candidates) or None,
        )
    return CitationMatch(
        key=key,
        pmid=match.pmid,
        matched=True,
        status="matched",
        matched_first_author=record.authors[0] if record and record.authors else None,
        warnings=list(_doubts(asked, record)) or None if record else None,
    )


def _doubts(asked: PartialCitation, record: ArticleSummary) -> Iterator[Doubt]:
    name = (asked.author_name or "").strip()
    if name and record.authors and not any(same_author(name, author) for author in record.authors):
        yield Doubt(
            code="author_mismatch",
            message=f"{name} is none of the {len(record.authors)} authors of PMID {record.pmid} "
            f"(the first is {record.authors[0]}).",
        )
    year, given = _YEAR.search(record.pub_date), _YEAR.search(asked.year or "")
    if year and given and year[0] != given[0]:
        yield Doubt(code="year_mismatch", message=f"PMID {record.pmid} is of {record.pub_date}, not of {given[0]}.")


def same_author(asked: str, printed: str) -> bool:
    """Whether a name as somebody wrote it is an author as PubMed prints it (`van der Berg JA`, or a group's name).

    Surnames are compared whole, without case, accents and stops: `Smith` is `Smith JA`, and not `Smithson J`. Initials
    and given names before or behind the surname do not count: references have too many forms of them.
    """
    surname, wanted = _surname(_words(printed)), [word.lower() for word in _words(asked)]
    return bool(surname) and surname in (wanted[: len(surname)], wanted[-len(surname) :])


def _words(name: str) -> list[str]:
    letters = unicodedata.normalize("NFKD", name)
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    words = re.sub(r"[.,;]", " ", bare).split()
    if [word.lower() for word in words[-2:]] == ["et", "al"]:
        words = words[:-2]
    while len(words) > 1 and words[-1].lower() in _SUFFIXES:
        words.pop()
    return words


def _surname(words: list[str]) -> list[str]:
    """The words in lower case, without the initials at their end: words of up to three capitals."""
    end = len(words)
    while end > 1 and words[end - 1].isupper() and len(words[end - 1]) <= 3:
        end -= 1
    return [word.lower() for word in words[:end]]
