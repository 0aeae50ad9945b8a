"""PUG REST: one URL built and one answer parsed in each method.

Above are the tools; below is an HTTP client whose transport already has quota, retry, cache and deadline.
Identifiers that PubChem answers with 0 (understood, but not in the database) and repeats are dropped here, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast
from urllib.parse import quote

import anyio
import httpx

from scigate_pubchem.accession import normalized
from scigate_pubchem.answers import (
    AidAnswer,
    AnyAnswer,
    AssaySummary,
    InformationAnswer,
    ListAnswer,
    PropertyAnswer,
    expect_json,
    members,
    read,
)
from scigate_pubchem.assaysummary import AssayTable
from scigate_pubchem.faults import (
    SEARCH_FAILED,
    BadRequest,
    Fault,
    NotFound,
    PubChemError,
    SearchRejected,
    UnexpectedAnswer,
    raise_for_fault,
)
from scigate_pubchem.pug_view import PugView
from scigate_pubchem.sdq import Sdq

__all__ = [
    "AssaySummary",
    "BoundedList",
    "EntityType",
    "IdentifierType",
    "ListedPage",
    "PubChem",
    "Resolution",
    "StructureSearch",
    "TargetType",
]

IdentifierType = Literal["name", "smiles", "inchi", "inchikey"]
StructureSearch = Literal["substructure", "superstructure", "similarity"]
TargetType = Literal["genesymbol", "proteinname", "geneid", "proteinaccession"]
EntityType = Literal["assay", "gene", "protein", "taxonomy"]

PUG: Final = "rest/pug"
READ: Final = {"scigate.safe": True}
"""These POSTs only read: they may be retried, cached and shared."""

POLL_INTERVAL_S: Final = 1.5
POLLS: Final = 20
"""A search that is not ready is asked for at this interval, so often, before it counts as timed out."""

PNG: Final = b"\x89PNG\r\n\x1a\n"
"""How a PNG file begins."""

PROPERTIES_BY_GET: Final = 50
"""More CIDs than these are sent in a POST body, so that no URL grows past what proxies take."""

RENAMED: Final = {"IsomericSMILES": "SMILES", "CanonicalSMILES": "ConnectivitySMILES"}
"""What PubChem calls two properties since 2025; answers carry the new names whatever was asked."""

_PATHS: Final = {
    "substructure": "fastsubstructure",
    "superstructure": "fastsuperstructure",
    "similarity": "fastsimilarity_2d",
}

_ENTITIES: Final[Mapping[EntityType, tuple[str, tuple[str, ...]]]] = {
    "assay": ("assay/aid", ("AID",)),
    "gene": ("gene/geneid", ("GeneID",)),
    "protein": ("protein/accession", ("ProteinAccession", "Accession")),
    "taxonomy": ("taxonomy/taxid", ("TaxonomyID", "TaxID")),
}
"""Path of each kind's summary, and the names under which a summary holds its identifier."""

_LARGE_BODY: Final = 500_000
"""Bytes from which a table is parsed in a thread, so that other calls go on meanwhile."""


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


