"""From a SMILES to a ligand that a docking program takes, in four stages.

Each stage takes and gives plain values, so that it can run in a worker process of its own turn: between two stages the
call reports progress, and a cancelled call ends with the stage that it is in.
"""

from __future__ import annotations

from math import isfinite
from typing import Final

from rdkit import Chem
from rdkit.Chem import rdDistGeom, rdForceFieldHelpers, rdMolDescriptors
from rdkit.Chem.MolStandardize import rdMolStandardize
from rdkit.Chem.rdchem import Mol

from scigate_immunograph.chemistry import ChemistryError
from scigate_immunograph.chemistry.reading import quiet, read_smiles
from scigate_immunograph.chemistry.stages import Conformer, Minimised, Protonated, Written

__all__ = ["MOST_HEAVY_ATOMS", "embed", "minimise", "protonate", "write"]

MOST_HEAVY_ATOMS: Final = 200
"""Heavy atoms of a ligand; docking programs are made for fewer, and embedding more takes minutes."""

_EMBEDDING_ROUNDS: Final = 60
_MINIMISATION_STEPS: Final = 2_000


def protonate(smiles: str, ph: float | None, *, largest_component: bool) -> Protonated:
    """Read the structure, choose its component, and set its protons for a pH.

    Args:
        smiles: The structure.
        ph: None leaves the protons as they are given.
        largest_component: Take the largest organic one of several, instead of refusing them.

    Raises:
        ChemistryError: It is no structure of one component that can be prepared.
    """
    molecule, problems = read_smiles(smiles)
    if molecule is None:
        fault = next(problem for problem in problems if problem.severity == "error")
        raise ChemistryError("invalid_structure", fault.message)
    with quiet():
        molecule = Chem.RemoveHs(molecule)
        molecule, set_aside = _one_component(molecule, largest_component=largest_component)
        heavy = molecule.GetNumHeavyAtoms()
        if heavy == 0 or heavy > MOST_HEAVY_ATOMS:
            raise ChemistryError(
                "ligand_size", f"The structure has {heavy:,} heavy atoms; a ligand has 1 to {MOST_HEAVY_ATOMS}."
            )
        plain = Chem.MolToSmiles(molecule)
        variants = (plain,) if ph is None else _species(plain, ph)
    return Protonated(variants[0], variants, set_aside)


def _one_component(molecule: Mol, *, largest_component: bool) -> tuple[Mol, tuple[str, ...]]:
    fragments = Chem.GetMolFrags(molecule, asMols=True)
    if len(fragments) == 1:
        return molecule, ()
    if not largest_component:
        names = ", ".join(Chem.MolToSmiles(fragment) for fragment in fragments)[:200]
        raise ChemistryError("several_components", f"The structure has {len(fragments)} components: {names}.")
    parameters = rdMolStandardize.CleanupParameters()
    parameters.preferOrganic = True
    chosen = rdMolStandardize.LargestFragmentChooser(parameters).choose(molecule)
    smiles = Chem.MolToSmiles(chosen)
    others = [Chem.MolToSmiles(fragment) for fragment in fragments]
    others.remove(smiles)
    return chosen, tuple(sorted(others))


def _species(smiles: str, ph: float) -> tuple[str, ...]:
    """The species at a pH; the structure itself where the method gives none of its skeleton."""
    # Imported here: it brings loguru, which only this stage needs.
    from dimorphite_dl import protonate_smiles
    from loguru import logger

    logger.disable("dimorphite_dl")
    try:
        # No spread of pKa: one state for each site, the prevailing one.
        found = protonate_smiles(smiles, ph_min=ph, ph_max=ph, precision=0.0, max_variants=16)
    except (ValueError, RuntimeError, KeyError, IndexError):
        found = []
    skeleton = _skeleton(smiles)
    kept = tuple(dict.fromkeys(species for species in found if _skeleton(species) == skeleton))
    return kept or (smiles,)


def _skeleton(smiles: str) -> str | None:
    """The structure without its hydrogens and charges: what protonation must not change."""
    molecule = Chem.MolFromSmiles(smiles)
    if molecule is None:
        return None
    counts = sorted((atom.GetAtomicNum(), atom.GetIsotope(), atom.GetDegree()) for atom in molecule.GetAtoms())
    return str(counts)


