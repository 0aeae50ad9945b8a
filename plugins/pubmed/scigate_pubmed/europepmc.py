"""Europe PMC's REST service: the upstream, and a client whose methods give records.

Below is an `httpx.AsyncClient` that waits for quota and retries; above are the tools.
"""

import json
import re
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import urlencode

import httpx
from scigate import CircuitOpen, DeadlineExceeded, Lifetime, QuotaExhausted, Upstream

from scigate_pubmed.document import document
from scigate_pubmed.errors import NcbiUnreadable
from scigate_pubmed.europepmc_reasons import EuropePmcRefused, EuropePmcUnavailable, EuropePmcUnreadable
from scigate_pubmed.europepmc_records import EuropePmcPage, parse_page
from scigate_pubmed.jats import JatsArticle, articles
from scigate_pubmed.upstream import IDENTITY, Identity

ResultType = Literal["core", "lite"]

_TRANSIENT: Final = frozenset({408, 429, 500, 502, 503, 504})
_HTML: Final = re.compile(rb"\s*(?:<\?xml[^>]*\?>\s*)?<(?:!DOCTYPE\s+html|html)\b", re.IGNORECASE)
_LONGEST_GET: Final = 4000
_HOUR_S: Final = 3_600.0
_DAY_S: Final = 86_400.0


def europepmc() -> Upstream:
    """The upstream. Europe PMC publishes no limit; 5 requests a second, 4 at once, is what a polite client keeps."""
    return Upstream(
        "europepmc",
        "https://www.ebi.ac.uk/europepmc/webservices/rest/",
        quotas=("5/second",),
        concurrency=4,
        timeout_s=20.0,
        retries=3,
        emulator="scigate_pubmed.emulator.europepmc:create_europepmc",
        lifetimes=(
            Lifetime(r"(GET|POST) /search", _HOUR_S),
            Lifetime(r"GET /PMC\d+/fullTextXML$", _DAY_S, negative_s=_HOUR_S),
            Lifetime(r"GET /MED/\d+/(citations|references)$", _HOUR_S),
        ),
        is_transient=_is_transient,
        is_cacheable=_is_answer,
        sign=_sign,
        licence="https://europepmc.org/Copyright",
    )


class EuropePmc:
    """Europe PMC over a client of the `europepmc` upstream."""

    def __init__(self, http: httpx.AsyncClient, email: str | None = None) -> None:
        self._http = http
        self._extensions: dict[str, object] = {IDENTITY: Identity("", email)} if email else {}

    async def search(
        self,
        query: str,
        *,
        page_size: int,
        cursor: str = "*",
        result_type: ResultType = "core",
        sort: str | None = None,
    ) -> EuropePmcPage:
        """One page of a search in Europe PMC's order; `cursor` is `*` or the last page's `next_cursor`.

        Raises:
            EuropePmcRefused: Europe PMC does not take the query, the sort or the cursor.
        """
        asked = {"query": query, "format": "json", "resultType": result_type, "pageSize": page_size}
        body = await self._ask("search", {**asked, "cursorMark": cursor, **({"sort": sort} if sort else {})}, sort=sort)
        return parse_page(_decoded(body), cursor=cursor, page_size=page_size, sort=sort)

    async def full_text(self, pmcid: str) -> JatsArticle | None:
        """The article behind a PMCID; None where Europe PMC may not give its text, which is normal for preprints."""
        try:
            body = await self._ask(f"{pmcid}/fullTextXML", {})
        except EuropePmcRefused:
            return None
        if not body.strip():
            return None
        try:
            root = document("fullTextXML", body)
            # An <errorBean> holds no article: the text is not open.
            return next(iter(articles(root)), None)
        except NcbiUnreadable as error:
            raise EuropePmcUnreadable("the full text that Europe PMC sent cannot be read") from error

    async def _ask(self, path: str, parameters: Mapping[str, str | int], *, sort: str | None = None) -> bytes:
        """The body of an answer.

        Raises:
            EuropePmcError: There is none.
            QuotaExhausted, CircuitOpen, DeadlineExceeded: The request was not sent, or its time is up.
        """
        query = urlencode(parameters)
        try:
            if len(query) > _LONGEST_GET:
                response = await self._http.post(
                    f"{path}POST",
                    content=query.encode(),
                    headers={"Content-Type": "application/x-www-form-urlencoded"},
                    extensions={"scigate.safe": True, **self._extensions},
                )
            else:
                response = await self._http.get(f"{path}?{query}" if query else path, extensions=self._extensions)
        except (QuotaExhausted, CircuitOpen, DeadlineExceeded):
            raise
        except httpx.DecodingError as error:
            raise EuropePmcUnreadable("the body of Europe PMC's answer cannot be decompressed") from error
        except httpx.TransportError as error:
            # httpx has one class for a body that ends early and for a connection closed before any answer.
            if "complete" in str(error):
                raise EuropePmcUnreadable("Europe PMC's answer was cut off on every attempt") from error
            raise EuropePmcUnavailable("Europe PMC could not be reached on any attempt") from error
        status = response.status_code
        if status in _TRANSIENT or status >= 500:
            raise EuropePmcUnavailable(f"Europe PMC answered with HTTP status {status}", status=status)
        if status >= 400:
            raise EuropePmcRefused(f"HTTP status {status}", sort=sort)
        if _HTML.match(response.content):
            raise EuropePmcUnavailable("Europe PMC sent a web page in place of an answer", status=status)
        return response.content


def _decoded(body: bytes) -> object:
    try:
        return json.loads(body, strict=False)
    except (ValueError, RecursionError) as error:
        raise EuropePmcUnreadable("the answer of Europe PMC's search is not well-formed JSON") from error


def _is_transient(response: httpx.Response) -> bool:
    return response.status_code in _TRANSIENT or (
        response.status_code == 200 and _HTML.match(response.content) is not None
    )


def _is_answer(response: httpx.Response) -> bool:
    """Whether a response with status 200 can be served again: no page of HTML, no damaged body."""
    body = response.content.strip()
    if body[:1] != b"{":
        return body.startswith(b"<") and body.endswith(b">") and _HTML.match(body) is None
    try:
        answer = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return False
    return isinstance(answer, dict) and "hitCount" in answer


def _sign(request: httpx.Request) -> None:
    """Add the e-mail address to a search, as the last step before the wire: cache keys, logs and spans lack it."""
    identity = request.extensions.get(IDENTITY)
    if isinstance(identity, Identity) and identity.email and request.url.path.endswith("/search"):
        query = b"&".join((request.url.query, urlencode({"email": identity.email}).encode()))
        request.url = request.url.copy_with(query=query)
