"""Structure searches over the sample, with RDKit.

Matches of a substructure or superstructure search come by rising CID; those of a similarity search by falling
similarity, then by rising CID. Charge, isotope and stereo of a target are ignored, as PubChem's defaults do.

Similarity is Tanimoto over RDKit's 2048-bit pattern fingerprint. PubChem uses its own 881 keys, so a threshold does
not give the same compounds here as there; both are counts of small patterns, and about as strict.

Importing this module imports RDKit (a third of a second); building takes about a second and a half more. The routes do
both in a worker thread when the first structure comes.
"""

from __future__ import annotations

from functools import cache, cached_property
from threading import Lock
from typing import Final

from rdkit import Chem, DataStructs, RDLogger
from rdkit.Chem.rdchem import Mol
from rdkit.Chem.rdSubstructLibrary import AddPatterns, MolHolder, PatternHolder, SubstructLibrary

from .fault import not_standardized, unsearchable
from .sample import Sample, sample

__all__ = ["Structures", "structures"]

# What RDKit thinks of a caller's SMILES is answered as a fault, not logged.
RDLogger.DisableLog("rdApp.*")


# Bounds on a query, so that none holds a thread for long: PubChem has no compound of more atoms.
_LONGEST: Final = 20_000
_ATOMS: Final = 1_000

_building = Lock()


@cache
def structures() -> Structures:
    """The searches of the process's sample, so that what they build is built once."""
    return Structures(sample())


class Structures:
    """Finds compounds of the sample by structure; thread-safe once built."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample

    def identify(self, structure: str, notation: str) -> list[int]:
        """The compounds of exactly this structure: `[0]` when it is readable and not in the sample.

        Raises:
            PugError: 400, the structure cannot be read, or has an atom that is no element.
        """
        molecule = _read(structure, notation)
        key = Chem.MolToInchiKey(molecule) if molecule and _is_compound(molecule) else ""
        if not key:
            raise not_standardized()
        return self._sample.by_inchikey(key) or [0]

    def search(self, kind: str, structure: str, notation: str, *, threshold: int) -> list[int]:
        """The matches of `substructure`, `superstructure` or `similarity`; `threshold` is in percent.

        Raises:
            PugError: 500, the query cannot be searched with.
        """
        query = _read(self._of_cid(structure) if notation == "cid" else structure, notation)
        if query is None or not query.GetNumAtoms() or (notation != "smarts" and not _is_compound(query)):
            raise unsearchable()
        if kind == "substructure":
            return self._having(query)
        if notation == "smarts":
            raise unsearchable()
        return self._within(query) if kind == "superstructure" else self._like(query, threshold)

    def _of_cid(self, cid: str) -> str:
        if not cid.isdecimal() or int(cid) not in self._sample:
            raise unsearchable()
        return self._sample.text(int(cid), "RDKitSMILES")

    def _having(self, query: Mol) -> list[int]:
        rows = self._library.GetMatches(query, useChirality=False, numThreads=2, maxResults=len(self._library))
        return [self._sample.cids[row] for row in sorted(rows)]

    def _within(self, query: Mol) -> list[int]:
        shares = DataStructs.BulkTverskySimilarity(Chem.PatternFingerprint(query), self._fingerprints, 0.0, 1.0)
        return [
            self._sample.cids[row]
            for row, share in enumerate(shares)
            if share == 1.0 and query.HasSubstructMatch(self._library.GetMol(row))
        ]

    def _like(self, query: Mol, threshold: int) -> list[int]:
        scores = DataStructs.BulkTanimotoSimilarity(Chem.PatternFingerprint(query), self._fingerprints)
        near = [(-score, self._sample.cids[row]) for row, score in enumerate(scores) if score * 100 >= threshold]
        return [cid for _, cid in sorted(near)]

    @property
    def _library(self) -> SubstructLibrary:
        with _building:
            return self._built

    @cached_property
    def _built(self) -> SubstructLibrary:
        library = SubstructLibrary(MolHolder())
        for smiles in self._sample.column("RDKitSMILES"):
            library.AddMol(_trusted(smiles))
        AddPatterns(library, 2)
        return library

    @cached_property
    def _fingerprints(self) -> list[DataStructs.ExplicitBitVect]:
        patterns: PatternHolder = self._library.GetFpHolder()
        return [patterns.GetFingerprint(row) for row in range(len(self._library))]


def _trusted(smiles: str) -> Mol:
    """Reads SMILES that RDKit wrote, aromatic and valid as it stands: a third faster than reading any SMILES."""
    parameters = Chem.SmilesParserParams()
    parameters.sanitize = False
    molecule = Chem.MolFromSmiles(smiles, parameters)
    assert molecule is not None, "RDKit wrote it"
    molecule.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(molecule)
    return molecule


def _read(structure: str, notation: str) -> Mol | None:
    if len(structure) > _LONGEST:
        return None
    match notation:
        case "smarts":
            return Chem.MolFromSmarts(structure)
        case "inchi":
            return Chem.MolFromInchi(structure)
        case _:
            return Chem.MolFromSmiles(structure.strip()) if structure.strip() else None


def _is_compound(molecule: Mol) -> bool:
    return 0 < molecule.GetNumAtoms() <= _ATOMS and all(atom.GetAtomicNum() for atom in molecule.GetAtoms())
