"""`pubchem_get_bioactivity`, through the whole gateway."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from scigate.emulator import Emulator
from scigate_pubchem.assaysummary import AssayTable
from scigate_pubchem.emulator import create_app
from scigate_pubchem.emulator.bioassays import COLUMNS, table
from scigate_pubchem.emulator.large_table import large_table

RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings" / "pubchem"

TOOL = "pubchem_get_bioactivity"
ASPIRIN = 2244
LARGE, MIXED, NAMED = 1001, 1002, 1003


def row(**cells: Any) -> list[str]:
    return [str(cells.get(name.split(" [")[0].lower().replace(" ", "_"), "")) for name in COLUMNS]


MIXED_TABLE = table(
    [
        row(aid=1, activity_outcome="Active", target_accession="P1", target_geneid=11, activity_value=0.3,
            activity_name="Ki", assay_name="two targets", assay_type="Confirmatory", pubmed_id=5),
        row(aid=1, activity_outcome="Inactive", target_accession="P2", target_geneid=12, activity_value=50,
            assay_name="two targets", pubmed_id=70),
        row(aid=2, activity_outcome="Active", target_accession="P2", assay_name="accession alone",
            assay_type="Screening"),
        row(aid=3, activity_outcome="Inconclusive", assay_name="no target"),
        row(aid=4, activity_outcome="Inactive", target_geneid=12, assay_name="gene alone", assay_type="Other",
            activity_value=0, activity_name="IC50"),
    ]
)  # fmt: skip
LONG_NAME = "x" * 1000


@pytest.fixture(scope="module")
def large() -> dict[str, Any]:
    return large_table(400, LARGE)


@pytest.fixture
def emulator(large: dict[str, Any]) -> Emulator:
    named = table([row(aid=1, activity_outcome="*Active*\n# now", assay_name=LONG_NAME)])
    return create_app(tables={LARGE: large, MIXED: MIXED_TABLE, NAMED: named})


async def test_each_assay_is_reported_for_its_first_target(gateway: Any) -> None:
    """Without a filter the first listed target is reported, and the others have their own outcomes and values."""
    found = await gateway.good(TOOL, cid=MIXED)
    assert found["results"][0] == {
        "aid": 1,
        "assayName": "two targets",
        "outcome": "Active",
        "targetAccession": "P1",
        "targetGeneId": 11,
        "activityValues": [{"name": "Ki", "value": 0.3, "unit": "uM"}],
        "otherTargets": [
            {
                "accession": "P2",
                "geneId": 12,
                "outcome": "Inactive",
                "activityValues": [{"value": 50.0, "unit": "uM"}],
            }
        ],
        "assayType": "Confirmatory",
        "pmids": [70, 5],
    }
    assert found["results"][2] == {"aid": 3, "assayName": "no target", "outcome": "Inconclusive", "activityValues": []}
    counts = ("totalAssays", "activeCount", "inactiveCount", "filteredCount", "returnedCount")
    assert [found[name] for name in counts] == [4, 2, 1, 4, 4]
    assert "totalFound" not in found


async def test_a_target_filter_reports_that_target(gateway: Any) -> None:
    """The outcome and values are those at the target asked for, paired identifiers included; counts stay the whole."""
    found = await gateway.good(TOOL, cid=MIXED, targetGeneId=12)
    assert [(one["aid"], one["outcome"]) for one in found["results"]] == [
        (1, "Inactive"),
        (2, "Active"),
        (4, "Inactive"),
    ]
    assert found["results"][0]["otherTargets"][0]["accession"] == "P1"
    assert found["targetFilter"] == "GeneID:12 accession:P2"
    assert (found["activeCount"], found["inactiveCount"], found["filteredCount"]) == (2, 1, 3)


async def test_the_outcome_filter_looks_at_the_reported_target_alone(gateway: Any) -> None:
    """An assay that is active at another target is not active at this one."""
    found = await gateway.good(TOOL, cid=MIXED, targetAccession="p2", outcomeFilter="active")
    assert [one["aid"] for one in found["results"]] == [2]


async def test_assay_kinds_are_compared_without_case(gateway: Any) -> None:
    """Kinds are given in lower case and shown as written; an assay without one matches none."""
    found = await gateway.good(TOOL, cid=MIXED, assayType=["confirmatory", "other"])
    assert [(one["aid"], one["assayType"]) for one in found["results"]] == [(1, "Confirmatory"), (4, "Other")]
    assert found["assayTypeFilter"] == "confirmatory, other"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"cid": 999_999_999}, ["no assay for CID 999999999", "pubchem_search_compounds"]),
        ({"cid": MIXED, "targetGeneId": 77}, ["None of the 4 assays", "GeneID:77", "pubchem_search_assays"]),
        ({"cid": MIXED, "assayType": ["summary"]}, ["assayType summary removes the 4 assays", "Widen"]),
        (
            {"cid": MIXED, "targetGeneId": 11, "outcomeFilter": "inactive"},
            ["outcomeFilter inactive removes the 1 of 4 assays"],
        ),
        ({"cid": MIXED, "targetGeneId": 11, "targetAccession": "P2"}, ["different targets", "only one of the two"]),
        ({"cid": MIXED, "targetGeneId": 77, "targetAccession": "P9"}, ["names both", "only one of the two"]),
        ({"cid": MIXED, "offset": 4}, ["Offset 4 is past the end", "4 found"]),
        ({"cid": MIXED, "maxResults": 2}, ["Showing 1 to 2 of 4", "offset 2"]),
    ],
)
async def test_an_empty_or_partial_page_says_why(gateway: Any, arguments: dict[str, Any], told: list[str]) -> None:
    """No data, filtered out, past the end and more to come are four things, and each names what to do."""
    found = await gateway.good(TOOL, **arguments)
    assert [words for words in told if words not in found["notice"]] == []


async def test_a_contradiction_matches_nothing_and_names_the_two_inputs(gateway: Any) -> None:
    """A gene and an accession of different targets are no filter by either."""
    found = await gateway.good(TOOL, cid=MIXED, targetGeneId=11, targetAccession="p2")
    assert (found["results"], found["filteredCount"], found["totalAssays"]) == ([], 0, 4)
    assert found["targetFilter"] == "GeneID:11 accession:P2"


async def test_pages_walked_by_the_next_offset_are_the_result(gateway: Any, large: dict[str, Any]) -> None:
    """Each assay once, then no further offset; and all pages cost one request."""
    offset: int | None = 0
    aids: list[int] = []
    while offset is not None:
        page = await gateway.good(TOOL, cid=LARGE, offset=offset, maxResults=100)
        aids += [one["aid"] for one in page["results"]]
        offset = page.get("nextOffset")
    assert aids == list(dict.fromkeys(int(one["Cell"][0]) for one in large["Table"]["Row"]))
    assert len(gateway.asked) == 1


async def test_filters_and_pages_of_one_compound_cost_one_request(gateway: Any) -> None:
    """The service sends the whole table whatever is asked, so everything else is answered from it."""
    await gateway.good(TOOL, cid=ASPIRIN)
    await gateway.good(TOOL, cid=ASPIRIN, outcomeFilter="active", assayType=["screening"])
    await gateway.good(TOOL, cid=ASPIRIN, targetGeneId=5742, offset=1)
    assert gateway.asked == [f"/rest/pug/compound/cid/{ASPIRIN}/assaysummary/JSON"]


async def test_a_page_above_the_cap_is_served_at_the_cap(gateway: Any) -> None:
    """What was asked for and what was served are both told."""
    found = await gateway.good(TOOL, cid=LARGE, maxResults=1000)
    assert found["cappedInputs"] == [{"input": "maxResults", "requested": 1000, "served": 100}]
    assert (found["returnedCount"], found["shown"], found["cap"], found["nextOffset"]) == (100, 100, 100, 100)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "cid"),
        ({"cid": 0}, "cid"),
        ({"cid": 2**31}, "cid"),
        ({"cid": 1, "targetGeneId": 2**31}, "targetGeneId"),
        ({"cid": 1, "assayType": []}, "assayType"),
        ({"cid": 1, "assayType": ["Confirmatory"]}, "assayType"),
        ({"cid": 1, "outcomeFilter": "maybe"}, "outcomeFilter"),
        ({"cid": 1, "maxResults": 1001}, "maxResults"),
        ({"cid": 1, "maxResults": 2.5}, "maxResults"),
        ({"cid": 1, "offset": -1}, "offset"),
        ({"cid": 1, "target": "x"}, "target"),
    ],
)
async def test_a_wrong_argument_is_named_before_anything_is_asked(
    gateway: Any, arguments: dict[str, Any], field: str
) -> None:
    """Numbers above 31 bits, fractions, blank lists and unknown names cost no request."""
    error = await gateway.bad(TOOL, **arguments)
    assert error["data"]["reason"] == "invalid_arguments"
    assert field in error["message"]
    assert gateway.asked == []


async def test_guessed_names_are_taken_and_not_advertised(gateway: Any) -> None:
    """`geneId` and `accession` are what agents write; the schema keeps to the contract's names."""
    found = await gateway.good(TOOL, cid=MIXED, geneId=12, accession="P2")
    assert found["targetFilter"] == "GeneID:12 accession:P2"
    (tool,) = [one for one in gateway.host.catalogue.definitions if one["name"] == TOOL]
    assert not {"geneId", "accession"} & set(tool["inputSchema"]["properties"])
    both = await gateway.bad(TOOL, cid=MIXED, geneId=12, targetGeneId=12)
    assert "geneId" in both["message"]


