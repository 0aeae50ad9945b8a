"""prepare_ligand: from a structure to files that a docking program takes."""

from __future__ import annotations

import hashlib
from typing import Final, Literal

from pydantic import Field
from scigate import Call, Input, Output, Record

from scigate_immunograph.chemistry import jobs
from scigate_immunograph.chemistry.software import software
from scigate_immunograph.chemistry.stages import Conformer, Minimised, Protonated, Written
from scigate_immunograph.reasons import (
    CHEMISTRY_CRASHED,
    EMBEDDING_FAILED,
    INVALID_STRUCTURE,
    LIGAND_SIZE,
    PDBQT_UNSUPPORTED,
    SEVERAL_COMPONENTS,
)
from scigate_immunograph.recording import step_tool
from scigate_immunograph.run import RunId
from scigate_immunograph.workbench import Workbench

__all__ = ["prepare_ligand"]

RULES: Final = "Dimorphite-DL: substructure rules with mean pKa values, one state for each site"
RULES_LIMITS: Final = (
    "Sites are taken one by one: no coupling between them, no tautomers, no pKa of this very molecule. "
    "Groups without a rule keep their protons."
)
AS_GIVEN: Final = "none: protons as given"

_STAGES: Final = 4


class PrepareLigand(Input):
    run_id: RunId
    smiles: str = Field(min_length=1, max_length=100_000, description="The structure: one molecule.")
    ph: float = Field(default=7.4, ge=0, le=14, alias="pH", description="The pH to set protons for.")
    protonation: Literal["rules", "as_given"] = Field(
        default="rules", description="rules: by Dimorphite-DL for pH; as_given: protons stay, pH is ignored."
    )
    largest_component: bool = Field(
        default=False, description="Take the largest organic component of a salt or mixture, instead of refusing it."
    )
    seed: int = Field(default=42, ge=0, le=2**31 - 1, description="Of the embedding; the same seed gives the same 3D.")
    formats: list[Literal["sdf", "pdbqt"]] = Field(
        default=["sdf", "pdbqt"], min_length=1, max_length=2, description="Files to write."
    )
    name: str = Field(
        default="ligand", max_length=80, pattern=r"^[ -~]+$", description="First line of the SDF; printable ASCII."
    )


class Protonation(Record):
    """How protons were set."""

    method: str
    ph: float | None = Field(default=None, serialization_alias="pH")
    limits: str | None = Field(default=None, description="What the method does not see.")
    smiles: str = Field(description="The species that was prepared.")
    variants: list[str] = Field(description="All species that the method gives; the first is prepared.")
    set_aside: list[str] | None = Field(default=None, description="Components that are not in it.")


class Embedding(Record):
    """How coordinates were found."""

    method: str
    seed: int


class Minimisation(Record):
    """How they were relaxed."""

    force_field: str = Field(description="MMFF94; UFF where MMFF94 lacks parameters; none where both do.")
    converged: bool
    energy_kcal_mol: float | None = None


class PreparedLigand(Output):
    """A ligand in files, and how it came to be."""

    smiles: str = Field(description="Of the prepared molecule, as its coordinates have it.")
    molecular_formula: str
    formal_charge: int
    atoms: int = Field(description="Hydrogens included.")
    heavy_atoms: int
    pdbqt_atoms: int | None = Field(default=None, description="In the PDBQT, polar hydrogens included.")
    torsions: int | None = Field(default=None, description="Rotatable bonds of the PDBQT (TORSDOF).")
    protonation: Protonation
    embedding: Embedding
    minimisation: Minimisation
    warnings: list[str] | None = Field(default=None, description="What to look at before docking.")
    sdf: str | None = Field(default=None, description="MDL SDF, one record.")
    sdf_sha256: str | None = Field(default=None, description="Hex SHA-256 of the SDF in UTF-8.")
    pdbqt: str | None = Field(default=None, description="PDBQT for AutoDock and Vina.")
    pdbqt_sha256: str | None = Field(default=None, description="Hex SHA-256 of the PDBQT in UTF-8.")
    software: str = Field(description="What computed it.")


