"""`pubmed_search_articles`, called through the host on the provider's sample data."""

import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest
import scigate_pubmed
from scigate.call import LOCAL
from scigate.emulator import Emulator, serving
from scigate.host import Host, Reply
from scigate.settings import Settings
from scigate_pubmed.emulator import create_app
from scigate_pubmed.emulator.corpus import load

TOOL = "pubmed_search_articles"
SAMPLE = {record.pmid: record for record in load()}


def hosted(**settings: Any) -> AbstractAsyncContextManager[Host]:
    return Host.open(Settings.model_validate(settings), plugins={"pubmed": scigate_pubmed})


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    """A host that has this provider alone and opens no connection."""
    async with hosted(offline=True) as host:
        yield host


async def found(host: Host, **arguments: Any) -> dict[str, Any]:
    reply = await host.call(TOOL, arguments, LOCAL)
    assert not reply.is_error, reply.structured
    return reply.structured


def reason(reply: Reply) -> str:
    assert reply.is_error
    return reply.structured["error"]["data"]["reason"]


async def test_a_search_gives_pmids_the_total_and_the_term(host: Host) -> None:
    """The query is told as it was given, and the term as it was sent."""
    result = await found(host, query=" <i>hypertension</i>", maxResults=2)
    assert result["query"] == " <i>hypertension</i>"
    assert result["effectiveQuery"] == "hypertension"
    assert result["searchUrl"] == "https://pubmed.ncbi.nlm.nih.gov/?term=hypertension"
    assert result["totalCount"] == result["totalFound"] > 2
    assert len(result["pmids"]) == 2
    assert (result["offset"], result["nextOffset"], result["summaries"], result["appliedFilters"]) == (0, 2, [], {})


async def test_pages_walked_by_next_offset_are_the_result(host: Host) -> None:
    """Every record once, and no next offset on the last page."""
    pmids: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await found(host, query="humans[mh]", maxResults=100, offset=offset, sort="pub_date")
        pmids += page["pmids"]
        offset = page.get("nextOffset")
    assert len(pmids) == len(set(pmids)) == page["totalCount"]


async def test_the_page_size_asked_for_is_the_page_size(host: Host) -> None:
    """A largest page is served whole."""
    assert len((await found(host, query="humans[mh]", maxResults=7))["pmids"]) == 7
    whole = await found(host, query="humans[mh]", maxResults=1000)
    assert len(whole["pmids"]) == whole["totalCount"] > 200


@pytest.mark.parametrize(
    ("sort", "key"),
    [
        ("author", lambda record: record.authors[0][0].lower() if record.authors else ""),
        ("journal", lambda record: record.abbreviation.lower()),
        ("pub_date", lambda record: [-part for part in record.date]),
    ],
)
async def test_the_order_asked_for_is_the_order(host: Host, sort: str, key: Any) -> None:
    """By first author, by journal, newest first."""
    pmids = (await found(host, query="cancer", sort=sort, maxResults=1000))["pmids"]
    keys = [key(SAMPLE[pmid]) for pmid in pmids]
    assert len(keys) > 10
    assert keys == sorted(keys)


async def test_filters_hold_for_all_of_a_query_with_or(host: Host) -> None:
    """Without parentheses the last clause alone would be filtered in an engine that binds AND tighter."""
    result = await found(host, query="hypertension OR cancer", publicationTypes=["Review"], maxResults=1000)
    assert result["effectiveQuery"] == '(hypertension OR cancer) AND ("Review"[Publication Type])'
    assert result["appliedFilters"] == {"publicationTypes": ["Review"]}
    assert result["pmids"]
    assert all("Review" in SAMPLE[pmid].publication_types for pmid in result["pmids"])