async def test_a_blank_accession_is_none(gateway: Any) -> None:
    """Agents fill in optional text with blanks."""
    assert (await gateway.good(TOOL, cid=MIXED, targetAccession=" "))["filteredCount"] == 4


async def test_third_parties_text_is_bounded_and_cannot_act(gateway: Any) -> None:
    """A name is cut with the cut disclosed, and what a depositor wrote starts no line and no markup."""
    reply = await gateway.call(TOOL, cid=NAMED)
    (result,) = reply.structured["results"]
    assert result["assayName"].endswith("[cut: 300 of 1,000 characters]")
    text = reply.content[0]["text"]
    assert "\n# now" not in text
    assert "\\*Active\\*" in text


async def test_every_fact_of_the_result_is_in_the_text(gateway: Any) -> None:
    """A model that reads the text alone misses nothing of a page."""
    reply = await gateway.call(TOOL, cid=ASPIRIN, targetGeneId=5743)
    text = reply.content[0]["text"]
    assert [leaf for leaf in leaves(reply.structured) if str(leaf) not in text] == []


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [str(value).lower() if isinstance(value, bool) else value]


@pytest.mark.parametrize(
    ("fault", "reason", "retryable"),
    [
        ("500", "upstream_unavailable", True),
        ("503;retry-after=7", "upstream_rate_limited", True),
        ("busy", "upstream_rate_limited", True),
        ("504", "upstream_timeout", True),
        ("html", "upstream_invalid_response", True),
        ("wrong-type", "upstream_invalid_response", True),
    ],
)
async def test_a_fault_is_no_empty_result(gateway: Any, fault: str, reason: str, retryable: bool) -> None:
    """A compound whose table could not be had is not one without assays."""
    gateway.emulator.faults.add(fault)
    error = await gateway.bad(TOOL, cid=ASPIRIN)
    assert (error["data"]["reason"], error["data"]["retryable"]) == (reason, retryable)
    assert error["data"]["recovery"]["hint"]
    assert "http" not in json.dumps(error).replace("HTTP", "")


