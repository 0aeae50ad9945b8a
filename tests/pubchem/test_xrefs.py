"""`pubchem_get_compound_xrefs`."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from scigate_pubchem.answers import InformationAnswer

TOOL = "pubchem_get_compound_xrefs"


async def test_groups_come_in_the_order_asked_for(gateway: Any) -> None:
    """Empty ones included, each kind once; one request for each kind, one after another."""
    found = await gateway.good(TOOL, cid=2244, xrefTypes=["PubMedID", "ProteinGI", "RN", "PubMedID"], maxPerType=2)
    assert [(group["type"], len(group["ids"]), group["truncated"]) for group in found["xrefs"]] == [
        ("PubMedID", 2, True),
        ("ProteinGI", 0, False),
        ("RN", 2, True),
    ]
    assert "50-78-2" in found["xrefs"][2]["ids"]
    assert [path.rsplit("/", 2)[1] for path in gateway.asked] == ["PubMedID", "ProteinGI", "RN"]
    assert "PubMedID (444), RN (3); next page: offset 2" in found["notice"]


async def test_pages_are_the_whole_and_cost_nothing(gateway: Any) -> None:
    """One next offset fits all kinds, whatever their lengths."""
    asked = {"cid": 2244, "xrefTypes": ["PubMedID", "RN"], "maxPerType": 100}
    pages = [await gateway.good(TOOL, **asked)]
    while "nextOffset" in pages[-1]:
        pages.append(await gateway.good(TOOL, **asked, offset=pages[-1]["nextOffset"]))
    for index, total in enumerate((444, 3)):
        ids = [one for page in pages for one in page["xrefs"][index]["ids"]]
        assert len(ids) == len(set(ids)) == total == pages[0]["xrefs"][index]["totalAvailable"]
    assert [page["truncated"] for page in pages] == [True] * 4 + [False]
    assert "next page" not in pages[-1].get("notice", "")
    assert len(gateway.asked) == 2


async def test_a_page_above_the_cap(gateway: Any) -> None:
    """A thousand may be asked for, 500 are served; the guessed name is taken too."""
    found = await gateway.good(TOOL, cid=2244, xrefTypes=["PubMedID"], maxResults=1000)
    assert found["cappedInputs"] == [{"input": "maxPerType", "requested": 1000, "served": 500}]


async def test_nothing_recorded_and_past_the_end_are_two_things(gateway: Any) -> None:
    """The first may be a wrong number, the second is a wrong offset."""
    nothing = await gateway.good(TOOL, cid=999999999, xrefTypes=["RN", "GeneID"])
    past = await gateway.good(TOOL, cid=2244, xrefTypes=["RN"], offset=50)
    assert "no RN, GeneID for CID 999999999" in nothing["notice"]
    assert "pubchem_search_compounds" in nothing["notice"]
    assert past["xrefs"] == [{"type": "RN", "ids": [], "totalAvailable": 3, "truncated": False}]
    assert "Offset 50 is past the end" in past["notice"]
    assert "nextOffset" not in past


async def test_a_complete_page_has_no_notice(saying: Any) -> None:
    """Numbers that come as text are numbers, repeats are dropped."""
    listed = {"InformationList": {"Information": [{"CID": 1, "GeneID": ["5", 5, 6, "x"]}]}}
    async with saying(lambda path, query: listed) as gateway:
        found = await gateway.good(TOOL, cid=1, xrefTypes=["GeneID"])
    assert found["xrefs"][0] == {"type": "GeneID", "ids": [5, 6], "totalAvailable": 2, "truncated": False}
    assert "notice" not in found


async def test_a_kind_that_fails_leaves_the_others(gateway: Any) -> None:
    """It is named with its reason, is no empty list, and makes the result incomplete."""
    gateway.emulator.faults.add("504;match=xrefs/GeneID")
    found = await gateway.good(TOOL, cid=2244, xrefTypes=["GeneID", "RN"])
    assert [group["type"] for group in found["xrefs"]] == ["RN"]
    assert found["truncated"] is True
    assert "upstream_timeout" in found["notice"]
    assert "GeneID" in found["notice"]


async def test_it_fails_when_every_kind_does(gateway: Any) -> None:
    """By the first one's reason."""
    gateway.emulator.faults.add("503;times=all")
    error = await gateway.bad(TOOL, cid=2244, xrefTypes=["GeneID", "RN"])
    assert error["data"]["reason"] == "upstream_rate_limited"


@pytest.mark.parametrize("arguments", [{"xrefTypes": []}, {"xrefTypes": ["CAS"]}, {"xrefTypes": ["RN"], "offset": 0.5}])
async def test_wrong_arguments(gateway: Any, arguments: dict[str, Any]) -> None:
    """Kinds are of a closed set, offsets whole."""
    assert (await gateway.bad(TOOL, cid=1, **arguments))["data"]["reason"] == "invalid_arguments"
    assert gateway.asked == []


def test_recorded_lists(recorded: Callable[[str], bytes]) -> None:
    """Several compounds in an answer, one without any; CAS and EC numbers stand in one list."""
    water = InformationAnswer.model_validate_json(recorded("xrefs_rn_water.json")).of("RN")
    assert list(water) == [962]
    two = InformationAnswer.model_validate_json(recorded("xrefs_rn_post.json")).of("RN")
    assert list(two) == [135398570, 2244]
    assert {"50-78-2", "200-064-1"} <= set(two[2244])
    names = InformationAnswer.model_validate_json(recorded("synonyms_smiles.json")).of("Synonym")
    assert names[1318][:2] == ["1,10-phenanthroline", "o-phenanthroline"]
    assert len(json.loads(recorded("synonyms_smiles.json"))["InformationList"]["Information"]) == len(names)
