"""`pubmed_find_related`, called through the host."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import scigate_pubmed
from scigate.call import LOCAL
from scigate.emulator import Emulator, serving
from scigate.host import Host
from scigate.settings import Settings
from scigate_pubmed.emulator import create_app, create_openalex
from scigate_pubmed.emulator.corpus import load
from scigate_pubmed.emulator.neighbours import Neighbours

TOOL = "pubmed_find_related"
SAMPLE = {record.pmid: record for record in load()}
LINKS = Neighbours(load())
IN_PMC = "26158728"
"""A record with similar, citing and cited ones in the sample."""

Ask = Callable[..., Awaitable[dict[str, Any]]]


@asynccontextmanager
async def served(ncbi: Emulator, openalex: Emulator) -> AsyncIterator[Host]:
    """A host whose NCBI and OpenAlex can fail, without Europe PMC."""
    async with AsyncExitStack() as stack:
        eutils, works = [await stack.enter_async_context(serving(one)) for one in (ncbi, openalex)]
        settings = {
            "upstreams": {
                "ncbi": {"base_url": f"{eutils}/entrez/eutils/", "retries": 0},
                "openalex": {"base_url": f"{works}/", "retries": 0},
            },
            "providers": {"pubmed": {"europepmc": False}},
        }
        yield await stack.enter_async_context(
            Host.open(Settings.model_validate(settings), plugins={"pubmed": scigate_pubmed})
        )


async def result_of(host: Host, **arguments: Any) -> dict[str, Any]:
    reply = await host.call(TOOL, arguments, LOCAL)
    assert not reply.is_error, reply.structured
    return reply.structured


async def test_similar_articles_come_with_their_summaries(ask: Ask) -> None:
    """In NCBI's order, the source not among them, the number asked for and no more."""
    result = await ask(TOOL, pmid=IN_PMC, maxResults=3)
    assert (result["sourcePmid"], result["relationship"], result["source"]) == (IN_PMC, "similar", "ncbi")
    assert [article["pmid"] for article in result["articles"]] == LINKS.similar(IN_PMC)[1:4]
    for article in result["articles"]:
        assert article["title"]
        assert article["pubDate"][:4] == str(SAMPLE[article["pmid"]].date[0])
    assert result["totalCount"] == result["totalFound"] == len(LINKS.similar(IN_PMC)) - 1


@pytest.mark.parametrize("relationship", ["similar", "references"])
async def test_pages_walked_by_next_offset_are_the_result(ask: Ask, relationship: str) -> None:
    """Every article once."""
    pmids: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await ask(TOOL, pmid=IN_PMC, relationship=relationship, maxResults=4, offset=offset)
        pmids += [article["pmid"] for article in page["articles"]]
        offset = page.get("nextOffset")
    assert len(pmids) == len(set(pmids)) == page["totalCount"] > 4


async def test_citing_and_cited_are_each_others_reverse(ask: Ask) -> None:
    """What an article refers to is cited by it."""
    cited = (await ask(TOOL, pmid=IN_PMC, relationship="references"))["articles"][0]["pmid"]
    citing = (await ask(TOOL, pmid=cited, relationship="cited_by", maxResults=50))["articles"]
    assert IN_PMC in [article["pmid"] for article in citing]


async def test_an_unknown_source_is_told_from_one_without_links(ask: Ask) -> None:
    """ELink answers both alike."""
    result = await ask(TOOL, pmid="999999999")
    assert (result["articles"], result["totalCount"], result["source"]) == ([], 0, "ncbi")
    assert "999999999 is not in PubMed" in result["notice"]
    assert "pubmed_fetch_articles" in result["notice"]
    assert "pubmed_search_articles" in result["notice"]


async def test_an_offset_past_the_end_says_how_many_there_are(ask: Ask) -> None:
    """Both numbers, and what to do."""
    result = await ask(TOOL, pmid=IN_PMC, offset=1000)
    assert result["articles"] == []
    assert "1,000" in result["notice"]
    assert str(result["totalCount"]) in result["notice"]
    assert "smaller offset" in result["notice"]


