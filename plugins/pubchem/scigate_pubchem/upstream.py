"""The `pubchem` upstream: its limits, what it asks for by its headers, and how long its answers live."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

import httpx
from pydantic import ValidationError
from scigate import Lifetime, Upstream

from scigate_pubchem.faults import SEARCH_FAILED, Fault
from scigate_pubchem.sdq import SdqAnswer

__all__ = ["PUBCHEM"]

_COLOUR: Final = re.compile(r"status:\s*(\w+)", re.IGNORECASE)

_SPACING_S: Final = {"yellow": 0.4, "red": 1.0, "black": 5.0}
"""Seconds between requests that a colour asks for; green and unknown ones ask for nothing.

The colours stand for under half of a limit used, half to three quarters, above, and over (PubChem, "Dynamic Request
Throttling", https://pubchem.ncbi.nlm.nih.gov/docs/dynamic-request-throttling).
"""

_HOUR: Final = 3600.0
_DAY: Final = 24 * _HOUR


def throttle(headers: httpx.Headers) -> float | None:
    """Seconds between requests that `X-Throttling-Control` asks for; None when it is missing or says nothing known."""
    colours = [colour.lower() for colour in _COLOUR.findall(headers.get("x-throttling-control", ""))]
    wishes = [_SPACING_S[colour] for colour in colours if colour in _SPACING_S]
    return max(wishes, default=None)


def is_transient(response: httpx.Response) -> bool:
    """Whether the same request can succeed a second later.

    Under load a 4xx status may carry the code ServerBusy, and a 500 with "Search status indicates failure" means that
    the query itself cannot be searched: the fault's code and text decide before the status does.
    """
    status = response.status_code
    if status < 400 or status == HTTPStatus.NOT_IMPLEMENTED:
        return False
    fault = Fault.of(response)
    if fault.code.endswith("ServerBusy"):
        return True
    if fault.message == SEARCH_FAILED:
        return False
    return status >= 500 or status == HTTPStatus.TOO_MANY_REQUESTS


def is_cacheable(response: httpx.Response) -> bool:
    """Whether a 200 answer is an answer at all.

    It is not when a proxy's page, a cut-off body or another type came instead of JSON, when the search is only begun (a
    list key for waiting is of use once), or when SDQ refuses a query under HTTP 200.
    """
    kind = response.headers.get("content-type", "")
    path = response.request.url.path
    if not path.endswith(("/JSON", ".cgi")):
        return "html" not in kind
    body = response.content.strip()
    if not (kind.startswith("application/json") and body.startswith(b"{") and body.endswith(b"}")):
        return False
    return b'"Waiting"' not in body[:40] and not _is_refusal(body)


def _is_refusal(body: bytes) -> bool:
    if b"SDQOutputSet" not in body[:100]:
        return False
    try:
        return any(found.status.error for found in SdqAnswer.model_validate_json(body).sets)
    except ValidationError:
        return True


PUBCHEM: Final = Upstream(
    name="pubchem",
    base_url="https://pubchem.ncbi.nlm.nih.gov/",
    # PubChem programmatic access policy, https://pubchem.ncbi.nlm.nih.gov/docs/programmatic-access
    quotas=("5/second", "400/minute"),
    concurrency=10,
    # The service itself gives up on a request after 30 s.
    timeout_s=30.0,
    retries=1,
    emulator="scigate_pubchem.emulator:create_app",
    is_transient=is_transient,
    is_cacheable=is_cacheable,
    throttle=throttle,
    lifetimes=(
        # A list key outlives this on the service, which promises no time.
        Lifetime(r"GET /rest/pug/assay/aid/\d+/cids/JSON", 10 * 60.0),
        Lifetime(r"GET /rest/pug/compound/listkey/", 10 * 60.0),
        Lifetime(r"\w+ /rest/pug/compound/fast", _HOUR),
        Lifetime(r"GET /rest/pug/assay/", _HOUR),
        Lifetime(r"GET /rest/pug/(gene|protein|taxonomy)/", 7 * _DAY),
        Lifetime(r"\w+ /rest/pug/compound/cid/[^/]*/?property/", 7 * _DAY),
        Lifetime(r"\w+ /rest/pug/compound/", _DAY),
        Lifetime(r"GET /rest/pug_view/", _DAY),
        Lifetime(r"GET /sdq/", _HOUR),
    ),
)
