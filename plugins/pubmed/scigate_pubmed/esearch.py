"""The answer of ESearch (`retmode=json`) as a record."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from scigate_pubmed.errors import NcbiUnreadable
from scigate_pubmed.faults import scalars

WINDOW = 9999
"""ESearch serves the first 9,999 PubMed records of a set: `retstart` is at most 9998 (PubMed's own refusal says so)."""


@dataclass(frozen=True)
class SearchAnswer:
    """One window of a set of records, and what of the term PubMed could not use."""

    count: int
    """Records in the whole set, those beyond the window too."""
    ids: tuple[str, ...]
    """In the order asked for."""
    unknown_fields: tuple[str, ...] = ()
    """Field tags that were ignored."""
    unmatched: tuple[str, ...] = ()
    """Phrases and clauses that are in no record; PubMed drops them and searches the rest."""


def parse_search(answer: object, *, offset: int, asked: int, window: int = WINDOW) -> SearchAnswer:
    """The record of a decoded JSON body; `window` is how many records of a set the database serves at all.

    Raises:
        NcbiUnreadable: there is no count or no list of ids, or the list is empty where the count says it is not.
    """
    result = _member(answer, "esearchresult")
    count, ids = str(result.get("count", "")), result.get("idlist")
    if not (count.isascii() and count.isdigit()) or not isinstance(ids, list):
        raise NcbiUnreadable("esearch", "has no count or no list of ids")
    found = tuple(scalars(cast("list[object]", ids)))[:asked]
    if not found and asked and offset < min(int(count), window):
        raise NcbiUnreadable("esearch", f"counts {count} records but lists none from position {offset} on")
    return SearchAnswer(
        count=int(count),
        ids=found,
        unknown_fields=_remarks(result, "fieldsnotfound", "fieldnotfound"),
        unmatched=_remarks(
            result, "phrasesnotfound", "phrasenotfound", "quotedphrasesnotfound", "quotedphrasenotfound"
        ),
    )


def _member(answer: object, name: str) -> Mapping[str, object]:
    value = cast("dict[str, object]", answer).get(name) if isinstance(answer, dict) else None
    if not isinstance(value, dict):
        raise NcbiUnreadable("esearch", f"has no {name}")
    return cast("dict[str, object]", value)


def _remarks(result: Mapping[str, object], *names: str) -> tuple[str, ...]:
    """The texts under any of the names in the error list and the warning list, each once."""
    texts: dict[str, None] = {}
    for part in ("errorlist", "warninglist"):
        remarks = result.get(part)
        if isinstance(remarks, dict):
            for name in names:
                texts |= dict.fromkeys(scalars(cast("dict[str, object]", remarks).get(name)))
    return tuple(texts)
