"""`pubmed_europepmc_search` and `pubmed_europepmc_fetch`: records of Europe PMC, preprints and patents among them."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field
from scigate import Call, Output, Record, tool

from scigate_pubmed.arguments import Arguments
from scigate_pubmed.echo import echo, search_address
from scigate_pubmed.europepmc import ResultType
from scigate_pubmed.europepmc_reasons import EUROPEPMC_DISABLED, EUROPEPMC_INVALID_INPUT, EUROPEPMC_REASONS
from scigate_pubmed.europepmc_records import EuropePmcRecord
from scigate_pubmed.fulltext_excerpt import shortened
from scigate_pubmed.query import balanced, clean, is_blank
from scigate_pubmed.sources import Sources

Corpus = Literal["MED", "PMC", "PPR", "PAT", "AGR"]

_USUAL: Final[tuple[Corpus, ...]] = ("MED", "PMC", "PPR")
_SNIPPET: Final = 400


class SearchEuropePmc(Arguments):
    """A search of Europe PMC."""

    query: Annotated[str, Field(min_length=1)] = Field(
        description='Words or fields: TITLE:, AUTH:"Smith J", JOURNAL:, PUB_YEAR:[2020 TO 2024].'
    )
    page_size: Annotated[int, Field(ge=1, le=100)] = 25
    cursor_mark: str = "*"
    sources: Annotated[list[Corpus], Field(min_length=1)] | None = Field(
        None, description="MED PubMed, PMC, PPR preprints (the default three), PAT patents, AGR Agricola."
    )
    result_type: ResultType = Field("core", description="lite: no abstracts.")
    sort: str | None = Field(
        None, description="P_PDATE_D, CITED, AUTH_FIRST or PUB_YEAR, then asc or desc; else relevance."
    )


class Named(Record):
    """A record of Europe PMC."""

    source: Corpus
    epmc_id: str
    title: str | None = None
    authors: str | None = None
    journal: str | None = Field(default=None, description="Or the preprint server.")
    pub_year: str | None = None
    first_publication_date: str | None = None
    pmid: str | None = None
    pmc_id: str | None = None
    doi: str | None = Field(default=None, description="In lower case.")
    is_open_access: bool | None = None
    has_full_text_xml: bool | None = None
    cited_by_count: int | None = None
    epmc_url: str


class Hit(Named):
    """A record found."""

    abstract_snippet: str | None = None
    abstract_truncated: bool | None = None


class FoundInEuropePmc(Output):
    """One page of a search."""

    hits: list[Hit]
    cursor_mark: str
    next_cursor_mark: str | None = Field(default=None, description="cursorMark of the next page; absent on the last.")
    search_url: str
    query: str = Field(description="As Europe PMC was asked.")
    total_count: int
    applied_sources: list[Corpus]


@tool("pubmed_europepmc_search", title="Pubmed Europepmc Search", errors=[*EUROPEPMC_REASONS, EUROPEPMC_DISABLED])
async def search_europepmc(args: SearchEuropePmc, sources: Sources, call: Call) -> FoundInEuropePmc:
    """Search Europe PMC, which has preprints, patents and Agricola beside PubMed and PMC; one request.

    Use it for preprints, full-text words and citation counts; use pubmed_search_articles for MeSH and PubMed's syntax.
    Abstracts are cut; pubmed_europepmc_fetch has them whole. Pass nextCursorMark as cursorMark for the next page.
    """
    words = clean(args.query)
    if is_blank(words):
        raise EUROPEPMC_INVALID_INPUT.error(f"query {args.query[:80]!r} has no search word")
    # Unmatched quotes and parentheses would take the source filter into a group of the query's own; so would pairs of
    # which a backslash (Lucene's escape) hides one sign, as in `\(a) OR (b\)`.
    words, dropped = balanced(words.replace("\\", " "))
    corpora: list[Corpus] = list(dict.fromkeys(args.sources or _USUAL))
    query = f"({words}) AND ({' OR '.join(f'SRC:{quoted}' for quoted in map(_quoted, corpora))})"
    page = await sources.europe.search(
        query, page_size=args.page_size, cursor=args.cursor_mark, result_type=args.result_type, sort=args.sort
    )
    for sentence in _notices(args, page.count, dropped, corpora):
        call.notice(sentence)
    return FoundInEuropePmc(
        hits=[_hit(record) for record in page.records],
        cursor_mark=args.cursor_mark,
        next_cursor_mark=page.next_cursor,
        search_url=search_address("https://europepmc.org/search", "query", query),
        query=echo(page.query or query),
        total_count=page.count,
        applied_sources=corpora,
    )


class Pair(Arguments):
    """A record's two names, both from the same hit."""

    source: Corpus
    epmc_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]


