"""The Europe PMC client: what is asked, and what each answer becomes."""

from collections.abc import Callable
from urllib.parse import parse_qs

import httpx
import pytest
from scigate_pubmed.europepmc import EuropePmc, europepmc
from scigate_pubmed.europepmc_reasons import (
    EuropePmcError,
    EuropePmcRefused,
    EuropePmcUnavailable,
    EuropePmcUnreadable,
    europepmc_failure,
)

PAGE = '{"version":"6.9","hitCount":0,"resultList":{"result":[]}}'
ARTICLE = "<article><front/><body><p>Text.</p></body></article>"


def client(answer: Callable[[httpx.Request], httpx.Response]) -> EuropePmc:
    return EuropePmc(httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url=europepmc().base_url))


def answering(body: str, status: int = 200) -> EuropePmc:
    return client(lambda request: httpx.Response(status, text=body))


async def test_a_search_is_asked_for_with_its_raw_cursor() -> None:
    """A cursor holds signs that a URL must encode once."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, text=PAGE)

    await client(answer).search("a b", page_size=5, cursor="AoIIP4==", result_type="lite", sort="CITED desc")
    assert dict(asked[0].url.params) == {
        "query": "a b", "format": "json", "resultType": "lite", "pageSize": "5", "cursorMark": "AoIIP4==",
        "sort": "CITED desc",
    }  # fmt: skip
    assert b"AoIIP4%3D%3D" in asked[0].url.query


async def test_a_long_query_goes_into_the_body() -> None:
    """Past some thousand characters a URL is refused; the request is still a read."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, text=PAGE)

    await client(answer).search("word " * 1000, page_size=5)
    (request,) = asked
    assert (request.method, request.url.path.rsplit("/", 1)[1], request.url.query) == ("POST", "searchPOST", b"")
    assert request.extensions["scigate.safe"] is True
    assert parse_qs(request.content.decode())["query"] == ["word " * 1000]


async def test_the_address_of_the_operator_is_added_at_the_wire_alone() -> None:
    """Neither a cache key nor a log has it, and full text is asked for without it."""
    http = httpx.AsyncClient(
        transport=httpx.MockTransport(lambda request: httpx.Response(200, text=PAGE)), base_url=europepmc().base_url
    )
    page = http.build_request("GET", "search?query=a", extensions=EuropePmc(http, "me@example.org")._extensions)
    text = http.build_request("GET", "PMC1/fullTextXML", extensions=page.extensions)
    sign = europepmc().sign
    assert sign is not None
    assert "me@" not in str(page.url)
    for request in (page, text):
        sign(request)
    assert page.url.query == b"query=a&email=me%40example.org"
    assert text.url.query == b""
    await http.aclose()


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ("oops", 500, EuropePmcUnavailable),
        ("oops", 503, EuropePmcUnavailable),
        ("slow down", 429, EuropePmcUnavailable),
        ("<!DOCTYPE html><html></html>", 200, EuropePmcUnavailable),
        ("bad", 400, EuropePmcRefused),
        ("none", 404, EuropePmcRefused),
        ('{"version":"6.9"}', 200, EuropePmcRefused),
        ('{"hitCount":', 200, EuropePmcUnreadable),
        ("[]", 200, EuropePmcUnreadable),
    ],
)
async def test_what_is_no_page_is_never_an_empty_one(body: str, status: int, kind: type[EuropePmcError]) -> None:
    """By status and by body; the failure that it becomes shows neither."""
    with pytest.raises(kind) as caught:
        await answering(body, status).search("a", page_size=5)
    failure = europepmc_failure(caught.value)
    assert failure is not None
    assert failure.message != failure.hint
    assert "oops" not in failure.message


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (httpx.ConnectError("x"), EuropePmcUnavailable),
        (httpx.ReadTimeout("x"), EuropePmcUnavailable),
        (httpx.RemoteProtocolError("peer closed without sending complete message body"), EuropePmcUnreadable),
        (httpx.RemoteProtocolError("server disconnected"), EuropePmcUnavailable),
        (httpx.DecodingError("x"), EuropePmcUnreadable),
    ],
)
async def test_a_broken_connection_is_named(error: httpx.RequestError, kind: type[EuropePmcError]) -> None:
    """httpx has one class for a body that ends early and for no answer at all."""

    def answer(request: httpx.Request) -> httpx.Response:
        raise error

    with pytest.raises(kind):
        await client(answer).search("a", page_size=5)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("", 404),
        ("", 200),
        ("  \n", 200),
        ("<errorBean><errCode>0</errCode><errMsg>not open</errMsg></errorBean>", 200),
    ],
)
async def test_text_that_may_not_be_given_is_none(body: str, status: int) -> None:
    """That is normal for preprints, and no fault."""
    assert await answering(body, status).full_text("PMC1") is None


async def test_full_text_is_an_article() -> None:
    """Its root is the article itself."""
    found = await answering(ARTICLE).full_text("PMC1")
    assert found is not None
    assert found.sections[0].text == "Text."


async def test_a_fault_is_not_a_text_that_is_missing() -> None:
    """The branch for 404 must not take in a server error, nor a damaged body."""
    with pytest.raises(EuropePmcUnavailable):
        await answering("oops", 502).full_text("PMC1")
    with pytest.raises(EuropePmcUnreadable):
        await answering("<article><body>").full_text("PMC1")


def test_a_refused_sort_is_answered_with_the_fields_there_are() -> None:
    """Europe PMC itself says nothing."""
    failure = europepmc_failure(EuropePmcRefused(sort="FIRST_PIDATE desc"))
    assert failure is not None
    assert "FIRST_PIDATE desc" in failure.message
    assert all(name in failure.hint for name in ("P_PDATE_D", "CITED", "AUTH_FIRST", "PUB_YEAR"))


def test_only_true_answers_are_kept() -> None:
    """A refusal or a damaged body in the cache would be told for an hour."""
    upstream = europepmc()
    assert upstream.is_cacheable is not None
    bodies = [PAGE, ARTICLE, '{"version":"6.9"}', '{"hitCount":', "<html></html>", "<article>", ""]
    kept = [upstream.is_cacheable(httpx.Response(200, text=body)) for body in bodies]
    assert kept[:5] == [True, True, False, False, False]
    assert kept[6] is False
    assert upstream.transient(httpx.Response(200, text="<html></html>"))
    assert not upstream.transient(httpx.Response(404))
