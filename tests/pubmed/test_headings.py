"""`pubmed_lookup_mesh`: its page arithmetic, and the tool through the host."""

import dataclasses
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import scigate_pubmed
from hypothesis import given
from hypothesis import strategies as st
from scigate.call import LOCAL
from scigate.emulator import serving
from scigate.host import Host
from scigate.settings import Settings
from scigate_pubmed.emulator import create_app
from scigate_pubmed.emulator.corpus import Heading, load
from scigate_pubmed.esearch import SearchAnswer
from scigate_pubmed.headings import Window, window

Ask = Callable[..., Awaitable[dict[str, Any]]]

TOOL = "pubmed_lookup_mesh"


def cut(ranked: list[str], exact: str | None, offset: int, size: int) -> Window:
    return window(SearchAnswer(len(ranked), tuple(ranked[offset : offset + size])), exact, offset=offset, size=size)


@given(st.integers(0, 30), st.integers(2, 7), st.integers(0, 40))
def test_the_pages_are_the_result_with_the_exact_hit_in_front(total: int, size: int, exact: int) -> None:
    """Each record once, the exact hit first, wherever it ranks and also where it does not rank at all."""
    ranked = [str(number) for number in range(total)]
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = cut(ranked, str(exact), offset, size)
        seen += page.uids
        offset = page.next_offset
    assert seen == [str(exact), *(uid for uid in ranked if uid != str(exact))]


@given(st.integers(0, 30), st.integers(1, 7))
def test_without_an_exact_hit_the_pages_are_the_ranked_list(total: int, size: int) -> None:
    """In its order."""
    ranked = [str(number) for number in range(total)]
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = cut(ranked, None, offset, size)
        seen += page.uids
        offset = page.next_offset
    assert seen == ranked


def test_an_exact_hit_that_fills_the_page_consumes_nothing() -> None:
    """A next offset of 0 would lead in a circle."""
    assert cut(["1", "2"], "9", 0, 1) == Window(("9",), None, 0)


def test_a_later_page_may_hold_the_exact_hit_alone() -> None:
    """It has been shown; the page is empty and the next one is named."""
    assert cut(["1", "2", "3"], "2", 1, 1) == Window((), 2, 1)


async def test_a_heading_is_found_by_its_name(ask: Ask) -> None:
    """It leads the page, with its identifier, tree numbers and synonyms."""
    result = await ask(TOOL, query="hypertension", maxResults=5)
    first = result["results"][0]
    assert (first["name"], first["meshId"], first["entrezUid"]) == ("Hypertension", "D006973", "68006973")
    assert first["treeNumbers"] == ["C14.907.489"]
    assert first["entryTerms"] == ["Blood Pressure, High", "High Blood Pressure"]
    assert first["scopeNote"]
    assert (result["query"], result["offset"]) == ("hypertension", 0)


async def test_pages_of_a_lookup_are_the_result(ask: Ask) -> None:
    """As many records as the count says, each once."""
    names: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await ask(TOOL, query="blood", maxResults=3, offset=offset)
        names += [record["name"] for record in page["results"]]
        offset = page.get("nextOffset")
    assert len(names) == len(set(names)) == page["totalCount"] > 3


async def test_without_details_there_are_names_and_identifiers(ask: Ask) -> None:
    """A page of fifty costs little then."""
    result = await ask(TOOL, query="hypertension", includeDetails=False)
    assert set(result["results"][0]) == {"meshId", "entrezUid", "name"}


async def test_nothing_found_says_what_to_try(ask: Ask) -> None:
    """A word that is in no heading may still be in articles."""
    result = await ask(TOOL, query="zzqq")
    assert (result["results"], result["totalCount"]) == ([], 0)
    assert all(name in result["notice"] for name in ("pubmed_spell_check", "pubmed_search_articles"))


async def test_an_offset_past_the_end_says_how_many_there_are(ask: Ask) -> None:
    """Both numbers; any offset may be asked for, PubMed's limit is not MeSH's."""
    result = await ask(TOOL, query="blood", offset=20_000)
    assert result["results"] == []
    assert "20000" in result["notice"]
    assert f"{result['totalCount']} found" in result["notice"]


async def test_an_exact_match_that_fills_the_page_says_so() -> None:
    """With maxResults 1 it would be all that anybody ever sees; the ranked records are counted and not lost."""
    names = (("D009203", "Myocardial Infarction"), ("D999999", "Heart Attack Ward"))
    headings = tuple(Heading(name, False, (), ui, (False,)) for ui, name in names)
    emulator = create_app(records=[dataclasses.replace(load()[0], headings=headings)])
    async with serving(emulator) as url:
        settings = Settings.model_validate({"upstreams": {"ncbi": {"base_url": f"{url}/entrez/eutils/"}}})
        async with Host.open(settings, plugins={"pubmed": scigate_pubmed}) as host:
            small = (await host.call(TOOL, {"query": "heart attack", "maxResults": 1}, LOCAL)).structured
            large = (await host.call(TOOL, {"query": "heart attack", "maxResults": 2}, LOCAL)).structured
            later = (await host.call(TOOL, {"query": "heart attack", "maxResults": 1, "offset": 1}, LOCAL)).structured
    assert [record["name"] for record in small["results"]] == ["Myocardial Infarction"]
    assert "nextOffset" not in small
    assert "raise maxResults to see the 2 ranked records" in small["notice"]
    assert [record["name"] for record in large["results"]] == ["Myocardial Infarction", "Heart Attack Ward"]
    assert later["results"] == []
    assert "which the first page has shown; nothing follows" in later["notice"]


@pytest.mark.parametrize("query", [" ", "\t\n", "<b></b>"])
async def test_a_query_without_a_word_is_refused(refused: Ask, offline: Host, query: str) -> None:
    """Without a request."""
    assert (await refused(TOOL, query=query))["data"]["reason"] == "blank_query"
    assert offline.upstreams[0].requests == 0


async def test_a_query_with_a_tag_is_asked_as_it_is(ask: Ask, offline: Host) -> None:
    """A second tag would bind to its last word alone."""
    await ask(TOOL, query="hypertension[MH]", includeDetails=False)
    assert offline.upstreams[0].requests == 2


@pytest.mark.parametrize("fault", ["500;times=all;match=esummary", "429;times=all;match=esummary"])
async def test_without_details_to_be_had_the_identifiers_are_given(fault: str) -> None:
    """What the search found is not thrown away, and the notice says what is missing."""
    async with serving(create_app([fault])) as url:
        settings = Settings.model_validate({"upstreams": {"ncbi": {"base_url": f"{url}/entrez/eutils/", "retries": 0}}})
        async with Host.open(settings, plugins={"pubmed": scigate_pubmed}) as host:
            reply = await host.call(TOOL, {"query": "hypertension"}, LOCAL)
    assert not reply.is_error, reply.structured
    first = reply.structured["results"][0]
    assert first == {"meshId": "D006973", "entrezUid": "68006973", "name": ""}
    assert reply.structured["totalCount"] >= len(reply.structured["results"])
    assert "gave no names" in reply.structured["notice"]
