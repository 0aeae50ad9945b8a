from rdkit.Chem.rdchem import Mol

class RDKitMoleculeSetup: ...

class MoleculePreparation:
    def prepare(self, mol: Mol) -> list[RDKitMoleculeSetup]: ...

class PDBQTWriterLegacy:
    @classmethod
    def write_string(cls, setup: RDKitMoleculeSetup) -> tuple[str, bool, str]: ...
