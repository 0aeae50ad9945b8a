"""The PMC ID converter on sample data: it knows the articles of the sample that are in PMC."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from scigate.emulator import Emulator, Fault
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scigate_pubmed.emulator.corpus import Record, load

_FORMS: Mapping[str, Callable[[str], bool]] = {
    "pmid": str.isdigit,
    "pmcid": lambda text: text.upper().removeprefix("PMC").replace(".", "", 1).isdigit(),
    "doi": lambda text: text.startswith("10."),
}


def create_pmc(
    faults: Iterable[Fault | str] | None = None,
    *,
    records: Sequence[Record] | None = None,
    monotonic: Callable[[], float] = time.monotonic,
) -> Emulator:
    """Build the emulator, with paths below `/tools/idconv/api/v1/`; arguments as for `create_app`."""
    sample = load() if records is None else records
    by_id = {
        (kind, _key(value)): record
        for record in sample
        if record.pmcid
        for kind, value in (("pmid", record.pmid), ("pmcid", record.pmcid), ("doi", record.doi))
        if value
    }

    async def articles(request: Request) -> Response:
        ids = [one.strip() for one in request.query_params.get("ids", "").split(",") if one.strip()]
        kind = request.query_params.get("idtype", "pmid")
        prefixed = {one.upper().startswith("PMC") for one in ids}
        if not ids or kind not in _FORMS or len(prefixed) > 1 or not all(map(_FORMS[kind], ids)):
            return JSONResponse({"status": "error", "message": "Invalid request"}, 400)
        answer = {"status": "ok", "response-date": "2026-01-01 00:00:00", "request": {"idtype": kind, "ids": ids}}
        found = [_record(one, kind, by_id.get((kind, _key(one)))) for one in ids]
        return Response(json.dumps({**answer, "records": found}), media_type="application/json")

    app = Starlette(routes=[Route("/tools/idconv/api/v1/articles/", articles)])
    emulator = Emulator(app, "pmc", monotonic=monotonic)
    emulator.faults.add(*(faults or ()))
    return emulator


def _record(asked: str, kind: str, record: Record | None) -> dict[str, object]:
    if record is None:
        known: dict[str, object] = {kind: int(asked) if kind == "pmid" else asked}
        return {**known, "requested-id": asked, "status": "error", "errmsg": "Identifier not found in PMC"}
    doi = {"doi": record.doi} if record.doi else {}
    return {"pmid": int(record.pmid), "pmcid": record.pmcid, **doi, "requested-id": asked}


def _key(text: str) -> str:
    return text.upper().removeprefix("PMC")
