"""The client of the PMC ID converter."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from scigate_pubmed.emulator import create_pmc
from scigate_pubmed.errors import ConverterRefused, NcbiError, NcbiRateLimited, NcbiUnavailable, NcbiUnreadable
from scigate_pubmed.idconv import IdConverter
from scigate_pubmed.upstream import IDENTITY, Identity

BASE = "https://pmc.example/tools/idconv/api/v1/"


def converter(handler: Callable[[httpx.Request], httpx.Response]) -> IdConverter:
    http = httpx.AsyncClient(base_url=BASE, transport=httpx.MockTransport(handler))
    return IdConverter(http, Identity("lab", "a@x.example", SecretStr("s3cret")))


def answering(records: list[dict[str, Any]]) -> IdConverter:
    return converter(lambda _: httpx.Response(200, json={"status": "ok", "records": records}))


async def test_a_request_names_ids_and_kind_and_has_no_key() -> None:
    """The converter takes tool and e-mail; an API key is E-utilities' alone."""
    requests: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json={"records": []})

    await converter(handler).convert(["10.1/a", "10.1/b"], "doi")
    (request,) = requests
    assert request.url.path == "/tools/idconv/api/v1/articles/"
    assert dict(request.url.params) == {"ids": "10.1/a,10.1/b", "idtype": "doi", "format": "json"}
    assert request.extensions[IDENTITY] == Identity("lab", "a@x.example")


async def test_records_are_matched_by_the_id_asked_for() -> None:
    """Whatever their order and letter case; a PMID that comes as a number is text."""
    found = await answering(
        [
            {"requested-id": "10.1/XY", "pmid": 2, "pmcid": "pmc22", "doi": "10.1/Xy"},
            {"requested-id": "10.1/a", "status": "error", "errmsg": "Identifier not found in PMC"},
        ]
    ).convert(["10.1/a", "10.1/xy", "10.1/z"], "doi")
    assert list(found) == ["10.1/a", "10.1/xy"]
    assert (found["10.1/xy"].pmid, found["10.1/xy"].pmcid, found["10.1/xy"].doi) == ("2", "PMC22", "10.1/Xy")
    assert found["10.1/a"].error == "Identifier not found in PMC"


async def test_a_record_of_the_former_service_names_no_requested_id() -> None:
    """It is found by the id itself, with and without prefix."""
    found = await answering([{"pmcid": "PMC3292175", "pmid": "22389645"}]).convert(["PMC3292175"], "pmcid")
    assert found["PMC3292175"].pmid == "22389645"


async def test_an_error_without_words_is_an_error() -> None:
    """A record that says only `status: error` converts nothing."""
    found = await answering([{"requested-id": "1", "status": "error"}]).convert(["1"], "pmid")
    assert found["1"].error


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (400, "<html>Bad request</html>", ConverterRefused),
        (400, '{"error":"invalid"}', ConverterRefused),
        (404, '{"status":"error","message":"ID%20type%20mismatch"}', ConverterRefused),
        (200, "<html>busy</html>", NcbiUnavailable),
        (200, '{"error":"API rate limit exceeded"}', NcbiRateLimited),
        (503, "", NcbiUnavailable),
        (200, '{"records":', NcbiUnreadable),
        (200, '{"status":"ok"}', NcbiUnreadable),
        (200, "[]", NcbiUnreadable),
    ],
)
async def test_what_is_no_answer_is_an_error(status: int, body: str, error: type[NcbiError]) -> None:
    """None of it reads as ids that are not in PMC, and nothing of the body is in the message."""
    with pytest.raises(error) as caught:
        await converter(lambda _: httpx.Response(status, text=body)).convert(["1"], "pmid")
    assert "mismatch" not in str(caught.value)


async def test_a_missing_page_is_httpxs_own_error() -> None:
    """A service that has moved has refused no id."""
    with pytest.raises(httpx.HTTPStatusError):
        await converter(lambda _: httpx.Response(404, text="<html>")).convert(["1"], "pmid")


async def test_it_reads_the_emulators_answers() -> None:
    """Known, unknown, and a list that mixes both forms of a PMCID, which is refused."""
    client = IdConverter(httpx.AsyncClient(base_url=BASE, transport=httpx.ASGITransport(create_pmc())), Identity("lab"))
    found = await client.convert(["26158728", "1"], "pmid")
    assert found["26158728"].pmcid.startswith("PMC")
    assert found["1"].error
    assert json.dumps(found["26158728"].doi)
    with pytest.raises(ConverterRefused):
        await client.convert(["PMC1", "2"], "pmcid")