async def test_every_filter_narrows_and_is_told_as_it_was_sent(host: Host) -> None:
    """Applied filters are what stands in the term, not what was typed."""
    result = await found(
        host,
        query="a OR cancer OR humans[mh]",
        dateRange={"minDate": "1990-01", "maxDate": "3000"},
        language=" english ",
        hasAbstract=True,
        freeFullText=True,
        species="humans",
        meshTerms=["Humans"],
        author='"',
        maxResults=1000,
    )
    assert result["appliedFilters"] == {
        "dateRange": {"minDate": "1990/01", "maxDate": "3000", "dateType": "pdat"},
        "meshTerms": ["Humans"],
        "language": "english",
        "hasAbstract": True,
        "freeFullText": True,
        "species": "humans",
    }
    records = [SAMPLE[pmid] for pmid in result["pmids"]]
    assert records
    assert all(record.date >= (1990, 1, 1) and record.has_abstract and record.pmcid for record in records)


async def test_filters_that_are_off_or_empty_are_none(host: Host) -> None:
    """False and an empty list add nothing and are not told."""
    result = await found(host, query="cancer", hasAbstract=False, freeFullText=False, publicationTypes=[], author=" ")
    assert (result["appliedFilters"], result["effectiveQuery"]) == ({}, "cancer")


async def test_an_author_is_found_by_name_and_initials(host: Host) -> None:
    """Smith R finds Smith RJ: quotes round the name would not."""
    result = await found(host, query="carbonic anhydrase", author="Smith R")
    assert result["effectiveQuery"] == "(carbonic anhydrase) AND Smith R[Author]"
    assert result["pmids"] == ["3"]


async def test_summaries_belong_to_the_pages_first_pmids(host: Host) -> None:
    """Also on a later page, in the page's order, and what is left out is told."""
    result = await found(host, query="cancer", maxResults=6, offset=6, summaryCount=4)
    assert [summary["pmid"] for summary in result["summaries"]] == result["pmids"][:4]
    for summary in result["summaries"]:
        assert summary["doi"] == SAMPLE[summary["pmid"]].doi or not SAMPLE[summary["pmid"]].doi
    assert "first 4 of these 6 PMIDs; a higher summaryCount" in result["notice"]


async def test_without_summaries_the_pmids_found_stand() -> None:
    """A fault of the second request throws away nothing of the first, and is told."""
    async with serving(create_app(["500;times=all;match=esummary"])) as url:
        section = {"base_url": f"{url}/entrez/eutils/", "quotas": ["1000/second"], "retries": 0}
        async with hosted(upstreams={"ncbi": section}) as host:
            result = await found(host, query="cancer", maxResults=3, summaryCount=2)
    assert len(result["pmids"]) == 3
    assert result["summaries"] == []
    assert "NCBI could not give summaries" in result["notice"]
    assert "first 2 of" not in result["notice"]


async def test_at_fifty_summaries_the_notice_points_at_fetching(host: Host) -> None:
    """A higher summaryCount would be refused."""
    result = await found(host, query="humans[mh]", maxResults=60, summaryCount=50)
    assert len(result["summaries"]) == 50
    assert "pubmed_fetch_articles" in result["notice"]


async def test_a_bookshelf_chapter_is_told_as_one(host: Host) -> None:
    """Its writers are its authors, its book stands in place of a journal."""
    (summary,) = (await found(host, query="20301577[pmid]", summaryCount=1))["summaries"]
    assert summary["docType"] == "chapter"
    assert summary["authors"] == "Napolitano C, Priori SG"
    assert summary["bookTitle"] == "GeneReviews®"
    assert summary["editors"][0] == "Adam MP"
    assert "source" not in summary


@pytest.mark.parametrize("query", ["[pdat]", "( )", "<b></b>", "   "])
async def test_a_query_without_a_word_is_refused_without_a_request(host: Host, query: str) -> None:
    """A filter beside it makes no word of it."""
    reply = await host.call(TOOL, {"query": query, "author": "Smith J"}, LOCAL)
    assert reason(reply) == "blank_query"
    assert reply.structured["error"]["code"] == -32007
    assert host.upstreams[0].requests == 0


@pytest.mark.parametrize(
    ("dates", "named", "cure"),
    [
        ({"minDate": "2020", "maxDate": ""}, "minDate 2020", "maxDate 3000"),
        ({"minDate": "", "maxDate": "2024/06"}, "maxDate 2024/06", "minDate 1800"),
    ],
)
async def test_one_bound_is_no_date_limit_and_the_notice_says_so(
    host: Host, dates: dict[str, str], named: str, cure: str
) -> None:
    """The bound that was given is named, and the sentinel that leaves the other end open."""
    result = await found(host, query="cancer", dateRange=dates)
    assert result["appliedFilters"] == {}
    assert "No date limit was applied" in result["notice"]
    assert named in result["notice"]
    assert cure in result["notice"]


