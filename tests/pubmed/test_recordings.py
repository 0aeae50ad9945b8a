"""Recorded true answers of NCBI that the search tool would meet; the files are beside the repository, or not there."""

import json
from pathlib import Path

import httpx
import pytest
from scigate_pubmed.errors import NcbiRateLimited, NcbiUnavailable
from scigate_pubmed.esearch import parse_search
from scigate_pubmed.esummary import parse_summaries
from scigate_pubmed.faults import error_text, fault, is_answer

FOLDER = Path(__file__).parents[3] / "shared" / "recordings" / "ncbi"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="no recordings beside the repository")


def recorded(name: str, status: int = 200) -> httpx.Response:
    return httpx.Response(status, content=(FOLDER / name).read_bytes())


@pytest.mark.parametrize(
    ("name", "count", "first", "unmatched"),
    [
        ("esearch_json_2026_a.json", 40_362, "42555032", ("p.E1317Q",)),
        ("esearch_json_2018.json", None, None, ()),
        ("nodencbi_search.json", 9, "26147656", ()),
    ],
)
def test_recorded_searches_are_read(
    name: str, count: int | None, first: str | None, unmatched: tuple[str, ...]
) -> None:
    """Of 2026 (with an unmatched phrase beside hits), of 2018 (lists of objects and words mixed), and an older one."""
    answer = recorded(name)
    assert is_answer(answer)
    found = parse_search(json.loads(answer.content), offset=0, asked=1000)
    assert found.ids
    assert found.count >= len(found.ids)
    assert found.unmatched == unmatched
    if count is not None:
        assert (found.count, found.ids[0]) == (count, first)


def test_a_recorded_summary_is_read() -> None:
    """The object below one PMID."""
    record = json.loads((FOLDER / "nodencbi_summary_single.json").read_text())
    (summary,) = parse_summaries({"result": {"26147656": record}}, ("26147656",))
    assert summary.authors[0] == "Ydenberg CA"
    assert summary.source == "Cytoskeleton (Hoboken)"
    assert (summary.pub_date, summary.doi) == ("2015-07", "10.1002/cm.21231")


def test_two_hundred_recorded_summaries_are_read() -> None:
    """Of another database, in the same form."""
    answer = recorded("esummary_pmc_json.json")
    assert is_answer(answer)
    result = json.loads(answer.content)
    uids = tuple(result["result"]["uids"])
    assert [summary.pmid for summary in parse_summaries(result, uids)] == list(uids)


def test_the_recorded_rate_limit_is_one_with_either_status() -> None:
    """It came in place of ESummary's JSON."""
    for status in (200, 429):
        assert isinstance(fault(recorded("rate_limit_429.json", status)), NcbiRateLimited)


@pytest.mark.parametrize("name", ["bp_esummary8.xml", "ke_einfo.error.xml", "efetch_error_no_id.xml"])
def test_recorded_error_texts_are_found(name: str) -> None:
    """`<ERROR>` in an answer with status 200."""
    answer = recorded(name)
    assert error_text(answer.content)
    assert isinstance(fault(answer), NcbiUnavailable)


@pytest.mark.parametrize(
    "name",
    [
        "bp_esearch1.xml",
        "bp_esearch8.xml",
        "ke_esearch.error.xml",
        "ke_esummary.pubmed.xml",
        "ke_esummary.pmcerror.xml",
        "bp_espell.xml",
        "efetch_empty_set.xml",
        "pmc_oa_not_open.xml",
    ],
)
def test_recorded_answers_in_xml_are_no_faults(name: str) -> None:
    """Lists of errors, errors of one record and an empty ERROR belong to valid answers."""
    if (FOLDER / name).exists():
        assert fault(recorded(name)) is None


def test_the_recorded_refusal_of_a_long_url_is_a_page() -> None:
    """Status 414 explains itself; with any other status the page is a fault."""
    assert fault(recorded("esummary_414.html", 414)) is None
    assert isinstance(fault(recorded("esummary_414.html")), NcbiUnavailable)
