"""Which targets a gene and an accession mean, by what the compound's own table pairs.

A row that names both a Gene ID and an accession pairs the two; there is no mapping from outside. Assays of one target
are recorded under either, so a filter by one must find what is recorded under the other alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scigate_pubchem.accession import normalized
from scigate_pubchem.assaysummary import AssayTable, Target

__all__ = ["TargetFilter"]


@dataclass(frozen=True, slots=True)
class TargetFilter:
    """The identifiers that stand for the target asked for.

    Attributes:
        genes: Gene IDs, the given one first.
        accessions: Accessions, the given one first.
        conflict: Why a gene and an accession given together match nothing: the table pairs one of them with something
            else (`different`), or neither with anything (`unpaired`). None when they are one target.
    """

    genes: tuple[int, ...]
    accessions: tuple[str, ...]
    conflict: Literal["different", "unpaired"] | None = None

    @classmethod
    def of(cls, table: AssayTable, gene: int | None, accession: str | None) -> TargetFilter | None:
        """The filter for what a caller gave; None when that is neither."""
        if accession is None:
            return None if gene is None else cls((gene,), tuple(table.accessions_of.get(gene, ())))
        accession = normalized(accession)
        paired = table.genes_of.get(accession, {})
        if gene is None:
            # A gene's further accessions are reached too.
            reached = [other for one in paired for other in table.accessions_of[one]]
            return cls(tuple(paired), tuple(dict.fromkeys((accession, *reached))))
        if gene in paired:
            # Both hold: what has another gene of this accession is not the gene that was asked for.
            return cls((gene,), tuple(dict.fromkeys((accession, *table.accessions_of[gene]))))
        tied = bool(paired) or gene in table.accessions_of
        return cls((gene,), (accession,), "different" if tied else "unpaired")

    def matches(self, target: Target) -> bool:
        """Whether the target is meant: by its gene, or by its accession where it names no gene."""
        if self.conflict is not None:
            return False
        if target.gene is not None:
            return target.gene in self.genes
        return target.accession in self.accessions

    def __str__(self) -> str:
        parts = [f"GeneID:{gene}" for gene in self.genes]
        return " ".join([*parts, *(f"accession:{accession}" for accession in self.accessions)])