def embed(smiles: str, seed: int) -> Conformer:
    """Add hydrogens and coordinates by ETKDGv3.

    Raises:
        ChemistryError: No coordinates were found.
    """
    with quiet():
        plain = Chem.MolFromSmiles(smiles)
        assert plain is not None, "the stage before has read it"
        molecule = Chem.AddHs(plain)
        undefined = sum(
            element.specified == Chem.StereoSpecified.Unspecified and element.type == Chem.StereoType.Atom_Tetrahedral
            for element in Chem.FindPotentialStereo(molecule)
        )
        parameters = rdDistGeom.ETKDGv3()
        parameters.randomSeed = seed
        parameters.maxIterations = _EMBEDDING_ROUNDS
        parameters.numThreads = 1
        attempt = "ETKDGv3"
        try:
            found = rdDistGeom.EmbedMolecule(molecule, parameters)
            if found < 0:
                attempt = "ETKDGv3 from random coordinates"
                parameters.useRandomCoords = True
                found = rdDistGeom.EmbedMolecule(molecule, parameters)
        except (ValueError, RuntimeError) as error:
            raise ChemistryError("embedding_failed", f"{smiles[:100]} cannot be embedded: {_brief(error)}.") from error
        if found < 0:
            raise ChemistryError("embedding_failed", f"No coordinates were found for {smiles[:100]} with seed {seed}.")
    return Conformer(molecule.ToBinary(), attempt, undefined)


def minimise(conformer: bytes) -> Minimised:
    """Minimise by MMFF94; by UFF where MMFF94 does not know an atom."""
    with quiet():
        molecule = Chem.Mol(conformer)
        if rdForceFieldHelpers.MMFFHasAllMoleculeParams(molecule):
            name = "MMFF94"
            properties = rdForceFieldHelpers.MMFFGetMoleculeProperties(molecule, mmffVariant="MMFF94")
            field = rdForceFieldHelpers.MMFFGetMoleculeForceField(molecule, properties)
        elif rdForceFieldHelpers.UFFHasAllMoleculeParams(molecule):
            name, field = "UFF", rdForceFieldHelpers.UFFGetMoleculeForceField(molecule)
        else:
            return Minimised(conformer, "none", False, None)
        field.Initialize()
        converged = field.Minimize(maxIts=_MINIMISATION_STEPS) == 0
        energy = field.CalcEnergy()
        if not isfinite(energy):
            return Minimised(conformer, "none", False, None)
        return Minimised(molecule.ToBinary(), name, converged, round(energy, 4))


def write(conformer: bytes, name: str, *, pdbqt: bool) -> Written:
    """Write SDF, and PDBQT if it is wanted.

    Args:
        conformer: The molecule.
        name: First line of the SDF record.
        pdbqt: Whether to write PDBQT.

    Raises:
        ChemistryError: The PDBQT format has no type for an atom.
    """
    with quiet():
        molecule = Chem.Mol(conformer)
        molecule.SetProp("_Name", name)
        text = _pdbqt(molecule) if pdbqt else None
        lines = text.splitlines() if text else []
        plain = Chem.RemoveHs(molecule)
        Chem.AssignStereochemistryFrom3D(plain)
        return Written(
            sdf=Chem.MolToMolBlock(molecule) + "$$$$\n",
            pdbqt=text,
            smiles=Chem.MolToSmiles(plain),
            molecular_formula=rdMolDescriptors.CalcMolFormula(molecule),
            atoms=molecule.GetNumAtoms(),
            heavy_atoms=molecule.GetNumHeavyAtoms(),
            pdbqt_atoms=sum(line.startswith(("ATOM", "HETATM")) for line in lines) if text else None,
            torsions=next((int(line.split()[1]) for line in lines if line.startswith("TORSDOF")), None),
            formal_charge=Chem.GetFormalCharge(molecule),
        )


def _pdbqt(molecule: Mol) -> str:
    # Imported here: it takes half a second, which only this stage needs.
    from meeko import MoleculePreparation, PDBQTWriterLegacy

    symbols = ", ".join(sorted({atom.GetSymbol() for atom in molecule.GetAtoms()}))
    try:
        (setup, *_) = MoleculePreparation().prepare(molecule)
        text, written, complaint = PDBQTWriterLegacy.write_string(setup)
    except Exception as error:
        # The library raises what it meets, bare Exception included, for atoms that it has no type for.
        raise ChemistryError("pdbqt_unsupported", f"PDBQT cannot be written for {symbols}: {_brief(error)}.") from error
    if not written:
        raise ChemistryError("pdbqt_unsupported", f"PDBQT cannot be written for {symbols}: {_brief(complaint)}.")
    return text


def _brief(error: object) -> str:
    return " ".join(str(error).split())[:160].rstrip(".")
