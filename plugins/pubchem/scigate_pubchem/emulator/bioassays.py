"""Bioassays of the sample's targets, made when the emulator starts; `data/BIOASSAYS.md` tells what is made up.

For each target there is a confirmatory assay with values, a screen whose rows name the gene alone or the accession
alone, for some a summary and an assay under a second accession; panels have many targets, and one assay has none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from .sample import Sample, Screen
from .targets import Target, Targets

__all__ = ["COLUMNS", "Bioassays", "table"]

COLUMNS: Final = (
    "AID", "Panel Member ID", "SID", "CID", "Activity Outcome", "Target Accession", "Target GeneID",
    "Activity Value [uM]", "Activity Name", "Assay Name", "Assay Type", "PubMed ID", "RNAi",
)  # fmt: skip
"""Those that a public client saw in August 2026."""

_SOURCE: Final = "scigate sample data"
_NOTE: Final = "This is sample data, not a measurement."
_FIRST_AID: Final = 910_000_000
_FIRST_PAPER: Final = 990_000_001
_FIRST_SID: Final = 1_900_000_000
_DECOYS: Final = 3

_PANELS: Final = {
    "cyclooxygenases": ("PTGS1", "PTGS2", "Ptgs1"),
    "aminergic receptors": ("DRD2", "HTR2A", "SLC6A4", "HRH1", "HRH2"),
    "beta adrenoceptors": ("ADRB1", "ADRB2"),
    "steroid receptors": ("ESR1", "AR", "NR3C1", "PGR"),
    "cytochromes": ("CYP2C9", "CYP3A4"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a compound's table; "" is an empty cell."""

    aid: int
    cid: int
    outcome: str
    name: str
    kind: str
    accession: str = ""
    gene: int | str = ""
    value: str = ""
    readout: str = ""
    member: int | str = ""
    paper: int | str = ""

    @property
    def cells(self) -> list[str]:
        cells = (
            *(self.aid, self.member, _FIRST_SID + self.cid, self.cid, self.outcome, self.accession, self.gene),
            *(self.value, self.readout, self.name, self.kind, self.paper, ""),
        )
        return [str(cell) for cell in cells]


