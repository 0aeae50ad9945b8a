"""SDQ: the tables behind PubChem's web pages, by columns and rows.

Above are the tools; below is the same HTTP client as PUG REST's. The service is not documented; what is known of it was
seen by its users. Values are HTML, and are decoded here, once.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx
from pydantic import BaseModel, Field, ValidationError

from scigate_pubchem.faults import QueryRefused, UnexpectedAnswer, raise_for_fault

__all__ = ["LAST_OFFSET", "Cell", "Sdq", "SdqAnswer", "Table"]

LAST_OFFSET: Final = 2**31 - 2
"""Positions are counted from 1 upstream and are signed 32-bit numbers."""

Cell = str | int | float | None

_AGENT: Final = "sdq/sdqagent.cgi"
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>")
_AROUND: Final = 40
"""Characters on each side of the place where an answer stops being JSON."""


class _Status(BaseModel):
    code: int | None = None
    error: str | list[Any] | None = None


class _Set(BaseModel):
    status: _Status = Field(default_factory=_Status)
    total: int = Field(default=0, alias="totalCount")
    rows: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])


class SdqAnswer(BaseModel):
    """SDQ's answer: one set for each query sent, a refusal in the set's own status."""

    sets: list[_Set] = Field(default_factory=list[_Set], alias="SDQOutputSet")


@dataclass(frozen=True, slots=True)
class Table:
    """A window of a table.

    Attributes:
        rows: Those of the window, in the order asked for; a value that is not text or a number is None.
        total: Rows of the whole table.
    """

    rows: tuple[dict[str, Cell], ...] = ()
    total: int = 0


class Sdq:
    """The SDQ client.

    Args:
        http: Client of the upstream `pubchem`.
    """

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def rows(
        self, collection: str, cid: int, columns: Sequence[str], *, offset: int, limit: int, order: str | None = None
    ) -> Table:
        """Rows that a table has of a compound. Costs one request, past the end of the table two.

        Args:
            collection: The table; one that is keyed by compound, since others ignore the CID.
            cid: The compound.
            columns: Only those that are needed: free-text columns can make the answer invalid.
            offset: Rows to leave out, at most `LAST_OFFSET`.
            limit: Rows to give at most.
            order: Column and direction, such as `acvalue,asc`.

        Raises:
            QueryRefused: The service refused the query, which it may do under HTTP 200.
            UnexpectedAnswer: The answer is not JSON, or not of the known shape.
            PubChemError: PubChem failed.
        """
        table = await self._asked(collection, cid, columns, offset, limit, order)
        if offset and not table.rows:
            # Past its end a table says that it has 0 rows.
            table = Table(total=(await self._asked(collection, cid, columns, 0, 1, order)).total)
        return table

    async def _asked(
        self, collection: str, cid: int, columns: Sequence[str], offset: int, limit: int, order: str | None
    ) -> Table:
        query: dict[str, Any] = {
            "select": list(columns),
            "collection": collection,
            "where": {"ands": [{"cid": str(cid)}]},
            **({"order": [order]} if order else {}),
            "start": offset + 1,
            "limit": limit,
        }
        options = {"infmt": "json", "outfmt": "json", "query": json.dumps(query, separators=(",", ":"))}
        response = await self._http.get(_AGENT, params=options)
        raise_for_fault(response)
        try:
            # Which type the service gives its JSON is not documented, so the body decides.
            sets = SdqAnswer.model_validate_json(response.content).sets
        except ValidationError as error:
            raise UnexpectedAnswer(f"table {collection} is not JSON of the known shape{_extract(response)}") from error
        if not sets:
            return Table()
        found = sets[0]
        if found.status.error and not found.rows:
            raise QueryRefused(collection, _text(found.status.error))
        return Table(tuple({name: _cell(value) for name, value in row.items()} for row in found.rows), found.total)


def _extract(response: httpx.Response) -> str:
    """Where an answer that should be JSON is broken."""
    if not response.content.lstrip().startswith(b"{"):
        return ""
    try:
        json.loads(response.content)
    except ValueError as error:
        at = getattr(error, "pos", 0)
        return f", near {response.text[max(at - _AROUND, 0) : at + _AROUND]!r}"
    return ""


def _cell(value: Any) -> Cell:
    if isinstance(value, str):
        return html.unescape(_TAG.sub("", value)).strip() or None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(error: str | list[Any]) -> str:
    return error if isinstance(error, str) else ", ".join(str(one) for one in error)
