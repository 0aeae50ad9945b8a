"""`pubchem_get_compound_details`."""

import json
from typing import Any

import pytest
from scigate_pubchem.details import CORE

TOOL = "pubchem_get_compound_details"
ASPIRIN, CAFFEINE, UNKNOWN = 2244, 2519, 999999999


async def test_properties_of_a_batch_are_one_request(gateway: Any) -> None:
    """In input order, repeats included; an unknown number is an entry that says so."""
    found = await gateway.good(TOOL, cids=[CAFFEINE, UNKNOWN, ASPIRIN, CAFFEINE])
    assert [(one["cid"], one["found"]) for one in found["compounds"]] == [
        (CAFFEINE, True),
        (UNKNOWN, False),
        (ASPIRIN, True),
        (CAFFEINE, True),
    ]
    assert found["compounds"][1] == {"cid": UNKNOWN, "found": False, "properties": {}}
    assert list(found["compounds"][2]["properties"]) == list(CORE)
    assert found["truncated"] is False
    assert len(gateway.asked) == 1


async def test_a_hundred_are_one_post(gateway: Any) -> None:
    """More than fifty numbers are not put into a path; above the cap the rest comes back as numbers."""
    cids = list(range(1, 151))
    found = await gateway.good(TOOL, cids=cids, properties=["Title"], includeSynonyms=True)
    assert [one["cid"] for one in found["compounds"]] == cids[:100]
    assert found["unprocessed"] == cids[100:]
    assert found["cappedInputs"] == [{"input": "cids", "requested": 150, "served": 100, "unprocessed": 50}]
    assert found["truncated"] is True
    assert "unprocessed" in found["notice"]
    assert [arrival.method for arrival in gateway.emulator.requests] == ["POST"] + (
        ["GET"] if sum(one["found"] for one in found["compounds"]) <= 50 else ["POST"]
    )


async def test_properties_come_under_the_names_asked_for(gateway: Any) -> None:
    """And only these: what is asked for beside them to tell an unknown number is left out again."""
    found = await gateway.good(TOOL, cids=[ASPIRIN], properties=["IsomericSMILES", "CanonicalSMILES", "XLogP"])
    assert list(found["compounds"][0]["properties"]) == ["IsomericSMILES", "CanonicalSMILES", "XLogP"]


async def test_a_known_compound_without_a_value_is_found(gateway: Any) -> None:
    """Morphine has no XLogP in the sample; that does not make it unknown."""
    (morphine,) = (await gateway.good(TOOL, cids=[5288826], properties=["XLogP"]))["compounds"]
    assert morphine == {"cid": 5288826, "found": True, "properties": {}}


async def test_synonyms_of_a_batch_are_one_request(gateway: Any) -> None:
    """In PubChem's order, with a total for each compound and one next offset for all."""
    asked = {"cids": [ASPIRIN, UNKNOWN, CAFFEINE], "properties": ["Title"], "includeSynonyms": True}
    first = await gateway.good(TOOL, **asked, maxSynonyms=5)
    second = await gateway.good(TOOL, **asked, maxSynonyms=5, synonymOffset=5)
    assert len(gateway.asked) == 2
    names = [one for page in (first, second) for one in page["compounds"][0]["synonyms"]]
    assert names[0].lower() == "aspirin"
    assert len(set(names)) == 10
    assert first["compounds"][0]["synonymsTotal"] > 100
    assert "synonyms" not in first["compounds"][1]
    assert (first["synonymOffset"], first["nextSynonymOffset"], first["truncated"]) == (0, 5, True)
    assert "synonymOffset 5" in first["notice"]
    assert "descriptionOffset" not in first


async def test_synonyms_past_the_end(gateway: Any) -> None:
    """An empty list with its total, and a notice of the longest."""
    found = await gateway.good(TOOL, cids=[ASPIRIN], includeSynonyms=True, synonymOffset=100_000)
    (aspirin,) = found["compounds"]
    assert aspirin["synonyms"] == []
    assert f"longest list has {aspirin['synonymsTotal']}" in found["notice"]
    assert ("nextSynonymOffset" in found, found["truncated"]) == (False, False)


async def test_sizes_above_their_caps(gateway: Any) -> None:
    """Each has its own entry."""
    found = await gateway.good(
        TOOL, cids=[ASPIRIN], includeSynonyms=True, maxSynonyms=1000, includeDescription=True, maxDescriptions=21
    )
    assert found["cappedInputs"] == [
        {"input": "maxDescriptions", "requested": 21, "served": 20},
        {"input": "maxSynonyms", "requested": 1000, "served": 100},
    ]
    assert len(found["compounds"][0]["synonyms"]) == 100


async def test_descriptions(gateway: Any) -> None:
    """Pages with sources and totals; the next page costs nothing."""
    asked = {"cids": [ASPIRIN, 962], "properties": ["Title"], "includeDescription": True}
    first = await gateway.good(TOOL, **asked)
    cost = len(gateway.asked)
    second = await gateway.good(TOOL, **asked, descriptionOffset=first["nextDescriptionOffset"])
    texts = [one["text"] for page in (first, second) for one in page["compounds"][0]["descriptions"]]
    assert len(set(texts)) == len(texts) == 5 == first["compounds"][0]["descriptionsTotal"]
    assert first["compounds"][0]["descriptions"][0]["source"] == "scigate sample data"
    assert second["compounds"][1]["descriptions"] == []
    assert "nextDescriptionOffset" not in second
    assert (cost, len(gateway.asked)) == (3, 3)


