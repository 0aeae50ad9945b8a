"""A bioactivity table of any size, like those of much-tested compounds, for benchmarks and tests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from .bioassays import table

__all__ = ["large_table"]


def large_table(rows: int, cid: int = 1) -> dict[str, Any]:
    """The answer of `assaysummary` with so many rows, the same ones every time.

    Two rows in three open a new assay; the others are replicates, further readouts and further targets. A row in four
    names no target, one in eight the gene or the accession alone, and half have no value.
    """
    return table(_rows(random.Random(20_000), rows, cid))


def _rows(chance: random.Random, rows: int, cid: int) -> Iterator[list[str]]:
    aid = 0
    for index in range(rows):
        if aid == 0 or chance.random() < 2 / 3:
            aid = 1_000_000 + index
        number = chance.randrange(1, 800)
        accession, gene = f"P{10_000 + number}", str(5_000 + number)
        match index % 8:
            case 0 | 1:
                accession = gene = ""
            case 2:
                accession = ""
            case 3:
                gene = ""
            case _:
                pass
        value, readout = (f"{chance.uniform(0.001, 90):.4g}", "IC50") if chance.random() < 0.5 else ("", "")
        yield [
            *(str(aid), "", str(100_000_000 + index), str(cid), chance.choice(("Active", "Inactive", "Unspecified"))),
            *(accession, gene, value, readout),
            f"Sample assay {aid}: inhibition of the sample's target {number}, measured after 30 min by fluorescence",
            chance.choice(("Confirmatory", "Screening", "Other", "")),
            str(30_000_000 + number) if chance.random() < 0.3 else "",
            "",
        ]
