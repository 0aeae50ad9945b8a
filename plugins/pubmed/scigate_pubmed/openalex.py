"""Links between articles as OpenAlex knows them.

OpenAlex numbers works by itself (`W2741809807`): a list of links is a list of those, and PMIDs are looked up for it.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast
from urllib.parse import urlencode

import httpx

from scigate_pubmed.errors import LinksUnavailable
from scigate_pubmed.links import Linked, Provider, Relationship
from scigate_pubmed.upstream import IDENTITY, Identity

_PAGE: Final = 200
"""The most records of one answer."""
_ORED: Final = 50
"""Works looked up by one filter; it takes a hundred values at most."""
_MOST_LOOKED_UP: Final = 500
_WORK: Final = re.compile(r"W\d+")
_PMID: Final = re.compile(r"\d+$")

Json = Mapping[str, object]


class OpenAlexLinker:
    """OpenAlex over a client of the `openalex` upstream."""

    provider: Provider = "openalex"

    def __init__(self, http: httpx.AsyncClient, identity: Identity) -> None:
        self._http = http
        self._extensions = {IDENTITY: identity}

    async def linked(self, pmid: str, relationship: Relationship, *, need: int) -> Linked | None:
        """Links to works that have a PMID."""
        source = await self._get(f"works/pmid:{pmid}", select="id,related_works,referenced_works")
        if source is None:
            return Linked()
        if relationship == "cited_by":
            return await self._citing(pmid, _work(source.get("id")), need)
        named = source.get("related_works" if relationship == "similar" else "referenced_works")
        works = [work for one in _list(named) if (work := _work(one))]
        found: dict[str, None] = {}
        for start in range(0, min(len(works), _MOST_LOOKED_UP), _ORED):
            part = works[start : start + _ORED]
            known = await self._pmids(part)
            # The answer has an order of its own.
            found |= {known[work]: None for work in part if known.get(work, pmid) != pmid}
            if len(found) >= need:
                return Linked(tuple(found), complete=start + _ORED >= len(works))
        return Linked(tuple(found), complete=len(works) <= _MOST_LOOKED_UP)

    async def _citing(self, pmid: str, work: str, need: int) -> Linked:
        found: dict[str, None] = {}
        most_pages = _MOST_LOOKED_UP // _PAGE + 1
        for page in range(1, most_pages + 1):
            answer = await self._get("works", filter=f"cites:{work}", select="id,ids", per_page=_PAGE, page=page)
            works = _dicts((answer or {}).get("results"))
            found |= {one: None for entry in works if (one := _pmid(entry)) and one != pmid}
            if len(works) < _PAGE:
                return Linked(tuple(found))
            if len(found) >= need:
                break
        return Linked(tuple(found), complete=False)

    async def _pmids(self, works: Sequence[str]) -> dict[str, str]:
        answer = await self._get(
            "works", filter=f"openalex:{'|'.join(works)}", select="id,ids", per_page=min(len(works), _PAGE)
        )
        return {_work(one.get("id")): pmid for one in _dicts((answer or {}).get("results")) if (pmid := _pmid(one))}

    async def _get(self, path: str, **parameters: str | int) -> Json | None:
        """The decoded answer, or None for 404."""
        response = await self._http.get(f"{path}?{urlencode(parameters)}", extensions=self._extensions)
        if response.status_code == 404:
            return None
        response.raise_for_status()
        try:
            answer: object = json.loads(response.content)
        except (ValueError, RecursionError) as error:
            raise LinksUnavailable("OpenAlex", "sent an answer that cannot be read") from error
        if not isinstance(answer, dict):
            raise LinksUnavailable("OpenAlex", "sent an answer that cannot be read")
        return cast("Json", answer)


def _work(value: object) -> str:
    match = _WORK.search(str(value))
    return match[0] if match else ""


def _pmid(work: Json) -> str:
    ids = work.get("ids")
    named = cast("dict[str, object]", ids).get("pmid") if isinstance(ids, dict) else None
    match = _PMID.search(str(named or "").rstrip("/"))
    return match[0] if match else ""


def _list(value: object) -> Iterable[object]:
    return cast("list[object]", value) if isinstance(value, list) else ()


def _dicts(value: object) -> list[Json]:
    return [cast("Json", one) for one in _list(value) if isinstance(one, dict)]