async def test_two_empty_bounds_are_no_filter_and_no_notice(host: Host) -> None:
    """Clients that fill forms send them."""
    result = await found(host, query="cancer", maxResults=1000, dateRange={"minDate": "", "maxDate": ""})
    assert result["effectiveQuery"] == "cancer"
    assert "date" not in result["notice"]


@pytest.mark.parametrize("bound", ["2020-13-45x", "last year", "20200101", "2020/1/1/1"])
async def test_a_bound_of_another_form_is_refused(host: Host, bound: str) -> None:
    """PubMed would find nothing and not say why."""
    reply = await host.call(TOOL, {"query": "x", "dateRange": {"minDate": bound, "maxDate": "3000"}}, LOCAL)
    assert reason(reply) == "invalid_arguments"
    assert "minDate" in reply.structured["error"]["message"]


async def test_unknown_fields_and_unmatched_phrases_are_told_beside_hits(host: Host) -> None:
    """PubMed drops them and searches the rest, which is not what was asked."""
    result = await found(host, query="cancer[foo] AND zzqq", maxResults=1)
    assert result["totalCount"] > 0
    assert 'the field tag "foo"' in result["notice"]
    assert 'matches "zzqq", and the records found answer the rest of the query alone' in result["notice"]
    assert "pubmed_lookup_mesh" in result["notice"]


async def test_nothing_found_says_what_to_try(host: Host) -> None:
    """With filters: loosen them; without: check the words; with an unmatched phrase that phrase alone is to blame."""
    filtered = await found(host, query="cancer", dateRange={"minDate": "1700", "maxDate": "1701"})
    assert "drop a filter" in filtered["notice"]
    plain = await found(host, query="cancer AND 1700[dp]")
    assert "pubmed_spell_check" in plain["notice"]
    unmatched = await found(host, query="zzqq")
    assert unmatched["totalCount"] == 0
    assert 'matches "zzqq": check the spelling' in unmatched["notice"]
    assert "pubmed_spell_check" not in unmatched["notice"]


async def test_an_offset_past_the_end_says_how_many_there_are(host: Host) -> None:
    """An empty page is not an empty result."""
    result = await found(host, query="hypertension", offset=500)
    assert result["pmids"] == []
    assert f"{result['totalCount']} found" in result["notice"]
    assert "500" in result["notice"]
    assert "nextOffset" not in result


async def test_a_dropped_parenthesis_is_told(host: Host) -> None:
    """The query that was searched is not quite the one that was given."""
    result = await found(host, query="(cancer) OR (hypertension", publicationTypes=["Review"])
    assert result["effectiveQuery"].startswith("((cancer) OR hypertension) AND ")
    assert 'Unmatched "("' in result["notice"]


async def test_the_text_says_what_the_structure_says(host: Host) -> None:
    """Some clients show one of the two alone."""
    reply = await host.call(TOOL, {"query": "cancer", "maxResults": 3, "summaryCount": 3}, LOCAL)
    text = reply.content[0]["text"]
    for summary in reply.structured["summaries"]:
        assert summary["pmid"] in text
        assert summary["pubmedUrl"] in text
    assert str(reply.structured["totalCount"]) in text


async def test_sample_data_is_told(host: Host) -> None:
    """Nobody takes an emulator's answer for PubMed's."""
    assert "ncbi" in (await found(host, query="cancer"))["notice"]


async def test_pubmeds_window_ends_the_paging() -> None:
    """PubMed serves 9,999 records of a search; the total is exact and the rest is said to be out of reach."""
    template = load()[0]
    many = [dataclasses.replace(template, pmid=str(number)) for number in range(1, 10_501)]
    async with (
        serving(create_app(records=many)) as url,
        hosted(upstreams={"ncbi": {"base_url": f"{url}/entrez/eutils/"}}) as host,
    ):
        page = await found(host, query="formate", offset=9990, maxResults=20)
        assert len(page["pmids"]) == 9
        assert page["totalCount"] == 10_500
        assert page["truncated"] is True
        assert "nextOffset" not in page
        assert "narrow the search" in page["notice"]


