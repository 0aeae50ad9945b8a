"""Links between the sample's records: which resemble each other, and which cite which.

Neither is a fact of PubMed. Records resemble each other by their headings and the words of their titles; an article is
said to cite the nearest older ones. All answers are marked as sample data.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import log

from scigate_pubmed.emulator.corpus import Record

_SIMILAR = 60
_CITED = 6
_LONG_WORD = 5


class Neighbours:
    """The links of one sample, worked out when first asked for; all give PMIDs, the nearest first."""

    def __init__(self, sample: Sequence[Record]) -> None:
        self._sample = sample
        self._by_pmid = {record.pmid: record for record in sample}

    def similar(self, pmid: str) -> list[str]:
        """Records that share rare headings or words, the record itself first, as PubMed has it."""
        if pmid not in self._by_pmid:
            return []
        scores: dict[str, float] = defaultdict(float)
        for mark in _marks(self._by_pmid[pmid]):
            bearers = self._bearers[mark]
            for other in bearers:
                scores[other] += log(len(self._sample) / len(bearers))
        scores.pop(pmid, None)
        ranked = sorted(scores, key=lambda other: (-scores[other], int(other)))
        return [pmid, *ranked[:_SIMILAR]]

    def references(self, pmid: str) -> list[str]:
        """What the record cites, where it is in PMC: PubMed has no reference lists of others."""
        record = self._by_pmid.get(pmid)
        return self._cited[pmid] if record and record.pmcid else []

    def citing(self, pmid: str) -> list[str]:
        """What cites the record, newest first."""
        found = [other for other, cited in self._cited.items() if pmid in cited]
        return sorted(found, key=lambda other: self._by_pmid[other].date, reverse=True)

    @cached_property
    def _bearers(self) -> Mapping[str, list[str]]:
        bearers: dict[str, list[str]] = defaultdict(list)
        for record in self._sample:
            for mark in _marks(record):
                bearers[mark].append(record.pmid)
        return bearers

    @cached_property
    def _cited(self) -> Mapping[str, list[str]]:
        return {
            record.pmid: [one for one in self.similar(record.pmid) if self._by_pmid[one].date < record.date][:_CITED]
            for record in self._sample
        }


def _marks(record: Record) -> set[str]:
    words = {word for word in record.texts["title"].split() if len(word) >= _LONG_WORD}
    return words | {f"mesh {heading.name}" for heading in record.headings}