class Bioassays:
    """The assays by number, by target and by compound."""

    def __init__(self, sample: Sample, targets: Targets) -> None:
        self._compounds = {name: sample.by_name(name)[0] for target in targets.all for name in target.ligands}
        self._targets = targets.all
        self._rows: dict[int, list[Row]] = defaultdict(list)
        for row in self._made():
            self._rows[row.cid].append(row)
        self.screens = self._screens()

    def rows(self, cid: int) -> list[Row]:
        """The compound's rows, in the order of the assays' numbers."""
        return sorted(self._rows.get(cid, ()), key=lambda row: row.aid)

    def against(self, kind: str, query: str) -> list[int]:
        """Numbers of the assays against a target; `kind` is PUG REST's word for what `query` is."""
        wanted = query.casefold()
        genes = {
            target.gene
            for target in self._targets
            if (kind == "genesymbol" and target.symbol.casefold() == wanted)
            or (kind == "proteinname" and target.name.casefold() == wanted)
            or (kind == "geneid" and str(target.gene) == query.lstrip("0"))
            or (kind == "accession" and query in (target.accession, target.further))
        }
        # The rows of a screen name one of the two; which target it has is known all the same.
        accessions = {
            accession
            for target in self._targets
            if target.gene in genes
            for accession in (target.accession, target.further)
            if accession
        }
        rows = (row for rows in self._rows.values() for row in rows)
        return sorted({row.aid for row in rows if row.gene in genes or row.accession in accessions})

    def _made(self) -> Iterator[Row]:
        for index, target in enumerate(self._targets):
            yield from self._of_target(index, target)
        for index, (name, symbols) in enumerate(_PANELS.items(), start=1):
            members = [target for target in self._targets if target.symbol in symbols]
            yield from self._panel(_FIRST_AID + 1_000_000 + index, f"Sample panel: {name}", members)
        yield from self._without_target(_FIRST_AID + 2_000_001)

    def _of_target(self, index: int, target: Target) -> Iterator[Row]:
        aid = _FIRST_AID + 10 * index
        confirmatory = f"Sample assay: inhibition of {target.name}"
        for cid, active in self._tested(index, target):
            row = Row(aid + 1, cid, _outcome(active), confirmatory, "Confirmatory", target.accession, target.gene)
            row = replace(row, paper=_FIRST_PAPER + index)
            yield replace(row, value=_value(cid, target, active), readout="IC50")
            if active and cid % 2:
                # A replicate of the same value, and a second readout.
                yield replace(row, value=_value(cid, target, active), readout="IC50", paper=_FIRST_PAPER + 500 + index)
                yield replace(row, value=_value(cid + 1, target, active), readout="Ki")
            screened = Row(aid + 2, cid, _outcome(active), f"Sample screen: {target.name}", "Screening")
            yield replace(screened, gene=target.gene) if index % 2 else replace(screened, accession=target.accession)
            if index % 3 == 0:
                summary = f"Sample summary: {target.name}"
                yield Row(aid + 3, cid, _outcome(active), summary, "Summary", target.accession, target.gene)
            if target.further:
                bound = Row(aid + 4, cid, _outcome(active), f"Sample assay: binding to {target.name}", "Other")
                # One row pairs the second accession with the gene; the others name it alone.
                gene = target.gene if cid == self._compounds[target.ligands[0]] else ""
                yield replace(
                    bound, accession=target.further, gene=gene, readout="Kd", value=_value(cid, target, active)
                )

    def _tested(self, index: int, target: Target) -> Iterator[tuple[int, bool]]:
        """The target's ligands, and a few ligands of others that are none of its own."""
        ligands = [self._compounds[name] for name in target.ligands]
        yield from ((cid, True) for cid in ligands)
        others = [self._compounds[name] for other in self._targets[index + 1 :] for name in other.ligands]
        decoys = dict.fromkeys(cid for cid in [*others, *self._compounds.values()] if cid not in ligands)
        yield from ((cid, False) for cid in list(decoys)[:_DECOYS])

    def _panel(self, aid: int, name: str, members: list[Target]) -> Iterator[Row]:
        cids = dict.fromkeys(self._compounds[ligand] for target in members for ligand in target.ligands)
        for cid in cids:
            for member, target in enumerate(members, start=1):
                active = cid in {self._compounds[ligand] for ligand in target.ligands}
                row = Row(aid, cid, _outcome(active), name, "Other", target.accession, target.gene, member=member)
                yield replace(row, readout="Ki", value=_value(cid, target, active)) if active else row

    def _without_target(self, aid: int) -> Iterator[Row]:
        for cid in dict.fromkeys(self._compounds.values()):
            yield Row(aid, cid, "Unspecified", "Sample assay: viability of cells", "", value="10" if cid % 3 else "")

    def _screens(self) -> dict[int, Screen]:
        """Each assay as its own domain tells it."""
        by_aid: dict[int, list[Row]] = defaultdict(list)
        for rows in self._rows.values():
            for row in rows:
                by_aid[row.aid].append(row)
        return {aid: self._screen(rows) for aid, rows in sorted(by_aid.items())}

    def _screen(self, rows: list[Row]) -> Screen:
        active = {row.cid for row in rows if row.outcome == "Active"}
        inactive = {row.cid for row in rows if row.outcome == "Inactive"} - active
        named = {accession: None for row in rows if (accession := row.accession)}
        known = {accession: target for target in self._targets for accession in (target.accession, target.further)}
        return Screen(
            rows[0].aid,
            rows[0].name,
            _SOURCE,
            [_NOTE, "Active stands for a compound that is known as a ligand; values are computed from identifiers."],
            sorted(active),
            sorted(inactive),
            sorted({row.cid for row in rows} - active - inactive),
            tuple({"Accession": accession, "Name": known[accession].name} for accession in named),
        )


def table(rows: Iterable[list[str]]) -> dict[str, Any]:
    """The answer of `assaysummary` with these rows of cells."""
    return {"Table": {"Columns": {"Column": list(COLUMNS)}, "Row": [{"Cell": cells} for cells in rows]}}


def _outcome(active: bool) -> str:
    return "Active" if active else "Inactive"


def _value(cid: int, target: Target, active: bool) -> str:
    """A number for show, below 10 for ligands and far above for others."""
    number = (cid * 7 + target.gene * 13) % 997 + 3
    return f"{number / 100:g}" if active else str(number * 10)
