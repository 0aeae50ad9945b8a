"""What ECitMatch is asked and answers: one line a citation, fields separated by `|`.

    journal|year|volume|first page|author|key|      asked
    journal|year|volume|first page|author|key|PMID  answered; or AMBIGUOUS ..., NOT_FOUND...

Lines are told apart by keys of our own: an answer may leave lines out, and two citations may bear one label.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from scigate_pubmed.errors import NcbiUnreadable

_BREAKING: Final = re.compile(r"[|\x00-\x1f\x7f]+")
_PMID: Final = re.compile(r"\d+")
_LISTED: Final = re.compile(r"AMBIGUOUS\s+(\d+(?:\s*,\s*\d+)*)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Reference:
    """What is known of a citation; what is not is empty."""

    journal: str = ""
    year: str = ""
    volume: str = ""
    first_page: str = ""
    author: str = ""


@dataclass(frozen=True)
class Match:
    """What became of one citation."""

    pmid: str = ""
    """Empty unless exactly one record matches."""
    candidates: tuple[str, ...] = ()
    said: str = ""
    """ECitMatch's own words where it found no single record."""

    @property
    def ambiguous(self) -> bool:
        """Whether ECitMatch found several records."""
        return self.said.upper().startswith("AMBIGUOUS")


def lines(references: Sequence[Reference]) -> str:
    """The value of `bdata`: keys are the positions from 1 on."""
    return "\r".join(
        "|".join([*map(_field, (one.journal, one.year, one.volume, one.first_page, one.author)), str(place), ""])
        for place, one in enumerate(references, start=1)
    )


def parse_matches(text: str, count: int) -> list[Match]:
    """The outcome of each of `count` citations in the order asked; a line that is missing is one not found.

    Raises:
        NcbiUnreadable: Not one line has the form of an outcome.
    """
    outcomes = dict(_outcomes(text.splitlines()))
    if count and not outcomes:
        raise NcbiUnreadable("ecitmatch", "has no line with an outcome")
    return [outcomes.get(str(place), Match(said="NOT_FOUND")) for place in range(1, count + 1)]


def _outcomes(answer: Iterable[str]) -> Iterable[tuple[str, Match]]:
    for line in answer:
        fields = line.split("|")
        if len(fields) < 7:
            continue
        key, said = fields[5].strip(), "|".join(fields[6:]).strip().strip("|")
        if _PMID.fullmatch(said):
            yield key, Match(pmid=said)
        elif said:
            listed = _LISTED.fullmatch(said)
            yield key, Match(candidates=tuple(re.split(r"\s*,\s*", listed[1])) if listed else (), said=said)


def _field(value: str) -> str:
    return " ".join(_BREAKING.sub(" ", value).split())
