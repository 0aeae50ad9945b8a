from rdkit.Chem.rdchem import Mol

class CleanupParameters:
    preferOrganic: bool

class LargestFragmentChooser:
    def __init__(self, params: CleanupParameters, /) -> None: ...
    def choose(self, mol: Mol, /) -> Mol: ...
