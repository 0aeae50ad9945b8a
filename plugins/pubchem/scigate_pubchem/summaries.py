"""pubchem_get_summary: short records of assays, genes, proteins and taxa."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field
from scigate import Batch, Call, Input, Output, Record, tool

from scigate_pubchem.client import EntityType, PubChem
from scigate_pubchem.entities import EntitySummary, entity_id

__all__ = ["get_summary"]

_EXPECTED: Final[Mapping[EntityType, str]] = {
    "assay": "PubChem assay numbers (AIDs); pubchem_search_assays finds them",
    "gene": "NCBI Gene IDs, such as 1956",
    "protein": "protein accessions, such as P00533",
    "taxonomy": "NCBI Taxonomy IDs, such as 9606",
}


class GetSummary(Input):
    entity_type: EntityType = Field(description="What the identifiers are.")
    identifiers: Annotated[list[int | str], Batch(cap=10)] = Field(
        description="AIDs, NCBI Gene IDs, protein accessions or NCBI Taxonomy IDs; 10 are looked up in a call."
    )


class Summary(Record):
    """What one identifier led to."""

    identifier: int | str = Field(description="As given.")
    found: bool
    data: EntitySummary | None = None


class Summaries(Output):
    """The summaries of a batch of identifiers of one kind."""

    entity_type: EntityType
    summaries: list[Summary] = Field(description="One for each identifier looked up, in input order.")
    requested_count: int = Field(description="Identifiers in the request.")
    found_count: int


@tool("pubchem_get_summary", title="Get Entity Summary")
async def get_summary(args: GetSummary, pubchem: PubChem, call: Call) -> Summaries:
    """Tell what assays (AID), genes (NCBI Gene ID), proteins (accession) or taxa (NCBI Taxonomy ID) are: name,
    description, organism, synonyms, lineage, and for an assay its depositor and how many substances it tested and found
    active. Use it after pubchem_search_assays or pubchem_get_bioactivity to read what their numbers mean; for compounds
    use pubchem_get_compound_details. Returns one entry an identifier, found or not; long descriptions are cut.

    Costs one PubChem request for each assay and one for a whole batch of genes, proteins or taxa, unless PubChem
    refuses the batch for an unknown identifier: then one more for each.
    """
    together = await _together(args, pubchem)

    async def look_up(identifier: int | str) -> Mapping[str, Any] | None:
        key = entity_id(args.entity_type, identifier)
        if key is None:
            return None
        return together.get(key) if together is not None else await pubchem.entity(args.entity_type, key)

    looked_up = await call.each(args.identifiers, look_up, apart=True)
    summaries = [
        Summary(
            identifier=identifier,
            found=members is not None,
            data=None if members is None else EntitySummary.of(args.entity_type, members),
        )
        for identifier, members in looked_up
    ]
    found = sum(summary.found for summary in summaries)
    if missing := len(summaries) - found:
        call.notice(
            f"{missing} of {len(summaries)} identifiers were not found: entityType {args.entity_type} takes "
            f"{_EXPECTED[args.entity_type]}."
        )
    if call.unprocessed:
        call.notice("Identifiers in unprocessed were not looked up; ask for them in a further call.")
    return Summaries(
        entity_type=args.entity_type,
        summaries=summaries,
        requested_count=len(args.identifiers) + _beyond_the_cap(call),
        found_count=found,
    )


async def _together(args: GetSummary, pubchem: PubChem) -> Mapping[str, Mapping[str, Any]] | None:
    """The summaries of the whole batch by one request; None where PubChem gives them one by one only."""
    keys = {key: None for one in args.identifiers if (key := entity_id(args.entity_type, one)) is not None}
    # A list of assays is not documented.
    if args.entity_type == "assay" or len(keys) < 2:
        return None
    return await pubchem.entities(args.entity_type, list(keys))


def _beyond_the_cap(call: Call) -> int:
    return sum(capped.requested - capped.served for capped in call.capped)
