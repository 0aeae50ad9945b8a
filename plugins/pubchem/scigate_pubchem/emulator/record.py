"""A compound's full record, `PC_Compounds[]`, as `/compound/cid/<cid>/record/JSON` gives it.

Coordinates are RDKit's drawing, not PubChem's. Codes are those of PubChem's data specification
(https://ftp.ncbi.nlm.nih.gov/pubchem/specifications/pubchem.asn): coordinate types 1 (two-dimensional), 5 (computed),
255 (unit unknown); datatypes 1 text, 5 integer, 7 real.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rdkit import Chem
from rdkit.Chem import rdDepictor
from rdkit.Chem.rdchem import Mol

from .sample import Sample

__all__ = ["record"]

Urn = dict[str, Any]

# Property, its label and name in a record, and what else stands in the urn.
_PROPS: Final[tuple[tuple[str, Urn], ...]] = (
    ("HBondAcceptorCount", {"label": "Count", "name": "Hydrogen Bond Acceptor", "implementation": "E_NHACCEPTORS"}),
    ("HBondDonorCount", {"label": "Count", "name": "Hydrogen Bond Donor", "implementation": "E_NHDONORS"}),
    ("RotatableBondCount", {"label": "Count", "name": "Rotatable Bond", "implementation": "E_NROTBONDS"}),
    ("IUPACName", {"label": "IUPAC Name", "name": "Preferred"}),
    ("XLogP", {"label": "Log P", "name": "XLogP3"}),
    ("Complexity", {"label": "Compound Complexity", "implementation": "E_COMPLEXITY"}),
    ("InChI", {"label": "InChI", "name": "Standard"}),
    ("InChIKey", {"label": "InChIKey", "name": "Standard"}),
    ("ExactMass", {"label": "Mass", "name": "Exact"}),
    ("MolecularFormula", {"label": "Molecular Formula"}),
    ("MolecularWeight", {"label": "Molecular Weight"}),
    ("SMILES", {"label": "SMILES", "name": "Absolute"}),
    ("ConnectivitySMILES", {"label": "SMILES", "name": "Connectivity"}),
    ("TPSA", {"label": "Topological", "name": "Polar Surface Area", "implementation": "E_TPSA"}),
    ("MonoisotopicMass", {"label": "Weight", "name": "MonoIsotopic"}),
)

_COUNTS: Final = {
    "heavy_atom": "HeavyAtomCount",
    "atom_chiral": "AtomStereoCount",
    "atom_chiral_def": "DefinedAtomStereoCount",
    "atom_chiral_undef": "UndefinedAtomStereoCount",
    "bond_chiral": "BondStereoCount",
    "bond_chiral_def": "DefinedBondStereoCount",
    "bond_chiral_undef": "UndefinedBondStereoCount",
    "isotope_atom": "IsotopeAtomCount",
    "covalent_unit": "CovalentUnitCount",
}


def record(sample: Sample, cid: int) -> dict[str, Any]:
    """The record of a compound of the sample, hydrogens and a drawing included. Imports and uses RDKit."""
    plain = Chem.MolFromSmiles(sample.text(cid, "SMILES"))
    assert plain is not None, "the sample holds what RDKit can read"
    molecule = Chem.AddHs(plain)
    Chem.Kekulize(molecule, clearAromaticFlags=True)
    values = sample.properties(cid, [*(name for name, _ in _PROPS), *_COUNTS.values(), "Charge"])
    whole: dict[str, Any] = {"id": {"id": {"cid": cid}}, "atoms": _atoms(molecule)}
    if molecule.GetNumBonds():
        whole["bonds"] = _bonds(molecule)
    return {
        **whole,
        "coords": [_coordinates(molecule)],
        "charge": values["Charge"],
        "props": list(_props(values)),
        "count": {**{name: values[of] for name, of in _COUNTS.items()}, "tautomers": -1},
    }


def _atoms(molecule: Mol) -> dict[str, Any]:
    atoms = list(molecule.GetAtoms())
    charged = [{"aid": a.GetIdx() + 1, "value": a.GetFormalCharge()} for a in atoms if a.GetFormalCharge()]
    numbers = {"aid": [a.GetIdx() + 1 for a in atoms], "element": [a.GetAtomicNum() for a in atoms]}
    return {**numbers, "charge": charged} if charged else numbers


def _bonds(molecule: Mol) -> dict[str, list[int]]:
    bonds = list(molecule.GetBonds())
    return {
        "aid1": [bond.GetBeginAtomIdx() + 1 for bond in bonds],
        "aid2": [bond.GetEndAtomIdx() + 1 for bond in bonds],
        "order": [int(bond.GetBondTypeAsDouble()) or 1 for bond in bonds],
    }


def _coordinates(molecule: Mol) -> dict[str, Any]:
    rdDepictor.Compute2DCoords(molecule)
    places = molecule.GetConformer().GetPositions()
    numbered = [atom.GetIdx() + 1 for atom in molecule.GetAtoms()]
    drawn = {axis: [round(float(place[i]), 4) for place in places] for i, axis in enumerate("xy")}
    return {"type": [1, 5, 255], "aid": numbered, "conformers": [drawn]}


def _props(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name, urn in _PROPS:
        if name in values:
            value = values[name]
            kind, datatype = (
                ("ival", 5) if isinstance(value, int) else ("fval", 7) if isinstance(value, float) else ("sval", 1)
            )
            yield {"urn": {**urn, "datatype": datatype}, "value": {kind: value}}
