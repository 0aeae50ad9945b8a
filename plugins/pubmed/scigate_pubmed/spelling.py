"""`pubmed_spell_check`: NCBI's correction of a query."""

from typing import Annotated

from pydantic import Field
from scigate import Call, Output, tool

from scigate_pubmed.arguments import Arguments
from scigate_pubmed.echo import echo
from scigate_pubmed.reasons import BLANK_QUERY, NCBI_REASONS
from scigate_pubmed.sources import Sources


class SpellCheck(Arguments):
    """A text to check."""

    query: Annotated[str, Field(min_length=2)]


class CheckedSpelling(Output):
    """A query and its correction."""

    original: str
    corrected: str = Field(description="The original where nothing is suggested.")
    has_suggestion: bool


@tool("pubmed_spell_check", title="Pubmed Spell Check", errors=[*NCBI_REASONS, BLANK_QUERY])
async def spell_check(args: SpellCheck, sources: Sources, call: Call) -> CheckedSpelling:
    """Ask NCBI how a PubMed query is spelt.

    Use it when pubmed_search_articles finds nothing or reports an unmatched phrase; for the right MeSH heading use
    pubmed_lookup_mesh. One request.
    """
    if not args.query.strip():
        raise BLANK_QUERY.error(f"query {args.query[:80]!r} has no word")
    found = await sources.entrez.spelling(args.query)
    original = found.query or args.query
    suggests = found.corrected not in ("", original)
    return CheckedSpelling(
        original=echo(original),
        corrected=found.corrected if suggests else echo(original),
        has_suggestion=suggests,
    )
