"""How each descriptor is computed; told with every result."""

from __future__ import annotations

from typing import Final

from scigate_immunograph.chemistry.software import RDKIT

__all__ = ["METHODS", "methods"]

METHODS: Final = {
    "molecularFormula": "Hill order, hydrogens included",
    "molecularWeight": "sum of average atomic weights, g/mol",
    "exactMass": "sum of isotope masses, the most abundant isotope where none is given; an ion lacks its electrons, "
    "which PubChem leaves in, Da",
    "logP": "Wildman-Crippen, 1999: sum of atom contributions; unlike the XLogP3 that PubChem gives",
    "tpsa": "Ertl, 2000, of N and O; square angstrom",
    "hbd": "N-H, O-H and S-H groups, each once",
    "hba": "N, O and S that accept, by SMARTS; not the OH of an acid, which PubChem counts too (aspirin: 3, there 4)",
    "rotatableBonds": "strict: not the C-O of esters and C-N of amides; PubChem counts esters (aspirin: 2, there 3)",
    "rings": "smallest set of smallest rings",
    "aromaticRings": "RDKit's model of aromaticity",
    "fractionCsp3": "sp3 carbons over all carbons",
    "qed": "Bickerton, 2012, mean weights",
    "lipinski": "Lipinski, 1997: weight <= 500, logP <= 5, N-H and O-H <= 5, N and O <= 10; one may be broken",
    "veber": "Veber, 2002: rotatable bonds <= 10, TPSA <= 140",
    "egan": "Egan, 2000: -1.0 <= logP <= 5.88, TPSA <= 131.6",
}
"""How each descriptor is computed, by its name on the wire."""


def methods() -> dict[str, str]:
    """`METHODS`, each with the software's version."""
    return {name: f"{RDKIT}: {text}" for name, text in METHODS.items()}
