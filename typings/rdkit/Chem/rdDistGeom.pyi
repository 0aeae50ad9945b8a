from typing import overload

from rdkit.Chem.rdchem import Mol

class EmbedParameters:
    maxIterations: int
    numThreads: int
    randomSeed: int
    useRandomCoords: bool

def ETKDGv3() -> EmbedParameters: ...
@overload
def EmbedMolecule(mol: Mol, params: EmbedParameters) -> int: ...
@overload
def EmbedMolecule(mol: Mol, *, randomSeed: int = -1) -> int: ...
