"""The upstreams: signing, quota, and what is asked again."""

import httpx
from pydantic import SecretStr
from scigate_pubmed.upstream import IDENTITY, Identity, ncbi, openalex, pmc, sign


def signed(url: str, identity: Identity) -> httpx.URL:
    request = httpx.Request("GET", url, extensions={IDENTITY: identity})
    sign(request)
    return request.url


def test_every_request_names_tool_email_and_key() -> None:
    """NCBI asks for the first two of everybody and counts by the third."""
    url = signed("https://x.example/e.fcgi?term=a%20b", Identity("lab", "a@x.example", SecretStr("k")))
    assert dict(url.params) == {"term": "a b", "tool": "lab", "email": "a@x.example", "api_key": "k"}


def test_what_is_not_set_is_not_sent() -> None:
    """An empty `email=` is worse than none."""
    assert str(signed("https://x.example/e.fcgi", Identity("lab"))) == "https://x.example/e.fcgi?tool=lab"


def test_a_request_without_an_identity_stays_as_it_is() -> None:
    """Another provider may use the upstream in its own name."""
    request = httpx.Request("GET", "https://x.example/e.fcgi?a=1")
    sign(request)
    assert str(request.url) == "https://x.example/e.fcgi?a=1"


def test_the_quota_follows_the_key() -> None:
    """3 requests a second without a key, 10 with one (NBK25497)."""
    assert ncbi().quotas == ("3/second",)
    assert ncbi(keyed=True).quotas == ("10/second",)


def test_a_refusal_of_the_converter_is_not_asked_again() -> None:
    """Its 400 is about the ids; any other trouble of NCBI's may pass."""
    again = pmc().transient
    assert not again(httpx.Response(400, json={"error": "x"}))
    assert not again(httpx.Response(404, json={"status": "error"}))
    assert all(again(httpx.Response(status)) for status in (429, 500, 503))
    assert again(httpx.Response(200, text="<html></html>"))


def test_each_host_has_its_own_budget() -> None:
    """The converter's and OpenAlex's addresses are not those of E-utilities, and no key raises their rates."""
    hosts = [httpx.URL(one.base_url).host for one in (ncbi(keyed=True), pmc(), openalex())]
    assert len(set(hosts)) == 3
    assert pmc().quotas == ("3/second",)
    assert openalex().quotas == ("10/second", "100000/day")
