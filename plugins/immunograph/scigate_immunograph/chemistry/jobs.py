"""What the worker processes can be asked for: the functions of this package, imported where they run.

The gateway's own process imports this module to name them, and never RDKit, which takes it a tenth of a second and a
hundred megabytes.
"""

from __future__ import annotations

from scigate_immunograph.chemistry.findings import Described, Findings, Given
from scigate_immunograph.chemistry.stages import Conformer, Minimised, Protonated, Written

__all__ = ["describe", "embed", "minimise", "protonate", "validate", "write"]


def validate(given: Given) -> Findings:
    """As `validation.validate`."""
    from scigate_immunograph.chemistry import validation

    return validation.validate(given)


def describe(smiles: str) -> Described:
    """As `descriptors.describe`."""
    from scigate_immunograph.chemistry import descriptors

    return descriptors.describe(smiles)


def protonate(smiles: str, ph: float | None, *, largest_component: bool) -> Protonated:
    """As `ligand.protonate`."""
    from scigate_immunograph.chemistry import ligand

    return ligand.protonate(smiles, ph, largest_component=largest_component)


def embed(smiles: str, seed: int) -> Conformer:
    """As `ligand.embed`."""
    from scigate_immunograph.chemistry import ligand

    return ligand.embed(smiles, seed)


def minimise(conformer: bytes) -> Minimised:
    """As `ligand.minimise`."""
    from scigate_immunograph.chemistry import ligand

    return ligand.minimise(conformer)


def write(conformer: bytes, name: str, *, pdbqt: bool) -> Written:
    """As `ligand.write`."""
    from scigate_immunograph.chemistry import ligand

    return ligand.write(conformer, name, pdbqt=pdbqt)
