"""`pubchem_get_summary`, through the whole gateway."""

from typing import Any

import pytest
from scigate_pubchem.entities import EntitySummary, entity_id

TOOL = "pubchem_get_summary"


async def test_genes_come_in_input_order_by_one_request(gateway: Any) -> None:
    """Numbers and their digits are the same gene, each entry says what was given, and a batch is one request."""
    found = await gateway.good(TOOL, entityType="gene", identifiers=[1956, "5742", 1956])
    assert [(one["identifier"], one["data"]["symbol"]) for one in found["summaries"]] == [
        (1956, "EGFR"),
        ("5742", "PTGS1"),
        (1956, "EGFR"),
    ]
    assert (found["requestedCount"], found["foundCount"]) == (3, 3)
    assert gateway.asked == ["/rest/pug/gene/geneid/1956,5742/summary/JSON"]


async def test_a_protein_is_found_in_any_case(gateway: Any) -> None:
    """The chain of a PDB entry keeps its case, all else goes up."""
    found = await gateway.good(TOOL, entityType="protein", identifiers=["p00533", "5f19_A", "5F19_a"])
    assert [one["found"] for one in found["summaries"]] == [True, True, False]
    assert found["summaries"][0]["data"]["proteinAccession"] == "P00533"


async def test_a_lineage_runs_from_the_widest_rank(gateway: Any) -> None:
    """PubChem writes it the other way round and leaves ranks blank that do not exist."""
    found = await gateway.good(TOOL, entityType="taxonomy", identifiers=[5833])
    data = found["summaries"][0]["data"]
    assert data["lineage"] == [
        *("Eukaryota", "Apicomplexa", "Aconoidasida", "Haemosporida", "Plasmodiidae", "Plasmodium"),
        "Plasmodium falciparum",
    ]
    assert "synonyms" not in data
    assert gateway.asked == ["/rest/pug/taxonomy/taxid/5833/summary/JSON"]


async def test_an_assay_has_its_substance_counts(gateway: Any) -> None:
    """Substances tested and active, and a description of several paragraphs in lines; one request an assay."""
    found = await gateway.good(TOOL, entityType="assay", identifiers=[910000001, 900000001])
    data = found["summaries"][0]["data"]
    assert (data["aid"], data["numSubstances"], data["numActive"]) == (910000001, 10, 7)
    assert data["description"].startswith("This is sample data, not a measurement.\nActive")
    assert sorted(gateway.asked) == [f"/rest/pug/assay/aid/{aid}/summary/JSON" for aid in (900000001, 910000001)]


@pytest.mark.parametrize(
    ("kind", "identifiers", "requests"),
    [
        ("gene", [1956, 77], 1),
        ("protein", ["Q99999", "Q99998"], 3),
        ("protein", ["Q99999"], 1),
        ("taxonomy", [1], 1),
        ("assay", [1, 2], 2),
    ],
)
async def test_an_unknown_identifier_is_found_false(
    gateway: Any, kind: str, identifiers: list[Any], requests: int
) -> None:
    """Whether PubChem answers 404 or 400; a batch refused as a whole is asked for one by one, so that none is lost."""
    found = await gateway.good(TOOL, entityType=kind, identifiers=identifiers)
    assert found["summaries"][-1] == {"identifier": identifiers[-1], "found": False}
    assert "not found" in found["notice"]
    assert len(gateway.asked) == requests


@pytest.mark.parametrize("kind", ["assay", "gene", "taxonomy"])
async def test_what_cannot_be_an_identifier_costs_no_request(gateway: Any, kind: str) -> None:
    """It is not found, and PubChem is spared a question that it would answer with a fault."""
    impossible = [0, -1, 2**31, "EGFR", " ", "1.5", 1.5, "9" * 5000, "1956/x"]
    found = await gateway.good(TOOL, entityType=kind, identifiers=impossible)
    assert (len(found["summaries"]), found["foundCount"]) == (9, 0)
    assert gateway.asked == []


async def test_a_batch_above_the_cap_is_cut_and_told(gateway: Any) -> None:
    """Ten are looked up; the rest is listed in order, and the request is counted whole."""
    found = await gateway.good(TOOL, entityType="gene", identifiers=list(range(1950, 1963)))
    assert len(found["summaries"]) == 10
    assert found["unprocessed"] == ["1960", "1961", "1962"]
    assert found["cappedInputs"] == [{"input": "identifiers", "requested": 13, "served": 10, "unprocessed": 3}]
    assert found["requestedCount"] == 13
    assert "unprocessed" in found["notice"]


