"""OpenAlex's links."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from scigate_pubmed.emulator import create_openalex
from scigate_pubmed.errors import LinksUnavailable
from scigate_pubmed.links import Linked, Relationship
from scigate_pubmed.openalex import OpenAlexLinker
from scigate_pubmed.upstream import IDENTITY, Identity, sign_mailto

WORK = "https://openalex.org/"
BASE = "https://openalex.example/"


def linker(handler: Callable[[httpx.Request], httpx.Response]) -> OpenAlexLinker:
    return OpenAlexLinker(httpx.AsyncClient(base_url=BASE, transport=httpx.MockTransport(handler)), Identity("lab"))


def work(number: int) -> dict[str, Any]:
    return {"id": f"{WORK}W{number}", "ids": {"pmid": f"https://pubmed.ncbi.nlm.nih.gov/{number}"}}


async def test_works_are_looked_up_in_parts_and_keep_their_order() -> None:
    """A filter takes few values, and its answer has an order of its own; a work without a PMID is left out."""
    named = [f"{WORK}W{n}" for n in range(200, 80, -1)]
    sizes: list[int] = []

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/works/pmid:1":
            return httpx.Response(200, json={"id": f"{WORK}W1", "referenced_works": named, "related_works": []})
        asked = [int(one[1:]) for one in request.url.params["filter"].removeprefix("openalex:").split("|")]
        sizes.append(len(asked))
        results = [work(n) for n in sorted(asked) if n != 150] + [{"id": f"{WORK}W150", "ids": {}}]
        return httpx.Response(200, json={"meta": {"count": len(results)}, "results": results})

    found = await linker(handler).linked("1", "references", need=1000)
    assert found == Linked(tuple(str(n) for n in range(200, 80, -1) if n != 150))
    assert sizes == [50, 50, 20]


async def test_no_more_is_looked_up_than_is_needed() -> None:
    """What is behind it is then not known to the last."""

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/works/pmid:1":
            return httpx.Response(200, json={"id": f"{WORK}W1", "related_works": [f"{WORK}W{n}" for n in range(2, 90)]})
        asked = [int(one[1:]) for one in request.url.params["filter"].removeprefix("openalex:").split("|")]
        return httpx.Response(200, json={"results": [work(n) for n in asked]})

    found = await linker(handler).linked("1", "similar", need=10)
    assert found is not None
    assert (len(found.pmids), found.complete) == (50, False)


async def test_citing_works_are_asked_page_by_page() -> None:
    """A short page is the last."""

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/works/pmid:1":
            return httpx.Response(200, json={"id": f"{WORK}W77"})
        assert request.url.params["filter"] == "cites:W77"
        first = (int(request.url.params["page"]) - 1) * 200
        numbers = range(first + 2, first + (202 if first == 0 else 12))
        return httpx.Response(200, json={"results": [work(n) for n in numbers]})

    found = await linker(handler).linked("1", "cited_by", need=205)
    assert found == Linked(tuple(str(n) for n in (*range(2, 202), *range(202, 212))))


async def test_an_unknown_article_has_no_links() -> None:
    """404 says so."""
    assert await linker(lambda _: httpx.Response(404)).linked("1", "similar", need=1) == Linked()


@pytest.mark.parametrize("body", ["<html>", "[]", '{"id":'])
async def test_a_damaged_body_is_not_an_empty_list(body: str) -> None:
    """Its reason is told in the notice of the result."""
    with pytest.raises(LinksUnavailable):
        await linker(lambda _: httpx.Response(200, text=body)).linked("1", "similar", need=1)


def test_the_address_is_added_at_the_wire() -> None:
    """OpenAlex asks for it by this name; without one nothing is added."""
    request = httpx.Request("GET", f"{BASE}works?filter=x", extensions={IDENTITY: Identity("lab", "a@x.example")})
    sign_mailto(request)
    assert request.url.query == b"filter=x&mailto=a%40x.example"
    bare = httpx.Request("GET", f"{BASE}works", extensions={IDENTITY: Identity("lab")})
    sign_mailto(bare)
    assert bare.url.query == b""


@pytest.mark.parametrize("relationship", ["similar", "cited_by", "references"])
async def test_it_reads_the_emulators_answers(relationship: Relationship) -> None:
    """Every relation of a record that has them all."""
    http = httpx.AsyncClient(base_url=BASE, transport=httpx.ASGITransport(create_openalex()))
    found = await OpenAlexLinker(http, Identity("lab")).linked("26158728", relationship, need=5)
    assert found is not None
    assert "26158728" not in found.pmids
    assert found.pmids or relationship == "cited_by"
