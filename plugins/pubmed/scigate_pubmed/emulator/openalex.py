"""OpenAlex on sample data: the links of `Neighbours`, under work numbers made of PMIDs."""

import time
from collections.abc import Callable, Iterable, Sequence

from scigate.emulator import Emulator, Fault
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scigate_pubmed.emulator.corpus import Record, load
from scigate_pubmed.emulator.neighbours import Neighbours

_WORK = "https://openalex.org/W"


def create_openalex(
    faults: Iterable[Fault | str] | None = None,
    *,
    records: Sequence[Record] | None = None,
    monotonic: Callable[[], float] = time.monotonic,
) -> Emulator:
    """Build the emulator, with the paths `/works` and `/works/pmid:...`; arguments as for `create_app`."""
    sample = load() if records is None else records
    pmids = {record.pmid for record in sample}
    links = Neighbours(sample)

    async def work(request: Request) -> Response:
        pmid = request.path_params["pmid"]
        if pmid not in pmids:
            return JSONResponse({"error": "Not Found"}, 404)
        return JSONResponse(
            {
                "id": _WORK + pmid,
                "related_works": [_WORK + one for one in links.similar(pmid)[1:11]],
                "referenced_works": [_WORK + one for one in links.references(pmid)],
            }
        )

    async def works(request: Request) -> Response:
        kind, _, value = request.query_params.get("filter", "").partition(":")
        size = int(request.query_params.get("per_page", "25"))
        page = int(request.query_params.get("page", "1"))
        named = [one.removeprefix("W") for one in value.split("|")]
        found = links.citing(named[0]) if kind == "cites" else sorted(one for one in named if one in pmids)
        shown = found[(page - 1) * size : page * size]
        results = [{"id": _WORK + one, "ids": {"pmid": f"https://pubmed.ncbi.nlm.nih.gov/{one}"}} for one in shown]
        return JSONResponse({"meta": {"count": len(found)}, "results": results})

    app = Starlette(routes=[Route("/works/pmid:{pmid}", work), Route("/works", works)])
    emulator = Emulator(app, "openalex", monotonic=monotonic)
    emulator.faults.add(*(faults or ()))
    return emulator
