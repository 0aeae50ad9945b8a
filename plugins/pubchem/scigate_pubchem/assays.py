"""pubchem_search_assays: the assays recorded against a biological target."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, model_validator
from scigate import Call, Code, Input, Offset, Page, PageSize, Reason, tool

from scigate_pubchem.accession import normalized
from scigate_pubchem.alias import renamed
from scigate_pubchem.client import PubChem, TargetType

__all__ = ["search_assays"]

LONGEST_QUERY: Final = 500
"""Characters; the query is a part of a URL, and no gene or protein has a longer name."""

BLANK_TARGET_QUERY: Final = Reason(
    "blank_target_query",
    Code.VALIDATION_ERROR,
    "targetQuery is empty or blank",
    "Give targetQuery a target, such as EGFR with targetType genesymbol or 1956 with geneid.",
)
INVALID_GENEID_QUERY: Final = Reason(
    "invalid_geneid_query",
    Code.VALIDATION_ERROR,
    "targetType is geneid and targetQuery is not digits alone",
    "Give targetQuery an NCBI Gene ID in digits, or set targetType to genesymbol or proteinname.",
)

_NAMES: Final = {
    "genesymbol": "gene symbol",
    "proteinname": "protein name",
    "geneid": "Gene ID",
    "proteinaccession": "protein accession",
}


class SearchAssays(Input):
    target_type: TargetType = Field(description="How to read targetQuery.")
    target_query: str = Field(
        max_length=LONGEST_QUERY, description="Such as EGFR, Epidermal growth factor receptor, 1956 or P00533."
    )
    offset: Annotated[int, Offset()] = Field(default=0, description="Position of the first assay.")
    max_results: Annotated[int, PageSize(cap=200)] = Field(default=50, description="Page size; 200 at most.")

    @model_validator(mode="before")
    @classmethod
    def _names(cls, values: Any) -> Any:
        return renamed(values, query="targetQuery", target="targetQuery")


class FoundAssays(Page):
    """One page of the assays against a target; `total_found` is 0 where PubChem records none."""

    target_type: TargetType = Field(description="How targetQuery was read.")
    target_query: str = Field(description="The target that was searched.")
    aids: list[int] = Field(description="Assay numbers (AIDs) of this page.")
    total_found: int | None = Field(default=0, description="Exact number of assays over all pages.")
    # PubChem sends the whole list, and there is no batch to set aside from.
    total_found_at_least: int | None = Field(default=None, exclude=True)
    unprocessed: list[str] | None = Field(default=None, exclude=True)


@tool("pubchem_search_assays", title="Search Assays", errors=[BLANK_TARGET_QUERY, INVALID_GENEID_QUERY])
async def search_assays(args: SearchAssays, pubchem: PubChem, call: Call) -> FoundAssays:
    """List the bioassays (AIDs) recorded against a target, by gene symbol, protein name, NCBI Gene ID or protein
    accession. Use it to find assays; pubchem_get_summary with entityType assay tells what they measure,
    pubchem_search_compounds with searchType assay which compounds they tested, and pubchem_get_bioactivity what a known
    compound does at a target. Returns one page of AIDs with the exact total.

    Costs one PubChem request; further pages of the same target cost none.
    """
    query = args.target_query.strip()
    if not query:
        raise BLANK_TARGET_QUERY.error("targetQuery is blank.")
    if args.target_type == "geneid" and not (query.isascii() and query.isdigit()):
        raise INVALID_GENEID_QUERY.error(f"targetQuery {query[:60]!r} is not a Gene ID.")
    if args.target_type == "proteinaccession":
        query = normalized(query)
    aids = await pubchem.target_assays(args.target_type, query)
    page = call.page.whole(aids)
    if not aids:
        call.notice(
            f"PubChem records no assay against the {_NAMES[args.target_type]} {query!r}: check its spelling, try "
            "another targetType, or look the gene or protein up with pubchem_get_summary."
        )
    return FoundAssays(target_type=args.target_type, target_query=query, aids=page)
