"""`pubmed_format_citations`: references in the forms that manuscripts and reference managers take."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Final, Literal, get_args

import anyio.lowlevel
from pydantic import BeforeValidator, Field, WithJsonSchema
from scigate import Call, Output, Record, tool

from scigate_pubmed.arguments import Arguments
from scigate_pubmed.citations_csl import rendered
from scigate_pubmed.citations_item import Item, item
from scigate_pubmed.citations_text import bibtex, ris
from scigate_pubmed.pmid import Pmid, canonical
from scigate_pubmed.reasons import INVALID_EFETCH_RESPONSE, NCBI_REASONS
from scigate_pubmed.sources import Sources

Format = Literal["apa", "mla", "bibtex", "ris", "vancouver"]

_WRITERS: Final[dict[Format, Callable[[Item], str]]] = {
    "apa": partial(rendered, style="apa"),
    "mla": partial(rendered, style="mla"),
    "vancouver": partial(rendered, style="vancouver"),
    "bibtex": bibtex,
    "ris": ris,
}
_MOST_BY_GET: Final = 24


_ONE: Final = {"type": "string", "enum": list(get_args(Format))}


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


# A union would be refused with a complaint of each of its members.
Formats = Annotated[
    list[Format],
    BeforeValidator(_listed),
    Field(min_length=1),
    WithJsonSchema({"anyOf": [_ONE, {"type": "array", "items": _ONE, "minItems": 1}], "default": "apa"}),
]


class FormatCitations(Arguments):
    """PMIDs to cite."""

    pmids: Annotated[list[Pmid], Field(min_length=1, max_length=50)]
    format: Formats = Field(default_factory=lambda: ["apa"])


class Citation(Record):
    """One record in the formats asked for."""

    pmid: str
    title: str | None = None
    citations: dict[str, str] = Field(description="By format; emphasis is between asterisks.")


class Citations(Output):
    """Citations of the records that PubMed has."""

    citations: list[Citation]
    total_submitted: int
    total_formatted: int
    unavailable_pmids: list[str] | None = None


@tool("pubmed_format_citations", title="Pubmed Format Citations", errors=[*NCBI_REASONS, INVALID_EFETCH_RESPONSE])
async def format_citations(args: FormatCitations, sources: Sources, call: Call) -> Citations:
    """Cite PubMed records by PMID in APA 7, MLA 9, Vancouver, BibTeX or RIS, or in several of these formats.

    For a reference without PMID use pubmed_lookup_citation first, for its facts pubmed_fetch_articles. One request.
    """
    asked = list(dict.fromkeys(canonical(pmid) for pmid in args.pmids))
    formats: list[Format] = list(dict.fromkeys(args.format))
    found = await sources.entrez.articles(asked, most_by_get=_MOST_BY_GET)
    articles = {canonical(article.pmid): article for article in found.articles}
    cited: list[Citation] = []
    for pmid in asked:
        if (article := articles.get(pmid)) is None:
            continue
        work = item(article)
        texts: dict[str, str] = {name: _WRITERS[name](work) for name in formats}
        cited.append(Citation(pmid=article.pmid, title=article.title, citations=texts))
        # Formatting is work for the processor: others get their turn between two records.
        await anyio.lowlevel.checkpoint()
    if not cited:
        call.notice(
            "PubMed has no record of these PMIDs: they may be mistyped, not yet public, or withdrawn. "
            "Find the article with pubmed_search_articles, or check its words with pubmed_spell_check."
        )
    return Citations(
        citations=cited,
        total_submitted=len(args.pmids),
        total_formatted=len(cited),
        unavailable_pmids=[pmid for pmid in args.pmids if canonical(pmid) not in articles] or None,
    )