async def test_sample_data_is_told(gateway: Any) -> None:
    """Whoever reads an offline answer knows that nobody measured it."""
    found = await gateway.good(TOOL, cid=ASPIRIN)
    assert "Sample data" in found["notice"]
    assert all(one["assayName"].startswith("Sample") for one in found["results"])


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not at hand")
def test_a_recorded_bioactivity_table_in_this_form() -> None:
    """A true table of CID 4 (from the web pages; no assaysummary is recorded), its cells under this table's columns."""
    named = {
        "AID": "BioAssay_AID",
        "CID": "Compound_CID",
        "Activity Outcome": "Activity",
        "Target Accession": "Protein_Accession",
        "Target GeneID": "Gene_ID",
        "Activity Value [uM]": "Activity_Value",
        "Activity Name": "Activity_Type",
        "Assay Name": "BioAssay_Name",
        "Assay Type": "Aid_Type",
        "PubMed ID": "PMID",
    }
    text = (RECORDINGS / "pubchem_cid_4_bioactivity.csv").read_text(encoding="utf-8")
    records = list(csv.DictReader(text.splitlines()))
    rows = [[record[named[name]] if name in named else "" for name in COLUMNS] for record in records]
    found = AssayTable.parse(json.dumps(table(rows)).encode())
    assert {assay.aid for assay in found.assays} == {int(record["BioAssay_AID"]) for record in records}
    measured = {one.value for assay in found.assays for target in assay.targets for one in target.measured}
    assert measured == {float(record["Activity_Value"]) for record in records if record["Activity_Value"]}
    assert {assay.kind for assay in found.assays} >= {"Confirmatory", "Literature-derived"}
    (estrogen,) = [assay for assay in found.assays if assay.aid == 743069]
    assert (estrogen.targets[0].accession, estrogen.targets[0].gene) == ("AEP43755", 2099)
