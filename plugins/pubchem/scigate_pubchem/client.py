"""The PubChem client: what PUG REST knows of a compound, assay or other entity, and the clients of its other parts.

One URL is built and one answer parsed in each method. Above are the tools, below is `pug_rest`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, cast

import anyio
import httpx

from scigate_pubchem.accession import normalized
from scigate_pubchem.answers import (
    AidAnswer,
    AnyAnswer,
    AssaySummary,
    InformationAnswer,
    PropertyAnswer,
    expect_json,
    members,
    read,
)
from scigate_pubchem.assaysummary import AssayTable
from scigate_pubchem.faults import BadRequest, NotFound, UnexpectedAnswer
from scigate_pubchem.pug_rest import PugRest, distinct, segment
from scigate_pubchem.pug_view import PugView
from scigate_pubchem.sdq import Sdq
from scigate_pubchem.searches import POLL_INTERVAL_S, Searches

__all__ = ["AssaySummary", "EntityType", "PubChem", "TargetType"]

TargetType = Literal["genesymbol", "proteinname", "geneid", "proteinaccession"]
EntityType = Literal["assay", "gene", "protein", "taxonomy"]

PNG: Final = b"\x89PNG\r\n\x1a\n"
"""How a PNG file begins."""

PROPERTIES_BY_GET: Final = 50
"""More CIDs than these are sent in a POST body, so that no URL grows past what proxies take."""

RENAMED: Final = {"IsomericSMILES": "SMILES", "CanonicalSMILES": "ConnectivitySMILES"}
"""What PubChem calls two properties since 2025; answers carry the new names whatever was asked."""

_ENTITIES: Final[Mapping[EntityType, tuple[str, tuple[str, ...]]]] = {
    "assay": ("assay/aid", ("AID",)),
    "gene": ("gene/geneid", ("GeneID",)),
    "protein": ("protein/accession", ("ProteinAccession", "Accession")),
    "taxonomy": ("taxonomy/taxid", ("TaxonomyID", "TaxID")),
}
"""Path of each kind's summary, and the names under which a summary holds its identifier."""

_LARGE_BODY: Final = 500_000
"""Bytes from which a table is parsed in a thread, so that other calls go on meanwhile."""


class PubChem:
    """The PubChem client.

    Args:
        http: Client of the upstream `pubchem`.
        poll_interval_s: Seconds between two looks at a search that is not ready.

    Attributes:
        search: Searches of compounds.
        view: What third parties say of a compound, by headings.
        sdq: The tables behind PubChem's web pages.
    """

    def __init__(self, http: httpx.AsyncClient, *, poll_interval_s: float = POLL_INTERVAL_S) -> None:
        self._pug = PugRest(http)
        self.search = Searches(self._pug, poll_interval_s=poll_interval_s)
        self.view = PugView(http)
        self.sdq = Sdq(http)

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
            answer = await self._pug.get(f"assay/target/{namespace}/{segment(query)}/aids/JSON")
        except NotFound:
            return ()
        return distinct(read(AidAnswer, answer).identifiers.aid)

    async def bioactivity(self, cid: int) -> AssayTable:
        """All that assays found of a compound; an empty table when none tested it. Costs one request.

        Raises:
            PubChemError: PubChem failed.
        """
        try:
            answer = await self._pug.get(f"compound/cid/{cid}/assaysummary/JSON")
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
            found = await self._summaries(kind, segment(identifier))
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
            found = await self._summaries(kind, ",".join(segment(identifier) for identifier in identifiers))
        except (NotFound, BadRequest):
            return None
        return {
            normalized(str(summary[name])): summary
            for summary in found
            for name in _ENTITIES[kind][1]
            if name in summary
        }

    async def _summaries(self, kind: EntityType, identifiers: str) -> list[dict[str, Any]]:
        answer = await self._pug.get(f"{_ENTITIES[kind][0]}/{identifiers}/summary/JSON")
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
            answer = await self._pug.get(f"compound/cid/{listed}/property/{columns}/JSON")
        else:
            answer = await self._pug.post(f"compound/cid/property/{columns}/JSON", {"cid": listed})
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
                answer = await self._pug.get(f"compound/cid/{listed}/synonyms/JSON")
            else:
                answer = await self._pug.post("compound/cid/synonyms/JSON", {"cid": listed})
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
        answer = await self._pug.get(f"compound/cid/{cid}/PNG", {"image_size": size})
        if not answer.content.startswith(PNG):
            raise UnexpectedAnswer("it is no PNG image")
        return answer.content

    async def conformer(self, cid: int) -> str:
        """A compound's default conformer, an SDF. Costs one request.

        Raises:
            NotFound: It has no conformer, or there is no such compound.
            PubChemError: PubChem failed.
        """
        answer = await self._pug.get(f"compound/cid/{cid}/record/SDF", {"record_type": "3d"})
        return answer.text

    async def _listed_of(self, cid: int, operation: str, name: str) -> list[Any]:
        try:
            answer = await self._pug.get(f"compound/cid/{cid}/{operation}/JSON")
        except NotFound:
            return []
        return read(InformationAnswer, answer).of(name).get(cid, [])
