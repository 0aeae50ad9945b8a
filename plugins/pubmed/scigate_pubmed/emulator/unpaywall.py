"""Unpaywall on sample data: articles of the sample that are in PMC have an open copy there, the others have none.

Preprints that the Europe PMC emulator made up have a copy at an address of example.org, which leads nowhere.
"""

import time
from collections.abc import Callable, Iterable, Sequence

from scigate.emulator import Emulator, Fault
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scigate_pubmed.emulator.corpus import Record, load
from scigate_pubmed.emulator.europepmc import extras


def create_unpaywall(
    faults: Iterable[Fault | str] | None = None,
    *,
    records: Sequence[Record] | None = None,
    monotonic: Callable[[], float] = time.monotonic,
) -> Emulator:
    """Build the emulator, with the path `/v2/{doi}`; arguments as for `create_app`."""
    sample = load() if records is None else records
    places: dict[str, str] = {}
    for record in sample:
        if record.doi:
            address = f"https://www.ncbi.nlm.nih.gov/pmc/articles/{record.pmcid}"
            places[record.doi.casefold()] = address if record.pmcid else ""
    for work in extras():
        if work.record.doi:
            places[work.record.doi] = f"https://example.org/sample/{work.id}"

    async def lookup(request: Request) -> Response:
        doi = request.path_params["doi"]
        email = request.query_params.get("email", "")
        if "@" not in email:
            return JSONResponse({"HTTP_status_code": 422, "error": True, "message": "Email address required"}, 422)
        if doi.casefold() not in places:
            return JSONResponse({"HTTP_status_code": 404, "error": True, "message": f"{doi} isn't in Unpaywall."}, 404)
        place = places[doi.casefold()]
        location = {
            "url": f"{place}.pdf",
            "url_for_pdf": f"{place}.pdf",
            "url_for_landing_page": place,
            "host_type": "repository",
            "license": None,
            "version": "publishedVersion",
        }
        return JSONResponse(
            {
                "doi": doi.lower(),
                "is_oa": bool(place),
                "oa_status": "green" if place else "closed",
                "best_oa_location": location if place else None,
                "oa_locations": [location] if place else [],
            }
        )

    emulator = Emulator(Starlette(routes=[Route("/v2/{doi:path}", lookup)]), "unpaywall", monotonic=monotonic)
    emulator.faults.add(*(faults or ()))
    return emulator