@step_tool(
    "prepare_ligand",
    title="Prepare Ligand",
    errors=[
        INVALID_STRUCTURE,
        SEVERAL_COMPONENTS,
        LIGAND_SIZE,
        EMBEDDING_FAILED,
        PDBQT_UNSUPPORTED,
        CHEMISTRY_CRASHED,
    ],
)
async def prepare_ligand(args: PrepareLigand, bench: Workbench, call: Call) -> PreparedLigand:
    """Prepare one molecule for docking: protons for a pH, 3D coordinates (ETKDGv3, fixed seed), minimisation (MMFF94),
    and SDF and PDBQT files.

    The last step of a run, after validate_compound. Same input, same files. Protonation is by rules with stated limits;
    undefined stereocentres are set at random by the seed and named in warnings. Costs a tenth of a second to several
    seconds of one processor in a worker process, the first call a second more; reports progress; no request upstream.
    """
    work = bench.workers
    await call.progress(0, _STAGES, "setting protons")
    ph = args.ph if args.protonation == "rules" else None
    protonated = await work.run(jobs.protonate, args.smiles, ph, largest_component=args.largest_component)
    await call.progress(1, _STAGES, "finding coordinates")
    conformer = await work.run(jobs.embed, protonated.smiles, args.seed)
    await call.progress(2, _STAGES, "minimising")
    minimised = await work.run(jobs.minimise, conformer.binary)
    await call.progress(3, _STAGES, "writing files")
    written = await work.run(jobs.write, minimised.binary, args.name, pdbqt="pdbqt" in args.formats)
    await call.progress(_STAGES, _STAGES)
    return _prepared(args, protonated, conformer, minimised, written)


def _prepared(
    args: PrepareLigand, protonated: Protonated, conformer: Conformer, minimised: Minimised, written: Written
) -> PreparedLigand:
    sdf = written.sdf if "sdf" in args.formats else None
    by_rules = args.protonation == "rules"
    return PreparedLigand(
        smiles=written.smiles,
        molecular_formula=written.molecular_formula,
        formal_charge=written.formal_charge,
        atoms=written.atoms,
        heavy_atoms=written.heavy_atoms,
        pdbqt_atoms=written.pdbqt_atoms,
        torsions=written.torsions,
        protonation=Protonation(
            method=RULES if by_rules else AS_GIVEN,
            ph=args.ph if by_rules else None,
            limits=RULES_LIMITS if by_rules else None,
            smiles=protonated.smiles,
            variants=list(protonated.variants),
            set_aside=list(protonated.set_aside) or None,
        ),
        embedding=Embedding(method=conformer.attempt, seed=args.seed),
        minimisation=Minimisation(
            force_field=minimised.force_field,
            converged=minimised.converged,
            energy_kcal_mol=minimised.energy_kcal_mol,
        ),
        warnings=_warnings(protonated, conformer, minimised) or None,
        sdf=sdf,
        sdf_sha256=_sha256(sdf),
        pdbqt=written.pdbqt,
        pdbqt_sha256=_sha256(written.pdbqt),
        software=software("dimorphite_dl", "meeko"),
    )


def _warnings(protonated: Protonated, conformer: Conformer, minimised: Minimised) -> list[str]:
    found: list[str] = []
    if len(protonated.variants) > 1:
        found.append(f"{len(protonated.variants)} species prevail at this pH; the first is prepared.")
    if conformer.undefined_centres:
        found.append(f"{conformer.undefined_centres} stereocentres are undefined; the coordinates hold one choice.")
    if minimised.force_field == "UFF":
        found.append("MMFF94 has no parameters for an atom; UFF is used instead.")
    if minimised.force_field == "none":
        found.append("No force field has parameters for this molecule; the coordinates are not minimised.")
    elif not minimised.converged:
        found.append("The minimisation did not converge.")
    return found


def _sha256(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()
