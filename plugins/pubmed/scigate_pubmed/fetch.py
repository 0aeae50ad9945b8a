"""`pubmed_fetch_articles`: PubMed records in full."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field
from scigate import Call, Output, tool

from scigate_pubmed.arguments import Arguments
from scigate_pubmed.articles import Article
from scigate_pubmed.efetch import ArticleSet
from scigate_pubmed.pmid import Pmid, canonical
from scigate_pubmed.reasons import INVALID_EFETCH_RESPONSE, NCBI_REASONS
from scigate_pubmed.sources import Sources


class FetchArticles(Arguments):
    """PMIDs to look up."""

    pmids: Annotated[list[Pmid], Field(min_length=1, max_length=200)]
    include_mesh: bool = True
    include_grants: bool = False


class FetchedArticles(Output):
    """The records that PubMed has."""

    articles: list[Article]
    total_returned: int
    unavailable_pmids: list[str] | None = Field(default=None, description="PMIDs without a record.")


@tool("pubmed_fetch_articles", title="Pubmed Fetch Articles", errors=[*NCBI_REASONS, INVALID_EFETCH_RESPONSE])
async def fetch_articles(args: FetchArticles, sources: Sources, call: Call) -> FetchedArticles:
    """Get whole PubMed records by PMID: abstract, authors with affiliations, journal, dates, DOI, MeSH, grants.

    Use it after pubmed_search_articles, whose summaries are cheaper where titles are enough; for an article's body use
    pubmed_fetch_fulltext. Retractions are in the notice. One request; abstracts are long.
    """
    asked = list(dict.fromkeys(canonical(pmid) for pmid in args.pmids))
    found = await sources.entrez.articles(asked)
    by_pmid = {canonical(article.pmid): _shown(article, args) for article in found.articles}
    articles = [by_pmid[pmid] for pmid in asked if pmid in by_pmid]
    for sentence in _notices(articles, found):
        call.notice(sentence)
    return FetchedArticles(
        articles=articles,
        total_returned=len(articles),
        unavailable_pmids=[pmid for pmid in args.pmids if canonical(pmid) not in by_pmid] or None,
    )


def _shown(article: Article, args: FetchArticles) -> Article:
    return article.model_copy(
        update={
            "mesh_terms": article.mesh_terms if args.include_mesh else None,
            "grant_list": article.grant_list if args.include_grants else None,
        }
    )


def _notices(articles: list[Article], found: ArticleSet) -> Iterator[str]:
    for article in articles:
        if retractions := [one for one in article.corrections or () if one.kind == "RetractionIn"]:
            where = retractions[0].reference or f"PMID {retractions[0].pmid}"
            yield f"PMID {article.pmid} is retracted, see {where.rstrip('.')}."
        elif "Retracted Publication" in (article.publication_types or ()):
            yield f"PMID {article.pmid} is retracted."
    if found.deleted:
        yield f"PubMed has deleted {', '.join(found.deleted)}."
    if not articles:
        yield (
            "PubMed has no record of these PMIDs: they may be mistyped, not yet public, or withdrawn. "
            "Find the article with pubmed_search_articles."
        )
