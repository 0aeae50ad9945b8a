"""The tools uniprot_search_proteins and uniprot_get_protein, and the resource of an entry."""

from typing import Annotated

from pydantic import Field
from scigate import Call, Code, Input, Offset, Output, Page, PageSize, Reason, Record, resource, tool

from scigate_uniprot.client import REACHABLE, Entry, UniProt

INVALID_QUERY = Reason(
    "invalid_query",
    Code.VALIDATION_ERROR,
    "UniProt cannot read the query",
    "Write query in words, or in fields such as gene:PTGS1 AND organism_id:9606, with closed quotes and brackets.",
)
UNKNOWN_ACCESSION = Reason(
    "unknown_accession",
    Code.NOT_FOUND,
    "UniProtKB has no entry of this accession",
    "Check accession, or find it with uniprot_search_proteins.",
)

# https://www.uniprot.org/help/accession_numbers, read 2026-11.
ACCESSION = r"^([OPQ][0-9][A-Z0-9]{3}[0-9]|[A-NR-Z][0-9]([A-Z][A-Z0-9]{2}[0-9]){1,2})$"


class SearchProteins(Input):
    query: str = Field(
        min_length=1, max_length=500, description="Words or fields: gene:PTGS1, organism_id:9606, reviewed:true; AND."
    )
    offset: Annotated[int, Offset(REACHABLE - 1)] = Field(default=0, description="Position of the first protein.")
    max_results: Annotated[int, PageSize(cap=100, accepts=500)] = Field(default=20, description="Page size.")


class FoundProtein(Record):
    accession: str
    entry_name: str
    name: str | None = None
    gene: str | None = None
    organism: str | None = None
    length: int | None = None


class FoundProteins(Page):
    proteins: list[FoundProtein]


class Accession(Input):
    accession: str = Field(pattern=ACCESSION, description="Such as P23219; found by uniprot_search_proteins.")


class Protein(Output):
    accession: str
    entry_name: str
    reviewed: bool
    name: str | None = None
    gene: str | None = None
    organism: str | None = None
    taxon_id: int | None = None
    function: str | None = None
    length: int | None = None
    sequence: str | None = None


@tool("uniprot_search_proteins", title="Search Proteins", errors=[INVALID_QUERY])
async def search_proteins(args: SearchProteins, uniprot: UniProt, call: Call) -> FoundProteins:
    """Find proteins of UniProtKB by words, gene, organism or any other of its query fields. Use it to get accessions;
    uniprot_get_protein has an entry's function and sequence. Returns a page with the exact total, of which the first
    500 can be reached; costs one request, further pages none.
    """
    hits = await uniprot.search(args.query)
    page = call.page.part(hits.entries[args.offset :], total=hits.total, reachable=REACHABLE)
    return FoundProteins(proteins=[_found(entry) for entry in page])


@tool("uniprot_get_protein", title="Get Protein", errors=[UNKNOWN_ACCESSION])
async def get_protein(args: Accession, uniprot: UniProt, call: Call) -> Protein:
    """Get one entry of UniProtKB: names, gene, organism, function and amino acid sequence. Use it when you have an
    accession, which uniprot_search_proteins finds. Costs one request.
    """
    return _protein(await uniprot.entry(args.accession))


@resource("uniprot://entry/{accession}", name="uniprot-entry", title="UniProtKB entry", errors=[UNKNOWN_ACCESSION])
async def entry(args: Accession, uniprot: UniProt, call: Call) -> Protein:
    """One entry of UniProtKB."""
    return _protein(await uniprot.entry(args.accession))


def _found(entry: Entry) -> FoundProtein:
    return FoundProtein(
        accession=entry.primary_accession,
        entry_name=entry.entry_name,
        name=entry.name,
        gene=entry.gene,
        organism=entry.organism.scientific_name if entry.organism else None,
        length=entry.sequence.length if entry.sequence else None,
    )


def _protein(entry: Entry) -> Protein:
    return Protein(
        **_found(entry).model_dump(),
        reviewed="reviewed (Swiss-Prot)" in entry.entry_type and "unreviewed" not in entry.entry_type,
        taxon_id=entry.organism.taxon_id if entry.organism else None,
        function=entry.function,
        sequence=entry.sequence.value if entry.sequence else None,
    )
