"""The provider's resources: a compound, its hazards, drawing, cross-references and assays, and an assay."""

from __future__ import annotations

from typing import Annotated, Any, Final, cast

from pydantic import Field
from scigate import Call, Contents, Input, Output, Record, Resource, resource

from scigate_pubchem.bioactivity import AssayResult, Bioactivity, GetBioactivity, get_bioactivity
from scigate_pubchem.cid import CID_NOT_FOUND, LARGEST, Cid
from scigate_pubchem.client import PubChem
from scigate_pubchem.compounds import AID_NOT_FOUND
from scigate_pubchem.details import CORE
from scigate_pubchem.image import drawing_of
from scigate_pubchem.safety import Hazards, hazards_of
from scigate_pubchem.xrefs import XrefType, ids_of

__all__ = ["RESOURCES"]

LISTED: Final = 25
"""Cross-references of a kind, and assays, that a resource lists: the first ones, since a resource has no pages."""

XREFS: Final[tuple[XrefType, ...]] = ("RN", "RegistryID", "PubMedID")


class OfCompound(Input):
    """The compound that a URI names."""

    cid: Cid


class OfAssay(Input):
    """The assay that a URI names."""

    aid: Annotated[int, Field(ge=1, le=LARGEST)]


class CompoundFacts(Output):
    """A compound with its computed properties."""

    cid: int
    properties: dict[str, str | int | float]


class CompoundHazards(Output, Hazards):
    """What `pubchem_get_compound_safety` gives for one compound."""


class XrefGroup(Record):
    """The first identifiers of one kind in other databases, and how many there are."""

    type: str
    ids: list[str | int]
    total_available: int


class CompoundXrefs(Output):
    """A compound in other databases."""

    cid: int
    xrefs: list[XrefGroup]


class CompoundAssays(Output):
    """The first of a compound's assay results, with counts over all of them."""

    cid: int
    total_assays: int
    active_count: int
    results: list[AssayResult]


class AssayFacts(Output):
    """An assay's summary as PubChem gives it."""

    aid: int
    summary: dict[str, Any]


@resource("pubchem://compound/{cid}", name="pubchem-compound", title="Compound", errors=[CID_NOT_FOUND])
async def compound(args: OfCompound, pubchem: PubChem, call: Call) -> CompoundFacts:
    """Core properties of a compound: formula, weight, names, SMILES, InChIKey, counts."""
    rows = await pubchem.properties([args.cid], CORE)
    if args.cid not in rows:
        raise CID_NOT_FOUND.error(f"PubChem has no compound {args.cid}.")
    return CompoundFacts(cid=args.cid, properties=rows[args.cid])


@resource("pubchem://compound/{cid}/safety", name="pubchem-compound-safety", title="Compound Safety")
async def safety(args: OfCompound, pubchem: PubChem, call: Call) -> CompoundHazards:
    """GHS hazards of a compound; status tells data from none deposited and from no such compound."""
    return CompoundHazards(**dict(await hazards_of(args.cid, pubchem)))


@resource(
    "pubchem://compound/{cid}/image",
    name="pubchem-compound-image",
    title="Compound Image",
    mime_type="image/png",
    errors=[CID_NOT_FOUND],
)
async def image(args: OfCompound, pubchem: PubChem, call: Call) -> Contents:
    """Drawing of a compound's structure, 300x300 pixels."""
    return Contents(blob=await drawing_of(args.cid, "large", pubchem))


@resource("pubchem://compound/{cid}/xrefs", name="pubchem-compound-xrefs", title="Compound Cross-References")
async def xrefs(args: OfCompound, pubchem: PubChem, call: Call) -> CompoundXrefs:
    """The first 25 CAS numbers, registry IDs and PubMed IDs of a compound."""
    found = [(kind, await ids_of(args.cid, kind, pubchem)) for kind in XREFS]
    groups = [XrefGroup(type=kind, ids=ids[:LISTED], total_available=len(ids)) for kind, ids in found if ids]
    return CompoundXrefs(cid=args.cid, xrefs=groups)


@resource("pubchem://compound/{cid}/bioactivity", name="pubchem-compound-bioactivity", title="Compound Bioactivity")
async def bioactivity(args: OfCompound, pubchem: PubChem, call: Call) -> CompoundAssays:
    """The first 25 assays of a compound; pubchem_get_bioactivity filters and pages through all."""
    call.page.size = LISTED
    found = cast("Bioactivity", await get_bioactivity.handler(GetBioactivity(cid=args.cid), pubchem, call))
    return CompoundAssays(
        cid=args.cid, total_assays=found.total_assays, active_count=found.active_count, results=found.results
    )


@resource("pubchem://assay/{aid}", name="pubchem-assay", title="Assay", errors=[AID_NOT_FOUND])
async def assay(args: OfAssay, pubchem: PubChem, call: Call) -> AssayFacts:
    """Summary of an assay as PubChem gives it."""
    summary = await pubchem.entity("assay", str(args.aid))
    if summary is None:
        raise AID_NOT_FOUND.error(f"PubChem has no live assay {args.aid}.")
    return AssayFacts(aid=args.aid, summary=summary)


RESOURCES: Final[tuple[Resource, ...]] = (compound, safety, image, xrefs, bioactivity, assay)
