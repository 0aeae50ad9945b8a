"""pubchem_get_compound_details: properties of compounds, and what else is known of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field
from scigate import Batch, Call, Cap, Input, Record, tool

from scigate_pubchem.cid import Cid, CidBatch
from scigate_pubchem.client import PubChem
from scigate_pubchem.compounds import Property
from scigate_pubchem.drug_classes import DrugClasses
from scigate_pubchem.drug_likeness import INPUTS, DrugLikeness
from scigate_pubchem.excerpt import DESCRIPTION, NAME, excerpt
from scigate_pubchem.lookups import Lookups, look_up
from scigate_pubchem.pug_view import DESCRIPTION as DESCRIPTIONS
from scigate_pubchem.pug_view import PHARMACOLOGY, View

__all__ = ["CORE", "get_details"]

CORE: Final[tuple[Property, ...]] = (
    *("MolecularFormula", "MolecularWeight", "IUPACName", "CanonicalSMILES", "IsomericSMILES", "InChIKey", "XLogP"),
    *("TPSA", "HBondDonorCount", "HBondAcceptorCount", "RotatableBondCount", "HeavyAtomCount", "Charge", "Complexity"),
)

ALWAYS: Final = "MolecularFormula"
"""Every compound has it: with it in the request, a row without properties is a compound that is not there."""

FAN_OUT: Final = 10
"""Compounds of one call whose descriptions and classes are fetched, at a request for each compound and kind."""

_LARGEST: Final = 2**53 - 1

Step = Literal["synonyms", "descriptions", "classes"]


class GetDetails(Input):
    cids: Annotated[list[Cid], Batch(cap=100)] = Field(description="Compound numbers; 100 are looked up in a call.")
    properties: list[Property] | None = Field(
        default=None, description="If left out: formula, weight, IUPAC name, SMILES, InChIKey, XLogP, TPSA and counts."
    )
    include_description: bool = Field(default=False, description="Sourced texts, for the first 10 compounds.")
    description_offset: int = Field(default=0, ge=0, le=_LARGEST)
    max_descriptions: Annotated[int, Cap(cap=20)] = Field(default=3, description="Of each compound; 20 at most.")
    include_synonyms: bool = False
    synonym_offset: int = Field(default=0, ge=0, le=_LARGEST)
    max_synonyms: Annotated[int, Cap(cap=100)] = Field(default=20, description="Of each compound; 100 at most.")
    include_drug_likeness: bool = Field(default=False, description="Lipinski and Veber rules.")
    include_classification: bool = Field(
        default=False, description="FDA, MeSH and ATC drug classes, for the first 10 compounds."
    )


class Description(Record):
    """A text on the compound and who wrote it."""

    model_config = ConfigDict(extra="forbid")

    text: str
    source: str | None = None


class AtcCode(Record):
    """A code of the Anatomical Therapeutic Chemical classification."""

    model_config = ConfigDict(extra="forbid")

    code: str
    description: str


class Classification(Record):
    """Where others put the compound; a list is empty where its source does not name it."""

    model_config = ConfigDict(extra="forbid")

    fda_classes: list[str]
    fda_mechanisms: list[str]
    mesh_classes: list[str]
    atc_codes: list[AtcCode]


class Compound(Record):
    """What was found of one compound; a CID without a record has `found` False and no properties."""

    model_config = ConfigDict(extra="forbid")

    cid: int
    found: bool
    properties: dict[str, str | int | float]
    descriptions: list[Description] | None = None
    descriptions_total: int | None = None
    synonyms: list[str] | None = None
    synonyms_total: int | None = None
    drug_likeness: DrugLikeness | None = None
    classification: Classification | None = None


class Details(CidBatch):
    """The compounds of a batch, and which of them have what was asked for besides properties."""

    compounds: list[Compound] = Field(description="One for each compound looked up, in input order.")
    enriched_cids: list[int] | None = Field(default=None, description="Those with descriptions or classes fetched.")
    skipped_cids: list[int] | None = Field(default=None, description="Those without; ask for these again.")
    synonym_offset: int | None = None
    next_synonym_offset: int | None = None
    description_offset: int | None = None
    next_description_offset: int | None = None
    truncated: bool = Field(description="True when a list was cut, or a compound skipped or unprocessed.")


@tool("pubchem_get_compound_details", title="Get Compound Details")
async def get_details(args: GetDetails, pubchem: PubChem, call: Call) -> Details:
    """Describe compounds (CIDs): computed properties, and on request sourced descriptions, synonyms, drug-likeness and
    drug classes. Use it when you have CIDs; from a name or structure start with pubchem_search_compounds, which can
    attach properties too. Returns one entry a compound, found or not, with pages of synonyms and descriptions.

    Costs one PubChem request for the batch, one with includeSynonyms, and one for each of the first 10 compounds with
    includeDescription, likewise with includeClassification; further pages cost none.
    """
    names = list(dict.fromkeys([*(args.properties or CORE), *(INPUTS if args.include_drug_likeness else ())]))
    rows = await pubchem.properties(list(dict.fromkeys(args.cids)), list(dict.fromkeys([*names, ALWAYS])))
    known = [cid for cid in dict.fromkeys(args.cids) if cid in rows]
    added = await _look_up(args, known, pubchem, call)
    added.tell(call, _named)
    compounds = {cid: _Known(cid, args, added) for cid in known}
    result = Details(
        compounds=[
            compounds[cid].record({name: rows[cid][name] for name in names if name in rows[cid]})
            if cid in rows
            else Compound(cid=cid, found=False, properties={})
            for cid in args.cids
        ],
        truncated=bool(added.failed or call.unprocessed),
    )
    _page("synonym", result, args.synonym_offset, args.max_synonyms, args.include_synonyms, call)
    _page("description", result, args.description_offset, args.max_descriptions, args.include_description, call)
    _tell_of_skipped(result, args, known, added, call)
    if call.unprocessed:
        call.notice("CIDs in unprocessed were not looked up: ask for them in a further call.")
    return result


Key = tuple[Step, int]
"""A step and its compound; all compounds' synonyms are one step, which names none: 0."""


