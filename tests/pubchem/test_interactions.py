"""`pubchem_get_compound_interactions`."""

import json
from typing import Any
from urllib.parse import parse_qs

import pytest

TOOL = "pubchem_get_compound_interactions"
KINDS = ["drug-drug", "drug-food", "target"]


def sdq(rows: list[dict[str, Any]], total: int, **status: Any) -> dict[str, Any]:
    return {"SDQOutputSet": [{"status": {"code": 0, **status}, "totalCount": total, "rows": rows}]}


def asked(query: str) -> dict[str, Any]:
    return json.loads(parse_qs(query)["query"][0])


async def test_each_kind_has_its_entries_and_its_place(gateway: Any) -> None:
    """Grouped in the order asked for; one request for each kind."""
    found = await gateway.good(TOOL, cid=2244, kinds=[*KINDS, "target"], maxEntries=2)
    assert [entry["kind"] for entry in found["entries"]] == ["drug-drug"] * 2 + ["drug-food"] * 2 + ["target"] * 2
    assert [(place["kind"], place["returnedCount"], place["truncated"]) for place in found["paging"]] == [
        ("drug-drug", 2, True),
        ("drug-food", 2, False),
        ("target", 2, True),
    ]
    assert (found["requestedKinds"], found["returnedCount"], found["truncated"]) == (", ".join(KINDS), 6, True)
    drug, food, target = found["entries"][0], found["entries"][2], found["entries"][4]
    assert (drug["partner"], drug["source"]) == ("Ibuprofen", "DrugBank")
    assert "partner" not in food
    assert target["text"].endswith(" uM")
    # Two kinds have more, at places of their own: no offset fits both.
    assert "nextOffset" not in found
    assert "More drug-drug: offset 2" in found["notice"]
    assert len(gateway.asked) == 3


@pytest.mark.parametrize("kind", KINDS)
async def test_pages_are_the_whole(gateway: Any, kind: str) -> None:
    """Walked by nextOffset, each record once, whatever the records yield."""
    asked = {"cid": 2244, "kinds": [kind], "maxEntries": 3}
    pages = [await gateway.good(TOOL, **asked)]
    while "nextOffset" in pages[-1]:
        assert pages[-1]["truncated"]
        assert pages[-1]["nextOffset"] == pages[-1]["paging"][0]["nextOffset"]
        pages.append(await gateway.good(TOOL, **asked, offset=pages[-1]["nextOffset"]))
    total = pages[0]["paging"][0]["totalRecords"]
    assert {page["paging"][0]["totalRecords"] for page in pages} == {total}
    entries = [json.dumps(entry) for page in pages for entry in page["entries"]]
    assert entries
    if kind != "target":
        assert len(set(entries)) == len(entries)
    # One of the drug records has no statement, and some activities name no target: read, but no entries.
    assert len(entries) <= total


async def test_what_is_asked_of_the_tables(saying: Any) -> None:
    """Only the columns needed, by compound, counted from 1; targets by rising value, in a wider window."""
    queries: list[dict[str, Any]] = []

    def answer(path: str, query: str) -> dict[str, Any]:
        queries.append(asked(query))
        return sdq([{"cid": 1, "targetname": "t", "descr": "d"}], 99)

    async with saying(answer) as gateway:
        await gateway.good(TOOL, cid=1, kinds=["drug-drug"], offset=10)
        await gateway.good(TOOL, cid=1, kinds=["target"], maxEntries=50)
        await gateway.good(TOOL, cid=1, kinds=["target"], maxEntries=1)
    assert queries[0] == {
        "select": ["cid", "name2", "descr"],
        "collection": "drugbankddi",
        "where": {"ands": [{"cid": "1"}]},
        "start": 11,
        "limit": 10,
    }
    assert (queries[1]["collection"], queries[1]["order"], queries[1]["limit"]) == (
        "bioactivity",
        ["acvalue,asc"],
        100,
    )
    assert "citations" not in queries[1]["select"]
    assert queries[2]["limit"] == 20


async def test_targets(saying: Any) -> None:
    """Rows without a target are read and skipped, equal pairs merged; reading stops when the page is full."""
    rows = [
        {"targetname": None, "acname": "Ki", "acvalue": 0.001},
        {"targetname": "one", "acname": "Ki", "acqualifier": "=", "acvalue": 0.01, "aidsrcname": "ChEMBL"},
        {"targetname": "one", "acname": "Ki", "acqualifier": "=", "acvalue": 0.01, "aidsrcname": "other"},
        {"targetname": "one", "acname": "IC50", "acvalue": "0.5"},
        {"targetname": "two &gt; <a href='x'>three</a>", "acname": "", "acvalue": 1},
        {"targetname": "four"},
    ]
    async with saying(lambda path, query: sdq(rows, 6)) as gateway:
        whole = await gateway.good(TOOL, cid=1, kinds=["target"])
        part = await gateway.good(TOOL, cid=1, kinds=["target"], maxEntries=2)
    assert [(entry["partner"], entry["text"], entry["source"]) for entry in whole["entries"]] == [
        ("one", "Ki = 0.01 uM", "ChEMBL"),
        ("one", "IC50 0.5 uM", "PubChem"),
        ("two > three", "activity reported, without a value", "PubChem"),
        ("four", "activity reported, without a value", "PubChem"),
    ]
    assert (len(part["entries"]), part["nextOffset"]) == (2, 4)


