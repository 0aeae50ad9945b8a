"""Europe PMC on sample data: search, full text, citations and references.

It has the sample's records as corpus MED, and a few records of the other corpora that were written for this emulator
and say so. Full text is the emulator's own, for articles that are in PMC.
"""

import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl, quote

from scigate.emulator import Body, Emulator, Fault
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scigate_pubmed.emulator.corpus import Record, load
from scigate_pubmed.emulator.europepmc_query import QueryRefused, Work, compiled
from scigate_pubmed.emulator.fulltexts import article
from scigate_pubmed.emulator.neighbours import Neighbours

_ROOT = "/europepmc/webservices/rest"
_VERSION = "6.9"
_ABSTRACT = (
    "<h4>Background</h4>This is sample text of scigate's emulator &amp; not the abstract of the record: "
    "<i>P</i><0.001 and CO<sub>2</sub> stand here to be read. " + "It goes on for a while, as abstracts do. " * 12
)
_SORTS: Mapping[str, Callable[[Work], object]] = {
    "P_PDATE_D": lambda work: work.record.date,
    "CITED": lambda work: int(work.id) if work.id.isdigit() else 0,
    "AUTH_FIRST": lambda work: work.record.authors[0][0].casefold() if work.record.authors else "",
    "PUB_YEAR": lambda work: work.record.date[0],
}


def create_europepmc(
    faults: Iterable[Fault | str] | None = None,
    *,
    records: Sequence[Record] | None = None,
    monotonic: Callable[[], float] = time.monotonic,
) -> Emulator:
    """Build the emulator, with paths below `/europepmc/webservices/rest/`; arguments as for `create_app`."""
    service = _Service(load() if records is None else records)
    app = Starlette(
        routes=[
            Route(f"{_ROOT}/search", service.search),
            Route(f"{_ROOT}/searchPOST", service.search, methods=["POST"]),
            Route(f"{_ROOT}/{{pmcid}}/fullTextXML", service.full_text),
            Route(f"{_ROOT}/MED/{{pmid}}/citations", service.citations),
            Route(f"{_ROOT}/MED/{{pmid}}/references", service.references),
        ]
    )
    emulator = Emulator(app, "europepmc", _wording, monotonic=monotonic)
    emulator.faults.add(*(faults or ()))
    return emulator


def extras() -> list[Work]:
    """The records of other corpora: two preprints, a patent and a record of Agricola."""
    told = "written for the emulator of scigate"
    return [
        Work("PPR", "PPR1", _blank("A preprint about hypertension " + told, 2023, doi="10.1101/sample.1"), "bioRxiv"),
        Work("PPR", "PPR2", _blank("A preprint about cancer " + told, 2024, doi="10.1101/sample.2"), "medRxiv"),
        Work("PAT", "US0000001", _blank("A patent on a cancer treatment " + told, 2001)),
        Work("AGR", "IND00000001", _blank("Wheat and hypertension, a record of Agricola " + told, 1999)),
    ]


def _blank(title: str, year: int, *, doi: str = "") -> Record:
    kept = load()[0]
    return replace(
        kept, pmid="", title=title, authors=(("Sample A", "Author"),), surnames=("Sample",), journal="",
        abbreviation="", volume="", issue="", pages="", date=(year, 1, 1), printed_date=str(year), doi=doi, pmcid="",
        headings=(), publication_types=(), has_abstract=True,
    )  # fmt: skip


def _wording(kind: str, status: int) -> Body:
    return Body(status, "text/html", b"<!DOCTYPE html>\n<html><body><h1>Service unavailable</h1></body></html>\n")


