"""The Unpaywall client: which copies it tells of, and that it fetches none."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from scigate import DeadlineExceeded, QuotaExhausted
from scigate_pubmed.emulator.unpaywall import create_unpaywall
from scigate_pubmed.unpaywall import OpenCopy, Unpaywall, UnpaywallError, bare_doi, unpaywall, unpaywall_failure

PLACE = {
    "url": "https://repo.example/1.pdf",
    "url_for_pdf": "https://repo.example/1.pdf",
    "url_for_landing_page": "https://repo.example/1",
    "host_type": "repository",
    "license": "cc-by",
    "version": "acceptedVersion",
}


def client(answer: Callable[[httpx.Request], httpx.Response]) -> Unpaywall:
    http = httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url=unpaywall().base_url)
    return Unpaywall(http, "me@example.org")


def answering(body: object, status: int = 200) -> Unpaywall:
    return client(lambda request: httpx.Response(status, text=body if isinstance(body, str) else json.dumps(body)))


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.1000/Xy", "10.1000/Xy"),
        (" doi:10.1000/Xy ", "10.1000/Xy"),
        ("DOI: 10.1000/Xy", "10.1000/Xy"),
        ("https://doi.org/10.1000/Xy", "10.1000/Xy"),
        ("http://dx.doi.org/10.1016/0006-2944(75)90147-7", "10.1016/0006-2944(75)90147-7"),
        ("10.1002/1096-8644(200101)114:1<1::AID-1>3.0.CO;2-X", "10.1002/1096-8644(200101)114:1<1::AID-1>3.0.CO;2-X"),
        ("11.1000/x", ""),
        ("10.1000/", ""),
        ("10.1000/a b", ""),
        ("10.1000/../../admin", ""),
        ("10.1000/x/../../y", ""),
        ("https://evil.example/10.1000/x", ""),
        ("", ""),
    ],
)
def test_a_doi_is_taken_bare_and_in_its_own_letters(text: str, doi: str) -> None:
    """What is no DOI, or would leave the service's path, is none."""
    assert bare_doi(text) == doi


async def test_the_best_copy_is_told() -> None:
    """With what is known of it."""
    found = await answering({"is_oa": True, "best_oa_location": PLACE}).locate("10.1/x")
    assert found == OpenCopy(
        "https://repo.example/1.pdf", "https://repo.example/1.pdf", "cc-by", "repository", "acceptedVersion"
    )


@pytest.mark.parametrize(
    "body",
    [
        {"is_oa": False, "best_oa_location": PLACE},
        {"is_oa": True, "best_oa_location": None, "oa_locations": []},
        {"is_oa": True, "best_oa_location": {"url": None}},
        {"is_oa": True, "best_oa_location": {"url": "javascript:alert(1)"}},
        {"is_oa": True, "best_oa_location": {"url": "file:///etc/passwd"}},
        {"is_oa": True, "best_oa_location": {"url": "https://user:secret@repo.example/"}},
        {},
    ],
)
async def test_without_a_usable_address_there_is_no_copy(body: dict[str, Any]) -> None:
    """Nor with one that a reader should not open."""
    assert await answering(body).locate("10.1/x") is None


async def test_another_place_serves_where_the_best_has_no_address() -> None:
    """In Unpaywall's order."""
    found = await answering({"is_oa": True, "best_oa_location": {}, "oa_locations": [{"url": ""}, PLACE]}).locate(
        "10.1/x"
    )
    assert found is not None
    assert found.host == "repository"


@pytest.mark.parametrize("status", [404, 410, 422])
async def test_an_unknown_or_bad_doi_has_no_copy(status: int) -> None:
    """That is an answer, not a fault."""
    assert await answering({"error": True, "message": "no such DOI"}, status).locate("10.1/x") is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"error": True, "message": "Email address required"}, 422),
        ("oops", 500),
        ("slow down", 429),
        ("{", 200),
        ([], 200),
    ],
)
async def test_a_fault_is_not_a_missing_copy(body: object, status: int) -> None:
    """A refused e-mail address has the status of a bad DOI; the message tells them apart, and is not shown."""
    with pytest.raises(UnpaywallError) as caught:
        await answering(body, status).locate("10.1/x")
    failure = unpaywall_failure(caught.value)
    assert failure is not None
    assert failure.reason == "unpaywall_unreachable"
    assert "me@" not in failure.message


def test_a_call_that_found_no_turn_or_time_is_told_as_unpaywalls() -> None:
    """Of this upstream alone: the others have reasons of their own."""
    for error in (
        QuotaExhausted("x", upstream="unpaywall", retry_after_s=2),
        DeadlineExceeded("x", upstream="unpaywall"),
    ):
        failure = unpaywall_failure(error)
        assert failure is not None
        assert failure.reason == "unpaywall_unreachable"
    assert unpaywall_failure(DeadlineExceeded("x", upstream="ncbi")) is None


async def test_the_address_is_sent_and_nothing_but_the_service_is_asked() -> None:
    """The e-mail address is added at the wire; the copy's own address is never requested."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={"is_oa": True, "best_oa_location": PLACE})

    await client(answer).locate("10.1000/a<b>#?%c")
    (request,) = asked
    assert (request.url.host, request.url.raw_path) == ("api.unpaywall.org", b"/v2/10.1000/a%3Cb%3E%23%3F%25c")
    sign = unpaywall().sign
    assert sign is not None
    sign(request)
    assert request.url.query == b"email=me%40example.org"


async def test_the_emulator_answers_like_the_service() -> None:
    """It wants an address, knows the sample's articles, and marks what it says as sample data."""
    transport = httpx.ASGITransport(create_unpaywall())
    async with httpx.AsyncClient(transport=transport, base_url="https://api.unpaywall.org/v2/") as http:
        assert (await http.get("10.1101/sample.1")).status_code == 422
        found = await http.get("10.1101/sample.1", params={"email": "a@b.example"})
        assert found.headers["X-Sample-Data"] == "unpaywall"
        assert found.json()["best_oa_location"]["url"].startswith("https://example.org/sample/")
        closed = await http.get("10.1016/0006-2944(75)90147-7", params={"email": "a@b.example"})
        assert closed.json()["is_oa"] is False
        assert (await http.get("10.1/none", params={"email": "a@b.example"})).status_code == 404