async def test_past_the_end_the_total_is_asked_for(saying: Any) -> None:
    """There SDQ says that a table has 0 rows."""

    def answer(path: str, query: str) -> dict[str, Any]:
        if asked(query)["start"] > 4:
            return sdq([], 0, warning=["eNoHitsFound"])
        return sdq([{"descr": "d"}], 4)

    async with saying(answer) as gateway:
        found = await gateway.good(TOOL, cid=1, offset=50)
    assert found["paging"] == [{"kind": "drug-drug", "returnedCount": 0, "totalRecords": 4, "truncated": False}]
    assert "Offset 50 is past the end" in found["notice"]
    assert len(gateway.asked) == 2


async def test_a_refusal_under_200_is_a_failure(saying: Any) -> None:
    """And not kept in the cache: the next call asks again, and is served."""
    answers = [
        {"SDQOutputSet": [{"status": {"code": -4, "error": "eSphinxSearchBusy"}, "rows": []}]},
        sdq([{"name2": "x", "descr": "d"}], 1),
    ]
    async with saying(lambda path, query: answers.pop(0)) as gateway:
        error = await gateway.bad(TOOL, cid=1)
        assert (error["code"], error["data"]["reason"]) == (-32000, "upstream_unavailable")
        assert error["data"]["fault"] == "eSphinxSearchBusy"
        assert "drugbankddi" in error["message"]
        assert (await gateway.good(TOOL, cid=1))["returnedCount"] == 1


async def test_a_failing_kind_leaves_the_others(gateway: Any) -> None:
    """It has no place, since that is unknown; the notice says why."""
    gateway.emulator.faults.add("504;match=heading=Drug")
    found = await gateway.good(TOOL, cid=2244, kinds=["drug-food", "drug-drug"])
    assert found["failedKinds"] == "drug-food"
    assert [place["kind"] for place in found["paging"]] == ["drug-drug"]
    assert "upstream_timeout" in found["notice"]
    gateway.emulator.faults.add("503;times=all")
    error = await gateway.bad(TOOL, cid=2519, kinds=["drug-food", "target"])
    assert error["data"]["reason"] == "upstream_rate_limited"


async def test_an_answer_that_is_not_json_names_its_table(saying: Any, answer: Any) -> None:
    """With the place where it breaks, as the unescaped quotes of free text do."""
    broken = answer(b'{"SDQOutputSet":[{"status":{"code":0},"rows":[{"descr":"a "quoted" word"}]}]}')
    async with saying(lambda path, query: broken) as gateway:
        error = await gateway.bad(TOOL, cid=1)
    assert error["data"]["reason"] == "upstream_invalid_response"
    assert "drugbankddi" in error["message"]
    assert "quoted" in error["message"]
    page = answer(b"<html>busy</html>", kind="text/html")
    async with saying(lambda path, query: page) as gateway:
        error = await gateway.bad(TOOL, cid=1)
    assert "html" not in error["message"]


async def test_no_records_and_records_that_say_nothing(saying: Any) -> None:
    """Two causes of an empty page, told apart; a missing set is an absence."""
    for said, told in (({}, "holds no drug-drug records"), (sdq([{"name2": "x"}], 1), "names an interaction")):
        async with saying(lambda path, query, said=said: said) as gateway:
            found = await gateway.good(TOOL, cid=1)
        assert found["entries"] == []
        assert told in found["notice"]


async def test_a_complete_page_has_no_notice(saying: Any) -> None:
    """Nothing is left, nothing failed."""
    async with saying(lambda path, query: sdq([{"name2": "x", "descr": "d"}], 1)) as gateway:
        found = await gateway.good(TOOL, cid=1)
    assert "notice" not in found
    assert found["entries"] == [{"kind": "drug-drug", "partner": "x", "source": "DrugBank", "text": "d"}]


@pytest.mark.parametrize("arguments", [{"kinds": []}, {"kinds": ["food"]}, {"offset": 2**31 - 1}, {"maxEntries": 0}])
async def test_wrong_arguments(gateway: Any, arguments: dict[str, Any]) -> None:
    """An offset beyond a signed 32-bit number would fail upstream for good."""
    assert (await gateway.bad(TOOL, cid=1, **arguments))["data"]["reason"] == "invalid_arguments"
    assert gateway.asked == []


async def test_the_last_offset_and_the_cap(gateway: Any) -> None:
    """Both are served; the guessed name of the page size is taken."""
    found = await gateway.good(TOOL, cid=2244, offset=2**31 - 2, maxResults=51)
    assert found["cappedInputs"] == [{"input": "maxEntries", "requested": 51, "served": 50}]
    assert found["paging"][0]["totalRecords"] == 21
