"""What the stages of preparing a ligand hand on to each other."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Conformer", "Minimised", "Protonated", "Written"]


@dataclass(frozen=True, slots=True)
class Protonated:
    """The first stage's result.

    Attributes:
        smiles: The one species that goes on.
        variants: All that the method gives at this pH, that one included.
        set_aside: SMILES of the components that are not in it.
    """

    smiles: str
    variants: tuple[str, ...]
    set_aside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conformer:
    """A molecule with hydrogens and coordinates, in RDKit's binary form.

    Attributes:
        attempt: "ETKDGv3", or "ETKDGv3 from random coordinates" where the first did not succeed.
        undefined_centres: Stereocentres that the structure leaves open and the coordinates do not.
    """

    binary: bytes
    attempt: str
    undefined_centres: int


@dataclass(frozen=True, slots=True)
class Minimised:
    """The same after minimisation.

    Attributes:
        force_field: "MMFF94", "UFF" where that has no parameters for an atom, or "none" where neither has.
        converged: Whether the gradient's tolerance was reached within the steps.
        energy_kcal_mol: Of the force field; None without one.
    """

    binary: bytes
    force_field: str
    converged: bool
    energy_kcal_mol: float | None


@dataclass(frozen=True, slots=True)
class Written:
    """The last stage's result: files, and what is in them.

    Attributes:
        pdbqt: None where it was not asked for; `pdbqt_atoms` and `torsions` are of it.
        smiles: Of the molecule as its coordinates have it.
    """

    sdf: str
    pdbqt: str | None
    smiles: str
    molecular_formula: str
    atoms: int
    heavy_atoms: int
    pdbqt_atoms: int | None
    torsions: int | None
    formal_charge: int
