"""Answers of Europe PMC's search as records."""

import json
from pathlib import Path
from typing import Any

import pytest
from scigate_pubmed.europepmc_reasons import EuropePmcRefused, EuropePmcUnreadable
from scigate_pubmed.europepmc_records import EuropePmcPage, parse_page

FOLDER = Path(__file__).parents[3] / "shared" / "recordings" / "europepmc"


def page(answer: object, *, cursor: str = "*", size: int = 25, sort: str | None = None) -> EuropePmcPage:
    return parse_page(answer, cursor=cursor, page_size=size, sort=sort)


def answer(*results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": "6.9", "hitCount": len(results), "resultList": {"result": list(results)}, **more}


def test_a_single_record_may_stand_without_its_list() -> None:
    """An object in place of a list of one."""
    found = page({"hitCount": 1, "resultList": {"result": {"id": "1", "source": "MED"}}})
    assert [(record.source, record.id) for record in found.records] == [("MED", "1")]


@pytest.mark.parametrize(
    ("result", "journal"),
    [
        ({"journalTitle": "J Flat"}, "J Flat"),
        ({"journalInfo": {"journal": {"title": "J Nested"}}}, "J Nested"),
        ({"bookOrReportDetails": {"publisher": "bioRxiv"}}, "bioRxiv"),
        ({}, ""),
    ],
)
def test_the_journal_is_found_in_every_form(result: dict[str, Any], journal: str) -> None:
    """lite has it flat, core nests it, a preprint has its server."""
    (record,) = page(answer({"id": "1", "source": "MED", **result})).records
    assert record.journal == journal


def test_texts_are_clean_and_lose_nothing() -> None:
    """Tags, entities and soft hyphens go; a less-than sign is none of them."""
    abstract = "<h4>Aim</h4>P&lt;0.001 and n<5 of CO<sub>2</sub> in so\u00adil &amp; air <b>now</b>"
    title = "Effects of <i>BRCA</i>-negative"
    (record,) = page(answer({"id": "1", "source": "MED", "abstractText": abstract, "title": title})).records
    assert record.abstract == "Aim P<0.001 and n<5 of CO₂ in soil & air now"
    assert record.title == "Effects of BRCA-negative"


def test_flags_and_counts_are_read_as_what_they_are() -> None:
    """Flags are letters; a year may be a number; ids are text."""
    (record,) = page(
        answer(
            {
                "id": 17183658, "source": "MED", "pmid": 17183658, "pmcid": "pmc1762313", "pubYear": 2006,
                "isOpenAccess": "Y", "inPMC": "N", "citedByCount": 23,
            }
        )
    ).records  # fmt: skip
    assert (record.id, record.pmid, record.pmcid, record.year) == ("17183658", "17183658", "PMC1762313", "2006")
    assert (record.open_access, record.has_full_text, record.cited_by) == (True, False, 23)
    assert record.url == "https://europepmc.org/article/MED/17183658"
    (bare,) = page(answer({"id": "1", "source": "MED"})).records
    assert (bare.open_access, bare.has_full_text, bare.cited_by) == (None, None, None)


@pytest.mark.parametrize(
    ("body", "cursor", "following"),
    [
        ({"nextCursorMark": "AoE="}, "*", "AoE="),
        ({"nextCursorMark": "AoE="}, "AoE=", None),
        ({}, "*", None),
    ],
)
def test_the_last_page_has_no_next_cursor(body: dict[str, str], cursor: str, following: str | None) -> None:
    """At the end Europe PMC leaves the cursor out, or repeats the one it was sent."""
    assert page(answer({"id": "1"}, {"id": "2"}, **body), cursor=cursor, size=2).next_cursor == following


def test_a_page_that_is_not_full_is_the_last() -> None:
    """A cursor on it would give an empty page."""
    assert page(answer({"id": "1"}, nextCursorMark="AoE="), size=2).next_cursor is None


def test_the_query_is_told_as_europe_pmc_repeats_it() -> None:
    """Older versions call it query."""
    assert page(answer(request={"queryString": "a b"})).query == "a b"
    assert page(answer(request={"query": "a b"})).query == "a b"
    assert page(answer()).query == ""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"version": "6.9", "errCode": 404, "errMsg": "The query <b>cannot</b> be empty"}, "The query cannot be empty"),
        ({"version": "6.9"}, ""),
        ({"version": "6.9", "request": {}}, ""),
        ({"errMsg": "x" * 500}, "x" * 200),
    ],
)
def test_a_refusal_with_status_200_is_no_empty_result(body: dict[str, Any], said: str) -> None:
    """An unknown sort is answered with the version alone."""
    with pytest.raises(EuropePmcRefused) as caught:
        page(body, sort="FOO asc")
    assert (caught.value.said, caught.value.sort) == (said, "FOO asc")


