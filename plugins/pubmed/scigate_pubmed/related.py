"""`pubmed_find_related`: articles that are like an article, cite it, or are cited by it."""

from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import Field
from scigate import Call, Offset, Page, PageSize, Record, tool

from scigate_pubmed.arguments import Arguments
from scigate_pubmed.esummary import ArticleSummary
from scigate_pubmed.europepmc_reasons import EUROPEPMC_REASONS
from scigate_pubmed.links import Found, Provider, Relationship
from scigate_pubmed.pmid import Pmid, canonical
from scigate_pubmed.reasons import NCBI_REASONS, OPENALEX_INVALID_RESPONSE, OPENALEX_UNREACHABLE, PAGES_WOULD_MIX
from scigate_pubmed.sources import Sources
from scigate_pubmed.summaries import extra, first_authors

_SERVICES: Final[dict[Provider, str]] = {"ncbi": "NCBI", "europepmc": "Europe PMC", "openalex": "OpenAlex"}
_MECHANISMS: Final[dict[tuple[Provider, Relationship], str]] = {
    ("europepmc", "cited_by"): "its citations list",
    ("europepmc", "references"): "its references list",
    ("openalex", "similar"): "its related works",
    ("openalex", "cited_by"): "its citing works",
    ("openalex", "references"): "its referenced works",
}


class FindRelated(Arguments):
    """An article and a relation."""

    pmid: Pmid
    relationship: Relationship = Field(default="similar", description="cited_by: citing it; references: cited by it.")
    max_results: Annotated[int, PageSize(cap=50, accepts=50)] = 10
    offset: Annotated[int, Offset()] = 0


class RelatedArticle(Record):
    """A related article in brief."""

    pmid: str
    title: str | None = None
    authors: str | None = None
    source: str | None = Field(default=None, description="Journal.")
    pub_date: str | None = None


class RelatedArticles(Page):
    """One page of related articles."""

    source_pmid: str
    relationship: Relationship
    articles: list[RelatedArticle] = Field(description="The nearest first.")
    total_count: int = Field(description="Before paging; a floor where totalFoundAtLeast is given.")
    source: Provider = Field(description="The service that answered.")


@tool(
    "pubmed_find_related",
    title="Pubmed Find Related",
    errors=[*NCBI_REASONS, PAGES_WOULD_MIX, *EUROPEPMC_REASONS, OPENALEX_UNREACHABLE, OPENALEX_INVALID_RESPONSE],
)
async def find_related(args: FindRelated, sources: Sources, call: Call) -> RelatedArticles:
    """Find articles that resemble a PubMed article (pmid), cite it or are cited by it, with brief summaries.

    Use it to widen a search from one good hit; by words use pubmed_search_articles. NCBI is asked, then Europe PMC and
    OpenAlex; `source` says who answered. Pages by nextOffset. Two to six requests.
    """
    pmid = canonical(args.pmid)
    found = await sources.links.find(pmid, args.relationship, need=args.offset + args.max_results + 1)
    if args.offset and found.answered and found.failed:
        raise PAGES_WOULD_MIX.error(f"No page from position {args.offset} on: {_troubles(found)}")
    complete = found.linked.complete and found.answered
    # A service that stands in for another lends its first page alone: the next could be the other's again.
    pmids = call.page.prefix(found.linked.pmids, complete=complete, ceiling=0 if found.failed else None)
    records = await extra(
        call,
        sources.entrez,
        pmids,
        lost="Only PMIDs are returned, NCBI could not give their summaries: use pubmed_fetch_articles for them.",
    )
    for sentence in _notices(args, found, more=call.page.more):
        call.notice(sentence)
    return RelatedArticles(
        source_pmid=args.pmid,
        relationship=args.relationship,
        articles=[_related(one, (records or {}).get(one)) for one in pmids],
        total_count=len(found.linked.pmids),
        source=found.provider,
    )


def _related(pmid: str, record: ArticleSummary | None) -> RelatedArticle:
    if record is None:
        return RelatedArticle(pmid=pmid)
    return RelatedArticle(
        pmid=pmid,
        title=record.title or None,
        authors=first_authors(record.authors),
        source=record.source or record.book_title or None,
        pub_date=record.pub_date or None,
    )


def _troubles(found: Found) -> str:
    return "; ".join(f"{_SERVICES[name]}: {said}" for name, said in found.failed)


def _notices(args: FindRelated, found: Found, *, more: bool) -> Iterator[str]:
    troubles = _troubles(found)
    if found.unknown:
        yield (
            f"PMID {args.pmid} is not in PubMed: check it with pubmed_fetch_articles, "
            "or find the article with pubmed_search_articles."
        )
    elif not found.answered:
        yield f"No service could be asked, so nothing is known of related articles ({troubles}). Send the call again."
    elif found.provider != "ncbi":
        down = any(name == "ncbi" for name, _ in found.failed)
        cause = "NCBI could not answer" if down else _nothing_at_ncbi(args.relationship)
        service, mechanism = _SERVICES[found.provider], _MECHANISMS[found.provider, args.relationship]
        yield f"From {service} ({mechanism}), since {cause}."
        if found.failed and more:
            yield (
                "The next page could be of another service, so there is none: "
                "raise maxResults, or start again at offset 0 later."
            )
    elif not found.linked.pmids and found.failed:
        yield f"NCBI lists none; not every other service could be asked ({troubles})."
    elif not found.linked.pmids and args.relationship == "references" and found.source:
        known = f" ({found.source.pmcid} in PMC)" if found.source.pmcid else ""
        advice = "pubmed_fetch_fulltext may show it" if found.source.pmcid else "try similar or cited_by"
        yield f"No reference list of PMID {args.pmid}{known} is available: {advice}."


def _nothing_at_ncbi(relationship: Relationship) -> str:
    if relationship == "references":
        return "NCBI has reference lists of articles in PMC only, and none of this one"
    return "NCBI lists none for this article"