async def test_another_service_answers_when_ncbi_is_down() -> None:
    """The notice names it, how it knows, and that NCBI could not answer."""
    ncbi = create_app(["500;times=all;match=elink"])
    async with served(ncbi, create_openalex()) as host:
        result = await result_of(host, pmid=IN_PMC, maxResults=3)
    assert result["source"] == "openalex"
    assert len(result["articles"]) == 3
    assert result["articles"][0]["title"]
    assert "OpenAlex (its related works)" in result["notice"]
    assert "NCBI could not answer" in result["notice"]


async def test_a_page_of_a_stand_in_offers_no_next_one() -> None:
    """NCBI may be back by then, and its order is another."""
    async with served(create_app(["500;times=all;match=elink"]), create_openalex()) as host:
        result = await result_of(host, pmid=IN_PMC, maxResults=3)
    assert (result["source"], result["truncated"]) == ("openalex", True)
    assert "nextOffset" not in result
    assert "start again at offset 0" in result["notice"]


async def test_a_later_page_is_not_taken_from_a_stand_in() -> None:
    """An offset does not tell which service the page before came from, and no two have the same order."""
    async with served(create_app(), create_openalex()) as host:
        first = await result_of(host, pmid=IN_PMC, maxResults=3)
    async with served(create_app(["500;times=all;match=elink"]), create_openalex()) as host:
        reply = await host.call(TOOL, {"pmid": IN_PMC, "maxResults": 3, "offset": first["nextOffset"]}, LOCAL)
    assert (first["source"], reply.is_error) == ("ncbi", True)
    error = reply.structured["error"]
    assert error["data"]["reason"] == "pages_would_mix"
    assert error["data"]["retryable"] is True
    assert "offset 0" in error["data"]["recovery"]["hint"]
    assert "NCBI" in error["message"]


async def test_a_reference_list_that_ncbi_lacks_is_not_a_fault_of_ncbi() -> None:
    """It has those of articles in PMC only."""
    outside = next(record.pmid for record in load() if not record.pmcid and LINKS.similar(record.pmid)[1:])
    async with served(create_app(), create_openalex()) as host:
        result = await result_of(host, pmid=outside, relationship="references")
    assert result["articles"] == []
    assert "No reference list" in result["notice"]
    assert "similar or cited_by" in result["notice"]


async def test_when_nobody_can_be_asked_the_notice_says_so() -> None:
    """No failure, by the contract, and not to be taken for an article without relatives."""
    async with served(create_app(["500;times=all;match=elink"]), create_openalex(["500;times=all"])) as host:
        result = await result_of(host, pmid=IN_PMC)
    assert (result["articles"], result["totalCount"], result["source"]) == ([], 0, "ncbi")
    # The contract's own count is there; nobody counted, so core's is not.
    assert "totalFound" not in result
    assert "No service could be asked" in result["notice"]
    assert "Send the call again" in result["notice"]
    assert "127.0.0.1" not in result["notice"]


async def test_without_summaries_the_pmids_are_still_there() -> None:
    """And where the rest is to be had."""
    async with served(create_app(["500;times=all;match=esummary"]), create_openalex()) as host:
        result = await result_of(host, pmid=IN_PMC, maxResults=2)
    assert [set(article) for article in result["articles"]] == [{"pmid"}, {"pmid"}]
    assert "Only PMIDs are returned" in result["notice"]
    assert "pubmed_fetch_articles" in result["notice"]


async def test_a_call_costs_two_requests_where_ncbi_has_links(ask: Ask, offline: Host) -> None:
    """Links and summaries; the next page asks for summaries alone."""
    await ask(TOOL, pmid=IN_PMC, maxResults=2)
    assert sum(upstream.requests for upstream in offline.upstreams) == 2
    await ask(TOOL, pmid=IN_PMC, maxResults=2, offset=2)
    assert sum(upstream.requests for upstream in offline.upstreams) == 3
