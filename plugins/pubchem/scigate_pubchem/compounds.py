"""pubchem_search_compounds: compounds by identifier, formula, structure or assay."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, cast

from pydantic import AfterValidator, Field, model_validator
from scigate import Batch, Call, Code, Input, Offset, Page, PageSize, Reason, Record, tool

from scigate_pubchem.client import PubChem
from scigate_pubchem.faults import SEARCH_QUERY_REJECTED, NotFound
from scigate_pubchem.searches import BoundedList, IdentifierType, ListedPage, Resolution, StructureSearch

__all__ = ["search_compounds"]

LARGEST_CID: Final = 2**31 - 1
"""CIDs and AIDs are signed 32-bit numbers upstream."""

OFFSET_CEILING: Final = 10_000
"""The last offset of the searches that PubChem can neither page nor count."""

_CID: Final = re.compile(r"0{0,20}[1-9][0-9]{0,9}")

PAGE_CAP: Final = 200

STEPS: Final = (250, 1_000, 4_000, OFFSET_CEILING + PAGE_CAP + 1)
"""How many records a search asks for: the least step that holds the page, so that further pages come from the cache."""

MISSING_IDENTIFIER_ARGS: Final = Reason(
    "missing_identifier_args",
    Code.VALIDATION_ERROR,
    "identifier search without identifierType or identifiers",
    "Give identifierType (name, smiles, inchi or inchikey) and a non-empty identifiers list.",
)
MISSING_FORMULA: Final = Reason(
    "missing_formula",
    Code.VALIDATION_ERROR,
    "formula search without a formula",
    "Give formula in Hill order, such as C6H12O6 or CaH2O2.",
)
MISSING_STRUCTURE_ARGS: Final = Reason(
    "missing_structure_args",
    Code.VALIDATION_ERROR,
    "structure search without query or queryType",
    "Give query together with queryType smiles or cid.",
)
INVALID_CID_QUERY: Final = Reason(
    "invalid_cid_query",
    Code.VALIDATION_ERROR,
    "structure search by cid whose query is not a whole number from 1 to 2147483647",
    "Send query as digits from 1 to 2147483647, or set queryType to smiles.",
)
OFFSET_CEILING_EXCEEDED: Final = Reason(
    "offset_ceiling_exceeded",
    Code.VALIDATION_ERROR,
    "formula, substructure, superstructure or similarity search with an offset above 10000",
    "Use an offset of at most 10000, or narrow the search: a higher threshold, a larger query, exact elements.",
)
MISSING_AID: Final = Reason(
    "missing_aid",
    Code.VALIDATION_ERROR,
    "assay search without aid",
    "Give aid, an assay number from 1 to 2147483647.",
)
AID_NOT_FOUND: Final = Reason(
    "aid_not_found",
    Code.NOT_FOUND,
    "assay search with a number that no live assay has",
    "Check the assay number in aid; PubChem may have withdrawn the assay.",
)
IDENTIFIER_REJECTED: Final = Reason(
    "identifier_rejected",
    Code.VALIDATION_ERROR,
    "PubChem could read none of the identifiers",
    "Check the syntax of identifiers (ring closures, brackets, element symbols, no * atoms), or set the "
    "identifierType that fits them.",
)

SearchType = Literal["identifier", "formula", "substructure", "superstructure", "similarity", "assay"]
Property = Literal[
    "MolecularFormula",
    "MolecularWeight",
    "CanonicalSMILES",
    "IsomericSMILES",
    "InChI",
    "InChIKey",
    "IUPACName",
    "Title",
    "XLogP",
    "ExactMass",
    "MonoisotopicMass",
    "TPSA",
    "Complexity",
    "Charge",
    "HBondDonorCount",
    "HBondAcceptorCount",
    "RotatableBondCount",
    "HeavyAtomCount",
    "IsotopeAtomCount",
    "AtomStereoCount",
    "DefinedAtomStereoCount",
    "UndefinedAtomStereoCount",
    "BondStereoCount",
    "DefinedBondStereoCount",
    "UndefinedBondStereoCount",
    "CovalentUnitCount",
    "Volume3D",
]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("an identifier must not be blank")
    return text


class SearchCompounds(Input):
    search_type: SearchType = Field(
        description="identifier needs identifierType and identifiers; formula needs formula; substructure, "
        "superstructure and similarity need query and queryType; assay needs aid."
    )
    identifier_type: IdentifierType | None = Field(default=None, description="Kind of all identifiers.")
    identifiers: Annotated[list[Annotated[str, AfterValidator(_not_blank)]] | None, Batch(cap=25)] = Field(
        default=None, description="Names, SMILES, whole InChI strings or InChIKeys; 25 are looked up in a call."
    )
    formula: str | None = Field(default=None, description="Molecular formula in Hill order, such as C6H12O6.")
    allow_other_elements: bool = Field(default=False, description="formula: also take compounds with further elements.")
    query: str | None = Field(default=None, description="Structure searches: a SMILES, or a CID in digits.")
    query_type: Literal["smiles", "cid"] | None = Field(default=None, description="How to read query.")
    threshold: float = Field(
        default=90,
        ge=70,
        le=100,
        description="similarity: least 2D Tanimoto score in percent; 75 finds far analogues.",
    )
    aid: int | None = Field(default=None, ge=1, le=LARGEST_CID, description="assay: the PubChem assay number.")
    active_only: bool = Field(default=True, description="assay: only compounds found active; false lists all tested.")
    offset: Annotated[int, Offset()] = Field(
        default=0, description="Position of the first compound; at most 10000 except by identifier and assay."
    )
    max_results: Annotated[int, PageSize(cap=PAGE_CAP)] = Field(default=20, description="Page size; 200 at most.")
    properties: list[Property] | None = Field(default=None, description="Properties to attach to each compound.")

    @model_validator(mode="before")
    @classmethod
    def _drop_unused(cls, values: Any) -> Any:
        """Take empty text and empty lists as left out, and no identifiers from a search of another type.

        Agents fill in fields of other searches; identifiers would be capped and given back as unprocessed.
        """
        if not isinstance(values, Mapping):
            return values
        given = cast("Mapping[str, Any]", values)
        kept = {name: value for name, value in given.items() if value not in ("", []) or name == "searchType"}
        if kept.get("searchType") != "identifier":
            kept.pop("identifiers", None)
        return kept


class Compound(Record):
    """One match; `properties` are there when some were asked for and PubChem had them."""

    cid: int = Field(description="PubChem compound number.")
    identifier: str | None = Field(
        default=None, description="identifier: the input that led here, the first of several."
    )
    properties: dict[str, str | int | float] | None = None


class Compounds(Page):
    """One page of matches."""

    search_type: SearchType = Field(description="The search that ran.")
    results: list[Compound] = Field(description="The compounds of this page.")
    active_only: bool | None = Field(default=None, description="assay: whether only active compounds are listed.")
    unresolved_identifiers: list[str] | None = Field(default=None, description="Inputs that led to no compound.")


@tool(
    "pubchem_search_compounds",
    title="Search Compounds",
    errors=[
        MISSING_IDENTIFIER_ARGS,
        MISSING_FORMULA,
        MISSING_STRUCTURE_ARGS,
        INVALID_CID_QUERY,
        OFFSET_CEILING_EXCEEDED,
        MISSING_AID,
        AID_NOT_FOUND,
        IDENTIFIER_REJECTED,
        SEARCH_QUERY_REJECTED,
    ],
)
async def search_compounds(args: SearchCompounds, pubchem: PubChem, call: Call) -> Compounds:
    """Find PubChem compounds (CIDs) by name, SMILES, InChI or InChIKey, by molecular formula, by substructure,
    superstructure or 2D similarity, or by an assay that tested them. Start here when you have a name or structure and
    need its CID, and set properties to get formula, weight, SMILES and the like in the same call. Returns one page of
    CIDs with an exact total where PubChem gives one.

    Costs one PubChem request for each identifier or search (two for an assay), plus one with properties; pages of a
    list already fetched cost none.
    """
    found = await _SEARCHES[args.search_type](args, pubchem, call)
    if args.properties and found.results:
        cids = [compound.cid for compound in found.results]
        rows = await call.enrich("properties", pubchem.properties(cids, args.properties), {})
        for compound in found.results:
            compound.properties = rows.get(compound.cid)
    return found


async def _by_identifier(args: SearchCompounds, pubchem: PubChem, call: Call) -> Compounds:
    kind, identifiers = args.identifier_type, args.identifiers
    if kind is None or not identifiers:
        missing = " and ".join(
            name for name, value in (("identifierType", kind), ("identifiers", identifiers)) if not value
        )
        raise MISSING_IDENTIFIER_ARGS.error(f"searchType is identifier, but {missing} is missing.")

    async def resolve(identifier: str) -> Resolution:
        return await pubchem.search.resolve(kind, identifier)

    looked_up = await call.each(identifiers, resolve)
    refused = [(identifier, found.refused) for identifier, found in looked_up if found.refused]
    if len(refused) == len(looked_up):
        named = _listed([identifier for identifier, _ in refused])
        raise IDENTIFIER_REJECTED.error(f"PubChem could not read {named} as {kind}.", fault=refused[0][1])
    led_to: dict[int, list[str]] = {}
    for identifier, found in looked_up:
        for cid in found.cids:
            led_to.setdefault(cid, []).append(identifier)
    page = call.page.whole(list(led_to))
    _tell_of_identifiers(call, kind, looked_up, led_to)
    return Compounds(
        search_type="identifier",
        results=[Compound(cid=cid, identifier=led_to[cid][0]) for cid in page],
        unresolved_identifiers=[identifier for identifier, found in looked_up if not found.cids] or None,
    )


def _tell_of_identifiers(
    call: Call, kind: IdentifierType, looked_up: Sequence[tuple[str, Resolution]], led_to: Mapping[int, Sequence[str]]
) -> None:
    unmatched = [identifier for identifier, found in looked_up if not found.cids and found.refused is None]
    unreadable = [identifier for identifier, found in looked_up if found.refused is not None]
    if unmatched:
        call.notice(
            f"{len(unmatched)} of {len(looked_up)} identifiers matched no compound: {_listed(unmatched)}. "
            "Check the spelling and identifierType."
        )
    if unreadable:
        call.notice(
            f"{len(unreadable)} of {len(looked_up)} identifiers could not be read as {kind}: {_listed(unreadable)}. "
            "Check ring closures, brackets and element symbols."
        )
    for cid, identifiers in led_to.items():
        distinct = list(dict.fromkeys(identifiers))
        if len(distinct) > 1:
            call.notice(f"{_listed(distinct)} all lead to CID {cid}, whose row names {distinct[0]!r} alone.")


async def _by_formula(args: SearchCompounds, pubchem: PubChem, call: Call) -> Compounds:
    formula = (args.formula or "").strip()
    if not formula:
        raise MISSING_FORMULA.error("searchType is formula, but formula is missing or blank.")

    async def search(most: int) -> BoundedList:
        return await pubchem.search.by_formula(formula, allow_other_elements=args.allow_other_elements, most=most)

    advice = "" if args.allow_other_elements else ", or set allowOtherElements"
    return await _bounded(args, call, search, f"No compound has the formula {formula!r}: check its Hill order{advice}.")


async def _by_structure(args: SearchCompounds, pubchem: PubChem, call: Call) -> Compounds:
    query, form = (args.query or "").strip(), args.query_type
    if form is None or not query:
        missing = " and ".join(name for name, value in (("query", query), ("queryType", form)) if not value)
        raise MISSING_STRUCTURE_ARGS.error(f"searchType is {args.search_type}, but {missing} is missing or blank.")
    if form == "cid" and not (_CID.fullmatch(query) and int(query) <= LARGEST_CID):
        raise INVALID_CID_QUERY.error(f"query {query[:60]!r} is not a CID.")
    kind: StructureSearch = args.search_type  # type: ignore[assignment]  # the table below sends only these three here
    written = str(int(query)) if form == "cid" else query

    async def search(most: int) -> BoundedList:
        return await pubchem.search.by_structure(kind, form, written, most=most, threshold=round(args.threshold))

    advice = {
        "substructure": "use a smaller query structure",
        "superstructure": "use a larger query structure",
        "similarity": f"lower threshold from {args.threshold:g}",
    }[kind]
    return await _bounded(args, call, search, f"No compound matches this {kind} search: {advice}.")


async def _bounded(
    args: SearchCompounds, call: Call, search: Callable[[int], Awaitable[BoundedList]], nothing: str
) -> Compounds:
    """Page through a list that PubChem serves from its start only, and without a count."""
    if args.offset > OFFSET_CEILING:
        raise OFFSET_CEILING_EXCEEDED.error(
            f"offset is {args.offset}; a {args.search_type} search reaches {OFFSET_CEILING}."
        )
    end = args.offset + args.max_results
    first, *larger = [most for most in STEPS if most > end]
    found = await search(first)
    for most in larger:
        # Repeats among the records can leave the list short of what follows the page; then more is asked for.
        if found.complete or len(found.cids) > end:
            break
        found = await search(most)
    page = call.page.prefix(found.cids, complete=found.complete, ceiling=OFFSET_CEILING)
    if not found.cids:
        call.notice(nothing)
    return Compounds(search_type=args.search_type, results=[Compound(cid=cid) for cid in page])


async def _by_assay(args: SearchCompounds, pubchem: PubChem, call: Call) -> Compounds:
    if args.aid is None:
        raise MISSING_AID.error("searchType is assay, but aid is missing.")
    try:
        found = await pubchem.search.assay_compounds(
            args.aid, active_only=args.active_only, offset=args.offset, size=args.max_results
        )
    except NotFound:
        # PubChem answers alike for an assay that is not there and for one without compounds of this kind.
        found = ListedPage(0, (), 0)
        await _tell_why_empty(args.aid, args.active_only, pubchem, call)
    page = call.page.part(found.cids, total=found.total, taken=found.taken)
    return Compounds(search_type="assay", active_only=args.active_only, results=[Compound(cid=cid) for cid in page])


async def _tell_why_empty(aid: int, active_only: bool, pubchem: PubChem, call: Call) -> None:
    assay = await pubchem.assay_summary(aid)
    if assay is None:
        raise AID_NOT_FOUND.error(f"PubChem has no live assay {aid}.")
    if active_only:
        tested = f"; it tested {assay.compounds:,}" if assay.compounds else ""
        call.notice(f"Assay {aid} lists no active compounds{tested}. Set activeOnly to false to list all tested ones.")
    else:
        call.notice(f"Assay {aid} exists, but lists no compounds.")


def _listed(identifiers: Sequence[str]) -> str:
    """Up to ten identifiers in quotes, each cut at 80 characters."""
    shown = ", ".join(repr(text if len(text) <= 80 else f"{text[:80]}...") for text in identifiers[:10])
    return shown if len(identifiers) <= 10 else f"{shown} and {len(identifiers) - 10} more"


_SEARCHES: Final[Mapping[str, Callable[[SearchCompounds, PubChem, Call], Awaitable[Compounds]]]] = {
    "identifier": _by_identifier,
    "formula": _by_formula,
    "substructure": _by_structure,
    "superstructure": _by_structure,
    "similarity": _by_structure,
    "assay": _by_assay,
}