@pytest.mark.parametrize("body", [[], "text", None, {"hitCount": "many"}, {"resultList": {}}])
def test_what_is_neither_page_nor_refusal_is_told_as_unreadable(body: object) -> None:
    """A changed answer is a fault, not a search without hits."""
    with pytest.raises(EuropePmcUnreadable):
        page(body)


@pytest.mark.skipif(not FOLDER.is_dir(), reason="no recordings beside the repository")
@pytest.mark.parametrize(
    ("name", "count", "records", "journal"),
    [
        ("search_2026_0.json", 5, 5, "Cancers (Basel)"),
        ("search_2026_3.json", 2, 2, "Genes Chromosomes Cancer"),
        ("search_2026_4.json", 1, 1, "Proc Natl Acad Sci U S A"),
        ("search_cancer.json", 5_059_039, 25, "Lancet"),
        ("search_cancer_idlist.json", 5_059_039, 25, ""),
        ("search_ext_id.json", 1, 1, "PLoS One"),
        ("search_no_results.json", 0, 0, None),
        ("search_lite_ref_none.json", 0, 0, None),
    ],
)
def test_recorded_searches_are_read(name: str, count: int, records: int, journal: str | None) -> None:
    """Of versions 4.5 and 6.9."""
    found = page(json.loads((FOLDER / name).read_text()))
    assert (found.count, len(found.records)) == (count, records)
    assert all(record.id and record.source for record in found.records)
    if journal is not None:
        assert found.records[0].journal == journal
    assert (found.next_cursor is not None) is (count > 25)


@pytest.mark.skipif(not FOLDER.is_dir(), reason="no recordings beside the repository")
@pytest.mark.parametrize(
    ("name", "pmcid", "journal"),
    [
        ("core_PMC8071313.json", "PMC8071313", "Plants (Basel, Switzerland)"),
        ("core_PMC8151036.json", "PMC8151036", "Plants (Basel, Switzerland)"),
    ],
)
def test_recorded_records_in_full_are_read(name: str, pmcid: str, journal: str) -> None:
    """Their abstract and their nested journal; the recordings hold the record without its page."""
    (record,) = page(answer(json.loads((FOLDER / name).read_text())["full"])).records
    assert (record.pmcid, record.journal, record.source) == (pmcid, journal, "MED")
    assert record.abstract
    assert "<" not in record.abstract + record.title


@pytest.mark.skipif(not FOLDER.is_dir(), reason="no recordings beside the repository")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("search_cancer_dc.xml", "Dublin Core is a form that is never asked for"),
        ("search_eupmc_lies.xml", "XML is a form that is never asked for"),
        ("supplementary_not_open.xml", "supplementary files are never asked for"),
        ("databaselinks.json", "cross-references to other databases are never asked for"),
        ("citations_p1.json", "read by the links to other articles"),
        ("citations_none.json", "read by the links to other articles"),
    ],
)
def test_the_other_recordings_are_of_answers_that_this_reader_never_meets(name: str, why: str) -> None:
    """Every file of the folder is named here or above, so that a new one is noticed."""
    assert (FOLDER / name).is_file(), why
    named = {
        *("search_2026_0.json", "search_2026_3.json", "search_2026_4.json", "search_cancer.json"),
        *("search_cancer_idlist.json", "search_ext_id.json", "search_no_results.json", "search_lite_ref_none.json"),
        *("core_PMC8071313.json", "core_PMC8151036.json", "index.json"),
        *("fullTextXML_PMC8118396.xml", "fullTextXML_PMC8249384.xml"),
        *("search_cancer_dc.xml", "search_eupmc_lies.xml", "supplementary_not_open.xml", "databaselinks.json"),
        *("citations_p1.json", "citations_none.json"),
    }
    assert {file.name for file in FOLDER.iterdir()} == named