async def _look_up(args: GetDetails, known: Sequence[int], pubchem: PubChem, call: Call) -> Lookups[Key, Any]:
    """What was asked for beside the properties, all of it side by side."""
    keys: list[Key] = []
    if args.include_synonyms and known:
        keys.append(("synonyms", 0))
    for cid in known[:FAN_OUT]:
        if args.include_description:
            keys.append(("descriptions", cid))
        if args.include_classification:
            keys.append(("classes", cid))

    async def one(key: Key) -> Any:
        match key:
            case "synonyms", _:
                return await pubchem.synonyms(known)
            case "descriptions", cid:
                return await pubchem.view.heading(cid, DESCRIPTIONS)
            case "classes", cid:
                return await pubchem.view.heading(cid, PHARMACOLOGY)

    return await look_up(call, keys, one)


@dataclass(frozen=True, slots=True)
class _Known:
    """One compound that is there, and what the lookups brought of it."""

    cid: int
    args: GetDetails
    added: Lookups[Key, Any]

    def record(self, properties: dict[str, Any]) -> Compound:
        record = Compound(cid=self.cid, found=True, properties=properties)
        if self.args.include_drug_likeness:
            record.drug_likeness = DrugLikeness.of(properties)
        names = self.added.found.get(("synonyms", 0), {}).get(self.cid)
        if names:
            start = self.args.synonym_offset
            record.synonyms = [excerpt(name, NAME) for name in names[start : start + self.args.max_synonyms]]
            record.synonyms_total = len(names)
        texts = self._view("descriptions").texts(DESCRIPTIONS)
        if texts:
            start = self.args.description_offset
            page = texts[start : start + self.args.max_descriptions]
            record.descriptions = [
                Description(text=excerpt(text, DESCRIPTION), source=excerpt(source, NAME) if source else None)
                for text, source in page
            ]
            record.descriptions_total = len(texts)
        if classes := DrugClasses.of(self._view("classes")):
            record.classification = Classification(
                fda_classes=[excerpt(name, NAME) for name in classes.fda],
                fda_mechanisms=[excerpt(name, NAME) for name in classes.mechanisms],
                mesh_classes=[excerpt(text, DESCRIPTION) for text in classes.mesh],
                atc_codes=[AtcCode(code=code, description=excerpt(text, NAME)) for code, text in classes.atc.items()],
            )
        return record

    def _view(self, step: Step) -> View:
        return self.added.found.get((step, self.cid)) or View()


def _page(
    kind: Literal["synonym", "description"], result: Details, offset: int, size: int, asked: bool, call: Call
) -> None:
    """Fill in where the pages of one kind of list stand, in one offset for all compounds."""
    if not asked:
        return
    setattr(result, f"{kind}_offset", offset)
    totals: list[int] = [getattr(one, f"{kind}s_total") or 0 for one in result.compounds]
    longest = max(totals)
    if offset + size < longest:
        result.truncated = True
        setattr(result, f"next_{kind}_offset", offset + size)
        more = sum(total > offset + size for total in totals)
        call.notice(f"Further {kind}s of {more} of the compounds: send {kind}Offset {offset + size} for the next page.")
    elif longest and offset >= longest:
        call.notice(f"{kind}Offset {offset:,} is past the end: the longest list has {longest:,} {kind}s. Send less.")


def _tell_of_skipped(
    result: Details, args: GetDetails, known: Sequence[int], added: Lookups[Key, Any], call: Call
) -> None:
    kinds = [("descriptions", args.include_description), ("classes", args.include_classification)]
    named = " and ".join(name for name, asked in kinds if asked)
    failed = {cid for _, cid in added.failed}
    skipped = [cid for at, cid in enumerate(known) if named and (at >= FAN_OUT or cid in failed)]
    if not skipped:
        return
    result.truncated = True
    result.enriched_cids = [cid for cid in known if cid not in skipped]
    result.skipped_cids = skipped
    if beyond := known[FAN_OUT:]:
        call.notice(
            f"The {named} were fetched for the first {FAN_OUT} of {len(known)} compounds; ask again for CIDs "
            f"{', '.join(map(str, beyond))}."
        )


def _named(keys: Sequence[Key]) -> str:
    return ", ".join(_names(keys))


def _names(keys: Sequence[Key]) -> Iterator[str]:
    for step in dict.fromkeys(step for step, _ in keys):
        cids = [str(cid) for other, cid in keys if other == step and cid]
        yield f"{step} of CIDs {', '.join(cids)}" if cids else step
