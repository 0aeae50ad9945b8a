"""pubchem_get_bioactivity: what a compound does in assays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, model_validator
from scigate import Call, Input, Offset, Page, PageSize, Record, tool

from scigate_pubchem.alias import renamed
from scigate_pubchem.assaysummary import Assay, AssayTable, Measurement, Target
from scigate_pubchem.client import PubChem
from scigate_pubchem.excerpt import NAME, excerpt
from scigate_pubchem.pairing import TargetFilter

__all__ = ["get_bioactivity"]

LARGEST_ID: Final = 2**31 - 1

Outcome = Literal["active", "inactive", "all"]
AssayType = Literal["confirmatory", "screening", "summary", "other"]


class GetBioactivity(Input):
    cid: int = Field(ge=1, le=LARGEST_ID, description="Compound number; pubchem_search_compounds finds it.")
    outcome_filter: Outcome = Field(default="all", description="Keep assays with this outcome at the reported target.")
    target_gene_id: int | None = Field(
        default=None, ge=1, le=LARGEST_ID, description="Keep assays against this NCBI Gene ID or a paired accession."
    )
    target_accession: str | None = Field(
        default=None,
        max_length=200,
        description="Keep assays against this protein accession (such as P23219) or a paired Gene ID.",
    )
    assay_type: list[AssayType] | None = Field(default=None, min_length=1, description="Keep assays of these kinds.")
    offset: Annotated[int, Offset()] = Field(default=0, description="Position of the first assay after filtering.")
    max_results: Annotated[int, PageSize(cap=100)] = Field(default=20, description="Page size; 100 at most.")

    @model_validator(mode="before")
    @classmethod
    def _names(cls, values: Any) -> Any:
        return renamed(values, geneId="targetGeneId", accession="targetAccession")


class ActivityValue(Record):
    """One measured value of an assay, as PubChem tells it: no unit is converted."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(default=None, description="What was measured, such as IC50.")
    value: float
    unit: str | None = None


class OtherTarget(Record):
    """A further target of one assay, with the outcome and the values found there."""

    model_config = ConfigDict(extra="forbid")

    accession: str | None = None
    gene_id: int | None = None
    outcome: str
    activity_values: list[ActivityValue]


class AssayResult(Record):
    """What one assay found of the compound, at the target that is reported for it."""

    aid: int
    assay_name: str
    outcome: str = Field(description="At the reported target, as PubChem writes it.")
    target_accession: str | None = Field(default=None, description="Reported target.")
    target_gene_id: int | None = None
    activity_values: list[ActivityValue] = Field(description="At the reported target, repeats dropped.")
    other_targets: list[OtherTarget] | None = Field(default=None, description="Further targets of the assay.")
    assay_type: str | None = None
    pmids: list[int] | None = Field(default=None, description="Papers cited, largest number first.")


class Bioactivity(Page):
    """One page of a compound's assay results, with counts before and after the filters."""

    cid: int
    total_assays: int = Field(description="Assays before filtering.")
    active_count: int = Field(description="Of these, Active at their first target.")
    inactive_count: int = Field(description="Of these, Inactive at their first target.")
    outcome_filter: Outcome
    target_filter: str | None = Field(default=None, description="Identifiers matched, paired ones included.")
    assay_type_filter: str | None = None
    filtered_count: int = Field(description="Exact number of assays after filtering.")
    returned_count: int = Field(description="Assays on this page.")
    results: list[AssayResult]
    # filteredCount is this tool's name for the total.
    total_found: int | None = Field(default=None, exclude=True)
    total_found_at_least: int | None = Field(default=None, exclude=True)
    unprocessed: list[str] | None = Field(default=None, exclude=True)


@dataclass(frozen=True, slots=True)
class _Reported:
    """An assay and the target that it is reported for."""

    assay: Assay
    target: Target


