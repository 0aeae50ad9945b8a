"""`pubmed_fetch_articles`, called through the host."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import scigate_pubmed
from scigate.call import LOCAL
from scigate.emulator import serving
from scigate.host import Host
from scigate.settings import Settings
from scigate_pubmed.emulator import create_app
from scigate_pubmed.emulator.corpus import load

TOOL = "pubmed_fetch_articles"
SAMPLE = {record.pmid: record for record in load()}

Ask = Callable[..., Awaitable[dict[str, Any]]]


async def test_records_come_in_the_order_of_the_pmids(ask: Ask) -> None:
    """With what the record has, and without what it has not."""
    result = await ask(TOOL, pmids=["20301577", "2", "1"])
    assert [article["pmid"] for article in result["articles"]] == ["20301577", "2", "1"]
    assert result["totalReturned"] == 3
    assert "unavailablePmids" not in result
    chapter, article, _ = result["articles"]
    assert chapter["book"]["title"] == "GeneReviews®"
    assert "journalInfo" not in chapter
    assert article["title"].startswith("Delineation of the intimate details")
    assert article["authors"] == [{"lastName": "Bose", "initials": "KS"}, {"lastName": "Sarma", "initials": "RH"}]
    assert article["journalInfo"]["publicationDate"] == {"year": "1975", "month": "Oct", "day": "27"}
    assert article["journalInfo"]["pages"] == "1173-9"
    assert article["doi"] == SAMPLE["2"].doi
    assert "abstractText" not in article


async def test_every_record_of_the_sample_is_told_as_it_is(ask: Ask) -> None:
    """All of them, two hundred at a time: titles, dates, identifiers, headings and every author, groups included."""
    pmids = list(SAMPLE)
    articles: list[dict[str, Any]] = []
    for start in range(0, len(pmids), 200):
        articles += (await ask(TOOL, pmids=pmids[start : start + 200]))["articles"]
    assert [article["pmid"] for article in articles] == pmids
    groups = 0
    for article in articles:
        fact = SAMPLE[article["pmid"]]
        assert article["title"] == " ".join(fact.title.split())
        assert (article.get("doi", ""), article.get("pmcId", "")) == (fact.doi, fact.pmcid.partition(".")[0])
        assert article.get("publicationTypes", []) == list(fact.publication_types)
        names = [author.get("collectiveName") or author["lastName"] for author in article.get("authors", [])]
        assert names == [" ".join(surname.split()) for surname in fact.surnames]
        groups += sum("collectiveName" in author for author in article.get("authors", []))
        assert len(article.get("meshTerms", [])) == len(fact.headings)
    assert groups > 0


async def test_mesh_and_grants_are_there_when_asked_for(ask: Ask) -> None:
    """Headings by default, grants not."""
    (article,) = (await ask(TOOL, pmids=["1"], includeMesh=False))["articles"]
    assert "meshTerms" not in article
    (article,) = (await ask(TOOL, pmids=["1"]))["articles"]
    fluids = next(term for term in article["meshTerms"] if term["descriptorName"] == "Body Fluids")
    assert fluids["isMajorTopic"] is True
    assert fluids["qualifiers"] == [{"qualifierName": "analysis", "isMajorTopic": True}]


async def test_unknown_pmids_are_listed_as_they_were_given(ask: Ask) -> None:
    """Each PMID is asked for once, with or without leading zeros, and counted as it was submitted."""
    result = await ask(TOOL, pmids=["0002", "999999999", "2", "0999999999"])
    assert [article["pmid"] for article in result["articles"]] == ["2"]
    assert result["unavailablePmids"] == ["999999999", "0999999999"]


async def test_no_record_at_all_says_what_to_do(ask: Ask) -> None:
    """An empty list alone would not tell a mistake from a withdrawn record."""
    result = await ask(TOOL, pmids=["999999999"])
    assert (result["articles"], result["totalReturned"], result["unavailablePmids"]) == ([], 0, ["999999999"])
    assert "withdrawn" in result["notice"]
    assert "pubmed_search_articles" in result["notice"]


async def test_a_retraction_is_in_the_notice(ask: Ask) -> None:
    """Nobody should have to find it among the publication types."""
    assert "PMID 993 is retracted" in (await ask(TOOL, pmids=["993", "1"]))["notice"]


@pytest.mark.parametrize("pmid", ["PMC123", "12 34", "1,2", "", "12345x", "１２３", "-1", "pmid:1"])
async def test_what_is_no_pmid_is_refused_with_an_example(refused: Ask, pmid: str) -> None:
    """The message names the place, PMID, and one that would do."""
    error = await refused(TOOL, pmids=["1", pmid])
    assert error["code"] == -32602
    assert "pmids.1" in error["message"]
    assert "13054692" in error["message"]
    assert "white space, commas or a prefix" in error["message"]


async def test_a_number_is_a_pmid(ask: Ask) -> None:
    """Models write numbers where ids are digits."""
    assert (await ask(TOOL, pmids=[2]))["articles"][0]["pmid"] == "2"


async def test_two_hundred_pmids_are_one_request_and_more_are_refused(ask: Ask, refused: Ask, offline: Host) -> None:
    """The cap is NCBI's own advice for one request."""
    assert (await ask(TOOL, pmids=[str(number) for number in range(1, 201)]))["articles"]
    assert offline.upstreams[0].requests == 1
    assert "pmids" in (await refused(TOOL, pmids=[str(number) for number in range(1, 202)]))["message"]


async def test_many_pmids_go_into_the_body() -> None:
    """A hundred and more, whatever their length."""
    emulator = create_app()
    async with serving(emulator) as url:
        settings = Settings.model_validate({"upstreams": {"ncbi": {"base_url": f"{url}/entrez/eutils/"}}})
        async with Host.open(settings, plugins={"pubmed": scigate_pubmed}) as host:
            await host.call(TOOL, {"pmids": [str(number) for number in range(1, 100)]}, LOCAL)
            await host.call(TOOL, {"pmids": [str(number) for number in range(1, 101)]}, LOCAL)
    assert [arrival.method for arrival in emulator.requests] == ["GET", "POST"]


async def test_the_text_has_every_fact_of_the_structure(offline: Host) -> None:
    """All authors, ids, dates and headings: some clients show the text alone."""
    reply = await offline.call(TOOL, {"pmids": ["20301577", "26158728", "993"]}, LOCAL)
    text = reply.content[0]["text"].replace("\\", "")
    for leaf in leaves(reply.structured):
        for line in filter(None, leaf.splitlines()):
            assert line in text


def leaves(value: object) -> list[str]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [{True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)]
