"""`pubmed_lookup_citation`: names compared, and the tool through the host."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import scigate_pubmed
from scigate.call import LOCAL
from scigate.emulator import serving
from scigate.host import Host
from scigate.settings import Settings
from scigate_pubmed.emulator import create_app
from scigate_pubmed.reference import same_author

Ask = Callable[..., Awaitable[dict[str, Any]]]

TOOL = "pubmed_lookup_citation"
BOSE = {"journal": "Biochem Biophys Res Commun", "volume": "66", "firstPage": "1173"}
"""PMID 2, by Bose KS and Sarma RH, of 1975."""
SMITH = {"journal": "Biochem Biophys Res Commun", "volume": "66", "firstPage": "1281"}
"""PMID 3, by Smith RJ and Bryant RG."""


@pytest.mark.parametrize(
    ("asked", "printed", "same"),
    [
        ("Smith J", "Smith JA", True),
        ("smith", "Smith JA", True),
        ("Smith, J. A.", "Smith JA", True),
        ("Smith John", "Smith JA", True),
        ("John Smith", "Smith JA", True),
        ("Smith J et al.", "Smith JA", True),
        ("Smith J", "Smithson J", False),
        ("Smithson J", "Smith J", False),
        ("van der Berg J", "van der Berg JA", True),
        ("Berg J", "van der Berg JA", False),
        ("van der Meer J", "van der Berg J", False),
        ("Muller H", "Müller H", True),
        ("MÜLLER H", "Müller H", True),
        ("Li X", "Li XY", True),
        ("Smith JA Jr", "Smith JA", True),
        ("Smith JA", "Smith JA 3rd", True),
        ("XYZ Study Group", "XYZ Study Group", True),
        ("Study Group", "XYZ Study Group", False),
        ("WHO", "WHO", True),
        ("Jones", "", False),
    ],
)
def test_surnames_are_compared_whole(asked: str, printed: str, same: bool) -> None:
    """Particles belong to the name, accents and initials do not decide, a group goes by its whole name."""
    assert same_author(asked, printed) is same


async def test_references_are_matched_in_their_order(ask: Ask) -> None:
    """Every one has a result with its own key; the PMID stands where the PMID belongs."""
    result = await ask(
        TOOL,
        citations=[
            {**SMITH, "year": "1975", "authorName": "Smith RJ", "key": "2"},
            {"journal": "no such journal", "year": "1975"},
            {**BOSE, "year": "1975", "authorName": "Bose KS"},
        ],
    )
    assert [(one["key"], one.get("pmid"), one["status"]) for one in result["results"]] == [
        ("2", "3", "matched"),
        ("2", None, "not_found"),
        ("3", "2", "matched"),
    ]
    assert [one["matched"] for one in result["results"]] == [True, False, True]
    assert result["results"][1]["detail"] == "NOT_FOUND;INVALID_JOURNAL"
    assert "1 of 3 not found" in result["notice"]
    assert (result["totalMatched"], result["totalSubmitted"], result["totalWarnings"]) == (2, 3, 0)
    assert result["results"][0]["matchedFirstAuthor"] == "Smith RJ"


async def test_one_label_on_two_references_keeps_them_apart(ask: Ask) -> None:
    """NCBI never sees the caller's labels."""
    result = await ask(TOOL, citations=[{**SMITH, "key": "a|1"}, {**BOSE, "key": "a|1"}])
    assert [(one["key"], one["pmid"]) for one in result["results"]] == [("a|1", "3"), ("a|1", "2")]


async def test_a_wrong_author_and_a_wrong_year_are_doubts(ask: Ask) -> None:
    """ECitMatch tolerates both; the PMID is kept, with what speaks against it."""
    result = await ask(TOOL, citations=[{**BOSE, "year": "1974", "authorName": "Nobody X"}])
    (match,) = result["results"]
    assert match["pmid"] == "2"
    assert [doubt["code"] for doubt in match["warnings"]] == ["author_mismatch", "year_mismatch"]
    assert "Nobody X" in match["warnings"][0]["message"]
    assert "1974" in match["warnings"][1]["message"]
    assert result["totalWarnings"] == 1


async def test_any_author_of_the_paper_will_do(ask: Ask) -> None:
    """Not only the first three, and in any letter case."""
    lander = {"journal": "Nature", "year": "2001", "volume": "409", "firstPage": "860", "authorName": "szustakowki j"}
    (match,) = (await ask(TOOL, citations=[lander]))["results"]
    assert (match["pmid"], match.get("warnings")) == ("11237011", None)


async def test_an_ambiguous_reference_lists_its_candidates(ask: Ask) -> None:
    """PMIDs of their own, not in a text."""
    result = await ask(TOOL, citations=[{"journal": "Biochem Biophys Res Commun", "year": "1975"}])
    (match,) = result["results"]
    assert "choose among candidatePmids" in result["notice"]
    assert (match["status"], match["matched"]) == ("ambiguous", False)
    assert {"2", "3"} <= set(match["candidatePmids"])
    assert "pmid" not in match


@pytest.mark.parametrize("citation", [{}, {"authorName": "Smith J"}, {"journal": " ", "year": ""}, {"volume": "3"}])
async def test_a_reference_without_journal_and_year_is_refused(refused: Ask, citation: dict[str, str]) -> None:
    """It can never match; its place in the list is named."""
    error = await refused(TOOL, citations=[BOSE, citation])
    assert error["code"] == -32602
    assert "citations.1" in error["message"]
    assert "journal or year" in error["message"]


async def test_signs_that_would_break_a_line_do_not(ask: Ask) -> None:
    """A bar or a line break in a value would shift key and PMID."""
    nasty = {**BOSE, "authorName": "Bose|KS\r\nx|1|99", "key": "k|\n"}
    (match,) = (await ask(TOOL, citations=[nasty]))["results"]
    assert (match["key"], match["pmid"]) == ("k|\n", "2")


async def test_without_summaries_a_match_is_told_unchecked() -> None:
    """A match without warnings would read as a checked one."""
    async with serving(create_app(["500;times=all;match=esummary"])) as url:
        settings = {"upstreams": {"ncbi": {"base_url": f"{url}/entrez/eutils/", "retries": 0}}}
        async with Host.open(Settings.model_validate(settings), plugins={"pubmed": scigate_pubmed}) as host:
            reply = await host.call(TOOL, {"citations": [BOSE]}, LOCAL)
    assert reply.structured["results"] == [{"key": "1", "pmid": "2", "matched": True, "status": "matched"}]
    assert "were not checked" in reply.structured["notice"]


async def test_twenty_five_references_are_two_requests(ask: Ask, refused: Ask, offline: Host) -> None:
    """More in one call are refused."""
    await ask(TOOL, citations=[BOSE] * 25)
    assert offline.upstreams[0].requests == 2
    assert (await refused(TOOL, citations=[BOSE] * 26))["code"] == -32602
