"""An emulator of PubChem over ten thousand real compounds: PUG REST, PUG View at `/rest/pug_view/...` and SDQ.

`create_app()` is an ASGI app that needs no network. Each of its answers says with `X-Sample-Data: pubchem` that it is
sample data, and faults can be injected, as `scigate.emulator` tells. What differs from PubChem: it knows ten thousand
compounds, similarity uses other fingerprints, few compounds have XLogP or Complexity and none has Volume3D, no assay
was ever measured (its outcomes follow from structures, or from what textbooks know of a target's ligands), annotations
are there for some tens of compounds, conformers and drawings are RDKit's, and of the options of a search `MaxRecords`,
`Threshold` and `AllowOtherElements` count.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from scigate.emulator import Emulator, Fault
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .annotations import ViewFault
from .fault import GREEN, SLOW_DOWN, PugError, wording
from .listkey import WaitingError
from .pug_rest import Answer, PugRest
from .request import PugRequest
from .sample import sample

__all__ = ["create_app"]

_ROOT: Final = "/rest/pug/"
_VIEW: Final = "/rest/pug_view/data/compound/{cid:int}/JSON"
_SDQ: Final = "/sdq/sdqagent.cgi"
_TYPES: Final = {
    "JSON": "application/json",
    "TXT": "text/plain",
    "CSV": "text/csv",
    "PNG": "image/png",
    "SDF": "chemical/x-mdl-sdfile",
}
_THROTTLING: Final = "X-Throttling-Control"


def create_app(
    faults: Iterable[Fault | str] | None = None,
    *,
    polls: int = 1,
    tables: Mapping[int, dict[str, Any]] | None = None,
) -> Emulator:
    """Builds the emulator.

    Args:
        faults: Faults that wait from the start.
        polls: How many reads of a `ListKey` are answered with `Waiting` before its list is ready.
        tables: Answers of `assaysummary` in place of the sample's, by CID.
    """
    emulator = Emulator(_application(polls, tables), "pubchem", wording, {_THROTTLING: SLOW_DOWN})
    emulator.faults.add(*(faults or ()))
    return emulator


def _application(polls: int, tables: Mapping[int, dict[str, Any]] | None) -> Starlette:
    services: list[PugRest] = []

    async def service() -> PugRest:
        if not services:  # the first requests may each add one; all use the first
            services.append(PugRest(await run_in_threadpool(sample), polls=polls, tables=tables))
        return services[0]

    async def pug_view(request: Request) -> Response:
        try:
            heading = request.query_params.get("heading")
            return _json((await service()).annotations.record(request.path_params["cid"], heading), 200)
        except ViewFault as fault:
            return _json(fault.body(), 404)

    async def sdq(request: Request) -> Response:
        return _json((await service()).sdq.answer(request.query_params.get("query", "")), 200)

    async def pug_rest(request: Request) -> Response:
        form = "JSON"
        try:
            form = _format(request)
            asked = PugRequest.parse(_path(request), request.url.query, await _form(request))
            return _rendered(await (await service()).answer(asked), asked.format)
        except WaitingError as waiting:
            return _json(waiting.body(), 202)
        except PugError as fault:
            return _failed(fault, form)

    every = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]
    return Starlette(
        routes=[
            Route(_ROOT + "{rest:path}", pug_rest, methods=every),
            Route(_VIEW, pug_view),
            Route(_SDQ, sdq),
        ]
    )


def _path(request: Request) -> str:
    raw = request.scope.get("raw_path") or request.url.path.encode()
    return raw.decode("latin-1").split("?")[0].split(_ROOT, 1)[1]


def _format(request: Request) -> str:
    """The form that faults take too: JSON, or text for everything else.

    Raises:
        PugError: 405, the method or the `Accept` header do not go with the request.
    """
    form = request.url.path.rsplit("/", 1)[-1].upper()
    accept = request.headers.get("accept", "*/*")
    wanted = _TYPES.get(form, "application/json")
    if request.method not in ("GET", "POST"):
        raise PugError(405, "NotAllowed", "Request not allowed", (f"The method {request.method} is not allowed",))
    if not any(kind in accept for kind in ("*/*", wanted, wanted.split("/")[0] + "/*")):
        raise PugError(405, "NotAllowed", "Request not allowed", ("Invalid MIME type in the HTTP Accept header",))
    return form


async def _form(request: Request) -> str:
    """The POSTed form; a body that is not declared as one is not read, as PubChem does not."""
    declared = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    return (await request.body()).decode("utf-8", "replace") if request.method == "POST" and declared else ""


def _rendered(answer: Answer, form: str) -> Response:
    if answer.content:
        return Response(answer.content, headers={"Content-Type": _TYPES[form], _THROTTLING: GREEN})
    if form == "JSON":
        return _json(answer.body, 200)
    if not answer.header:
        raise PugError(400, "BadRequest", "Invalid output format")
    text = "".join(f"{_line(row)}\n" for row in answer.rows) if form == "TXT" else _table(answer)
    return Response(text, headers={"Content-Type": _TYPES[form], _THROTTLING: GREEN})


def _table(answer: Answer) -> str:
    """CSV with text in quotes and numbers bare."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(answer.header)
    writer.writerows(row[: len(answer.header)] for row in answer.rows)
    return out.getvalue()


def _line(row: tuple[object, ...]) -> str:
    return "\t".join(str(cell) for cell in row[1:])


def _failed(fault: PugError, form: str) -> Response:
    if form in ("JSON", ""):
        return _json(fault.body(), fault.status)
    headers = {"Content-Type": "text/plain", _THROTTLING: GREEN}
    return Response(fault.lines(), fault.status, headers=headers)


def _json(body: dict[str, Any], status: int) -> Response:
    text = json.dumps(body, indent=2, ensure_ascii=False) + "\n"
    return Response(text, status, headers={"Content-Type": "application/json", _THROTTLING: GREEN})
