"""Structures drawn in two dimensions, as PNG and SDF, and embedded in three, with RDKit.

Importing this module imports RDKit; the routes do so in a worker thread. Coordinates are RDKit's, the same in every
run, not PubChem's.
"""

from __future__ import annotations

from typing import Final

from rdkit import Chem
from rdkit.Chem import rdDepictor, rdDistGeom, rdMolDescriptors
from rdkit.Chem.Draw import rdMolDraw2D
from rdkit.Chem.rdchem import Mol

from .fault import not_found
from .sample import Sample

__all__ = ["CONFORMERS", "conformer_ids", "drawing", "has_conformer", "sdf"]

CONFORMERS: Final = 3
"""IDs that a compound with a conformer has."""

SIDES: Final = {"small": 100, "large": 300}

# What PubChem computes conformers for (PubChem3D, https://pubchem.ncbi.nlm.nih.gov/docs/pubchem3d).
_HEAVY_ATOMS: Final = 50
_ROTATABLE_BONDS: Final = 15
_ELEMENTS: Final = frozenset(("H", "C", "N", "O", "F", "Si", "P", "S", "Cl", "Br", "I"))

_SEED: Final = 20


def drawing(sample: Sample, cid: int, size: str) -> bytes:
    """A PNG; `size` is `small`, `large` or `WxH`.

    Raises:
        PugError: 404, the compound is not in the sample.
    """
    width, height = _sides(size)
    molecule = _molecule(sample, cid)
    rdDepictor.Compute2DCoords(molecule)
    canvas = rdMolDraw2D.MolDraw2DCairo(width, height)
    canvas.DrawMolecule(molecule)
    canvas.FinishDrawing()
    return canvas.GetDrawingText()


def sdf(sample: Sample, cid: int, *, flat: bool) -> str:
    """A record of an SDF, hydrogens included; in three dimensions unless `flat`.

    Raises:
        PugError: 404, the compound is not in the sample, or has no conformer.
    """
    molecule = Chem.AddHs(_molecule(sample, cid))
    if flat:
        rdDepictor.Compute2DCoords(molecule)
    elif not (has_conformer(sample, cid) and rdDistGeom.EmbedMolecule(molecule, randomSeed=_SEED) == 0):
        raise not_found("No records found for the given CID(s) in PubChem3D")
    molecule.SetProp("_Name", str(cid))
    names = ("MolecularFormula", "MolecularWeight", "SMILES", "InChIKey")
    values = sample.properties(cid, names)
    items = {"COMPOUND_CID": cid, "MOLECULAR_FORMULA": values["MolecularFormula"], "SMILES": values["SMILES"]}
    if not flat:
        items["CONFORMER_ID"] = conformer_ids(cid)[0]
    data = "".join(f"> <PUBCHEM_{name}>\n{value}\n\n" for name, value in items.items())
    return f"{Chem.MolToMolBlock(molecule, kekulize=True)}{data}$$$$\n"


def has_conformer(sample: Sample, cid: int) -> bool:
    """Whether PubChem computes conformers for such a compound: one piece, not too large, of organic elements."""
    if cid not in sample:
        return False
    molecule = _molecule(sample, cid)
    return (
        len(Chem.GetMolFrags(molecule)) == 1
        and molecule.GetNumHeavyAtoms() <= _HEAVY_ATOMS
        and rdMolDescriptors.CalcNumRotatableBonds(molecule) <= _ROTATABLE_BONDS
        and all(atom.GetSymbol() in _ELEMENTS for atom in molecule.GetAtoms())
    )


def conformer_ids(cid: int) -> list[str]:
    """Sixteen hexadecimal digits: the compound's number and the conformer's, the default one first."""
    return [f"{cid:08X}{number:08X}" for number in range(1, CONFORMERS + 1)]


def _molecule(sample: Sample, cid: int) -> Mol:
    if cid not in sample:
        raise not_found("No CID found", "No CID found that matches the given name")
    molecule = Chem.MolFromSmiles(sample.text(cid, "SMILES"))
    assert molecule is not None, "the sample holds what RDKit can read"
    return molecule


def _sides(size: str) -> tuple[int, int]:
    if size in SIDES:
        return SIDES[size], SIDES[size]
    width, _, height = size.partition("x")
    if width.isdecimal() and height.isdecimal() and 0 < int(width) <= 1000 and 0 < int(height) <= 1000:
        return int(width), int(height)
    return SIDES["large"], SIDES["large"]
