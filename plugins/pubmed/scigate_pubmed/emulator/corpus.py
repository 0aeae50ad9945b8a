"""The sample: records of PubMed, with the texts that a search looks into."""

import gzip
import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LANGUAGES = {
    "chi": "chinese", "dut": "dutch", "eng": "english", "fre": "french", "geo": "georgian", "ger": "german",
    "ita": "italian", "kor": "korean", "nor": "norwegian", "pol": "polish", "rus": "russian", "spa": "spanish",
    "swe": "swedish", "und": "undetermined",
}  # fmt: skip
_APART = " | "


def plain(text: str) -> str:
    """Words in lower case without accents, joined by single spaces: how texts and queries are compared."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(re.findall(r"[^\W_]+", "".join(letter for letter in letters if not unicodedata.combining(letter))))


@dataclass(frozen=True)
class Heading:
    """A MeSH heading of a record; `qualifiers` are its subheadings' names.

    `major` is true when the heading or a subheading is starred; `starred` says which of them are, the heading first.
    """

    name: str
    major: bool
    qualifiers: tuple[str, ...]
    ui: str = ""
    starred: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Record:
    """One record.

    `date` is year, month and day, each 1 where the sample names none; `printed_date` is as PubMed prints it.
    """

    pmid: str
    title: str
    authors: tuple[tuple[str, str], ...]
    """Name as PubMed prints it, and `Author` or `CollectiveName`."""
    editors: tuple[str, ...]
    journal: str
    abbreviation: str
    book: str
    publisher: str
    accession: str
    volume: str
    issue: str
    pages: str
    date: tuple[int, int, int]
    printed_date: str
    doi: str
    pmcid: str
    headings: tuple[Heading, ...]
    publication_types: tuple[str, ...]
    languages: tuple[str, ...]
    has_abstract: bool
    doc_type: str
    status: str
    surnames: tuple[str, ...] = ()
    """Of the authors, in their order; a group's whole name."""
    date_parts: tuple[tuple[str, str], ...] = ()
    """The date's elements in a record in full: Year, Month, Day, Season or MedlineDate, each with its text."""

    @cached_property
    def texts(self) -> dict[str, str]:
        """Per searchable field, its values as plain words; ` | ` stands around and between values."""
        names = [name for name, _ in self.authors]
        headings = [heading.name for heading in self.headings]
        qualified = [f"{heading.name} {name}" for heading in self.headings for name in heading.qualifiers]
        major = [heading.name for heading in self.headings if heading.major]
        fields: dict[str, Iterable[str]] = {
            "title": [self.title],
            "author": names,
            "first author": names[:1],
            "last author": names[-1:],
            "editor": self.editors,
            "journal": [self.journal, self.abbreviation],
            "book": [self.book],
            "mesh": [*headings, *qualified],
            "major": major,
            "subheading": [name for heading in self.headings for name in heading.qualifiers],
            "type": self.publication_types,
            "language": [*self.languages, *(_LANGUAGES.get(code, code) for code in self.languages)],
            "pmid": [self.pmid],
            "doi": [self.doi, self.pmcid, self.accession],
            "volume": [self.volume],
            "issue": [self.issue],
            "pages": [self.pages],
        }
        texts = {name: _row(values) for name, values in fields.items()}
        texts["text"] = texts["title"] + texts["mesh"] + texts["subheading"] + texts["type"]
        texts["all"] = "".join(text for name, text in texts.items() if name != "text")
        return texts


def _row(values: Iterable[str]) -> str:
    return _APART + "".join(plain(value) + _APART for value in values if value)


@cache
def load() -> tuple[Record, ...]:
    """The records of the provider's data file, by PMID."""
    packed = files("scigate_pubmed").joinpath("data/bibliography.jsonl.gz").read_bytes()
    return tuple(_record(json.loads(line)) for line in gzip.decompress(packed).decode().splitlines())


def _record(fact: dict[str, Any]) -> Record:
    date: dict[str, Any] = fact["pubdate"]
    return Record(
        pmid=fact["pmid"],
        title=fact["title"],
        authors=tuple(_author(author) for author in fact.get("authors", [])),
        editors=tuple(fact.get("editors", [])),
        journal=fact.get("journal", ""),
        abbreviation=fact.get("isoAbbreviation", "").replace(".", ""),
        book=fact.get("book", ""),
        publisher=fact.get("publisher", ""),
        accession=fact.get("bookaccession", ""),
        volume=fact.get("volume", ""),
        issue=fact.get("issue", ""),
        pages=fact.get("pages", ""),
        date=(date["year"], date.get("month", 1), date.get("day", 1)),
        printed_date=_printed(date),
        doi=fact.get("doi", ""),
        pmcid=fact.get("pmcid", ""),
        headings=tuple(
            Heading(
                heading["name"],
                heading["major"] or any(qualifier["major"] for qualifier in heading.get("qualifiers", [])),
                tuple(qualifier["name"] for qualifier in heading.get("qualifiers", [])),
                heading.get("ui") or "",
                (heading["major"], *(qualifier["major"] for qualifier in heading.get("qualifiers", []))),
            )
            for heading in fact.get("mesh", [])
        ),
        publication_types=tuple(fact.get("publicationTypes", [])),
        languages=tuple(fact.get("language", [])),
        has_abstract=fact["hasAbstract"],
        doc_type="citation" if fact["docType"] == "article" else fact["docType"],
        status=fact.get("status", ""),
        surnames=tuple(_surname(author) for author in fact.get("authors", [])),
        date_parts=_date_parts(date),
    )


def _surname(author: dict[str, str] | list[str | None]) -> str:
    return author["collective"] if isinstance(author, dict) else author[0] or ""


def _author(author: dict[str, str] | list[str | None]) -> tuple[str, str]:
    if isinstance(author, dict):
        return author["collective"], "CollectiveName"
    return " ".join(filter(None, author)), "Author"


def _printed(date: dict[str, Any]) -> str:
    return " ".join(text for _, text in _date_parts(date))


def _date_parts(date: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    if "medlineDate" in date:
        return (("MedlineDate", str(date["medlineDate"])),)
    parts = [("Year", str(date["year"]))]
    if "season" in date:
        parts.append(("Season", str(date["season"])))
    if "month" in date:
        parts.append(("Month", _MONTHS[int(date["month"]) - 1]))
    if "day" in date:
        parts.append(("Day", str(date["day"])))
    return tuple(parts)
