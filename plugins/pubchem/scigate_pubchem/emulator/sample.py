"""The sample: ten thousand compounds and a few screens, held by columns, looked up without RDKit.

Above are the PUG REST routes. Below is the package's data, whose origin `data/SOURCES.md` tells.
"""

from __future__ import annotations

import json
import lzma
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from threading import Lock
from typing import Any, Final

__all__ = ["PROPERTIES", "RENAMED", "Sample", "Screen", "sample"]

# Asked name to answered name, where they differ (PUG REST since mid-2025).
RENAMED: Final = {"CanonicalSMILES": "ConnectivitySMILES", "IsomericSMILES": "SMILES"}

# What PubChem answers as text; weights and masses are text so that digits are kept.
_TEXTS: Final = (
    "MolecularFormula", "MolecularWeight", "SMILES", "ConnectivitySMILES", "InChI", "InChIKey", "IUPACName", "Title",
    "ExactMass", "MonoisotopicMass",
)  # fmt: skip
_NUMBERS: Final = (
    "TPSA", "Charge", "HBondDonorCount", "HBondAcceptorCount", "RotatableBondCount", "HeavyAtomCount",
    "IsotopeAtomCount", "AtomStereoCount", "DefinedAtomStereoCount", "UndefinedAtomStereoCount", "BondStereoCount",
    "DefinedBondStereoCount", "UndefinedBondStereoCount", "CovalentUnitCount", "XLogP", "Complexity",
)  # fmt: skip
# No compound of the sample has a value for these, and a property without a value is left out. XLogP and Complexity,
# which PubChem computes with software of its own, have values for a few well-known compounds only.
_UNKNOWN: Final = ("Volume3D",)

# How many of a compound's names are its chief ones: the title and the first synonyms.
_CHIEF: Final = 6

# Every name that a property table may ask for.
PROPERTIES: Final = frozenset((*_TEXTS, *_NUMBERS, *_UNKNOWN, *RENAMED))


@dataclass(frozen=True, slots=True)
class Screen:
    """One sample assay; `active`, `inactive` and `undecided` are CIDs by rising number."""

    aid: int
    name: str
    source: str
    description: list[str]
    active: list[int]
    inactive: list[int]
    undecided: list[int] = field(default_factory=list[int])
    targets: tuple[dict[str, str], ...] = ()

    @property
    def tested(self) -> list[int]:
        return sorted([*self.active, *self.inactive, *self.undecided])

    @property
    def summary(self) -> dict[str, Any]:
        """As in `AssaySummaries.AssaySummary[]`; the sample has one substance for each compound."""
        counts = {"All": self.tested, "Active": self.active, "Inactive": self.inactive}
        return {
            "AID": self.aid,
            "SourceName": self.source,
            "Name": self.name,
            "Description": self.description,
            **{f"{kind}Count{which}": len(cids) for kind in ("SID", "CID") for which, cids in counts.items()},
            **({"Target": list(self.targets)} if self.targets else {}),
        }


class Sample:
    """The compounds, by CID, name, InChIKey, InChI and SMILES."""

    def __init__(self, columns: dict[str, list[str]], screens: Iterable[Screen]) -> None:
        self._columns = columns
        self.cids = [int(cid) for cid in columns["CID"]]
        self.row_of = {cid: row for row, cid in enumerate(self.cids)}
        self.screens = {screen.aid: screen for screen in screens}
        self._indexes: dict[str, dict[str, list[int]]] = {}

    def __contains__(self, cid: int) -> bool:
        return cid in self.row_of

    def text(self, cid: int, column: str) -> str:
        return self._columns[column][self.row_of[cid]]

    def column(self, name: str) -> list[str]:
        """A whole column, in the order of `cids`."""
        return self._columns[name]

    def properties(self, cid: int, names: Iterable[str]) -> dict[str, Any]:
        """One row of a property table: `CID` and what is known of `names`, under the names that PubChem answers."""
        row: dict[str, Any] = {"CID": cid}
        at = self.row_of.get(cid)
        if at is None:
            return row
        for asked in names:
            name = RENAMED.get(asked, asked)
            cell = self._columns[name][at] if name not in _UNKNOWN else ""
            if cell:
                row[name] = _number(cell) if name in _NUMBERS else cell
        return row

    def synonyms(self, cid: int) -> list[str]:
        return self.text(cid, "Synonym").split("|") if cid in self.row_of else []

    def by_name(self, name: str) -> list[int]:
        """The compounds of a name, whatever its case; first those that have it among their chief names.

        Within these the compound with the most names leads, so that glucose is D-glucose (5793). PubChem's own order
        goes by how many depositors use the name for the compound.
        """
        return list(dict.fromkeys(cid for _, _, cid in sorted(self._names.get(name.strip().lower(), []))))

    def by_inchikey(self, key: str) -> list[int]:
        return self._index("InChIKey").get(key, [])

    def by_inchi(self, inchi: str) -> list[int]:
        return self._index("InChI").get(inchi, [])

    def by_smiles(self, smiles: str) -> list[int]:
        """Only if it is written as the sample writes it; RDKit finds the others."""
        return self._index("SMILES").get(smiles) or self._index("RDKitSMILES").get(smiles, [])

    def _index(self, column: str) -> dict[str, list[int]]:
        if column not in self._indexes:
            index: defaultdict[str, list[int]] = defaultdict(list)
            for cid, cell in zip(self.cids, self._columns[column], strict=True):
                index[cell].append(cid)
            self._indexes[column] = dict(index)
        return self._indexes[column]

    @cached_property
    def _names(self) -> dict[str, list[tuple[bool, int, int]]]:
        """Each name's compounds: whether it is a lesser name of theirs, minus the number of their names, CID."""
        found: dict[str, list[tuple[bool, int, int]]] = defaultdict(list)
        titles, iupac, synonyms = (self._columns[name] for name in ("Title", "IUPACName", "Synonym"))
        for cid, title, systematic, others in zip(self.cids, titles, iupac, synonyms, strict=True):
            names = f"{title}|{others}|{systematic}".lower().split("|")
            chief, lesser = (False, -len(names), cid), (True, -len(names), cid)
            for name in names[:_CHIEF]:
                found[name].append(chief)
            for name in names[_CHIEF:]:
                found[name].append(lesser)
        found.pop("", None)
        return dict(found)


def _number(cell: str) -> int | float:
    return float(cell) if "." in cell else int(cell)


def _load() -> Sample:
    data = files("scigate_pubchem").joinpath("data")
    lines = lzma.decompress(data.joinpath("compounds.tsv.xz").read_bytes()).decode().splitlines()
    columns = {name: cells for name, *cells in (line.split("\t") for line in lines)}
    screens = [
        Screen(s["AID"], s["Name"], s["SourceName"], s["Description"], s["Active"], s["Inactive"])
        for s in json.loads(data.joinpath("assays.json").read_text(encoding="utf-8"))
    ]
    loaded = Sample(columns, screens)
    loaded.by_name("")  # builds the index of names here, where nobody's event loop waits for it
    return loaded


_loading = Lock()
_loaded: list[Sample] = []


def sample() -> Sample:
    """The sample, read and indexed once a process (a third of a second)."""
    with _loading:
        if not _loaded:
            _loaded.append(_load())
        return _loaded[0]
