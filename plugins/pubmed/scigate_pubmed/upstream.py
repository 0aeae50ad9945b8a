"""The upstreams: where the services are, how often they may be asked, and how a request says who asks."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import httpx
from pydantic import SecretStr
from scigate import Lifetime, Upstream

from scigate_pubmed.faults import is_answer, is_refusal, is_transient

IDENTITY: Final = "scigate_pubmed.identity"
"""Request extension that holds the `Identity` which `sign` writes into the request."""

_DAY_S = 86_400.0
_HOUR_S = 3_600.0


@dataclass(frozen=True)
class Identity:
    """Who asks: NCBI wants `tool` and `email` on every request, and counts by `api_key` where there is one."""

    tool: str
    email: str | None = None
    api_key: SecretStr | None = None


def sign(request: httpx.Request) -> None:
    """Add the identity to the URL, as the last step before the wire: cache keys, logs and spans never see it."""
    identity = request.extensions.get(IDENTITY)
    if not isinstance(identity, Identity):
        return
    said = {"tool": identity.tool}
    if identity.email:
        said["email"] = identity.email
    if identity.api_key:
        said["api_key"] = identity.api_key.get_secret_value()
    query = b"&".join(filter(None, (request.url.query, urlencode(said).encode())))
    request.url = request.url.copy_with(query=query)


def sign_mailto(request: httpx.Request) -> None:
    """Add the e-mail address as OpenAlex asks for it, at the same last step."""
    identity = request.extensions.get(IDENTITY)
    if isinstance(identity, Identity) and identity.email:
        query = b"&".join(filter(None, (request.url.query, urlencode({"mailto": identity.email}).encode())))
        request.url = request.url.copy_with(query=query)


def ncbi(*, keyed: bool = False) -> Upstream:
    """The upstream; 3 requests a second, 10 with an API key (E-utilities usage guidelines, NBK25497)."""
    return Upstream(
        "ncbi",
        "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/",
        quotas=("10/second" if keyed else "3/second",),
        concurrency=8,
        timeout_s=30.0,
        retries=6,
        emulator="scigate_pubmed.emulator:create_app",
        lifetimes=(
            # New records arrive once a day, on working days, so an hour's search is today's.
            Lifetime(r"(GET|POST) /e(search|spell|link)\.fcgi$", _HOUR_S),
            Lifetime(r"(GET|POST) /(e(summary|fetch|info)\.f|ecitmatch\.)cgi$", _DAY_S),
        ),
        is_transient=is_transient,
        is_cacheable=is_answer,
        sign=sign,
        licence="https://www.ncbi.nlm.nih.gov/home/about/policies/",
    )


def pmc() -> Upstream:
    """The upstream of the PMC ID converter.

    Its host is not that of E-utilities and no key raises its rate, so it is an upstream of its own: NCBI's 3 requests
    a second without a key (https://pmc.ncbi.nlm.nih.gov/tools/id-converter-api/ asks for `tool` and `email`).
    """
    return Upstream(
        "pmc",
        "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/",
        quotas=("3/second",),
        concurrency=4,
        timeout_s=30.0,
        retries=6,
        emulator="scigate_pubmed.emulator:create_pmc",
        lifetimes=(Lifetime(r"GET /articles/$", _DAY_S),),
        is_transient=_would_convert_later,
        is_cacheable=is_answer,
        sign=sign,
        licence="https://www.ncbi.nlm.nih.gov/home/about/policies/",
    )


def openalex() -> Upstream:
    """The upstream of OpenAlex, asked for links between articles where NCBI and Europe PMC have none.

    10 requests a second and 100,000 a day (https://docs.openalex.org/how-to-use-the-api/rate-limits-and-authentication).
    """
    return Upstream(
        "openalex",
        "https://api.openalex.org/",
        quotas=("10/second", "100000/day"),
        concurrency=4,
        timeout_s=20.0,
        retries=2,
        emulator="scigate_pubmed.emulator:create_openalex",
        lifetimes=(Lifetime(r"GET /works(/|$)", _DAY_S),),
        sign=sign_mailto,
        licence="CC0-1.0",
    )


def _would_convert_later(response: httpx.Response) -> bool:
    return not is_refusal(response) and is_transient(response)
