"""`pubmed_search_articles`: a PubMed search with filters, paged, with brief summaries on request."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field
from scigate import Call, Offset, Page, PageSize, tool

from scigate_pubmed.arguments import Arguments
from scigate_pubmed.client import Sort
from scigate_pubmed.echo import echo
from scigate_pubmed.esearch import WINDOW, SearchAnswer
from scigate_pubmed.query import SEARCH_PAGE, DateType, Filters, Species, Term, build, clean, is_blank
from scigate_pubmed.reasons import BLANK_QUERY, NCBI_REASONS
from scigate_pubmed.sources import Sources
from scigate_pubmed.summaries import Summary, brief, extra

_DATE = r"^$|^\d{4}([/\-.]\d{1,2}([/\-.]\d{1,2})?)?$"
_MOST_SUMMARIES = 50

Bound = Annotated[str, Field(pattern=_DATE)]


class DateLimit(Arguments):
    """A date limit; it holds only with both bounds. An empty bound is no bound."""

    min_date: Bound = Field(description="YYYY[/MM[/DD]].")
    max_date: Bound = Field(description="Inclusive; 3000 for no end.")
    date_type: DateType = Field("pdat", description="pdat published, mdat modified, edat entered.")


class SearchArticles(Arguments):
    """A PubMed search."""

    query: Annotated[str, Field(min_length=1)] = Field(description="Tags such as [ti] [tiab] [au] [mh] name a field.")
    max_results: Annotated[int, PageSize(cap=1000, accepts=1000)] = 20
    offset: Annotated[int, Offset(maximum=WINDOW - 1)] = 0
    sort: Sort = Field("relevance", description="pub_date: newest first.")
    date_range: DateLimit | None = Field(None, description="Holds only with both bounds.")
    publication_types: list[str] | None = Field(None, description='Any of them, as "Review".')
    author: str | None = Field(None, description='As "Smith J".')
    journal: str | None = None
    mesh_terms: list[str] | None = Field(None, description="All of these headings.")
    language: str | None = Field(None, description='As "english".')
    has_abstract: bool | None = Field(None, description="true: only those.")
    free_full_text: bool | None = None
    species: Species | None = Field(None, description="animals: other than man.")
    summary_count: Annotated[int, Field(ge=0, le=_MOST_SUMMARIES)] = 0


class FoundArticles(Page):
    """One page of a PubMed search."""

    query: str = Field(description="The query as it was given.")
    pmids: list[str] = Field(description="PMIDs of this page in PubMed's order.")
    summaries: list[Summary] = Field(description="For the first summaryCount of pmids, in their order.")
    search_url: str = Field(description="The same search on PubMed's pages.")
    total_count: int = Field(description="Records found, those that cannot be paged to included.")
    effective_query: str = Field(description="The term that PubMed was asked.")
    applied_filters: Filters = Field(description="The filters in it, as they were sent.")


@tool("pubmed_search_articles", title="Pubmed Search Articles", errors=[*NCBI_REASONS, BLANK_QUERY])
async def search_articles(args: SearchArticles, sources: Sources, call: Call) -> FoundArticles:
    """Search PubMed by words or PubMed syntax; gives PMIDs, and summaries for the first summaryCount.

    pubmed_fetch_articles reads the records, pubmed_europepmc_search finds preprints. Filters hold for the whole query.
    AND, OR and NOT are read from left to right: group with parentheses. Pages end at record 9,999; narrow by dateRange.
    """
    query = clean(args.query)
    if is_blank(query):
        raise BLANK_QUERY.error(f"query {args.query[:80]!r} has no search word")
    filters = _filters(args)
    term = build(query, filters)
    answer = await sources.entrez.search(term.text, offset=args.offset, count=args.max_results, sort=args.sort)
    pmids = call.page.part(answer.ids, total=answer.count, reachable=WINDOW)
    wanted = pmids[: args.summary_count]
    for sentence in _notices(args, term, answer):
        call.notice(sentence)
    records = await extra(
        call,
        sources.entrez,
        wanted,
        lost="NCBI could not give summaries: use pubmed_fetch_articles, or ask again for them.",
    )
    told = records or {}
    missing = [pmid for pmid in wanted if pmid not in told]
    if records is not None and missing:
        call.notice(f"PubMed has no summary for {', '.join(missing)}.")
    if 0 < len(wanted) < len(pmids) and records is not None:
        more = "a higher summaryCount" if len(wanted) < _MOST_SUMMARIES else "pubmed_fetch_articles"
        call.notice(
            f"Summaries are of the first {len(wanted)} of these {len(pmids)} PMIDs; {more} tells of the others."
        )
    return FoundArticles(
        query=echo(args.query),
        pmids=pmids,
        summaries=[brief(told[pmid]) for pmid in wanted if pmid in told],
        search_url=term.search_url,
        total_count=answer.count,
        effective_query=echo(term.text),
        applied_filters=filters,
    )


def _filters(args: SearchArticles) -> Filters:
    return Filters.model_validate(args.model_dump(include=set(Filters.model_fields))).cleaned()


def _notices(args: SearchArticles, term: Term, answer: SearchAnswer) -> Iterator[str]:
    """What a reader must know: dates, the query's repair, fields, phrases, then why nothing was found."""
    if term.search_url == SEARCH_PAGE:
        yield "The query is too long for an address: searchUrl leads to PubMed's front page."
    if args.date_range and (sentence := _half_open(args.date_range)):
        yield sentence
    if term.dropped:
        yield f"Unmatched {_listed(term.dropped)} was left out of the query, so that the filters hold for all of it."
    if answer.unknown_fields:
        yield (
            f"PubMed does not know the field tag {_listed(answer.unknown_fields)}: "
            "those words were searched without it."
        )
    if answer.unmatched:
        beside = ", and the records found answer the rest of the query alone" if answer.count else ""
        yield (
            f"Nothing in PubMed matches {_listed(answer.unmatched)}{beside}: check the spelling, "
            "or find the heading with pubmed_lookup_mesh."
        )
    elif answer.count == 0 and term.filtered:
        yield (
            "No record passes query and filters: drop a filter, widen dateRange, "
            "or check how author and journal are spelt."
        )
    elif answer.count == 0:
        yield "No record matches: check the words with pubmed_spell_check, or ask more broadly."


def _half_open(dates: DateLimit) -> str | None:
    low, high = dates.min_date.strip(), dates.max_date.strip()
    if bool(low) == bool(high):
        return None
    given = f"minDate {low}" if low else f"maxDate {high}"
    cure = "maxDate 3000 leaves the end open" if low else "minDate 1800 leaves the beginning open"
    return f"No date limit was applied: dateRange has only {given}; {cure}."


def _listed(texts: tuple[str, ...] | list[str]) -> str:
    return echo(", ".join(f'"{text}"' if '"' not in text else text for text in texts))
