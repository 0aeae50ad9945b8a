"""From a caller's words and filters to the one term that PubMed is asked for.

Pure text: no request is made here. What a filter says must hold for the whole query whatever the query's own
operators are, so the query is wrapped in parentheses, and nothing in it or in a filter value may leave its place.
"""

import re
import string
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import ConfigDict
from scigate import Record

from scigate_pubmed.echo import search_address

DateType = Literal["pdat", "mdat", "edat"]
Species = Literal["humans", "animals"]

SEARCH_PAGE: Final = "https://pubmed.ncbi.nlm.nih.gov/"

_TAG = re.compile(r"</?([A-Za-z][^<>]*)>")
_INLINE = re.compile(r"(?:b|em|font|i|inf|mark|sc|small|span|strong|sub|sup|u)\b", re.IGNORECASE)
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_CURLY_QUOTE = re.compile("[\u201c-\u201f\uff02]")
_FIELD_TAG = re.compile(r"\[[^\[\]]*\]")
_OPERATOR = re.compile(r"\b(?:AND|OR|NOT)\b")

# animals[MeSH Terms] explodes to every species, man included; PubMed's own filter "Other Animals" is the bare heading.
_SPECIES = {"humans": "humans[MeSH Terms]", "animals": "animals[MeSH Terms:noexp]"}


class DateRange(Record):
    """Two bounds, both inclusive."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_date: str
    max_date: str
    date_type: DateType


class Filters(Record):
    """What narrows a search beside its query."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date_range: DateRange | None = None
    publication_types: list[str] | None = None
    author: str | None = None
    journal: str | None = None
    mesh_terms: list[str] | None = None
    language: str | None = None
    has_abstract: bool | None = None
    free_full_text: bool | None = None
    species: Species | None = None

    def cleaned(self) -> "Filters":
        """The filters with only what can stand inside a clause; those with nothing left are None."""
        return Filters(
            date_range=_closed(self.date_range),
            publication_types=_quotable_all(self.publication_types),
            author=_bare(self.author or "") or None,
            journal=_quotable(self.journal or "") or None,
            mesh_terms=_quotable_all(self.mesh_terms),
            language=_bare(self.language or "") or None,
            has_abstract=self.has_abstract or None,
            free_full_text=self.free_full_text or None,
            species=self.species,
        )

    def clauses(self) -> list[str]:
        """One clause a filter, in the order in which they follow the query."""
        found: list[str] = []
        if self.date_range:
            low, high, tag = self.date_range.min_date, self.date_range.max_date, self.date_range.date_type
            found.append(f"({low}[{tag}] : {high}[{tag}])")
        if self.publication_types:
            found.append("(" + " OR ".join(f'"{name}"[Publication Type]' for name in self.publication_types) + ")")
        if self.author:
            # Quotes would switch off the match of further initials: Smith J finds Smith JA, "Smith J" does not.
            found.append(f"{self.author}[Author]")
        if self.journal:
            found.append(f'"{self.journal}"[Journal]')
        if self.mesh_terms:
            found.append("(" + " AND ".join(f'"{name}"[MeSH Terms]' for name in self.mesh_terms) + ")")
        if self.language:
            found.append(f"{self.language}[Language]")
        if self.has_abstract:
            found.append("hasabstract[text word]")
        if self.free_full_text:
            found.append("free full text[filter]")
        if self.species:
            found.append(_SPECIES[self.species])
        return found


@dataclass(frozen=True)
class Term:
    """What is sent as `term`, and what had to be left out of the query to send it."""

    text: str
    filtered: bool
    dropped: tuple[str, ...] = field(default=())
    """Stray quotes, parentheses and brackets, in the order in which they stood."""

    @property
    def search_url(self) -> str:
        """The same search on PubMed's own pages; their front page where the text is too long for an address."""
        return search_address(SEARCH_PAGE, "term", self.text)


def clean(text: str) -> str:
    """The text without markup and unprintable characters, quotes straight, whitespace collapsed.

    Only what has the form of a tag is markup: `P<0.05` and `AT&T` stay as they are.
    """
    text = _CURLY_QUOTE.sub('"', _UNPRINTABLE.sub(" ", text))
    return " ".join(_TAG.sub(lambda tag: "" if _INLINE.match(tag[1]) else " ", text).split())


