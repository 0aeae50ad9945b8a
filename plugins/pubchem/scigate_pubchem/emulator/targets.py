"""Genes, proteins and taxa of the sample; `data/BIOASSAYS.md` tells which of it are documented facts."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, Final

__all__ = ["Target", "Targets"]

_RANKS: Final = ("Superkingdom", "Kingdom", "Phylum", "Class", "Order", "Family", "Genus", "Species")


@dataclass(frozen=True, slots=True)
class Target:
    """One gene with its protein; `further` is a second accession of the same protein, or ""."""

    gene: int
    symbol: str
    accession: str
    further: str
    name: str
    taxon: int
    synonyms: list[str]
    ligands: list[str]


class Targets:
    """All of them, and their summaries as PUG REST gives them."""

    def __init__(self) -> None:
        self.all = [
            Target(
                int(row["GeneID"]),
                row["Symbol"],
                row["Accession"],
                row["Further"],
                row["Name"],
                int(row["TaxonomyID"]),
                row["Synonyms"].split("|"),
                row["Ligands"].split("|"),
            )
            for row in _rows("targets.tsv")
        ]

    def genes(self) -> dict[str, dict[str, Any]]:
        """By Gene ID."""
        return {
            str(target.gene): {
                "GeneID": target.gene,
                "Symbol": target.symbol,
                "Name": target.name,
                "TaxonomyID": target.taxon,
                "Taxonomy": self._organism(target.taxon),
                "Description": f"Sample text: {target.symbol} codes for {target.name}.",
                "Synonym": target.synonyms,
            }
            for target in self.all
        }

    def proteins(self) -> dict[str, dict[str, Any]]:
        """By accession."""
        return {
            accession: {
                "ProteinAccession": accession,
                "Name": target.name,
                "TaxonomyID": target.taxon,
                "Taxonomy": self._organism(target.taxon),
                "Synonym": [target.symbol, *target.synonyms],
            }
            for target in self.all
            for accession in (target.accession, target.further)
            if accession
        }

    def taxa(self) -> dict[str, dict[str, Any]]:
        """By Taxonomy ID."""
        return {
            taxid: {
                "TaxonomyID": int(taxid),
                "ScientificName": row["ScientificName"],
                "CommonName": row["CommonName"],
                "Rank": row["Rank"],
                # The service begins with the species and leaves ranks that do not exist blank.
                "RankedLineage": {rank: row[rank] for rank in reversed(_RANKS)},
                "Synonym": [name for name in row["Synonyms"].split("|") if name],
            }
            for taxid, row in self._taxa.items()
        }

    def _organism(self, taxon: int) -> str:
        row = self._taxa[str(taxon)]
        return f"{row['ScientificName']} ({row['CommonName']})"

    @cached_property
    def _taxa(self) -> dict[str, dict[str, str]]:
        return {row["TaxonomyID"]: row for row in _rows("taxa.tsv")}


def _rows(name: str) -> list[dict[str, str]]:
    text = files("scigate_pubchem").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t"))
