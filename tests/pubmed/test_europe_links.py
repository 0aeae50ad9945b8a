"""Europe PMC's citations and references."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from scigate_pubmed.errors import LinksUnavailable
from scigate_pubmed.europe_links import EuropeLinker
from scigate_pubmed.links import Linked


def linker(handler: Callable[[httpx.Request], httpx.Response]) -> EuropeLinker:
    return EuropeLinker(
        httpx.AsyncClient(base_url="https://eupmc.example/rest/", transport=httpx.MockTransport(handler))
    )


def cited_by(entries: object, count: int) -> dict[str, Any]:
    return {"version": "6.9", "hitCount": count, "citationList": {"citation": entries}}


async def test_ids_of_medline_records_are_pmids() -> None:
    """The answer has no member `pmid`; preprints have none at all, and the source is not its own link."""
    entries = [
        {"id": "2", "source": "MED"},
        {"id": "PPR1", "source": "PPR"},
        {"id": "1", "source": "MED"},
        {"id": "3", "source": "MED"},
    ]
    found = await linker(lambda _: httpx.Response(200, json=cited_by(entries, 4))).linked("1", "cited_by", need=9)
    assert found == Linked(("2", "3"), complete=True)


async def test_references_have_names_of_their_own() -> None:
    """And one of them may come as an object in place of a list."""

    def handler(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/rest/MED/1/references"
        answer = {"hitCount": 1, "referenceList": {"reference": {"id": "5", "source": "MED"}}}
        return httpx.Response(200, json=answer)

    assert await linker(handler).linked("1", "references", need=1) == Linked(("5",))


async def test_pages_are_asked_until_there_are_enough() -> None:
    """An offset far down needs more than the first page, and a total that is not known is none."""
    pages: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        pages.append(request.url.params["page"])
        first = (int(pages[-1]) - 1) * 1000
        entries = [{"id": str(first + n + 10), "source": "MED"} for n in range(1000)]
        return httpx.Response(200, json=cited_by(entries, 100_000))

    found = await linker(handler).linked("1", "cited_by", need=1500)
    assert pages == ["1", "2"]
    assert found is not None
    assert (len(found.pmids), found.complete) == (2000, False)


async def test_there_is_nothing_like_similar_articles() -> None:
    """Nothing is asked."""
    assert await linker(lambda _: httpx.Response(500)).linked("1", "similar", need=1) is None


async def test_an_unknown_article_has_no_links() -> None:
    """404 of this path."""
    assert await linker(lambda _: httpx.Response(404)).linked("1", "cited_by", need=1) == Linked()


@pytest.mark.parametrize("body", ['{"version":"6.9"}', '{"errCode":404,"errMsg":"x"}', "<html>", "[]", '{"hitCount":'])
async def test_a_refusal_is_not_an_empty_list(body: str) -> None:
    """It comes with status 200."""
    with pytest.raises(LinksUnavailable):
        await linker(lambda _: httpx.Response(200, text=body)).linked("1", "cited_by", need=1)


async def test_a_server_error_is_httpxs_own() -> None:
    """The chain of services names it."""
    with pytest.raises(httpx.HTTPStatusError):
        await linker(lambda _: httpx.Response(503)).linked("1", "cited_by", need=1)