async def test_a_fault_costs_its_own_entry(gateway: Any) -> None:
    """Of three assays one fails: the two are served, and the third is not said to be missing from PubChem."""
    gateway.emulator.faults.add("500;match=aid/910000002/")
    found = await gateway.good(TOOL, entityType="assay", identifiers=[910000001, 910000002, 1])
    assert [(one["identifier"], one["found"]) for one in found["summaries"]] == [(910000001, True), (1, False)]
    assert found["unprocessed"] == ["910000002"]
    assert "upstream_unavailable" in found["notice"]


async def test_a_batch_of_which_nothing_was_served_fails(gateway: Any) -> None:
    """With the reason of its first entry."""
    gateway.emulator.faults.add("500;times=all")
    error = await gateway.bad(TOOL, entityType="assay", identifiers=[1, 2])
    assert error["data"]["reason"] == "upstream_unavailable"


@pytest.mark.parametrize("arguments", [{"identifiers": [1]}, {"entityType": "gene", "identifiers": []}])
async def test_a_missing_argument_is_named(gateway: Any, arguments: dict[str, Any]) -> None:
    """Kind and at least one identifier are needed."""
    assert (await gateway.bad(TOOL, **arguments))["data"]["reason"] == "invalid_arguments"


@pytest.mark.parametrize(
    ("kind", "identifiers"),
    [("gene", [1956, 77]), ("taxonomy", [9606]), ("protein", ["P00533"]), ("assay", [911000001])],
)
async def test_every_fact_of_the_result_is_in_the_text(gateway: Any, kind: str, identifiers: list[Any]) -> None:
    """A model that reads the text alone misses nothing."""
    reply = await gateway.call(TOOL, entityType=kind, identifiers=identifiers)
    text = reply.content[0]["text"]
    assert [line for line in lines(reply.structured) if line not in text] == []


def lines(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [line for inner in value.values() for line in lines(inner)]
    if isinstance(value, list):
        return [line for inner in value for line in lines(inner)]
    return str(value).lower().split("\n") if isinstance(value, bool) else str(value).split("\n")


def test_members_are_read_under_their_other_names() -> None:
    """PubChem's names have changed; text in lists, numbers in text and single names in place of lists are read."""
    gene = EntitySummary.of("gene", {"GeneID": "7", "TaxID": 9606.0, "Summary": ["a", "b"], "OtherNames": "x"})
    assert gene.model_dump(exclude_none=True) == {
        "gene_id": 7,
        "taxonomy_id": 9606,
        "description": "a\nb",
        "synonyms": ["x"],
    }
    assert EntitySummary.of("protein", {"Accession": "P1", "Title": "t"}).name == "t"
    assert EntitySummary.of("assay", {"AID": 1, "AssayName": "n", "CIDCountAll": 9}).num_substances is None


def test_what_is_blank_is_left_out() -> None:
    """Blanks, nulls and empty lists are unknown, not facts; a zero count is one."""
    empty = {"Name": "", "Description": [], "SourceName": None, "SIDCountAll": "", "SIDCountActive": 0}
    assert EntitySummary.of("assay", empty).model_dump(exclude_none=True) == {"num_active": 0}
    assert EntitySummary.of("taxonomy", {"RankedLineage": {"Genus": ""}, "Synonym": [""]}) == EntitySummary()


def test_a_long_description_is_cut_and_says_so() -> None:
    """Protocols of assays run to tens of thousands of characters."""
    found = EntitySummary.of("assay", {"Description": ["a" * 1500, "b" * 1500], "Name": "n" * 400})
    assert found.description is not None
    assert found.description.endswith("[cut: 2,000 of 3,001 characters]")
    assert found.name is not None
    assert found.name.endswith("[cut: 300 of 400 characters]")


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("P00533 ", "P00533"),
        ("np_000116.2", "NP_000116.2"),
        ("1zhh_a", "1ZHH_a"),
        ("a b", None),
        ("..", None),
        ("", None),
    ],
)
def test_accessions_are_single_words(identifier: str, expected: str | None) -> None:
    """Anything else is no accession of any database."""
    assert entity_id("protein", identifier) == expected
