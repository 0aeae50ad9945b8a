"""The sample's cross-references: CAS and EC numbers from its names, genes and taxa of its bioassays, others made up."""

from __future__ import annotations

import re
from typing import Any, Final

from .bioassays import Bioassays
from .sample import Sample
from .targets import Targets

__all__ = ["KINDS", "CrossReferences"]

KINDS: Final = ("RegistryID", "RN", "PubMedID", "PatentID", "GeneID", "ProteinGI", "TaxonomyID")

_CAS: Final = re.compile(r"\d{2,7}-\d\d-\d")
_EC: Final = re.compile(r"(?:EINECS |EC )?(\d{3}-\d{3}-\d)")

# Far above the numbers that have been given out.
_FIRST_PAPER: Final = 980_000_001


class CrossReferences:
    """What a compound is called elsewhere, by kind."""

    def __init__(self, sample: Sample, bioassays: Bioassays, targets: Targets) -> None:
        self._sample = sample
        self._bioassays = bioassays
        self._taxa = {str(target.gene): target.taxon for target in targets.all}

    def ids(self, cid: int, kind: str) -> list[Any]:
        """The identifiers of a kind; none for a compound that is not in the sample."""
        if cid not in self._sample:
            return []
        names = self._sample.synonyms(cid)
        match kind:
            case "RN":
                found = [name for name in names if _CAS.fullmatch(name)]
                return found + [ec[1] for name in names if (ec := _EC.fullmatch(name))]
            case "RegistryID":
                return [f"SAMPLE-{cid}-{number}" for number in range(1, cid % 40 + 2)]
            case "PatentID":
                return [f"XX-{cid}-{number}-A1" for number in range(1, cid % 7 + 1)]
            case "PubMedID":
                return [_FIRST_PAPER + cid % 1000 * 100 + number for number in range(cid % 900)]
            case "GeneID" | "TaxonomyID":
                return self._of_targets(cid, kind)
            case _:
                return []

    def _of_targets(self, cid: int, kind: str) -> list[int]:
        genes = dict.fromkeys(row.gene for row in self._bioassays.rows(cid) if row.gene)
        if kind == "GeneID":
            return [int(gene) for gene in genes]
        return list(dict.fromkeys(self._taxa[str(gene)] for gene in genes))