async def test_repeated_descriptions_are_one(saying: Any) -> None:
    """Equal but for letter case and white space; long ones are cut where they stand."""
    view = {"Record": {"Section": [{"TOCHeading": "Record Description", "Information": [
        {"Value": {"StringWithMarkup": [{"String": text}]}} for text in ("A  text", "a text", "x" * 5000)
    ]}]}}  # fmt: skip

    def answer(path: str, query: str) -> dict[str, Any]:
        if "pug_view" in path:
            assert query == "heading=Record+Description"
            return view
        return {"PropertyTable": {"Properties": [{"CID": 1, "MolecularFormula": "C"}]}}

    async with saying(answer) as gateway:
        (one,) = (await gateway.good(TOOL, cids=[1], includeDescription=True))["compounds"]
    assert (one["descriptionsTotal"], one["descriptions"][0]) == (2, {"text": "A  text"})
    assert one["descriptions"][1]["text"].endswith("[cut: 2,000 of 5,000 characters]")


async def test_only_ten_compounds_are_enriched(gateway: Any) -> None:
    """The others are named, which says nothing of whether there is anything; unknown numbers do not count."""
    known = [2244, 2519, 3672, 1983, 4091, 180, 702, 887, 241, 1140, 996, 712]
    found = await gateway.good(
        TOOL, cids=[UNKNOWN, *known], properties=["Title"], includeDescription=True, includeClassification=True
    )
    assert found["enrichedCids"] == known[:10]
    assert found["skippedCids"] == known[10:]
    assert found["truncated"] is True
    assert "ask again for CIDs 996, 712" in found["notice"]
    assert len(gateway.asked) == 1 + 2 * 10
    assert not any(str(UNKNOWN) in path for path in gateway.asked[1:])


async def test_classes(gateway: Any) -> None:
    """FDA classes and mechanisms, MeSH texts, leaf ATC codes; a compound without any has no such field."""
    found = await gateway.good(TOOL, cids=[ASPIRIN, 962], properties=["Title"], includeClassification=True)
    aspirin, water = found["compounds"]
    assert aspirin["classification"] == {
        "fdaClasses": ["Platelet Aggregation Inhibitor", "Nonsteroidal Anti-inflammatory Drug"],
        "fdaMechanisms": ["Cyclooxygenase Inhibitors"],
        "meshClasses": [
            "Anti-Inflammatory Agents, Non-Steroidal",
            "Platelet Aggregation Inhibitors",
            "Fibrinolytic Agents",
            "Antipyretics",
        ],
        "atcCodes": [
            {"code": code, "description": "acetylsalicylic acid"} for code in ("A01AD05", "B01AC06", "N02BA01")
        ],
    }
    assert "classification" not in water
    assert "skippedCids" not in found


async def test_drug_likeness_adds_its_properties_to_the_one_request(gateway: Any) -> None:
    """What is unknown is null in the result; the schema allows that."""
    found = await gateway.good(TOOL, cids=[ASPIRIN, 5288826], properties=["Title"], includeDrugLikeness=True)
    aspirin, morphine = found["compounds"]
    assert aspirin["drugLikeness"]["pass"] is True
    assert aspirin["properties"]["MolecularWeight"] == "180.16"
    assert morphine["drugLikeness"]["lipinski"]["xLogP"] == {"limit": 5, "pass": None, "value": None}
    assert morphine["drugLikeness"]["pass"] is None
    assert len(gateway.asked) == 1


async def test_what_fails_beside_the_properties_leaves_them(gateway: Any) -> None:
    """The compound is named as skipped with the reason, others and other kinds are there."""
    gateway.emulator.faults.add(f"504;match=compound/{ASPIRIN}/JSON.heading=Record", "503;match=synonyms")
    found = await gateway.good(TOOL, cids=[ASPIRIN, CAFFEINE], includeDescription=True, includeSynonyms=True)
    aspirin, caffeine = found["compounds"]
    assert aspirin["properties"]["MolecularFormula"] == "C9H8O4"
    assert {"descriptions", "synonyms"}.isdisjoint(aspirin)
    assert caffeine["descriptionsTotal"] == 2
    assert (found["enrichedCids"], found["skippedCids"], found["truncated"]) == ([CAFFEINE], [ASPIRIN], True)
    assert f"Not read (upstream_timeout): descriptions of CIDs {ASPIRIN}." in found["notice"]
    assert "Not read (upstream_rate_limited): synonyms." in found["notice"]


async def test_without_properties_there_is_nothing(gateway: Any) -> None:
    """Their failure is the call's."""
    gateway.emulator.faults.add("500;times=all")
    error = await gateway.bad(TOOL, cids=[ASPIRIN], includeSynonyms=True)
    assert error["data"]["reason"] == "upstream_unavailable"
    assert len(gateway.asked) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"cids": []},
        {"cids": [0]},
        {"cids": [1] * 1001},
        {"cids": [1], "properties": ["Weight"]},
        {"cids": [1], "maxSynonyms": 0},
        {"cids": [1], "maxDescriptions": 2.5},
        {"cids": [1], "synonymOffset": -1},
        {"cids": [1], "includeEverything": True},
    ],
)
async def test_wrong_arguments(gateway: Any, arguments: dict[str, Any]) -> None:
    """Refused by name before PubChem is asked."""
    error = await gateway.bad(TOOL, **arguments)
    assert error["data"]["reason"] == "invalid_arguments"
    assert list(arguments)[-1] in json.dumps(error)
    assert gateway.asked == []
