"""The table of a compound's assay results (`assaysummary`), parsed into assays and their targets.

One row is one readout of one test, so an assay has many: replicates, several readouts, several targets. Columns are
found by their names; every one but AID may be missing, and cells may be text, numbers or null. Tables reach tens of
thousands of rows: a row costs a few dictionary look-ups, and results for the wire are made of one page only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final, NamedTuple, cast

from pydantic_core import from_json

from scigate_pubchem.accession import normalized
from scigate_pubchem.faults import UnexpectedAnswer

__all__ = ["Assay", "AssayTable", "Measurement", "Target"]

UNSPECIFIED: Final = "Unspecified"
"""PubChem's own word for an outcome that nobody stated; stands where the cell is empty."""

# The names of today first, then those of older tables.
_COLUMNS: Final = {
    "aid": ("AID",),
    "outcome": ("Activity Outcome", "Bioactivity Outcome"),
    "accession": ("Target Accession",),
    "gene": ("Target GeneID",),
    "readout": ("Activity Name", "Activity Type"),
    "name": ("Assay Name",),
    "kind": ("Assay Type", "Bioassay Type"),
    "papers": ("PubMed ID",),
}
_VALUE: Final = re.compile(r"Activity Value\s*(?:\[(.*)\])?")
"""The heading of the values holds their unit: `Activity Value [uM]`."""

_DIGITS: Final = re.compile(r"[0-9]+")


class Measurement(NamedTuple):
    """One measured value; its name and unit are None where the table gives none."""

    value: float
    name: str | None
    unit: str | None


@dataclass(slots=True)
class Target:
    """What one assay says of one target.

    Attributes:
        accession: Protein accession, normalized; None when no row names one.
        gene: NCBI Gene ID; None when no row names one.
        outcome: As PubChem writes it, by the target's first row.
        measured: Distinct values in the order of their rows.
    """

    accession: str | None
    gene: int | None
    outcome: str
    measured: dict[Measurement, None] = field(default_factory=dict[Measurement, None])


@dataclass(slots=True)
class Assay:
    """One assay that tested the compound.

    Attributes:
        aid: Assay number.
        name: Title; "" when the table gives none.
        kind: Confirmatory, Screening, Summary or Other, as written; "" when not recorded.
        targets: At least one, in the order of the rows; an assay without any has one that names nothing.
        papers: PubMed IDs, as found.
    """

    aid: int
    name: str
    kind: str = ""
    targets: list[Target] = field(default_factory=list[Target])
    papers: set[int] = field(default_factory=set[int])

    @property
    def pmids(self) -> list[int]:
        """The PubMed IDs that it cites, largest first."""
        return sorted(self.papers, reverse=True)


@dataclass(slots=True)
class AssayTable:
    """All assays of a compound, and which genes and accessions its rows name together.

    Attributes:
        assays: In the order of their first rows.
        accessions_of: For each gene, the accessions in rows with it.
        genes_of: For each accession, the genes in rows with it.
    """

    assays: list[Assay] = field(default_factory=list[Assay])
    accessions_of: dict[int, dict[str, None]] = field(default_factory=dict[int, dict[str, None]])
    genes_of: dict[str, dict[int, None]] = field(default_factory=dict[str, dict[int, None]])

    @classmethod
    def parse(cls, body: bytes) -> AssayTable:
        """Read the JSON answer.

        Raises:
            UnexpectedAnswer: It is no JSON, or no table with a column AID.
        """
        header, rows = _table(body)
        return _Reader(header).read(rows)


def _table(body: bytes) -> tuple[list[str], Iterator[list[Any]]]:
    try:
        table = from_json(body)["Table"]
        header = [str(name).strip() for name in table["Columns"]["Column"]]
        cells: list[Any] = [row["Cell"] for row in table.get("Row", ())]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnexpectedAnswer("it is no Table of Columns and Rows") from error
    if not all(type(row) is list for row in cells):
        raise UnexpectedAnswer("a Row of its Table has no list of cells")
    if "AID" not in header:
        raise UnexpectedAnswer("its Table has no column AID")
    return header, _padded(cells, len(header))


