"""`pubchem_search_assays`, through the whole gateway."""

from typing import Any

import pytest

TOOL = "pubchem_search_assays"


@pytest.mark.parametrize(
    ("kind", "query", "echoed", "path"),
    [
        ("genesymbol", " PTGS1 ", "PTGS1", "genesymbol/PTGS1"),
        ("proteinname", "dopamine receptor D2", "dopamine receptor D2", "proteinname/dopamine receptor D2"),
        ("geneid", "5742", "5742", "geneid/5742"),
        ("geneid", 5742, "5742", "geneid/5742"),
        ("proteinaccession", "p23219", "P23219", "accession/P23219"),
        ("proteinaccession", "5f19_A", "5F19_A", "accession/5F19_A"),
    ],
)
async def test_a_target_is_sent_as_its_kind_is_written(
    gateway: Any, kind: str, query: Any, echoed: str, path: str
) -> None:
    """Trimmed; an accession in upper case but for a PDB chain, and under PubChem's word for it. One request."""
    found = await gateway.good(TOOL, targetType=kind, targetQuery=query)
    assert (found["targetType"], found["targetQuery"]) == (kind, echoed)
    assert found["aids"]
    assert found["totalFound"] == len(found["aids"])
    assert gateway.asked == [f"/rest/pug/assay/target/{path}/aids/JSON"]


async def test_pages_are_cut_from_one_answer(gateway: Any) -> None:
    """PubChem sends the whole list, so the total is exact and further pages cost nothing."""
    whole = await gateway.good(TOOL, targetType="genesymbol", targetQuery="PTGS1")
    pages = [
        await gateway.good(TOOL, targetType="genesymbol", targetQuery="PTGS1", offset=offset, maxResults=4)
        for offset in (0, 4, 8)
    ]
    assert pages[0]["aids"] + pages[1]["aids"] == whole["aids"]
    assert [page["totalFound"] for page in pages] == [len(whole["aids"])] * 3
    assert [page.get("nextOffset") for page in pages] == [4, None, None]
    first = pages[0]
    assert (first["truncated"], first["shown"], first["cap"]) == (True, 4, 4)
    assert "past the end" in pages[2]["notice"]
    assert len(gateway.asked) == 1


async def test_a_page_above_the_cap_is_served_at_the_cap(gateway: Any) -> None:
    """A thousand may be asked for, two hundred are served."""
    found = await gateway.good(TOOL, targetType="genesymbol", targetQuery="PTGS1", maxResults=1000)
    assert found["cappedInputs"] == [{"input": "maxResults", "requested": 1000, "served": 200}]


async def test_a_target_without_assays_is_a_result(gateway: Any) -> None:
    """PubChem's 404 means none; the notice names the target and what else to try."""
    found = await gateway.good(TOOL, targetType="genesymbol", targetQuery="NONESUCH")
    assert (found["aids"], found["totalFound"]) == ([], 0)
    assert "'NONESUCH'" in found["notice"]
    assert "pubchem_get_summary" in found["notice"]


@pytest.mark.parametrize(
    ("kind", "query", "reason"),
    [
        ("genesymbol", "", "blank_target_query"),
        ("geneid", " \t", "blank_target_query"),
        ("geneid", "EGFR", "invalid_geneid_query"),
        ("geneid", "-5", "invalid_geneid_query"),
        ("geneid", "1e3", "invalid_geneid_query"),
        ("geneid", "١٢", "invalid_geneid_query"),
        ("proteinname", "x" * 501, "invalid_arguments"),
        ("gene", "EGFR", "invalid_arguments"),
    ],
)
async def test_a_query_that_cannot_be_one_is_refused_unasked(gateway: Any, kind: str, query: str, reason: str) -> None:
    """Blank text and a gene number that is none would be a raw fault of PubChem's."""
    error = await gateway.bad(TOOL, targetType=kind, targetQuery=query)
    assert error["data"]["reason"] == reason
    assert gateway.asked == []


@pytest.mark.parametrize("query", ["a/b?c#d%e", "..", ".", "ärger", "a b&c"])
async def test_any_text_is_one_segment_of_the_path(gateway: Any, query: str) -> None:
    """Slashes, dots and the like are sent encoded, and find nothing here."""
    found = await gateway.good(TOOL, targetType="proteinname", targetQuery=query)
    assert found["totalFound"] == 0
    assert gateway.asked == [f"/rest/pug/assay/target/proteinname/{query}/aids/JSON"]


@pytest.mark.parametrize("name", ["query", "target"])
async def test_guessed_names_are_taken(gateway: Any, name: str) -> None:
    """Agents write `query` or `target` for `targetQuery`; with the right name beside it the guess is refused."""
    assert (await gateway.good(TOOL, targetType="genesymbol", **{name: "PTGS1"}))["aids"]
    error = await gateway.bad(TOOL, targetType="genesymbol", targetQuery="PTGS1", **{name: "PTGS2"})
    assert name in error["message"]


@pytest.mark.parametrize(("fault", "reason"), [("500", "upstream_unavailable"), ("html", "upstream_invalid_response")])
async def test_a_fault_is_no_empty_result(gateway: Any, fault: str, reason: str) -> None:
    """A target whose list could not be had is not one without assays."""
    gateway.emulator.faults.add(fault)
    error = await gateway.bad(TOOL, targetType="genesymbol", targetQuery="PTGS1")
    assert error["data"]["reason"] == reason


async def test_the_assays_of_a_target_lead_to_what_they_are(gateway: Any) -> None:
    """An AID of the answer is one that pubchem_get_summary and the search by assay know."""
    found = await gateway.good(TOOL, targetType="geneid", targetQuery="5742", maxResults=1)
    (aid,) = found["aids"]
    summary = await gateway.good("pubchem_get_summary", entityType="assay", identifiers=[aid])
    tested = await gateway.good("pubchem_search_compounds", searchType="assay", aid=aid)
    assert summary["summaries"][0]["data"]["numActive"] == tested["totalFound"]
