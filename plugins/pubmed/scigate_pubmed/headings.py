"""`pubmed_lookup_mesh`: MeSH records by name or free text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import httpx
from pydantic import Field
from scigate import Call, Offset, Output, PageSize, Record, tool

from scigate_pubmed.arguments import Arguments
from scigate_pubmed.client import Entrez
from scigate_pubmed.echo import echo
from scigate_pubmed.errors import NcbiError
from scigate_pubmed.esearch import SearchAnswer
from scigate_pubmed.mesh import Heading, decoded
from scigate_pubmed.query import clean
from scigate_pubmed.reasons import BLANK_QUERY, NCBI_REASONS
from scigate_pubmed.sources import Sources

# A tag would bind to the last word of such a query alone.
_COMPOUND: Final = re.compile(r'[\[\]"()]|\b(?:AND|OR|NOT)\b')


class LookupMesh(Arguments):
    """A heading or words to find it by."""

    query: Annotated[str, Field(min_length=1)]
    max_results: Annotated[int, PageSize(cap=50, accepts=50)] = 10
    offset: Annotated[int, Offset()] = 0
    include_details: bool = Field(default=True, description="false: names alone.")


class MeshRecord(Record):
    """A MeSH record."""

    mesh_id: str = Field(description="Such as D003924.")
    entrez_uid: str
    name: str = Field(description="Empty where NCBI could not give it.")
    tree_numbers: list[str] | None = None
    scope_note: str | None = None
    entry_terms: list[str] | None = Field(default=None, description="Synonyms.")


class MeshRecords(Output):
    """One page of MeSH records."""

    query: str
    offset: int
    next_offset: int | None = None
    results: list[MeshRecord] = Field(description="A heading of exactly this name first.")
    total_count: int


@dataclass(frozen=True)
class Window:
    """One page of a ranked list in which the exact hit leads the first page and is in no other."""

    uids: tuple[str, ...]
    next_offset: int | None
    consumed: int
    """Positions of the ranked list that this page uses up."""


def window(ranked: SearchAnswer, exact: str | None, *, offset: int, size: int) -> Window:
    """Cut a page from the ranked records at `offset`, of which `size` were asked for."""
    ids = ranked.ids[:size]
    others = tuple(uid for uid in ids if uid != exact)
    if exact is not None and offset == 0:
        # An exact hit that ranks below this page takes the place of the last record, which the next page begins with.
        consumed = len(ids) if exact in ids else min(len(ids), size - 1)
        shown = (exact, *others)[:size]
    else:
        consumed, shown = len(ids), others
    end = offset + consumed
    return Window(shown, end if consumed and end < ranked.count else None, consumed)


@tool("pubmed_lookup_mesh", title="Pubmed Lookup Mesh", errors=[*NCBI_REASONS, BLANK_QUERY])
async def lookup_mesh(args: LookupMesh, sources: Sources, call: Call) -> MeshRecords:
    """Find MeSH headings by name or words, with scope note, tree numbers and synonyms.

    Use it to get the exact heading for meshTerms or [mh] in pubmed_search_articles; for spelling use
    pubmed_spell_check. Pages by nextOffset. Three requests at most.
    """
    query = clean(args.query)
    if not query:
        raise BLANK_QUERY.error(f"query {args.query[:80]!r} has no word")
    ranked = await sources.entrez.find_headings(query, offset=args.offset, count=args.max_results)
    exact: str | None = None
    if not _COMPOUND.search(query):
        exact = next(iter((await sources.entrez.find_headings(f"{query}[MH]", offset=0, count=1)).ids), None)
    page = window(ranked, exact, offset=args.offset, size=args.max_results)
    found = await _details(call, sources.entrez, page.uids)
    found.sort(key=lambda one: one.name.casefold() != query.casefold())
    if len(found) < len(page.uids):
        missing = sorted(set(page.uids) - {one.uid for one in found})
        call.notice(f"NCBI has no details of {', '.join(missing)} (Entrez numbers).")
    if sentence := _notice(args, ranked, page, found_exactly=exact is not None):
        call.notice(sentence)
    return MeshRecords(
        query=echo(args.query),
        offset=args.offset,
        next_offset=page.next_offset,
        results=[_record(one, details=args.include_details) for one in found],
        total_count=max(ranked.count, len(page.uids)),
    )


async def _details(call: Call, entrez: Entrez, uids: Sequence[str]) -> list[Heading]:
    """The records of a page; where NCBI cannot give them, what their Entrez numbers tell, and a notice."""
    if not uids:
        return []
    try:
        found = await call.enrich("names and details", entrez.headings(uids), otherwise=None)
    except (NcbiError, httpx.HTTPStatusError):
        found = None
    if found is None:
        call.notice("NCBI gave no names of these records: the identifiers are all that the search told of them.")
        return [Heading(uid, decoded(uid), name="") for uid in uids]
    return found


def _record(heading: Heading, *, details: bool) -> MeshRecord:
    record = MeshRecord(mesh_id=heading.mesh_id, entrez_uid=heading.uid, name=heading.name)
    if not details:
        return record
    return record.model_copy(
        update={
            "tree_numbers": list(heading.tree_numbers) or None,
            "scope_note": heading.scope_note or None,
            "entry_terms": list(heading.entry_terms) or None,
        }
    )


def _notice(args: LookupMesh, ranked: SearchAnswer, page: Window, *, found_exactly: bool) -> str | None:
    if ranked.count == 0 and not found_exactly:
        return (
            "No MeSH record matches: check the words with pubmed_spell_check, use a broader term, "
            "or search the words themselves with pubmed_search_articles."
        )
    if args.offset > 0 and args.offset >= ranked.count:
        return f"Offset {args.offset} is past the end: {ranked.count} found. Ask again with a smaller offset."
    if page.uids and page.consumed == 0 and ranked.count:
        return f"The exact match fills this page: raise maxResults to see the {ranked.count} ranked records."
    if not page.uids and page.consumed:
        following = f"go on at offset {page.next_offset}" if page.next_offset is not None else "nothing follows"
        return f"This page holds only the exact match, which the first page has shown; {following}."
    return None