def _padded(rows: list[list[Any]], width: int) -> Iterator[list[Any]]:
    """Rows as wide as the header, and one cell more: it stands for every column that is not there."""
    for row in rows:
        if len(row) != width:
            row[width:] = [None] * (width - len(row))
        row.append(None)
        yield row


class _Reader:
    """Turns rows into assays; keeps what was read of repeated cells, which most are."""

    def __init__(self, header: Sequence[str]) -> None:
        absent = len(header)
        columns = [
            next((header.index(name) for name in names if name in header), absent) for names in _COLUMNS.values()
        ]
        values = [(index, found[1]) for index, name in enumerate(header) if (found := _VALUE.match(name))]
        value, unit = values[0] if values else (absent, None)
        self._cells = itemgetter(*columns, value)
        self._unit = unit.strip() or None if unit else None
        self._numbers: dict[Any, int | None] = {}
        self._accessions: dict[Any, str | None] = {}

    def read(self, rows: Iterator[list[Any]]) -> AssayTable:
        table = AssayTable()
        assays: dict[int, Assay] = {}
        targets: dict[tuple[int, str | None, int | None], Target] = {}
        for row in rows:
            aid_cell, outcome, accession_cell, gene_cell, readout, name, kind, papers, value_cell = self._cells(row)
            if (aid := self._number(aid_cell)) is None:
                continue
            if (assay := assays.get(aid)) is None:
                assay = assays[aid] = Assay(aid, _text(name))
            if not assay.name and name:
                assay.name = _text(name)
            if not assay.kind and kind:
                assay.kind = _text(kind)
            if papers:
                assay.papers.update(_papers(papers))
            accession, gene = self._accession(accession_cell), self._number(gene_cell)
            key = (aid, accession, gene)
            if (target := targets.get(key)) is None:
                target = targets[key] = Target(accession, gene, _text(outcome) or UNSPECIFIED)
                if accession is not None or gene is not None:
                    assay.targets.append(target)
                if accession is not None and gene is not None:
                    table.accessions_of.setdefault(gene, {})[accession] = None
                    table.genes_of.setdefault(accession, {})[gene] = None
            if (value := _value(value_cell)) is not None:
                target.measured[Measurement(value, _text(readout) or None, self._unit)] = None
        for aid, assay in assays.items():
            _settle(assay, targets.get((aid, None, None)))
        table.assays = list(assays.values())
        return table

    def _number(self, cell: Any) -> int | None:
        """The cell as a whole number from 1; None for anything else."""
        try:
            return self._numbers[cell]
        except (KeyError, TypeError):
            number = _whole(cell)
            if not isinstance(cell, (list, dict)):
                self._numbers[cell] = number
            return number

    def _accession(self, cell: Any) -> str | None:
        if cell is None or cell == "":
            return None
        try:
            return self._accessions[cell]
        except (KeyError, TypeError):
            accession = normalized(_text(cell)) or None
            if not isinstance(cell, (list, dict)):
                self._accessions[cell] = accession
            return accession


def _settle(assay: Assay, untargeted: Target | None) -> None:
    """Give rows that name no target their place: they are the assay's one target, or belong to its first."""
    if untargeted is None:
        return
    if assay.targets:
        assay.targets[0].measured.update(untargeted.measured)
    else:
        assay.targets.append(untargeted)


def _whole(cell: Any) -> int | None:
    if type(cell) is str:
        text = cell.strip()
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
    elif type(cell) is int or (type(cell) is float and cell.is_integer()):
        number = int(cast("float", cell))
    else:
        number = 0
    return number if number > 0 else None


def _value(cell: Any) -> float | None:
    """The number in a cell; None for blanks, words and infinities, of which none is 0."""
    if cell is None or cell == "" or type(cell) is bool:
        return None
    try:
        value = float(cell)
    except (ValueError, TypeError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def _papers(cell: Any) -> Iterator[int]:
    """Every number in a cell of PubMed IDs; whether one cell can hold several is not documented."""
    numbers = (int(digits) for digits in _DIGITS.findall(_text(cell)) if len(digits) < 16)
    return (number for number in numbers if number)


def _text(cell: Any) -> str:
    if type(cell) is str:
        return cell.strip()
    if type(cell) is float and cell.is_integer():
        return str(int(cell))
    return "" if cell is None or isinstance(cell, (list, dict)) else str(cell)
