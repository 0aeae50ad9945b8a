"""pubchem_get_compound_xrefs: what other databases call a compound."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, model_validator
from scigate import Call, Input, Offset, Output, PageSize, Record, tool

from scigate_pubchem.alias import renamed
from scigate_pubchem.cid import Cid
from scigate_pubchem.client import PubChem
from scigate_pubchem.excerpt import NAME, excerpt
from scigate_pubchem.lookups import Lookups, look_up

__all__ = ["XrefType", "get_xrefs", "ids_of"]

XrefType = Literal["RegistryID", "RN", "PubMedID", "PatentID", "GeneID", "ProteinGI", "TaxonomyID"]

_NUMBERS: Final = frozenset(("PubMedID", "GeneID", "ProteinGI", "TaxonomyID"))


class GetXrefs(Input):
    cid: Cid = Field(description="Compound number, from pubchem_search_compounds.")
    xref_types: list[XrefType] = Field(
        min_length=1, description="RN are CAS numbers, RegistryID depositors' own identifiers."
    )
    offset: Annotated[int, Offset()] = Field(default=0, description="Position of the first ID of each kind.")
    max_per_type: Annotated[int, PageSize(cap=500)] = Field(default=50, description="IDs of each kind; 500 at most.")

    @model_validator(mode="before")
    @classmethod
    def _names(cls, values: Any) -> Any:
        return renamed(values, maxResults="maxPerType")


class XrefGroup(Record):
    """One page of a compound's identifiers of one kind."""

    model_config = ConfigDict(extra="forbid")

    type: str
    ids: list[str | int]
    total_available: int = Field(description="IDs of this kind over all pages.")
    truncated: bool


class Xrefs(Output):
    """The kinds that were asked for, each with one page of identifiers."""

    cid: int
    xrefs: list[XrefGroup] = Field(description="One for each kind that could be read, in the order asked for.")
    offset: int
    next_offset: int | None = Field(default=None, description="For all kinds that have more.")
    truncated: bool = Field(description="True when a kind has more IDs or could not be read.")


@tool("pubchem_get_compound_xrefs", title="Get Compound Cross-References")
async def get_xrefs(args: GetXrefs, pubchem: PubChem, call: Call) -> Xrefs:
    """List a compound's (CID) identifiers elsewhere: CAS numbers, registry IDs, PubMed IDs, patents, genes, proteins,
    taxa. Use it to move to another database or to a compound's papers (PubMedID); names are in
    pubchem_get_compound_details with includeSynonyms. Returns a page of each kind with its exact total; RN may mix CAS
    and EC numbers.

    Costs one PubChem request for each kind; further pages cost none.
    """
    looked_up = await _one_by_one(call, list(dict.fromkeys(args.xref_types)), args.cid, pubchem)
    looked_up.or_raise()
    looked_up.tell(call, lambda kinds: f"IDs of kind {', '.join(kinds)}")
    end = args.offset + args.max_per_type
    groups = [
        XrefGroup(type=kind, ids=ids[args.offset : end], total_available=len(ids), truncated=end < len(ids))
        for kind, ids in looked_up.found.items()
    ]
    more = [group for group in groups if group.truncated]
    _tell(call, args, groups, more)
    return Xrefs(
        cid=args.cid,
        xrefs=groups,
        offset=args.offset,
        next_offset=end if more else None,
        truncated=bool(more or looked_up.failed),
    )


async def ids_of(cid: int, kind: XrefType, pubchem: PubChem) -> list[str | int]:
    """All IDs of a kind. Costs one request.

    Raises:
        PubChemError: PubChem failed.
    """
    found = await pubchem.xrefs(cid, kind)
    if kind not in _NUMBERS:
        return [excerpt(str(one), NAME) for one in found]
    return list(dict.fromkeys(int(one) for one in found if str(one).isascii() and str(one).isdigit()))


async def _one_by_one(
    call: Call, kinds: list[XrefType], cid: int, pubchem: PubChem
) -> Lookups[XrefType, list[str | int]]:
    """The kinds one after another, since these are PubChem's slowest answers."""
    found: dict[XrefType, list[str | int]] = {}
    failed: dict[XrefType, Exception] = {}

    async def one(kind: XrefType) -> list[str | int]:
        return await ids_of(cid, kind, pubchem)

    for kind in kinds:
        one_kind: list[XrefType] = [kind]
        looked_up = await look_up(call, one_kind, one)
        found.update(looked_up.found)
        failed.update(looked_up.failed)
    return Lookups(found, failed)


def _tell(call: Call, args: GetXrefs, groups: list[XrefGroup], more: list[XrefGroup]) -> None:
    largest = max(group.total_available for group in groups)
    if more:
        totals = ", ".join(f"{group.type} ({group.total_available:,})" for group in more)
        call.notice(f"More IDs of {totals}; next page: offset {args.offset + args.max_per_type}.")
    elif not largest:
        kinds = ", ".join(group.type for group in groups)
        call.notice(
            f"PubChem records no {kinds} for CID {args.cid}: there are none, or the number is wrong; check it with "
            "pubchem_search_compounds."
        )
    elif args.offset >= largest:
        call.notice(f"Offset {args.offset:,} is past the end of every kind, the longest has {largest:,}: use less.")
