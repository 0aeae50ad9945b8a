"""PUG REST's searches of compounds: by identifier, formula, structure and assay, to lists of CIDs.

Above is `compounds`; below is `pug_rest`. A search that is not ready is polled for, and a list that PubChem keeps is
read page by page, by its key. Identifiers that PubChem answers with 0 (understood, but not in the database) and repeats
are dropped here, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import quote

import anyio
import httpx

from scigate_pubchem.answers import ListAnswer, read
from scigate_pubchem.faults import (
    SEARCH_FAILED,
    BadRequest,
    Fault,
    NotFound,
    PubChemError,
    SearchRejected,
    UnexpectedAnswer,
)
from scigate_pubchem.pug_rest import PugRest, distinct

__all__ = [
    "POLL_INTERVAL_S",
    "BoundedList",
    "IdentifierType",
    "ListedPage",
    "Resolution",
    "Searches",
    "StructureSearch",
]

IdentifierType = Literal["name", "smiles", "inchi", "inchikey"]
StructureSearch = Literal["substructure", "superstructure", "similarity"]

POLL_INTERVAL_S: Final = 1.5
POLLS: Final = 20
"""A search that is not ready is asked for at this interval, so often, before it counts as timed out."""

_PATHS: Final = {
    "substructure": "fastsubstructure",
    "superstructure": "fastsuperstructure",
    "similarity": "fastsimilarity_2d",
}


@dataclass(frozen=True, slots=True)
class Resolution:
    """What one identifier led to.

    Attributes:
        cids: Compounds in PubChem's order of preference; empty when nothing matches.
        refused: The fault's text when the identifier could not be read at all, else None.
    """

    cids: tuple[int, ...]
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class ListedPage:
    """One page of a list that PubChem keeps.

    Attributes:
        total: Length of the whole list.
        cids: Those of the page, without zeros and repeats.
        taken: How many places of the list the page covers, zeros and repeats included.
    """

    total: int
    cids: tuple[int, ...]
    taken: int


@dataclass(frozen=True, slots=True)
class BoundedList:
    """The first matches of a search.

    Attributes:
        cids: Without zeros and repeats.
        complete: Whether these are all; judged on the raw length, before zeros and repeats were dropped.
    """

    cids: tuple[int, ...]
    complete: bool


class Searches:
    """Searches of compounds, each to a list of CIDs.

    Args:
        pug: PUG REST.
        poll_interval_s: Seconds between two looks at a search that is not ready.
    """

    def __init__(self, pug: PugRest, *, poll_interval_s: float = POLL_INTERVAL_S) -> None:
        self._pug = pug
        self._poll_interval_s = poll_interval_s

    async def resolve(self, kind: IdentifierType, identifier: str) -> Resolution:
        """Compounds of one identifier. Costs one request.

        Raises:
            PubChemError: PubChem failed; nothing found and an unreadable identifier are results, not errors.
        """
        text = identifier.strip().upper() if kind == "inchikey" else identifier.strip()
        path = f"compound/{kind}"
        try:
            # SMILES, InChI and some names hold slashes: they go into the body, where nothing reads them as a path.
            if kind == "inchikey" or (kind == "name" and _fits_in_a_path(text)):
                answer = await self._pug.get(f"{path}/{quote(text, safe='')}/cids/JSON")
            else:
                answer = await self._pug.post(f"{path}/cids/JSON", {kind: text})
            return Resolution(distinct(await self._cids(answer)))
        except NotFound:
            return Resolution(())
        except BadRequest as error:
            return Resolution((), refused=error.fault.text)

    async def by_formula(self, formula: str, *, allow_other_elements: bool, most: int) -> BoundedList:
        """The first `most` compounds of a formula. Costs one request.

        Raises:
            SearchRejected: It is no formula.
            PubChemError: PubChem failed.
        """
        options: dict[str, str | int] = {"MaxRecords": most}
        if allow_other_elements:
            options["AllowOtherElements"] = "true"
        path = f"compound/fastformula/{quote(formula, safe='')}/cids/JSON"
        return await self._search("formula", formula, most, self._pug.get(path, options))

    async def by_structure(
        self, kind: StructureSearch, form: Literal["smiles", "cid"], query: str, *, most: int, threshold: int
    ) -> BoundedList:
        """The first `most` compounds of a structure search. Costs one request.

        Args:
            kind: Which relation to the query.
            form: How to read the query.
            query: A SMILES or a CID in digits.
            most: How many matches to ask for.
            threshold: Least Tanimoto score in percent; of use to similarity alone.

        Raises:
            SearchRejected: The query cannot be searched.
            PubChemError: PubChem failed.
        """
        options: dict[str, str | int] = {"MaxRecords": most}
        if kind == "similarity":
            options["Threshold"] = threshold
        path = f"compound/{_PATHS[kind]}/{form}"
        if form == "cid":
            asked = self._pug.get(f"{path}/{query}/cids/JSON", options)
        else:
            asked = self._pug.post(f"{path}/cids/JSON", {"smiles": query}, options)
        return await self._search(form, query, most, asked)

    async def assay_compounds(self, aid: int, *, active_only: bool, offset: int, size: int) -> ListedPage:
        """One page of the compounds that an assay lists. Costs two requests, for further pages one.

        Raises:
            NotFound: There is no such assay, or none of its compounds is of this kind.
            PubChemError: PubChem failed.
        """
        total, key = await self._assay_list(aid, active_only=active_only)
        if offset >= total:
            return ListedPage(total, (), 0)
        try:
            page = await self._listed(key, offset, size)
        except (NotFound, BadRequest):
            # The service forgets a list after a time that it does not state; a fresh one is asked for once.
            total, key = await self._assay_list(aid, active_only=active_only, fresh=True)
            page = await self._listed(key, offset, size)
        return ListedPage(total, distinct(page), len(page))

    async def _assay_list(self, aid: int, *, active_only: bool, fresh: bool = False) -> tuple[int, str]:
        options = {"cids_type": "active" if active_only else "all", "list_return": "listkey"}
        extensions = {"scigate.cache": "refresh"} if fresh else None
        answer = await self._pug.get(f"assay/aid/{aid}/cids/JSON", options, extensions=extensions)
        listed = read(ListAnswer, answer).identifiers
        if listed is None or listed.size is None or listed.list_key is None:
            raise UnexpectedAnswer("an assay's list has no Size and ListKey")
        return listed.size, listed.list_key

    async def _listed(self, key: str, start: int, count: int) -> list[int]:
        options = {"listkey_start": start, "listkey_count": count}
        answer = await self._pug.get(f"compound/listkey/{quote(key, safe='')}/cids/JSON", options)
        return await self._cids(answer, most=count)

    async def _search(self, form: str, query: str, most: int, asked: Any) -> BoundedList:
        try:
            raw = await self._cids(await asked, most=most)
        except NotFound:
            raw = []
        except PubChemError as error:
            if error.fault.message == SEARCH_FAILED or isinstance(error, BadRequest):
                raise SearchRejected(error.fault, form, query) from error
            raise
        return BoundedList(distinct(raw), complete=len(raw) < most)

    async def _cids(self, response: httpx.Response, most: int | None = None) -> list[int]:
        """The raw CIDs of an answer, polled for while the service is still searching.

        A list key does not carry the bound of the request that made it: it is sent again, and kept here.
        """
        answer = read(ListAnswer, response)
        for _ in range(POLLS):
            if answer.waiting is None:
                break
            await anyio.sleep(self._poll_interval_s)
            path = f"compound/listkey/{quote(answer.waiting.list_key, safe='')}/cids/JSON"
            options = {} if most is None else {"listkey_count": most}
            answer = read(ListAnswer, await self._pug.get(path, options, extensions={"scigate.cache": False}))
        if answer.waiting is not None:
            raise PubChemError(Fault(504, "PUGREST.Timeout", "The search was not ready after all polls"))
        if answer.identifiers is None:
            raise UnexpectedAnswer("there is neither IdentifierList nor Waiting in it")
        return answer.identifiers.cid[:most]


def _fits_in_a_path(text: str) -> bool:
    return len(text) <= 500 and not any(sign in text for sign in "/\\") and text.strip(".") != ""
