"""pubchem_get_compound_safety: GHS hazards of compounds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from scigate import Batch, Call, Input, Record, tool

from scigate_pubchem.cid import Cid, CidBatch
from scigate_pubchem.client import PubChem
from scigate_pubchem.excerpt import DESCRIPTION, NAME, excerpt
from scigate_pubchem.ghs import PRECAUTIONS, Ghs
from scigate_pubchem.pug_view import HAZARDS

__all__ = ["Hazards", "get_safety", "hazards_of"]


class GetSafety(Input):
    cids: Annotated[list[Cid], Batch(cap=25)] = Field(description="Compound numbers; 25 are looked up in a call.")


class HazardStatement(Record):
    """A GHS hazard statement (H code)."""

    model_config = ConfigDict(extra="forbid")

    code: str
    statement: str = Field(description="As deposited; empty for a bare code.")


class PrecautionaryStatement(Record):
    """A GHS precautionary statement (P code)."""

    model_config = ConfigDict(extra="forbid")

    code: str
    statement: str = Field(description="The standard's text; empty unless decoded.")
    decoded: bool


class GhsData(Record):
    """A GHS classification as one source deposited it."""

    model_config = ConfigDict(extra="forbid")

    signal_word: str | None = None
    pictograms: list[str]
    hazard_statements: list[HazardStatement]
    precautionary_statements: list[PrecautionaryStatement]


class Hazards(Record):
    """What is deposited of one compound's hazards, and by whom."""

    model_config = ConfigDict(extra="forbid")

    cid: int
    has_data: bool
    status: Literal["ok", "no_ghs_data", "cid_not_found"] = Field(
        description="no_ghs_data: nothing deposited, which does not mean harmless."
    )
    ghs: GhsData | None = None
    source: str | None = None


class Safety(CidBatch):
    """The hazards of a batch of compounds."""

    results: list[Hazards] = Field(description="One for each compound looked up, in input order.")
    requested_count: int
    with_data_count: int


@tool("pubchem_get_compound_safety", title="Get Compound Safety")
async def get_safety(args: GetSafety, pubchem: PubChem, call: Call) -> Safety:
    """Give the GHS hazard classification of compounds (CIDs): signal word, pictograms, hazard statements and
    precautionary codes, merged over depositors. Use it for handling and labelling; free text is in
    pubchem_get_compound_details with includeDescription. Returns one entry a compound, whose status tells data from
    "nothing deposited" from "no such compound".

    Costs one PubChem request for each compound.
    """

    async def one(cid: int) -> Hazards:
        return await hazards_of(cid, pubchem)

    results = [hazards for _, hazards in await call.each(args.cids, one, apart=True)]
    unknown = [hazards.cid for hazards in results if hazards.status == "cid_not_found"]
    without = [hazards.cid for hazards in results if hazards.status == "no_ghs_data"]
    if unknown:
        call.notice(
            f"PubChem has no record of CIDs {_listed(unknown)}: check these numbers with pubchem_search_compounds; "
            "nothing is said of their hazards."
        )
    if without:
        call.notice(
            f"No GHS classification is deposited for CIDs {_listed(without)}, which does not mean that they are "
            "harmless; pubchem_get_compound_details with includeDescription may tell more."
        )
    if any(capped.unprocessed for capped in call.capped):
        call.notice("CIDs in unprocessed were not looked up: ask for them in a further call.")
    return Safety(
        results=results,
        requested_count=len(args.cids) + sum(capped.unprocessed or 0 for capped in call.capped),
        with_data_count=sum(hazards.has_data for hazards in results),
    )


async def hazards_of(cid: int, pubchem: PubChem) -> Hazards:
    """The hazards of one compound. Costs one request.

    Raises:
        PubChemError: PubChem failed.
    """
    view = await pubchem.view.heading(cid, HAZARDS)
    if view is None:
        return Hazards(cid=cid, has_data=False, status="cid_not_found")
    ghs = Ghs.of(view.under("GHS Classification"))
    if not ghs:
        return Hazards(cid=cid, has_data=False, status="no_ghs_data")
    source = excerpt(view.source, NAME) if view.source else None
    return Hazards(cid=cid, has_data=True, status="ok", ghs=_data(ghs), source=source)


def _data(ghs: Ghs) -> GhsData:
    return GhsData(
        signal_word=excerpt(ghs.signal, NAME) if ghs.signal else None,
        pictograms=[excerpt(label, NAME) for label in ghs.pictograms],
        hazard_statements=[
            HazardStatement(code=code, statement=excerpt(text, DESCRIPTION)) for code, text in ghs.hazards.items()
        ],
        precautionary_statements=[
            PrecautionaryStatement(code=code, statement=PRECAUTIONS.get(code, ""), decoded=code in PRECAUTIONS)
            for code in ghs.precautions
        ],
    )


def _listed(cids: list[int]) -> str:
    return ", ".join(str(cid) for cid in dict.fromkeys(cids))