def is_blank(text: str) -> bool:
    """Whether a cleaned query has no word in it once field tags and punctuation are put aside."""
    shorter = _FIELD_TAG.sub(" ", text)
    while shorter != text:
        text, shorter = shorter, _FIELD_TAG.sub(" ", shorter)
    return not text.strip(string.punctuation + string.whitespace)


def build(query: str, filters: Filters) -> Term:
    """The term for a cleaned query: the query itself, or the query in parentheses and each filter behind it.

    A query that is wrapped loses its unmatched quotes, parentheses and brackets, because `(a) OR (b` in front of
    ` AND "Review"[Publication Type]` would take the filter into its own last group.
    """
    clauses = filters.clauses()
    if not clauses:
        return Term(query, filtered=False)
    matched, dropped = balanced(query)
    return Term(" AND ".join([f"({matched})", *clauses]), filtered=True, dropped=tuple(dropped))


def balanced(text: str) -> tuple[str, list[str]]:
    """The text without unmatched `"`, `(`, `)`, `[`, `]`, and the characters that were dropped.

    A quoted run is balanced by itself and so is what stands outside all quotes, so the result is balanced for a
    reader that honours quotes and for one that does not.
    """
    dropped: dict[int, str] = {}
    quotes = [at for at, letter in enumerate(text) if letter == '"']
    if len(quotes) % 2:
        dropped[quotes.pop()] = '"'
    inside: list[tuple[int, str]] = []
    outside: list[tuple[int, str]] = []
    within = False
    for at, letter in enumerate(text):
        if letter == '"' and at not in dropped:
            within = not within
            if not within:
                dropped |= _unmatched(inside)
                inside = []
        elif letter in "()[]":
            (inside if within else outside).append((at, letter))
    dropped |= _unmatched(outside)
    kept = "".join(_gap(text, at) if at in dropped else letter for at, letter in enumerate(text))
    return " ".join(kept.split()), [dropped[at] for at in sorted(dropped)]


def _gap(text: str, at: int) -> str:
    """What stands in place of a dropped character: a space where two words would otherwise become one."""
    return " " if text[max(at - 1, 0) : at].isalnum() and text[at + 1 : at + 2].isalnum() else ""


def _unmatched(brackets: list[tuple[int, str]]) -> dict[int, str]:
    """The brackets without a partner; a field tag does not reach across a parenthesis."""
    stray: dict[int, str] = {}
    groups: list[int] = []
    tag: int | None = None
    for at, letter in brackets:
        if tag is not None and letter != "]":
            stray[tag] = "["
            tag = None
        if letter == "[":
            tag = at
        elif letter == "]":
            if tag is None:
                stray[at] = "]"
            tag = None
        elif letter == "(":
            groups.append(at)
        elif groups:
            groups.pop()
        else:
            stray[at] = ")"
    if tag is not None:
        stray[tag] = "["
    return stray | dict.fromkeys(groups, "(")


def _closed(dates: DateRange | None) -> DateRange | None:
    """The range with slashes as separators, or None unless both ends are given."""
    if dates is None:
        return None
    low, high = (re.sub(r"[-.]", "/", bound.strip()) for bound in (dates.min_date, dates.max_date))
    return DateRange(min_date=low, max_date=high, date_type=dates.date_type) if low and high else None


def _quotable(value: str) -> str:
    """A value that can stand between quotes: none of its own, and its parentheses in pairs."""
    return balanced(re.sub(r'["\[\]]', " ", clean(value)))[0]


def _quotable_all(values: Iterable[str] | None) -> list[str] | None:
    return list(filter(None, map(_quotable, values or ()))) or None


def _bare(value: str) -> str:
    """A value that can stand without quotes: no grouping, no range, and no word that reads as an operator."""
    words = re.sub(r'["\[\]():]', " ", clean(value))
    # PubMed knows its operators by their capitals alone: `or` is a word.
    return " ".join(_OPERATOR.sub(lambda operator: operator[0].lower(), words).split())