@pytest.mark.parametrize(
    ("fault", "expected", "retryable"),
    [
        ("429;retry-after=1", "queue_full", True),
        ("500", "ncbi_unreachable", True),
        ("503", "ncbi_unreachable", True),
        ("504", "ncbi_unreachable", True),
        ("busy", "ncbi_unreachable", True),
        ("html", "ncbi_unreachable", True),
        ("reset", "ncbi_unreachable", True),
        ("truncated", "ncbi_invalid_response", True),
    ],
)
async def test_a_fault_of_ncbi_is_a_failure_with_its_reason(fault: str, expected: str, retryable: bool) -> None:
    """Never an empty result, and nothing of NCBI's body, address or key in the answer."""
    emulator: Emulator = create_app([fault])
    async with serving(emulator) as url:
        settings = {"upstreams": {"ncbi": {"base_url": f"{url}/entrez/eutils/", "retries": 0}}}
        async with hosted(**settings, providers={"pubmed": {"api_key": "s3cret", "email": "a@x.example"}}) as host:
            reply = await host.call(TOOL, {"query": "cancer"}, LOCAL)
            assert reason(reply) == expected
            error = reply.structured["error"]
            assert error["data"]["retryable"] is retryable
            assert error["message"] != error["data"]["recovery"]["hint"]
            said = json.dumps(reply.structured) + json.dumps(reply.content) + json.dumps(reply.meta)
            assert not any(secret in said for secret in ("s3cret", "a@x.example", url, "127.0.0.1"))
            assert (await found(host, query="cancer"))["totalCount"] > 0


async def test_a_fault_that_passes_is_asked_again_and_not_told() -> None:
    """An error text with status 400 is as transient as a page in place of JSON."""
    emulator = create_app(["busy", "html"])
    async with serving(emulator) as url, hosted(upstreams={"ncbi": {"base_url": f"{url}/entrez/eutils/"}}) as host:
        result = await found(host, query="cancer", maxResults=1000)
    assert result["totalCount"] == len(result["pmids"]) > 0
    assert "notice" not in result or "Sample data" in result["notice"]
    assert [arrival.fault for arrival in emulator.requests] == ["busy", "html", None]


async def test_a_burst_of_first_calls_waits_in_place_of_failing() -> None:
    """NCBI refuses the fourth request of a second; the calls take their turns and none sees a refusal."""
    emulator = create_app(enforce_quota=True)
    replies: list[dict[str, Any]] = []
    async with serving(emulator) as url, hosted(upstreams={"ncbi": {"base_url": f"{url}/entrez/eutils/"}}) as host:

        async def one(year: int) -> None:
            replies.append(await found(host, query=f"{year}[dp]"))

        async with anyio.create_task_group() as calls:
            for year in range(2019, 2025):
                calls.start_soon(one, year)
    assert len(replies) == len(emulator.requests) == 6
    assert emulator.peak(1.0) <= 3


async def test_what_ncbi_is_asked_names_the_gateway() -> None:
    """`tool`, `email` and `api_key` are on the wire, with the configured values."""
    emulator = create_app()
    async with serving(emulator) as url:
        settings = {"upstreams": {"ncbi": {"base_url": f"{url}/entrez/eutils/"}}}
        async with hosted(**settings, providers={"pubmed": {"api_key": "s3cret", "email": "a@x.example"}}) as host:
            await found(host, query="cancer", summaryCount=1)
    assert len(emulator.requests) == 2
    for arrival in emulator.requests:
        assert arrival.query.endswith("&tool=scigate&email=a%40x.example&api_key=s3cret")


async def test_a_second_search_of_the_same_words_asks_nothing(host: Host) -> None:
    """Answers are kept for an hour, so paging back or adding summaries costs no quota."""
    await found(host, query="cancer")
    before = host.upstreams[0].requests
    await found(host, query="cancer")
    assert host.upstreams[0].requests == before