class _Service:
    """The answers over one sample."""

    def __init__(self, sample: Sequence[Record]) -> None:
        self._works = [*(Work("MED", record.pmid, record) for record in sample), *extras()]
        self._links = Neighbours(sample)
        self._by_pmid = {record.pmid: record for record in sample}
        self._by_pmcid = {record.pmcid: record for record in sample if record.pmcid}

    async def search(self, request: Request) -> Response:
        parameters = dict(request.query_params)
        if request.method == "POST":
            parameters |= parse_qsl((await request.body()).decode(), keep_blank_values=True)
        query, cursor = parameters.get("query", ""), parameters.get("cursorMark", "*")
        size, kind = int(parameters.get("pageSize", "25")), parameters.get("resultType", "lite")
        field, _, direction = parameters.get("sort", "").partition(" ")
        start = _position(cursor)
        if (field and field not in _SORTS) or start is None:
            # Neither is explained.
            return JSONResponse({"version": _VERSION})
        try:
            test = compiled(query)
        except QueryRefused as refused:
            return JSONResponse({"version": _VERSION, "errCode": 404, "errMsg": str(refused)})
        found = [work for work in self._works if test(work)]
        if field:
            # Preprints have no print date: that order leaves them as they are.
            found.sort(key=lambda work: str(_SORTS[field](work)), reverse=direction.strip().lower() == "desc")
        shown = found[start : start + size]
        more = {"nextCursorMark": _cursor(start + size)} if start + size < len(found) else {}
        echo = {"queryString": query, "resultType": kind, "cursorMark": quote(cursor), "pageSize": size, "sort": ""}
        results = [self._result(work, kind) for work in shown]
        return JSONResponse(
            {
                "version": _VERSION,
                "hitCount": len(found),
                **more,
                "request": echo,
                "resultList": {"result": results},
            }
        )

    async def full_text(self, request: Request) -> Response:
        record = self._by_pmcid.get(request.path_params["pmcid"].upper())
        if record is None:
            return Response(status_code=404)
        return Response(article(record), media_type="application/xml")

    async def citations(self, request: Request) -> Response:
        return self._linked(request, self._links.citing, "citationList", "citation")

    async def references(self, request: Request) -> Response:
        return self._linked(request, self._links.references, "referenceList", "reference")

    def _linked(self, request: Request, links: Callable[[str], list[str]], outer: str, inner: str) -> Response:
        page, size = (int(request.query_params.get(name, default)) for name, default in _PAGES)
        found = [self._by_pmid[pmid] for pmid in links(request.path_params["pmid"])]
        entries = [
            {
                "id": record.pmid,
                "source": "MED",
                "title": record.title,
                "journalAbbreviation": record.abbreviation,
                "pubYear": record.date[0],
            }
            for record in found[(page - 1) * size : page * size]
        ]
        return JSONResponse({"version": _VERSION, "hitCount": len(found), outer: {inner: entries}})

    def _result(self, work: Work, kind: str) -> dict[str, object]:
        record = work.record
        names = {"id": work.id, "source": work.source}
        names |= {"pmid": record.pmid} if record.pmid else {}
        names |= {"pmcid": record.pmcid} if record.pmcid else {}
        if kind == "idlist":
            return dict(names)
        flag = "Y" if work.open_access else "N"
        facts: dict[str, object] = {
            **names,
            **({"doi": record.doi.lower()} if record.doi else {}),
            "title": record.title,
            "authorString": ", ".join(name for name, _ in record.authors) + ".",
            "pubYear": str(record.date[0]),
            "isOpenAccess": flag,
            "inEPMC": flag,
            "inPMC": flag,
            "hasPDF": flag,
            "citedByCount": len(self._links.citing(record.pmid)) if record.pmid else 0,
            "firstPublicationDate": "-".join(f"{part:02}" for part in record.date),
        }
        if kind == "lite":
            return {**facts, "journalTitle": record.journal} if record.journal else facts
        if record.journal:
            facts["journalInfo"] = {"volume": record.volume, "journal": {"title": record.journal}}
        if work.server:
            facts["bookOrReportDetails"] = {"publisher": work.server}
        return {**facts, "abstractText": _ABSTRACT} if record.has_abstract else facts


_PAGES = (("page", "1"), ("pageSize", "25"))


def _cursor(position: int) -> str:
    return urlsafe_b64encode(f"AoE{position:08}=".encode()).decode()


def _position(cursor: str) -> int | None:
    """The position behind a cursor; None for one that was never given out."""
    if cursor == "*":
        return 0
    try:
        text = urlsafe_b64decode(cursor.encode()).decode()
    except ValueError:
        return None
    return int(text[3:-1]) if text.startswith("AoE") and text[3:-1].isdigit() else None
