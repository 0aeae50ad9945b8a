"""The shapes of PUG REST's answers, as far as the client reads them."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import httpx
from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from scigate_pubchem.faults import UnexpectedAnswer

__all__ = [
    "AidAnswer",
    "AnyAnswer",
    "AssaySummary",
    "InformationAnswer",
    "ListAnswer",
    "PropertyAnswer",
    "expect_json",
    "members",
    "read",
]

T = TypeVar("T", bound=BaseModel)


class AnyAnswer(RootModel[dict[str, Any]]):
    """An object of which no member's name is fixed."""


class _Cids(BaseModel):
    model_config = ConfigDict(strict=True)

    cid: list[int] = Field(default_factory=list[int], alias="CID")
    size: int | None = Field(default=None, alias="Size")
    list_key: str | None = Field(default=None, alias="ListKey")


class _Aids(BaseModel):
    model_config = ConfigDict(strict=True)

    aid: list[int] = Field(default_factory=list[int], alias="AID")


class AidAnswer(BaseModel):
    """A list of assay numbers."""

    identifiers: _Aids = Field(alias="IdentifierList")


class _Waiting(BaseModel):
    list_key: str = Field(alias="ListKey")


class ListAnswer(BaseModel):
    """A list of compounds, where it is stored, or a ticket for one."""

    identifiers: _Cids | None = Field(default=None, alias="IdentifierList")
    waiting: _Waiting | None = Field(default=None, alias="Waiting")


class _Rows(BaseModel):
    rows: list[dict[str, Any]] = Field(alias="Properties")


class PropertyAnswer(BaseModel):
    """A table of properties."""

    table: _Rows = Field(alias="PropertyTable")


class _Informations(BaseModel):
    entries: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]], alias="Information")


class InformationAnswer(BaseModel):
    """Lists by compound: synonyms, cross-references, conformers."""

    informations: _Informations = Field(alias="InformationList")

    def of(self, name: str) -> dict[int, list[Any]]:
        """The lists of this name by CID, in their order and without repeats; empty ones are left out."""
        found: dict[int, dict[Any, None]] = {}
        for entry in self.informations.entries:
            values: Any = entry.get(name) or []
            if not isinstance(entry.get("CID"), int):
                continue
            listed = cast("list[Any]", values if isinstance(values, list) else [values])
            found.setdefault(int(entry["CID"]), {}).update(
                dict.fromkeys(value for value in listed if isinstance(value, str | int))
            )
        return {cid: list(values) for cid, values in found.items() if values}


class AssaySummary(BaseModel):
    """The counts of an assay that a search of its compounds quotes."""

    aid: int = Field(alias="AID")
    name: str | None = Field(default=None, alias="Name")
    compounds: int | None = Field(default=None, alias="CIDCountAll")
    active: int | None = Field(default=None, alias="CIDCountActive")


def members(value: Any, ending: str) -> list[tuple[str, Any]]:
    """The members of an object whose names end so."""
    if not isinstance(value, dict):
        return []
    return [(name, inner) for name, inner in cast("dict[str, Any]", value).items() if name.endswith(ending)]


def expect_json(response: httpx.Response) -> None:
    """Do nothing for an answer that says it is JSON, or nothing of its type.

    Raises:
        UnexpectedAnswer: It says that it is something else, as a proxy's page does.
    """
    kind = response.headers.get("content-type", "").split(";")[0].strip()
    if kind and kind != "application/json":
        raise UnexpectedAnswer(f"it is {cast('str', kind)[:60]}, not application/json")


def read(model: type[T], response: httpx.Response) -> T:
    """Parse an answer.

    Raises:
        UnexpectedAnswer: It is not JSON, or not of the model's shape.
    """
    expect_json(response)
    try:
        return model.model_validate_json(response.content)
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in detail["loc"])
        raise UnexpectedAnswer(f"{where or 'the body'}: {detail['msg']}") from error