class PubChem:
    """The PubChem client.

    Args:
        http: Client of the upstream `pubchem`.
        poll_interval_s: Seconds between two looks at a search that is not ready.

    Attributes:
        view: What third parties say of a compound, by headings.
        sdq: The tables behind PubChem's web pages.
    """

    def __init__(self, http: httpx.AsyncClient, *, poll_interval_s: float = POLL_INTERVAL_S) -> None:
        self._http = http
        self._poll_interval_s = poll_interval_s
        self.view = PugView(http)
        self.sdq = Sdq(http)

    async def resolve(self, kind: IdentifierType, identifier: str) -> Resolution:
        """Compounds of one identifier. Costs one request.

        Raises:
            PubChemError: PubChem failed; nothing found and an unreadable identifier are results, not errors.
        """
        text = identifier.strip().upper() if kind == "inchikey" else identifier.strip()
        path = f"{PUG}/compound/{kind}"
        try:
            # SMILES, InChI and some names hold slashes: they go into the body, where nothing reads them as a path.
            if kind == "inchikey" or (kind == "name" and _fits_in_a_path(text)):
                answer = await self._get(f"{path}/{quote(text, safe='')}/cids/JSON")
            else:
                answer = await self._post(f"{path}/cids/JSON", {kind: text})
            return Resolution(_distinct(await self._cids(answer)))
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
        path = f"{PUG}/compound/fastformula/{quote(formula, safe='')}/cids/JSON"
        return await self._search("formula", formula, most, self._get(path, options))

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
        path = f"{PUG}/compound/{_PATHS[kind]}/{form}"
        if form == "cid":
            asked = self._get(f"{path}/{query}/cids/JSON", options)
        else:
            asked = self._post(f"{path}/cids/JSON", {"smiles": query}, options)
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
        return ListedPage(total, _distinct(page), len(page))

    async def assay_summary(self, aid: int) -> AssaySummary | None:
        """An assay's name and counts, or None when there is no such assay. Costs one request."""
        found = await self.entity("assay", str(aid))
        return AssaySummary.model_validate(found) if found else None

    async def target_assays(self, kind: TargetType, query: str) -> tuple[int, ...]:
        """The numbers of all assays against a target, none when PubChem finds none. Costs one request.

        Raises:
            PubChemError: PubChem failed.
        """
        namespace = "accession" if kind == "proteinaccession" else kind
        try:
            answer = await self._get(f"{PUG}/assay/target/{namespace}/{_segment(query)}/aids/JSON")
        except NotFound:
            return ()
        return _distinct(read(AidAnswer, answer).identifiers.aid)

    async def bioactivity(self, cid: int) -> AssayTable:
        """All that assays found of a compound; an empty table when none tested it. Costs one request.

        Raises:
            PubChemError: PubChem failed.
        """
        try:
            answer = await self._get(f"{PUG}/compound/cid/{cid}/assaysummary/JSON")
        except NotFound:
            return AssayTable()
        expect_json(answer)
        if len(answer.content) < _LARGE_BODY:
            return AssayTable.parse(answer.content)
        return await anyio.to_thread.run_sync(AssayTable.parse, answer.content)

    async def entity(self, kind: EntityType, identifier: str) -> dict[str, Any] | None:
        """The summary of an assay, gene, protein or taxon as PubChem gives it; None when there is none.

        Costs one request.

        Raises:
            PubChemError: PubChem failed.
        """
        try:
            found = await self._summaries(kind, _segment(identifier))
        except (NotFound, BadRequest):
            # Some of these endpoints answer an identifier that does not exist with 400.
            return None
        return found[0] if found else None

    async def entities(self, kind: EntityType, identifiers: Sequence[str]) -> dict[str, dict[str, Any]] | None:
        """The summaries of several entities in one request, by identifier (PUG REST documentation, "Gene Summary").

        Returns:
            Those that PubChem knows; None when it refuses the list as a whole, as it may for one unknown identifier.

        Raises:
            PubChemError: PubChem failed.
        """
        try:
            found = await self._summaries(kind, ",".join(_segment(identifier) for identifier in identifiers))
        except (NotFound, BadRequest):
            return None
        return {
            normalized(str(summary[name])): summary
            for summary in found
            for name in _ENTITIES[kind][1]
            if name in summary
        }

    async def _summaries(self, kind: EntityType, identifiers: str) -> list[dict[str, Any]]:
        answer = await self._get(f"{PUG}/{_ENTITIES[kind][0]}/{identifiers}/summary/JSON")
        outer = read(AnyAnswer, answer).root
        summaries = [value for _, inner in members(outer, "Summaries") for _, value in members(inner, "Summary")]
        if not summaries:
            raise UnexpectedAnswer("there are no Summaries in it")
        found = cast("list[Any]", summaries[0]) if isinstance(summaries[0], list) else summaries
        return [cast("dict[str, Any]", one) for one in found if isinstance(one, dict)]

    async def properties(self, cids: Sequence[int], names: Sequence[str]) -> dict[int, dict[str, Any]]:
        """Properties of compounds, under the names that were asked for. Costs one request.

        Returns:
            For each CID that PubChem knows, its properties; one without a value is absent.
        """
        asked = {RENAMED.get(name, name): name for name in names}
        listed = ",".join(str(cid) for cid in cids)
        columns = ",".join(asked)
        if len(cids) <= PROPERTIES_BY_GET:
            answer = await self._get(f"{PUG}/compound/cid/{listed}/property/{columns}/JSON")
        else:
            answer = await self._post(f"{PUG}/compound/cid/property/{columns}/JSON", {"cid": listed})
        # Older answers carry the older names; either is read.
        names_of = {**{name: name for name in names}, **asked}
        rows = read(PropertyAnswer, answer).table.rows
        found = {
            int(row["CID"]): {names_of[key]: value for key, value in row.items() if key in names_of}
            for row in rows
            if "CID" in row
        }
        return {cid: values for cid, values in found.items() if values}

    async def synonyms(self, cids: Sequence[int]) -> dict[int, list[str]]:
        """All names of compounds, by relevance; a compound without any is absent. Costs one request.

        Raises:
            PubChemError: PubChem failed.
        """
        listed = ",".join(str(cid) for cid in cids)
        try:
            if len(cids) <= PROPERTIES_BY_GET:
                answer = await self._get(f"{PUG}/compound/cid/{listed}/synonyms/JSON")
            else:
                answer = await self._post(f"{PUG}/compound/cid/synonyms/JSON", {"cid": listed})
        except NotFound:
            return {}
        found = read(InformationAnswer, answer).of("Synonym")
        return {cid: [str(name) for name in names] for cid, names in found.items()}

    async def xrefs(self, cid: int, kind: str) -> list[Any]:
        """All identifiers of a kind that a compound has elsewhere: text or numbers, none twice. Costs one request.

        Raises:
            PubChemError: PubChem failed.
        """
        return await self._listed_of(cid, f"xrefs/{kind}", kind)

    async def conformers(self, cid: int) -> list[str]:
        """The IDs of a compound's conformers, the default one first. Costs one request.

        Raises:
            PubChemError: PubChem failed.
        """
        return [str(one) for one in await self._listed_of(cid, "conformers", "ConformerID")]

    async def drawing(self, cid: int, size: Literal["small", "large"]) -> bytes:
        """A compound's structure drawn in two dimensions, a PNG. Costs one request.

        Raises:
            NotFound: There is no such compound.
            PubChemError: PubChem failed.
        """
        answer = await self._get(f"{PUG}/compound/cid/{cid}/PNG", {"image_size": size})
        if not answer.content.startswith(PNG):
            raise UnexpectedAnswer("it is no PNG image")
        return answer.content

    async def conformer(self, cid: int) -> str:
        """A compound's default conformer, an SDF. Costs one request.

        Raises:
            NotFound: It has no conformer, or there is no such compound.
            PubChemError: PubChem failed.
        """
        answer = await self._get(f"{PUG}/compound/cid/{cid}/record/SDF", {"record_type": "3d"})
        return answer.text

    async def _listed_of(self, cid: int, operation: str, name: str) -> list[Any]:
        try:
            answer = await self._get(f"{PUG}/compound/cid/{cid}/{operation}/JSON")
        except NotFound:
            return []
        return read(InformationAnswer, answer).of(name).get(cid, [])

    async def _assay_list(self, aid: int, *, active_only: bool, fresh: bool = False) -> tuple[int, str]:
        options = {"cids_type": "active" if active_only else "all", "list_return": "listkey"}
        extensions = {"scigate.cache": "refresh"} if fresh else None
        answer = await self._get(f"{PUG}/assay/aid/{aid}/cids/JSON", options, extensions=extensions)
        listed = read(ListAnswer, answer).identifiers
        if listed is None or listed.size is None or listed.list_key is None:
            raise UnexpectedAnswer("an assay's list has no Size and ListKey")
        return listed.size, listed.list_key

    async def _listed(self, key: str, start: int, count: int) -> list[int]:
        options = {"listkey_start": start, "listkey_count": count}
        answer = await self._get(f"{PUG}/compound/listkey/{quote(key, safe='')}/cids/JSON", options)
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
        return BoundedList(_distinct(raw), complete=len(raw) < most)

    async def _cids(self, response: httpx.Response, most: int | None = None) -> list[int]:
        """The raw CIDs of an answer, polled for while the service is still searching.

        A list key does not carry the bound of the request that made it: it is sent again, and kept here.
        """
        answer = read(ListAnswer, response)
        for _ in range(POLLS):
            if answer.waiting is None:
                break
            await anyio.sleep(self._poll_interval_s)
            path = f"{PUG}/compound/listkey/{quote(answer.waiting.list_key, safe='')}/cids/JSON"
            options = {} if most is None else {"listkey_count": most}
            answer = read(ListAnswer, await self._get(path, options, extensions={"scigate.cache": False}))
        if answer.waiting is not None:
            raise PubChemError(Fault(504, "PUGREST.Timeout", "The search was not ready after all polls"))
        if answer.identifiers is None:
            raise UnexpectedAnswer("there is neither IdentifierList nor Waiting in it")
        return answer.identifiers.cid[:most]

    async def _get(
        self,
        path: str,
        options: Mapping[str, str | int] | None = None,
        *,
        extensions: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        response = await self._http.get(path, params=options or None, extensions=dict(extensions or {}))
        raise_for_fault(response)
        return response

    async def _post(
        self, path: str, form: Mapping[str, str], options: Mapping[str, str | int] | None = None
    ) -> httpx.Response:
        response = await self._http.post(path, params=options or None, data=dict(form), extensions=dict(READ))
        raise_for_fault(response)
        return response


def _fits_in_a_path(text: str) -> bool:
    return len(text) <= 500 and not any(sign in text for sign in "/\\") and text.strip(".") != ""


def _distinct(cids: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(cid for cid in cids if cid > 0))


def _segment(text: str) -> str:
    """Text as one segment of a path; dots alone would be read as a direction."""
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")
