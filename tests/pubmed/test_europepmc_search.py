"""The two Europe PMC tools, called through the host on sample data."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
import scigate_pubmed
from scigate.call import LOCAL
from scigate.emulator import serving
from scigate.host import Host, Reply
from scigate.settings import Settings
from scigate_pubmed.emulator.corpus import load
from scigate_pubmed.emulator.europepmc import create_europepmc

SEARCH, FETCH = "pubmed_europepmc_search", "pubmed_europepmc_fetch"
IN_PMC = next(record for record in load() if record.pmcid)


def hosted(**settings: Any) -> AbstractAsyncContextManager[Host]:
    return Host.open(Settings.model_validate(settings), plugins={"pubmed": scigate_pubmed})


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    """A host that has this provider alone and opens no connection."""
    async with hosted(offline=True) as host:
        yield host


async def told(host: Host, tool: str, **arguments: Any) -> dict[str, Any]:
    reply = await host.call(tool, arguments, LOCAL)
    assert not reply.is_error, reply.structured
    return reply.structured


def reason(reply: Reply) -> str:
    assert reply.is_error
    return reply.structured["error"]["data"]["reason"]


async def test_a_search_tells_what_was_asked_and_found(host: Host) -> None:
    """The source filter stands behind the whole query, and the link has it too."""
    found = await told(host, SEARCH, query="hypertension OR cancer", pageSize=2)
    assert found["query"] == '(hypertension OR cancer) AND (SRC:"MED" OR SRC:"PMC" OR SRC:"PPR")'
    assert found["searchUrl"].startswith("https://europepmc.org/search?query=(hypertension%20OR%20cancer)%20AND%20(SRC")
    assert found["appliedSources"] == ["MED", "PMC", "PPR"]
    assert (found["cursorMark"], len(found["hits"])) == ("*", 2)
    assert found["totalCount"] > 2
    hit = found["hits"][0]
    assert hit["epmcUrl"] == f"https://europepmc.org/article/{hit['source']}/{hit['epmcId']}"


async def test_pages_walked_by_cursor_are_the_result(host: Host) -> None:
    """Every record once, in Europe PMC's order, and no cursor on the last page."""
    ids: list[str] = []
    cursor: str | None = "*"
    while cursor is not None:
        page = await told(host, SEARCH, query="humans", pageSize=100, resultType="lite", cursorMark=cursor)
        assert page["cursorMark"] == cursor
        ids += [hit["epmcId"] for hit in page["hits"]]
        cursor = page.get("nextCursorMark")
    assert len(ids) == len(set(ids)) == page["totalCount"] > 200


async def test_a_long_abstract_is_begun_and_said_to_be_cut(host: Host) -> None:
    """Both facts, or neither where there is no abstract."""
    hits = (await told(host, SEARCH, query="cancer", pageSize=100))["hits"]
    cut = next(hit for hit in hits if "abstractSnippet" in hit)
    assert cut["abstractTruncated"] is True
    assert cut["abstractSnippet"].endswith("…")
    assert len(cut["abstractSnippet"]) <= 401
    assert all(("abstractSnippet" in hit) is ("abstractTruncated" in hit) for hit in hits)
    lite = (await told(host, SEARCH, query="cancer", resultType="lite"))["hits"]
    assert not any("abstractSnippet" in hit for hit in lite)


async def test_a_query_cannot_take_the_source_filter_into_a_group_of_its_own(host: Host) -> None:
    """Unmatched signs are left out, and said to be."""
    found = await told(host, SEARCH, query='cancer) OR ("x', sources=["PPR"])
    assert found["query"] == '(cancer OR x) AND (SRC:"PPR")'
    assert all(hit["source"] == "PPR" for hit in found["hits"])
    assert "left out of the query" in found["notice"]


async def test_an_escaped_sign_is_no_way_round_the_source_filter(host: Host) -> None:
    """Lucene takes the first group to end before OR: its filter would hold for b alone."""
    found = await told(host, SEARCH, query=r"\(a) OR (b\)", sources=["PPR"])
    assert found["query"] == '((a) OR (b )) AND (SRC:"PPR")'
    assert "Backslashes were left out" in found["notice"]


@pytest.mark.parametrize("depth", [50, 200, 5000])
async def test_a_query_nested_deeply_is_searched_or_refused(host: Host, depth: int) -> None:
    """Never a fault of the code."""
    reply = await host.call(SEARCH, {"query": "(" * depth + "hypertension" + ")" * depth}, LOCAL)
    assert not reply.is_error or reason(reply) == "europepmc_invalid_input"


@pytest.mark.parametrize("query", [" ", "<b></b>", '" "', "( )"])
async def test_a_query_without_a_word_is_refused_here(host: Host, query: str) -> None:
    """The filter alone would find everything there is."""
    assert reason(await host.call(SEARCH, {"query": query}, LOCAL)) == "europepmc_invalid_input"


async def test_nothing_found_comes_with_advice(host: Host) -> None:
    """To ask otherwise, or to check the words."""
    found = await told(host, SEARCH, query="zzzzqq")
    assert (found["hits"], found["totalCount"]) == ([], 0)
    assert "pubmed_spell_check" in found["notice"]


