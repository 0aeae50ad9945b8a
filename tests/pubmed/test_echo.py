"""What is told back of a caller's query, through the host."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from scigate_pubmed.echo import LONGEST_ECHO, echo

Ask = Callable[..., Awaitable[dict[str, Any]]]

LONG = " OR ".join(f"hypertension {number}" for number in range(500))
"""A query of some 10,000 characters, which NCBI takes in a POST."""


@pytest.mark.parametrize(("length", "told"), [(4_000, 4_000), (4_001, 300), (100_000, 300)])
def test_an_echo_is_the_text_or_its_beginning(length: int, told: int) -> None:
    """An ellipsis stands where something is left out, and only there."""
    found = echo("a" * length)
    assert (len(found), found.endswith("…")) == (told, length > LONGEST_ECHO)


async def test_a_very_long_search_is_told_back_by_its_beginning(ask: Ask) -> None:
    """A cut address would be another search, so that of PubMed's front page stands in its place."""
    result = await ask("pubmed_search_articles", query=LONG)
    assert result["query"] == result["effectiveQuery"] == echo(LONG)
    assert result["searchUrl"] == "https://pubmed.ncbi.nlm.nih.gov/"
    assert "too long for an address" in result["notice"]
    assert len(json.dumps(result)) < 4_000


async def test_an_address_holds_a_search_that_fits_into_it(ask: Ask) -> None:
    """It is the same search on PubMed's pages."""
    query = " OR ".join(["hypertension"] * 100)
    result = await ask("pubmed_search_articles", query=query)
    assert result["query"] == query
    assert result["searchUrl"].count("hypertension") == 100


@pytest.mark.parametrize(
    ("tool", "members"),
    [
        ("pubmed_europepmc_search", ("query",)),
        ("pubmed_lookup_mesh", ("query",)),
        ("pubmed_spell_check", ("original", "corrected")),
    ],
)
async def test_other_tools_tell_a_very_long_query_back_by_its_beginning(
    ask: Ask, tool: str, members: tuple[str, ...]
) -> None:
    """It is enough to know it by."""
    result = await ask(tool, query=LONG)
    assert all(len(result[member]) < 400 for member in members)
