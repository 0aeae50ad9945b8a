"""The brief summary of a record, as the tools show it."""

from collections.abc import Sequence

import httpx
from pydantic import Field
from scigate import Call, Record

from scigate_pubmed.client import Entrez
from scigate_pubmed.errors import NcbiError
from scigate_pubmed.esummary import ArticleSummary

_AUTHORS_SHOWN = 3


class Summary(Record):
    """A PubMed record in brief."""

    pmid: str
    title: str | None = None
    authors: str | None = Field(None, description="Up to three authors of this very record, then et al.")
    editors: list[str] | None = Field(None, description="Bookshelf records: the book's editors.")
    source: str | None = Field(None, description="Abbreviated journal name.")
    book_title: str | None = None
    publisher_name: str | None = None
    doc_type: str | None = Field(None, description="citation, book or chapter.")
    pub_date: str | None = Field(None, description="YYYY[-MM[-DD]], or as printed (2000 Spring).")
    doi: str | None = None
    pmc_id: str | None = None
    pmc_url: str | None = None
    pubmed_url: str | None = None


def brief(record: ArticleSummary) -> Summary:
    """The summary of a record: book fields on Bookshelf records alone, a journal on all others."""
    book = record.in_bookshelf
    return Summary(
        pmid=record.pmid,
        title=record.title or None,
        authors=first_authors(record.authors),
        editors=(list(record.editors) or None) if book else None,
        source=None if book else record.source or None,
        book_title=(record.book_title or None) if book else None,
        publisher_name=(record.publisher or None) if book else None,
        doc_type=record.doc_type or None,
        pub_date=record.pub_date or None,
        doi=record.doi or None,
        pmc_id=record.pmcid or None,
        pmc_url=f"https://www.ncbi.nlm.nih.gov/pmc/articles/{record.pmcid}/" if record.pmcid else None,
        pubmed_url=f"https://pubmed.ncbi.nlm.nih.gov/{record.pmid}/",
    )


def first_authors(names: tuple[str, ...]) -> str | None:
    """Up to three names, and et al. for the others."""
    shown = ", ".join(names[:_AUTHORS_SHOWN])
    return (f"{shown}, et al." if len(names) > _AUTHORS_SHOWN else shown) or None


async def extra(call: Call, entrez: Entrez, pmids: Sequence[str], *, lost: str) -> dict[str, ArticleSummary] | None:
    """Summaries that only add to finished work, by PMID; None, and the notice `lost`, where NCBI cannot give them."""
    if not pmids:
        return {}
    try:
        records = await call.enrich("summaries", entrez.summaries(pmids), otherwise=None)
    except (NcbiError, httpx.HTTPStatusError):
        records = None
    if records is None:
        call.notice(lost)
        return None
    return {record.pmid: record for record in records}