async def test_a_sort_that_preprints_do_not_have_is_told(host: Host) -> None:
    """Europe PMC takes it and ignores it; with other sources it holds."""
    only = await told(host, SEARCH, query="about", sources=["PPR"], sort="P_PDATE_D desc")
    assert "PUB_YEAR" in only["notice"]
    assert "firstPublicationDate" in only["notice"]
    mixed = await told(host, SEARCH, query="cancer", sort="P_PDATE_D desc")
    assert "P_PDATE_D" not in mixed["notice"]


async def test_an_unknown_sort_or_cursor_is_no_empty_result(host: Host) -> None:
    """Europe PMC refuses both with status 200 and without a word."""
    sort = await host.call(SEARCH, {"query": "cancer", "sort": "FIRST_PIDATE desc"}, LOCAL)
    assert reason(sort) == "europepmc_invalid_input"
    assert "PUB_YEAR" in sort.structured["error"]["data"]["recovery"]["hint"]
    assert reason(await host.call(SEARCH, {"query": "cancer", "cursorMark": "%2A"}, LOCAL)) == "europepmc_invalid_input"


async def test_records_are_fetched_by_source_and_id_in_one_request(host: Host) -> None:
    """A letter's case in an id does not matter, and the abstract is whole."""
    reply = await host.call(FETCH, {"records": [pair("PPR", "ppr1"), pair("PAT", "US0000001")]}, LOCAL)
    assert [record["epmcId"] for record in reply.structured["records"]] == ["PPR1", "US0000001"]
    assert all(len(record["abstract"]) > 400 for record in reply.structured["records"])
    assert reply.structured["records"][0]["journal"] == "bioRxiv"
    assert "notFound" not in reply.structured
    assert reply.meta["scigate/usage"]["requests"] == 1


async def test_an_article_of_pmc_that_pubmed_has_answers_to_its_pmcid(host: Host) -> None:
    """It is kept under MED: once it was among the records and among the missing at the same time."""
    found = await told(host, FETCH, records=[pair("PMC", IN_PMC.pmcid.lower())])
    assert [(one["source"], one["epmcId"]) for one in found["records"]] == [("MED", IN_PMC.pmid)]
    assert "notFound" not in found


async def test_pairs_without_a_record_are_named(host: Host) -> None:
    """With what is wrong most often, and where a PMCID belongs."""
    found = await told(host, FETCH, records=[pair("MED", IN_PMC.pmid), pair("PPR", "PMC999")])
    assert found["notFound"] == [pair("PPR", "PMC999")]
    assert "1 of 2 pairs have no record (PPR/PMC999)" in found["notice"]
    assert "pubmed_fetch_fulltext" in found["notice"]
    none = await told(host, FETCH, records=[pair("AGR", "X1")])
    assert none["records"] == []
    assert "from the same hit" in none["notice"]


async def test_a_pair_asked_for_twice_is_one(host: Host) -> None:
    """It is looked up and told once."""
    found = await told(host, FETCH, records=[pair("PPR", "PPR1"), pair("PPR", "PPR1"), pair("PPR", "PPR9")] * 2)
    assert len(found["records"]) == 1
    assert found["notFound"] == [pair("PPR", "PPR9")]


@pytest.mark.parametrize("name", ['1" OR "', "a b", "", "(1)", "1)", "-1", "x" * 65])
async def test_an_id_that_could_change_the_query_is_refused(host: Host, name: str) -> None:
    """An id is letters, digits, dots, dashes and underscores."""
    assert reason(await host.call(FETCH, {"records": [pair("MED", name)]}, LOCAL)) == "invalid_arguments"


async def test_without_europe_pmc_its_tools_are_not_listed() -> None:
    """Its section of the configuration may stay: switching a service off makes no setting wrong."""
    off = {"providers": {"pubmed": {"europepmc": False}}, "upstreams": {"europepmc": {"concurrency": 1}}}
    async with hosted(offline=True, **off) as host:
        names = {definition["name"] for definition in host.catalogue.definitions}
        assert "pubmed_fetch_fulltext" in names
        assert not {SEARCH, FETCH} & names


@pytest.mark.parametrize("fault", ["503;times=all", "html;times=all", "reset;times=all", "429;times=all"])
async def test_a_failing_service_is_told_as_unreachable(fault: str) -> None:
    """And never as an empty result."""
    app = create_europepmc([fault])
    async with (
        serving(app) as address,
        hosted(upstreams={"europepmc": {"base_url": f"{address}/europepmc/webservices/rest/", "retries": 0}}) as host,
    ):
        assert reason(await host.call(SEARCH, {"query": "cancer"}, LOCAL)) == "europepmc_unreachable"
        assert len(app.requests) == 1


async def test_a_truncated_answer_is_told_as_damaged() -> None:
    """The connection ends in the middle of the body."""
    app = create_europepmc(["truncated;times=all"])
    async with (
        serving(app) as address,
        hosted(upstreams={"europepmc": {"base_url": f"{address}/europepmc/webservices/rest/", "retries": 0}}) as host,
    ):
        assert reason(await host.call(SEARCH, {"query": "cancer"}, LOCAL)) == "europepmc_invalid_response"


def pair(source: str, name: str) -> dict[str, str]:
    return {"source": source, "epmcId": name}
