"""The Europe PMC emulator: its search language, its pages, and how it refuses."""

from collections.abc import AsyncIterator

import httpx
import pytest
from scigate_pubmed.emulator.corpus import load
from scigate_pubmed.emulator.europepmc import create_europepmc, extras
from scigate_pubmed.emulator.europepmc_query import QueryRefused, Work, compiled

BASE = "https://www.ebi.ac.uk/europepmc/webservices/rest/"
WORKS = [*(Work("MED", record.pmid, record) for record in load()), *extras()]
IN_PMC = next(record for record in load() if record.pmcid)


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    """A client of the emulator in process."""
    transport = httpx.ASGITransport(create_europepmc())
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
        yield client


def found(query: str) -> set[str]:
    test = compiled(query)
    return {work.id for work in WORKS if test(work)}


def test_operators_fields_and_groups_are_read() -> None:
    """Words side by side are joined by AND, which binds tighter than OR."""
    assert found("hypertension OR cancer") == found("hypertension") | found("cancer")
    assert found("cancer treatment") == found("cancer") & found("treatment")
    assert found("cancer AND NOT treatment") == found("cancer") - found("treatment")
    assert found("(hypertension OR cancer) AND SRC:PPR") == {"PPR1", "PPR2"}
    assert found('"cancer treatment" SRC:"PAT"') == {"US0000001"}
    assert found("PUB_YEAR:[1998 TO 2001] AND SRC:AGR") == {"IND00000001"}
    assert found(f"PMCID:{IN_PMC.pmcid}") == {IN_PMC.pmid}
    assert found('DOI:"10.1101/SAMPLE.1"') == {"PPR1"}
    assert found("FOO:bar") == set()


def test_an_id_in_quotes_finds_nothing() -> None:
    """As in the real service, where it costs those an hour who do not know it."""
    assert found("EXT_ID:1 AND SRC:MED") == {"1"}
    assert found('EXT_ID:"1" AND SRC:"MED"') == set()
    assert found(f"PMCID:{IN_PMC.pmcid} AND SRC:PMC") == set()


@pytest.mark.parametrize("query", ["", "  ", "(a", "a)", "a AND", "NOT"])
def test_a_query_that_cannot_be_read_is_refused(query: str) -> None:
    """Never taken for another one."""
    with pytest.raises(QueryRefused):
        compiled(query)


async def test_refusals_come_with_status_200(http: httpx.AsyncClient) -> None:
    """With an explanation for a query, without one for a sort or a cursor."""
    query = await http.get("search", params={"query": "(a", "format": "json"})
    assert (query.status_code, set(query.json())) == (200, {"version", "errCode", "errMsg"})
    for wrong in ({"sort": "FIRST_PIDATE desc"}, {"cursorMark": "%2A"}):
        assert (await http.get("search", params={"query": "a", **wrong})).json() == {"version": "6.9"}


async def test_an_answer_has_the_shape_of_the_real_one(http: httpx.AsyncClient) -> None:
    """Flags are letters, the cursor is repeated URL-encoded, and everything is marked as sample data."""
    answer = await http.get("search", params={"query": "cancer", "resultType": "core", "pageSize": "1"})
    assert answer.headers["X-Sample-Data"] == "europepmc"
    body = answer.json()
    assert set(body) == {"version", "hitCount", "nextCursorMark", "request", "resultList"}
    assert body["request"]["cursorMark"] == "%2A"
    (result,) = body["resultList"]["result"]
    assert result["isOpenAccess"] in ("Y", "N")
    assert "journalTitle" not in result
    assert "sample text" in (await http.get("search", params={"query": "SRC:PPR", "resultType": "core"})).text


async def test_full_text_is_there_for_articles_of_pmc(http: httpx.AsyncClient) -> None:
    """For others it is not found, as for most of Europe PMC."""
    assert "<article" in (await http.get(f"{IN_PMC.pmcid}/fullTextXML")).text
    assert (await http.get("PMC1/fullTextXML")).status_code == 404


async def test_citations_come_in_pages(http: httpx.AsyncClient) -> None:
    """Each has the source MED and its PMID as id."""
    path = f"MED/{IN_PMC.pmid}/citations"
    whole = (await http.get(path, params={"pageSize": "1000"})).json()
    entries = whole["citationList"]["citation"]
    assert len(entries) == whole["hitCount"] > 2
    assert {entry["source"] for entry in entries} == {"MED"}
    second = (await http.get(path, params={"pageSize": "2", "page": "2"})).json()
    assert second["citationList"]["citation"] == entries[2:4]
    cited = (await http.get(f"MED/{IN_PMC.pmid}/references")).json()
    assert set(cited) == {"version", "hitCount", "referenceList"}
