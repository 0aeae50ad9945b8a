"""PUG View: what third parties say of a compound, under headings.

Above are the tools; below is the same HTTP client as PUG REST's, and so the same budget. A text is kept as it came.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self

import httpx
from pydantic import BaseModel, Field

from scigate_pubchem.answers import read
from scigate_pubchem.faults import NotFound, raise_for_fault

__all__ = ["DESCRIPTION", "FOOD", "HAZARDS", "PHARMACOLOGY", "Item", "PugView", "View"]

DESCRIPTION: Final = "Record Description"
HAZARDS: Final = "Safety and Hazards"
PHARMACOLOGY: Final = "Pharmacology and Biochemistry"
FOOD: Final = "Drug-Food Interactions"

_VIEW: Final = "rest/pug_view/data/compound"
_NO_RECORD: Final = "no record found"


class _Markup(BaseModel):
    extra: str | None = Field(default=None, alias="Extra")


class _Marked(BaseModel):
    string: str = Field(default="", alias="String")
    markup: list[_Markup] = Field(default_factory=list[_Markup], alias="Markup")


class _Value(BaseModel):
    """Text, or a `Number`, a `Boolean`, an `ExternalTableName` and the like, none of which a tool reads."""

    strings: list[_Marked] = Field(default_factory=list[_Marked], alias="StringWithMarkup")


class _Information(BaseModel):
    reference: int | None = Field(default=None, alias="ReferenceNumber")
    name: str = Field(default="", alias="Name")
    value: _Value = Field(default_factory=_Value, alias="Value")


class _Section(BaseModel):
    heading: str = Field(default="", alias="TOCHeading")
    sections: list[_Section] = Field(default_factory=list["_Section"], alias="Section")
    information: list[_Information] = Field(default_factory=list[_Information], alias="Information")


class _Reference(BaseModel):
    number: int | None = Field(default=None, alias="ReferenceNumber")
    source: str | None = Field(default=None, alias="SourceName")


class _Record(BaseModel):
    sections: list[_Section] = Field(default_factory=list[_Section], alias="Section")
    references: list[_Reference] = Field(default_factory=list[_Reference], alias="Reference")


class _Answer(BaseModel):
    record: _Record = Field(alias="Record")


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of information.

    Attributes:
        name: What it is, "" where the heading says it.
        strings: Its texts that are not blank.
        extras: What the marks in its texts say beside them, such as the label of a pictogram.
        source: Who deposited it, or None where the record does not say.
    """

    name: str
    strings: tuple[str, ...]
    extras: tuple[str, ...]
    source: str | None


class View:
    """What a compound's record has under a heading.

    Attributes:
        source: Who deposited the record's first reference; None without one.
    """

    def __init__(self, record: _Record | None = None) -> None:
        record = record or _Record()
        self._sections = record.sections
        self._sources = {one.number: one.source for one in record.references if one.number is not None and one.source}
        self.source = next((one.source for one in record.references if one.source), None)

    @classmethod
    def parse(cls, answer: str | bytes) -> Self:
        """Read an answer of the service.

        Raises:
            ValidationError: It is not of the service's shape.
        """
        return cls(_Answer.model_validate_json(answer).record)

    def under(self, heading: str) -> list[Item]:
        """The items of the sections of this heading, at any depth, and of all that is under them."""
        return [self._item(one) for section in self._headed(self._sections, heading) for one in _all(section)]

    def texts(self, heading: str) -> list[tuple[str, str | None]]:
        """The distinct texts under a heading with their sources, first come first kept.

        Texts that differ in letter case or white space alone are one.
        """
        distinct: dict[str, tuple[str, str | None]] = {}
        for item in self.under(heading):
            for text in item.strings:
                distinct.setdefault(" ".join(text.lower().split()), (text, item.source))
        return list(distinct.values())

    def _headed(self, sections: list[_Section], heading: str) -> Iterator[_Section]:
        for section in sections:
            if section.heading == heading:
                yield section
            else:
                yield from self._headed(section.sections, heading)

    def _item(self, one: _Information) -> Item:
        strings = tuple(marked.string.strip() for marked in one.value.strings if marked.string.strip())
        extras = tuple(mark.extra for marked in one.value.strings for mark in marked.markup if mark.extra)
        source = None if one.reference is None else self._sources.get(one.reference)
        return Item(one.name, strings, extras, source)


class PugView:
    """The PUG View client.

    Args:
        http: Client of the upstream `pubchem`.
    """

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def heading(self, cid: int, heading: str) -> View | None:
        """What the record of a compound has under a heading; None when there is no such compound. Costs one request.

        The service answers 404 for both "No record found" and "No data found"; any other wording is taken for the
        second, which claims less.

        Raises:
            PubChemError: PubChem failed.
        """
        # The service reads + as a space, and %20 alike.
        response = await self._http.get(f"{_VIEW}/{cid}/JSON?heading={heading.replace(' ', '+')}")
        try:
            raise_for_fault(response)
        except NotFound as error:
            return None if _NO_RECORD in error.fault.message.lower() else View()
        return View(read(_Answer, response).record)


def _all(section: _Section) -> Iterator[_Information]:
    yield from section.information
    for inner in section.sections:
        yield from _all(inner)
