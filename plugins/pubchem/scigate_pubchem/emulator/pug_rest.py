"""PUG REST over the sample: finds the compounds that a request names, then does its operation on them.

Above is the web application, which turns the answers and faults of this module into bytes. Only structures need RDKit;
those requests run in a worker thread, all others on the event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.concurrency import run_in_threadpool

from .annotations import SOURCE, Annotations
from .bioassays import COLUMNS, Bioassays, table
from .crossrefs import KINDS, CrossReferences
from .fault import PugError, bad_request, not_found, unsearchable
from .formula import Formulas
from .listkey import ListKeys, WaitingError
from .request import FAST, POLLED, PugRequest
from .sample import PROPERTIES, Sample
from .sdq import Sdq
from .targets import Targets

__all__ = ["Answer", "PugRest"]

_CEILING: Final = 2_000_000
_STRUCTURES: Final = frozenset(("smiles", "smarts", "inchi"))

# Domain: namespace, and the word that names its summaries.
_ENTITIES: Final = {"gene": ("geneid", "Gene"), "protein": ("accession", "Protein"), "taxonomy": ("taxid", "Taxonomy")}


@dataclass(frozen=True, slots=True)
class Answer:
    """A good answer: its JSON, and the rows of its other forms (`TXT` prints cells after the first column).

    An image or a structure file is `content` instead.
    """

    body: dict[str, Any]
    header: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    content: bytes = b""


class PugRest:
    """Answers requests.

    Args:
        sample: The compounds.
        polls: How often a ticket is refused before its list is there.
        tables: Answers of `assaysummary` in place of the sample's, by CID.

    Attributes:
        annotations: What PUG View serves.
        sdq: What the SDQ agent serves.
    """

    def __init__(self, sample: Sample, *, polls: int, tables: Mapping[int, dict[str, Any]] | None = None) -> None:
        self._sample = sample
        self._tables = dict(tables or {})
        targets = Targets()
        self._bioassays = Bioassays(sample, targets)
        self._screens = {**sample.screens, **self._bioassays.screens}
        self._entities = {"gene": targets.genes(), "protein": targets.proteins(), "taxonomy": targets.taxa()}
        self._crossrefs = CrossReferences(sample, self._bioassays, targets)
        self.annotations = Annotations(sample)
        self.sdq = Sdq(self.annotations, self._bioassays, targets)
        self._formulas = Formulas(sample)
        self._keys = ListKeys(polls)

    async def answer(self, request: PugRequest) -> Answer:
        """Does one request.

        Raises:
            PugError: As PubChem would fail.
            WaitingError: The list is not ready.
        """
        match request.domain:
            case "compound":
                return await self._on_compounds(request, await self._compounds(request))
            case "assay":
                return self._on_assays(request)
            case "gene" | "protein" | "taxonomy":
                return self._on_entities(request)
            case _:
                raise _not_in_sample(f"domain {request.domain}")

    async def _compounds(self, request: PugRequest) -> list[int]:
        """The compounds that a request is about; 0 stands for a readable structure that is not in the sample."""
        if request.search in POLLED or (request.namespace == "formula" and not request.search):
            raise WaitingError(self._keys.store(await self._outcome(request), ready=False))
        if request.search or request.namespace == "fastformula":
            return _bounded(request, await self._matches(request))
        if request.namespace == "listkey":
            return _window(request, self._keys.read(request.identifiers or ""))
        return await self._identified(request)

    async def _identified(self, request: PugRequest) -> list[int]:
        if request.namespace == "cid":
            return request.numbers("CID")
        wanted = request.identifiers
        if wanted is None or not wanted.strip():
            raise bad_request(f"Missing {request.namespace}", f"Expected a {request.namespace} via URL or POST")
        if request.namespace in ("smiles", "inchi"):
            exact = self._sample.by_smiles if request.namespace == "smiles" else self._sample.by_inchi
            return exact(wanted) or await run_in_threadpool(self._identify, wanted, request.namespace)
        lookups: dict[str, tuple[Callable[[str], list[int]], str]] = {
            "name": (self._sample.by_name, "name"),
            "inchikey": (self._by_inchikeys, "InChI key"),
        }
        if request.namespace not in lookups:
            raise bad_request("Invalid input namespace", f"There is no namespace {request.namespace}")
        lookup, noun = lookups[request.namespace]
        found = lookup(wanted)
        if not found:
            raise not_found("No CID found", f"No CID found that matches the given {noun}")
        return found

    def _by_inchikeys(self, keys: str) -> list[int]:
        return [cid for key in keys.split(",") for cid in self._sample.by_inchikey(key.strip())]

    def _identify(self, structure: str, notation: str) -> list[int]:
        from .structures import structures

        return structures().identify(structure, notation)

    async def _outcome(self, request: PugRequest) -> list[int] | PugError:
        try:
            return _bounded(request, await self._matches(request))
        except PugError as fault:
            return fault

    async def _matches(self, request: PugRequest) -> list[int]:
        """All matches of a search, in an order that does not change."""
        query = request.identifiers
        if query is None:
            raise bad_request("Missing query", "Expected a query via URL or POST")
        if not request.search:
            return self._formulas.search(query, other_elements=request.flag("AllowOtherElements"))
        if request.namespace not in _STRUCTURES | {"cid"}:
            raise bad_request("Invalid input namespace", f"There is no search by {request.namespace}")
        kind = (FAST | POLLED)[request.search]
        threshold = request.number("Threshold", 90) or 0
        return await run_in_threadpool(self._search, kind, query, request.namespace, threshold)

    def _search(self, kind: str, query: str, notation: str, threshold: int) -> list[int]:
        from .structures import structures

        if kind != "identity":
            return structures().search(kind, query, notation, threshold=threshold)
        try:
            same = [int(query)] if notation == "cid" and query.isdecimal() else structures().identify(query, notation)
        except PugError as fault:
            raise unsearchable() from fault
        return [cid for cid in same if cid in self._sample]

    async def _on_compounds(self, request: PugRequest, cids: list[int]) -> Answer:
        match request.operation:
            case "cids":
                return Answer({"IdentifierList": {"CID": cids}}, ("CID",), tuple((cid, cid) for cid in cids))
            case "property":
                return self._properties(cids, request.arguments)
            case "synonyms":
                return self._synonyms(cids)
            case "assaysummary":
                return self._bioactivity(cids)
            case "xrefs":
                return self._elsewhere(cids, request.arguments)
            case "description":
                return self._descriptions(cids)
            case "conformers":
                return await run_in_threadpool(self._conformers, cids)
            case "record" if request.format in ("PNG", "SDF"):
                return await run_in_threadpool(self._drawn, cids, request)
            case "record":
                return await run_in_threadpool(self._records, cids)
            case other:
                raise _not_in_sample(f"operation {other}")

    def _properties(self, cids: list[int], arguments: str) -> Answer:
        names = [name for name in arguments.split(",") if name]
        if not names or not PROPERTIES.issuperset(names):
            raise bad_request("Invalid property")
        table = [self._sample.properties(cid, names) for cid in cids]
        header = tuple(self._sample.properties(cids[0], names)) if cids else ("CID",)
        rows = tuple(tuple(row.get(name, "") for name in header) for row in table)
        return Answer({"PropertyTable": {"Properties": table}}, header, rows)

    def _synonyms(self, cids: list[int]) -> Answer:
        found = [(cid, self._sample.synonyms(cid)) for cid in cids]
        entries = [{"CID": cid, "Synonym": names} if names else {"CID": cid} for cid, names in found]
        rows = tuple((cid, name) for cid, names in found for name in names)
        return Answer({"InformationList": {"Information": entries}}, ("CID", "Synonym"), rows)

    def _elsewhere(self, cids: list[int], kind: str) -> Answer:
        if kind not in KINDS:
            raise bad_request("Invalid xref type", f"There is no xref type {kind}")
        found = [(cid, self._crossrefs.ids(cid, kind)) for cid in cids]
        if not any(ids for _, ids in found):
            raise not_found(f"No {kind} found for the given CID(s)")
        entries = [{"CID": cid, kind: ids} if ids else {"CID": cid} for cid, ids in found]
        rows = tuple((cid, one) for cid, ids in found for one in ids)
        return Answer({"InformationList": {"Information": entries}}, ("CID", kind), rows)

    def _descriptions(self, cids: list[int]) -> Answer:
        entries: list[dict[str, Any]] = []
        for cid in cids:
            if texts := self.annotations.descriptions(cid):
                entries.append({"CID": cid, "Title": self._sample.text(cid, "Title")})
                entries += [{"CID": cid, "Description": text, "DescriptionSourceName": SOURCE} for text in texts]
        if not entries:
            raise not_found("No description found for the given CID(s)")
        return Answer({"InformationList": {"Information": entries}})

    def _conformers(self, cids: list[int]) -> Answer:
        from .drawing import conformer_ids, has_conformer

        entries = [{"CID": cid, "ConformerID": conformer_ids(cid)} for cid in cids if has_conformer(self._sample, cid)]
        if not entries:
            raise not_found("No conformers found for the given CID(s)")
        return Answer({"InformationList": {"Information": entries}})

    def _drawn(self, cids: list[int], request: PugRequest) -> Answer:
        from .drawing import drawing, sdf

        if request.format == "PNG":
            return Answer({}, content=drawing(self._sample, cids[0], request.options.get("image_size", "large")))
        flat = request.options.get("record_type", "2d") != "3d"
        return Answer({}, content="".join(sdf(self._sample, cid, flat=flat) for cid in cids).encode())

    def _records(self, cids: list[int]) -> Answer:
        from .record import record

        known = [cid for cid in cids if cid in self._sample]
        if not known:
            raise not_found("Record not found", *(f"No record data for CID {cid}" for cid in cids))
        return Answer({"PC_Compounds": [record(self._sample, cid) for cid in known]})

    def _bioactivity(self, cids: list[int]) -> Answer:
        if len(cids) == 1 and cids[0] in self._tables:
            return Answer(self._tables[cids[0]])
        rows = [row.cells for cid in cids for row in self._bioassays.rows(cid)]
        if not rows:
            raise not_found("No assay summary found", *(f"No assay tested CID {cid}" for cid in cids))
        return Answer(table(rows), COLUMNS, tuple(tuple(cells) for cells in rows))

    def _on_entities(self, request: PugRequest) -> Answer:
        namespace, word = _ENTITIES[request.domain]
        if request.namespace != namespace or request.operation != "summary":
            raise _not_in_sample(f"{request.domain} by {request.namespace}, operation {request.operation}")
        asked = [part.strip() for part in (request.identifiers or "").split(",")]
        found = [self._entities[request.domain][one] for one in asked if one in self._entities[request.domain]]
        if not found and request.domain == "gene":
            raise not_found(f"No {request.domain} found", *(f"No {request.domain} found for {one}" for one in asked))
        if not found:
            # The service answers these with 400 where it answers unknown genes with 404.
            raise bad_request(f"Invalid {namespace}", *(f"There is no {request.domain} {one}" for one in asked))
        rows = tuple((next(iter(one.values())),) * 2 for one in found)
        return Answer({f"{word}Summaries": {f"{word}Summary": found}}, (namespace,), rows)

    def _against(self, request: PugRequest) -> Answer:
        kind, query = request.namespace.removeprefix("target/"), (request.identifiers or "").strip()
        if kind not in ("genesymbol", "proteinname", "geneid", "accession"):
            raise _not_in_sample(f"assays by {request.namespace}")
        if not query or (kind == "geneid" and not query.isdecimal()):
            raise bad_request(f"Invalid {kind}", f"{query or 'nothing'} cannot be looked up as {kind}")
        aids = self._bioassays.against(kind, query) if request.operation == "aids" else []
        if not aids:
            raise not_found("No AID found", f"No AID found that matches the given {kind}")
        return Answer({"IdentifierList": {"AID": aids}}, ("AID",), tuple((aid, aid) for aid in aids))

    def _on_assays(self, request: PugRequest) -> Answer:
        if request.namespace.startswith("target/"):
            return self._against(request)
        if request.namespace != "aid":
            raise _not_in_sample(f"assays by {request.namespace}")
        aids = request.numbers("AID")
        if request.operation == "summary":
            return self._summaries(aids)
        if request.operation != "cids":
            raise _not_in_sample(f"operation {request.operation}")
        groups = [(aid, self._tested(aid, request.options.get("cids_type", "all"))) for aid in aids]
        groups = [(aid, cids) for aid, cids in groups if cids]
        if not groups:
            raise not_found("No CIDs found for the given AID(s)")
        return self._listed(groups, request.options.get("list_return", "grouped"))

    def _listed(self, groups: list[tuple[int, list[int]]], form: str) -> Answer:
        flat = list(dict.fromkeys(cid for _, cids in groups for cid in cids))
        rows = tuple((cid, cid) for cid in flat)
        match form:
            case "flat":
                return Answer({"IdentifierList": {"CID": flat}}, ("CID",), rows)
            case "listkey":
                key = self._keys.store(flat, ready=True)
                return Answer({"IdentifierList": {"Size": len(flat), "ListKey": key}}, ("ListKey",), ((key, key),))
            case "grouped":
                entries = [{"AID": aid, "CID": cids} for aid, cids in groups]
                return Answer({"InformationList": {"Information": entries}}, ("CID",), rows)
            case other:
                raise bad_request("Invalid list_return", f"There is no list_return {other}")

    def _tested(self, aid: int, outcome: str) -> list[int]:
        screen = self._screens.get(aid)
        match outcome:
            case "all":
                return screen.tested if screen else []
            case "active":
                return screen.active if screen else []
            case "inactive":
                return screen.inactive if screen else []
            case other:
                raise bad_request("Invalid cids_type", f"There is no cids_type {other}")

    def _summaries(self, aids: list[int]) -> Answer:
        found = [self._screens[aid].summary for aid in aids if aid in self._screens]
        if not found:
            raise not_found("No assay found", *(f"No assay found for AID {aid}" for aid in aids))
        return Answer(
            {"AssaySummaries": {"AssaySummary": found}}, ("AID",), tuple((s["AID"], s["Name"]) for s in found)
        )


def _bounded(request: PugRequest, found: list[int]) -> list[int]:
    """The stable prefix that `MaxRecords` asks for."""
    if not found:
        raise not_found("Search returned no hits")
    return found[: request.number("MaxRecords", _CEILING)]


def _window(request: PugRequest, stored: list[int]) -> list[int]:
    start = request.number("listkey_start", 0) or 0
    size = request.number("listkey_count")
    window = stored[start : None if size is None else start + size]
    if not window:
        raise not_found("No CID found", "The list ends before listkey_start")
    return window


def _not_in_sample(what: str) -> PugError:
    return PugError(
        501, "Unimplemented", "The requested operation has not yet been implemented", (f"Sample data: no {what}",)
    )
