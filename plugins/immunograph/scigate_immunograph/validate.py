"""validate_compound: is this a structure, what is undefined in it, and do its identifiers agree."""

from __future__ import annotations

from pydantic import Field
from scigate import Call, Input, Output

from scigate_immunograph.chemistry import jobs
from scigate_immunograph.chemistry.findings import Findings, Given
from scigate_immunograph.chemistry.software import software
from scigate_immunograph.reasons import CHEMISTRY_CRASHED, MISSING_STRUCTURE
from scigate_immunograph.recording import step_tool
from scigate_immunograph.run import RunId
from scigate_immunograph.workbench import Workbench

__all__ = ["validate_compound"]

_LONGEST = 100_000


class ValidateCompound(Input):
    run_id: RunId
    smiles: str | None = Field(default=None, max_length=_LONGEST, description="The structure; inchi may stand for it.")
    inchi: str | None = Field(
        default=None, max_length=_LONGEST, description="The structure, or with smiles an identifier to compare."
    )
    inchi_key: str | None = Field(default=None, max_length=200, description="Compared with the structure's own.")
    molecular_formula: str | None = Field(
        default=None, max_length=1_000, description="Compared with the structure's own, in any order of elements."
    )


class ValidatedCompound(Findings, Output):
    """What validation found."""

    software: str = Field(description="What computed it.")


@step_tool("validate_compound", title="Validate Compound", errors=[MISSING_STRUCTURE, CHEMISTRY_CRASHED])
async def validate_compound(args: ValidateCompound, bench: Workbench, call: Call) -> ValidatedCompound:
    """Check that a SMILES or InChI is one defined structure, and that the given identifiers name it: syntax, valence,
    aromaticity, charge, stereo (defined, undefined, conflicting), salts and mixtures, and a canonical form.

    After fetch_compound and before calculate_molecular_descriptors or prepare_ligand. Bad chemistry is a result, not a
    failure: valid is false and problems say what and where. parentSmiles is the component to prepare. PAINS and Brenk
    alerts are information. No request upstream; milliseconds, about a second for thousands of atoms.
    """
    if args.smiles is None and args.inchi is None:
        raise MISSING_STRUCTURE.error("Neither smiles nor inchi is given.")
    given = Given(
        smiles=args.smiles, inchi=args.inchi, inchi_key=args.inchi_key, molecular_formula=args.molecular_formula
    )
    found = await bench.workers.run(jobs.validate, given)
    return ValidatedCompound(**dict(found), software=software())
