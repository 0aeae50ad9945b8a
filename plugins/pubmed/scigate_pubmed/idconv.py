"""The PMC ID converter: DOI, PMID and PMCID of articles in PMC.

It is a service of its own on another host than E-utilities, so it has its own upstream: its quota and its failures
are not theirs. It takes `tool` and `email` as they do, and never an API key.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import httpx

from scigate_pubmed.errors import ConverterRefused, NcbiUnreadable
from scigate_pubmed.faults import fault, is_refusal, scalars
from scigate_pubmed.upstream import IDENTITY, Identity

IdType = Literal["pmcid", "pmid", "doi"]


@dataclass(frozen=True)
class Conversion:
    """What the converter knows under one id; a text that it does not give is empty."""

    requested: str
    pmid: str = ""
    pmcid: str = ""
    doi: str = ""
    error: str = ""

    def answers(self, asked: str) -> bool:
        """Whether this is the record for an id, in any letter case and with or without PMC in front."""
        names = {_key(name) for name in (self.requested, self.pmid, self.pmcid, self.doi) if name}
        return _key(asked) in names


class IdConverter:
    """The ID converter over a client of the `pmc` upstream."""

    def __init__(self, http: httpx.AsyncClient, identity: Identity) -> None:
        self._http = http
        self._extensions = {IDENTITY: replace(identity, api_key=None)}

    async def convert(self, ids: Sequence[str], kind: IdType) -> dict[str, Conversion]:
        """What is known of each id, under the id as it is given here; an id that the service passes over is left out.

        Args:
            ids: Up to 200, without commas; PMCIDs with their prefix.
            kind: What all of them are.

        Raises:
            ConverterRefused: The service cannot read one of the ids.
            NcbiError: What came back is not an answer.
            httpx.HTTPError: The request was refused, or no answer came.
        """
        query = httpx.QueryParams({"ids": ",".join(ids), "idtype": kind, "format": "json"})
        response = await self._http.get(f"articles/?{query}", extensions=self._extensions)
        if is_refusal(response):
            raise ConverterRefused
        if error := fault(response):
            raise error
        response.raise_for_status()
        found = _records(response.content)
        told = {one: next((record for record in found if record.answers(one)), None) for one in ids}
        return {one: record for one, record in told.items() if record is not None}


def _records(body: bytes) -> list[Conversion]:
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NcbiUnreadable("idconv", "is not well-formed JSON") from error
    records = cast("dict[str, object]", answer).get("records") if isinstance(answer, dict) else None
    if not isinstance(records, list):
        raise NcbiUnreadable("idconv", "has no records")
    return [
        _conversion(cast("dict[str, object]", one)) for one in cast("list[object]", records) if isinstance(one, dict)
    ]


def _conversion(record: Mapping[str, object]) -> Conversion:
    def text(name: str) -> str:
        # The present service gives a PMID as a number.
        return next(iter(scalars(record.get(name))), "")

    error = text("errmsg")
    failed = error or text("status") == "error"
    return Conversion(
        requested=text("requested-id"),
        pmid=text("pmid"),
        pmcid=text("pmcid").upper(),
        doi=text("doi"),
        error=(error or "no reason given") if failed else "",
    )


def _key(name: str) -> str:
    return name.strip().upper().removeprefix("PMC")
