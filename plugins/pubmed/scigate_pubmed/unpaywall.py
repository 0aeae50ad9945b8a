"""Unpaywall: where an article can be read freely, as an upstream and a client.

It tells of addresses all over the web. None of them is fetched here: an address that somebody else wrote is shown to
the reader, never followed by the gateway.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast
from urllib.parse import quote, urlencode, urlsplit

import httpx
from scigate import CircuitOpen, Code, DeadlineExceeded, Failure, Lifetime, QuotaExhausted, Reason, Upstream

from scigate_pubmed.upstream import IDENTITY, Identity

_TRANSIENT: Final = frozenset({408, 429, 500, 502, 503, 504})
_PREFIX: Final = re.compile(r"^(?:doi:\s*|https?://(?:dx\.)?doi\.org/)", re.IGNORECASE)
# A path segment of dots alone would leave /v2/.
_DOI: Final = re.compile(r"10\.\d{4,9}(?:\.\d+)*/(?!\.{1,2}(?:/|$))(?:(?!/\.{1,2}(?:/|$))[^\s\x00-\x1f\x7f])+")
_DAY_S: Final = 86_400.0

UNPAYWALL_UNREACHABLE: Final = Reason(
    "unpaywall_unreachable",
    Code.SERVICE_UNAVAILABLE,
    "Unpaywall failed on every attempt, or does not accept the gateway's e-mail address",
    "Wait a little, then send the same call again; PMC remains the main route to full text.",
    retryable=True,
)


class UnpaywallError(Exception):
    """Unpaywall did not answer; the text says why, without URL or address."""


@dataclass(frozen=True)
class OpenCopy:
    """Where Unpaywall says that an article can be read freely; a text that it does not give is empty."""

    url: str
    pdf_url: str
    licence: str
    host: str
    """`publisher` or `repository`."""
    version: str
    """`submittedVersion`, `acceptedVersion` or `publishedVersion`."""


def unpaywall() -> Upstream:
    """The upstream; 100,000 requests a day (https://unpaywall.org/products/api)."""
    return Upstream(
        "unpaywall",
        "https://api.unpaywall.org/v2/",
        quotas=("10/second", "100000/day"),
        concurrency=4,
        timeout_s=20.0,
        retries=2,
        emulator="scigate_pubmed.emulator.unpaywall:create_unpaywall",
        lifetimes=(Lifetime(r"GET /10\.", _DAY_S, negative_s=_DAY_S),),
        is_transient=lambda response: response.status_code in _TRANSIENT,
        is_cacheable=lambda response: response.content.strip().startswith(b"{"),
        sign=_sign,
        licence="https://creativecommons.org/publicdomain/zero/1.0/",
    )


def bare_doi(text: str) -> str:
    """The DOI without `doi:` or a resolver's address in front, its letter case kept; "" for what is no DOI."""
    doi = _PREFIX.sub("", text.strip())
    return doi if _DOI.fullmatch(doi) else ""


class Unpaywall:
    """Unpaywall over a client of the `unpaywall` upstream; it wants an e-mail address with every request."""

    def __init__(self, http: httpx.AsyncClient, email: str) -> None:
        self._http = http
        self._extensions = {IDENTITY: Identity("", email)}

    async def locate(self, doi: str) -> OpenCopy | None:
        """The best open copy of a DOI (as `bare_doi` gives it); None where Unpaywall knows of none.

        Raises:
            UnpaywallError: Unpaywall did not answer.
            QuotaExhausted, CircuitOpen, DeadlineExceeded: The request was not sent, or its time is up.
        """
        try:
            response = await self._http.get(quote(doi, safe="/"), extensions=self._extensions)
        except (QuotaExhausted, CircuitOpen, DeadlineExceeded):
            raise
        except httpx.TransportError as error:
            raise UnpaywallError("Unpaywall could not be reached on any attempt") from error
        if response.status_code == 422 and b"email" in response.content.lower():
            raise UnpaywallError("Unpaywall does not accept the configured e-mail address")
        if response.status_code in (404, 410, 422):
            return None
        if response.status_code >= 400:
            raise UnpaywallError(f"Unpaywall answered with HTTP status {response.status_code}")
        return _copy(response.content)


def unpaywall_failure(error: Exception) -> Failure | None:
    """The failure that an exception of the Unpaywall client means; None for any other."""
    match error:
        case UnpaywallError():
            return UNPAYWALL_UNREACHABLE.failure(str(error))
        case CircuitOpen(upstream="unpaywall") | QuotaExhausted(upstream="unpaywall"):
            return UNPAYWALL_UNREACHABLE.failure(
                "Unpaywall cannot be asked before this call's deadline",
                retry_after_ms=round(error.retry_after_s * 1000),
            )
        case DeadlineExceeded(upstream="unpaywall"):
            return UNPAYWALL_UNREACHABLE.failure("Unpaywall had not answered when the call's time was up")
        case _:
            return None


def _copy(body: bytes) -> OpenCopy | None:
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UnpaywallError("Unpaywall's answer is damaged") from error
    if not isinstance(answer, dict):
        raise UnpaywallError("Unpaywall's answer is not of its known shape")
    record = cast("dict[str, object]", answer)
    if record.get("is_oa") is not True:
        return None
    others = record.get("oa_locations")
    locations = [record.get("best_oa_location"), *(cast("list[object]", others) if isinstance(others, list) else [])]
    copies = [_location(cast("dict[str, object]", one)) for one in locations if isinstance(one, dict)]
    return next((copy for copy in copies if copy.url), None)


def _location(location: Mapping[str, object]) -> OpenCopy:
    page = _address(location, "url_for_landing_page")
    pdf = _address(location, "url_for_pdf")
    return OpenCopy(
        url=_address(location, "url") or page or pdf,
        pdf_url=pdf,
        licence=_text(location, "license"),
        host=_text(location, "host_type"),
        version=_text(location, "version"),
    )


def _address(location: Mapping[str, object], name: str) -> str:
    """A web address as it may be shown; "" for any other scheme or one that names a user."""
    text = _text(location, name)
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc else ""


def _text(location: Mapping[str, object], name: str) -> str:
    value = location.get(name)
    return value.strip() if isinstance(value, str) else ""


def _sign(request: httpx.Request) -> None:
    """Add the e-mail address, as the last step before the wire: cache keys, logs and spans lack it."""
    identity = request.extensions.get(IDENTITY)
    if isinstance(identity, Identity) and identity.email:
        request.url = request.url.copy_with(query=urlencode({"email": identity.email}).encode())
