"""Citations and references of an article as Europe PMC knows them."""

import json
from collections.abc import Iterator
from typing import Final, cast

import httpx

from scigate_pubmed.errors import LinksUnavailable
from scigate_pubmed.links import Linked, Provider, Relationship

_PAGE: Final = 1000
_MOST_PAGES: Final = 5
# The path's last word, the list in the answer, and the key of its entries.
_PLACES: Final[dict[Relationship, tuple[str, str, str]]] = {
    "cited_by": ("citations", "citationList", "citation"),
    "references": ("references", "referenceList", "reference"),
}


class EuropeLinker:
    """Europe PMC over a client of the `europepmc` upstream; it has nothing like NCBI's similar articles."""

    provider: Provider = "europepmc"

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def linked(self, pmid: str, relationship: Relationship, *, need: int) -> Linked | None:
        """Links to PubMed records; those to preprints and books, which have no PMID, are left out."""
        if relationship not in _PLACES:
            return None
        path, *keys = _PLACES[relationship]
        found: dict[str, None] = {}
        for page in range(1, _MOST_PAGES + 1):
            response = await self._http.get(f"MED/{pmid}/{path}?page={page}&pageSize={_PAGE}&format=json")
            if response.status_code == 404:
                return Linked()
            response.raise_for_status()
            count, entries = _entries(response.content, *keys)
            # The answer has no member "pmid": a record of the source MED has its PMID as id.
            found |= {one["id"]: None for one in entries if one.get("source") == "MED" and one.get("id") != pmid}
            complete = len(entries) < _PAGE or page * _PAGE >= count
            if complete or len(found) >= need:
                return Linked(tuple(found), complete)
        return Linked(tuple(found), complete=False)


def _entries(body: bytes, outer: str, inner: str) -> tuple[int, list[dict[str, str]]]:
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise LinksUnavailable("Europe PMC", "sent an answer that cannot be read") from error
    top = cast("dict[str, object]", answer) if isinstance(answer, dict) else {}
    count = top.get("hitCount")
    # A refusal comes with status 200 too, as an errCode or as the version alone.
    if not isinstance(count, int):
        raise LinksUnavailable("Europe PMC", "refused the request")
    return count, [
        {name: str(value) for name, value in entry.items()} for entry in _dicts(_member(top.get(outer), inner))
    ]


def _member(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None


def _dicts(value: object) -> Iterator[dict[str, object]]:
    entries = cast("list[object]", value) if isinstance(value, list) else [value]
    return (cast("dict[str, object]", entry) for entry in entries if isinstance(entry, dict))