@tool("pubchem_get_bioactivity", title="Get Bioactivity")
async def get_bioactivity(args: GetBioactivity, pubchem: PubChem, call: Call) -> Bioactivity:
    """Tell what a compound (CID) does in bioassays: outcome, target, measured values, kind of assay and papers, one
    entry an assay. Use it to answer "is this compound active against that target": filter by targetGeneId or
    targetAccession (either finds what is recorded under the other), outcomeFilter and assayType. For the assays of a
    target whatever the compound, use pubchem_search_assays. Returns one page with exact counts before and after
    filtering; a filter by target reports each assay for that target.

    Costs one PubChem request; other filters and pages of the same compound cost none.
    """
    table = await pubchem.bioactivity(args.cid)
    wanted = TargetFilter.of(table, args.target_gene_id, (args.target_accession or "").strip() or None)
    passed = _filtered(args, table, wanted, call)
    page = call.page.whole(passed)
    first = [assay.targets[0].outcome.lower() for assay in table.assays]
    return Bioactivity(
        cid=args.cid,
        total_assays=len(table.assays),
        active_count=first.count("active"),
        inactive_count=first.count("inactive"),
        outcome_filter=args.outcome_filter,
        target_filter=str(wanted) if wanted else None,
        assay_type_filter=", ".join(args.assay_type) if args.assay_type else None,
        filtered_count=len(passed),
        returned_count=len(page),
        results=[_result(reported) for reported in page],
    )


def _filtered(args: GetBioactivity, table: AssayTable, wanted: TargetFilter | None, call: Call) -> Sequence[_Reported]:
    """The assays that pass every filter; the notice says which filter left none."""
    left = [_Reported(assay, assay.targets[0]) for assay in table.assays]
    if not left:
        call.notice(f"PubChem records no assay for CID {args.cid}. Check the number with pubchem_search_compounds.")
        return left
    if wanted is not None:
        left = [_Reported(assay, target) for assay in table.assays if (target := _meant(assay, wanted)) is not None]
        if not left:
            call.notice(_no_target(args, wanted, len(table.assays)))
            return left
    filters: list[tuple[bool, str, Callable[[_Reported], bool]]] = [
        (
            args.outcome_filter != "all",
            f"outcomeFilter {args.outcome_filter}",
            lambda one: one.target.outcome.lower() == args.outcome_filter,
        ),
        (
            args.assay_type is not None,
            f"assayType {', '.join(args.assay_type or ())}",
            lambda one: one.assay.kind.lower() in (args.assay_type or ()),
        ),
    ]
    for given, name, keeps in filters:
        kept = [one for one in left if keeps(one)] if given else left
        if not kept:
            of = f" of {len(table.assays):,}" if len(left) < len(table.assays) else ""
            call.notice(
                f"No assay passes: {name} removes the {len(left):,}{of} assays that the other filters had left. "
                "Widen or leave out that filter."
            )
            return kept
        left = kept
    return left


def _meant(assay: Assay, wanted: TargetFilter) -> Target | None:
    """The assay's first target that the filter means."""
    return next((target for target in assay.targets if wanted.matches(target)), None)


def _no_target(args: GetBioactivity, wanted: TargetFilter, total: int) -> str:
    if wanted.conflict is None:
        return (
            f"None of the {total:,} assays of CID {args.cid} is against {wanted}: leave the target filter out to see "
            "them all, or find assays of the target with pubchem_search_assays."
        )
    given = f"targetGeneId {args.target_gene_id} and targetAccession {wanted.accessions[0]}"
    if wanted.conflict == "different":
        why = f"{given} name different targets in the {total:,} assays of CID {args.cid}"
    else:
        why = f"none of the {total:,} assays of CID {args.cid} names both {given}"
    return f"Nothing matches: {why}. Send only one of the two."


def _result(reported: _Reported) -> AssayResult:
    assay, target = reported.assay, reported.target
    others = [other for other in assay.targets if other is not target]
    return AssayResult(
        aid=assay.aid,
        assay_name=excerpt(assay.name, NAME),
        outcome=target.outcome,
        target_accession=target.accession,
        target_gene_id=target.gene,
        activity_values=_values(target.measured),
        other_targets=[
            OtherTarget(
                accession=other.accession,
                gene_id=other.gene,
                outcome=other.outcome,
                activity_values=_values(other.measured),
            )
            for other in others
        ]
        or None,
        assay_type=assay.kind or None,
        pmids=assay.pmids or None,
    )


def _values(measured: dict[Measurement, None]) -> list[ActivityValue]:
    return [ActivityValue(name=one.name, value=one.value, unit=one.unit) for one in measured]
