"""PubChem's formula search: exact counts (`C9H8O4`), ranges (`C6-8H10-`), and elements besides those that are named."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property

from .fault import unsearchable
from .sample import Sample

__all__ = ["Formulas"]

_PART = re.compile(r"([A-Z][a-z]?)(\d*)(-?)(\d*)")

# Bounds of one element: least and most, where None is without end.
Bounds = tuple[int, int | None]

_ELEMENTS = frozenset(
    re.findall(
        r"[A-Z][a-z]?",
        "HHeLiBeBCNOFNeNaMgAlSiPSClArKCaScTiVCrMnFeCoNiCuZnGaGeAsSeBrKrRbSrYZrNbMoTcRuRhPdAgCdInSnSbTeIXeCsBaLaCePrNd"
        "PmSmEuGdTbDyHoErTmYbLuHfTaWReOsIrPtAuHgTlPbBiPoAtRnFrRaAcThPaUNpPuAmCmBkCfEsFmMdNoLrRfDbSgBhHsMtDsRgCnNhFlMc"
        "LvTsOg",
    )
)


class Formulas:
    """Searches the sample's formulas; charges are ignored."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample

    def search(self, query: str, *, other_elements: bool) -> list[int]:
        """The matching CIDs by rising number.

        A query of blanks alone matches whatever is there, which is what PubChem does.

        Raises:
            PugError: The query is no formula.
        """
        if not query.strip():
            return list(self._sample.cids)
        bounds = _bounds(query.strip())
        return [
            cid
            for cid, counts in self._counts
            if (other_elements or counts.keys() <= bounds.keys())
            and all(_within(counts.get(element, 0), allowed) for element, allowed in bounds.items())
        ]

    @cached_property
    def _counts(self) -> list[tuple[int, dict[str, int]]]:
        formulas = zip(self._sample.cids, self._sample.column("MolecularFormula"), strict=True)
        return [
            (cid, {e: int(n or 1) for e, n, *_ in _PART.findall(re.sub(r"[+-]\d*$", "", text))})
            for cid, text in formulas
        ]


def _within(count: int, allowed: Bounds) -> bool:
    least, most = allowed
    return count >= least and (most is None or count <= most)


def _bounds(query: str) -> dict[str, Bounds]:
    if not re.fullmatch(rf"(?:{_PART.pattern})+", query):
        raise unsearchable()
    exact: Counter[str] = Counter()
    ranges: dict[str, Bounds] = {}
    for element, least, dash, most in _PART.findall(query):
        if element not in _ELEMENTS:
            raise unsearchable()
        if dash:
            ranges[element] = int(least or 0), int(most) if most else None
        else:
            exact[element] += int(least or 1)
    return {**{element: (count, count) for element, count in exact.items()}, **ranges}