class FetchEuropePmc(Arguments):
    """Records by source and id."""

    records: Annotated[list[Pair], Field(min_length=1, max_length=25)] = Field(
        description="Only for MED is epmcId the PMID."
    )


class Whole(Named):
    """A record in full."""

    abstract: str | None = None


class Missing(Record):
    """A pair as it was asked for."""

    source: Corpus
    epmc_id: str


class FetchedFromEuropePmc(Output):
    """Records by source and id."""

    records: list[Whole] = Field(description="In Europe PMC's order.")
    not_found: list[Missing] | None = None


@tool("pubmed_europepmc_fetch", title="Pubmed Europepmc Fetch", errors=[*EUROPEPMC_REASONS, EUROPEPMC_DISABLED])
async def fetch_europepmc(args: FetchEuropePmc, sources: Sources, call: Call) -> FetchedFromEuropePmc:
    """Get records of Europe PMC with the whole abstract by source and epmcId, in one request.

    Use it for preprints, patents and Agricola records that pubmed_europepmc_search found; for PMIDs use
    pubmed_fetch_articles, for the text of articles in PMC pubmed_fetch_fulltext.
    """
    pairs: list[tuple[Corpus, str]] = list(dict.fromkeys((pair.source, pair.epmc_id) for pair in args.records))
    query = " OR ".join(_clause(source, name) for source, name in pairs)
    page = await sources.europe.search(query, page_size=len(pairs))
    answered = {(record.source, record.id.upper()) for record in page.records}
    # An article of PMC that PubMed has too is kept as MED, under its PMID.
    answered |= {("PMC", record.pmcid) for record in page.records if record.pmcid}
    missing: list[tuple[Corpus, str]] = [
        (source, name) for source, name in pairs if (source, name.upper()) not in answered
    ]
    for sentence in _unresolved(missing, len(pairs)):
        call.notice(sentence)
    return FetchedFromEuropePmc(
        records=[
            Whole.model_validate(_named(record) | {"abstract": record.abstract or None}) for record in page.records
        ],
        not_found=[Missing(source=source, epmc_id=name) for source, name in missing] or None,
    )


def _quoted(corpus: Corpus) -> str:
    return f'"{corpus}"'


def _clause(source: Corpus, name: str) -> str:
    # Quoted, EXT_ID:"1" AND SRC:"MED" matches nothing.
    clause = f"(EXT_ID:{name} AND SRC:{source})"
    return f"({clause} OR (PMCID:{name.upper()}))" if source == "PMC" else clause


def _hit(record: EuropePmcRecord) -> Hit:
    cut = len(record.abstract) > _SNIPPET
    snippet = {
        "abstract_snippet": (shortened(record.abstract, _SNIPPET) + "…" if cut else record.abstract) or None,
        "abstract_truncated": cut if record.abstract else None,
    }
    return Hit.model_validate(_named(record) | snippet)


def _named(record: EuropePmcRecord) -> dict[str, object]:
    return {
        "source": record.source,
        "epmc_id": record.id,
        "title": record.title or None,
        "authors": record.authors or None,
        "journal": record.journal or None,
        "pub_year": record.year or None,
        "first_publication_date": record.first_published or None,
        "pmid": record.pmid or None,
        "pmc_id": record.pmcid or None,
        "doi": record.doi or None,
        "is_open_access": record.open_access,
        "has_full_text_xml": record.has_full_text,
        "cited_by_count": record.cited_by,
        "epmc_url": record.url,
    }


def _notices(args: SearchEuropePmc, count: int, dropped: list[str], corpora: list[Corpus]) -> Iterator[str]:
    if dropped:
        yield f"Unmatched {' '.join(dropped)} was left out of the query, so that sources holds for all of it."
    if "\\" in args.query:
        yield "Backslashes were left out of the query: a sign is no operator between quotes."
    if count == 0:
        yield (
            "No record matches: ask more broadly, give more sources, or check the words with pubmed_spell_check; "
            "field names end in a colon."
        )
    elif (args.sort or "").strip().upper().startswith("P_PDATE_D") and corpora == ["PPR"]:
        yield (
            "Europe PMC ignores the sort P_PDATE_D for preprints, which have no such date: these are by relevance. "
            "Sort by PUB_YEAR, or order the page by firstPublicationDate."
        )


def _unresolved(missing: list[tuple[Corpus, str]], asked: int) -> Iterator[str]:
    if not missing:
        return
    if len(missing) == asked:
        yield (
            "No pair has a record: take source and epmcId from the same hit of pubmed_europepmc_search; "
            "epmcId is the PMID only for MED."
        )
    else:
        named = ", ".join(f"{source}/{name}" for source, name in missing)
        yield f"{len(missing)} of {asked} pairs have no record ({named}): most often the source is another."
    if any(name.upper().startswith("PMC") and name[3:].isdigit() for _, name in missing):
        yield "pubmed_fetch_fulltext takes a PMCID in pmcids."
