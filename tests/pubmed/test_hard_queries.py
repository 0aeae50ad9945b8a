"""Queries that a search must take whole or refuse, and never read as another: driven through the host."""

import unicodedata
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate.call import LOCAL
from scigate.host import Host
from scigate_pubmed.query import Filters, balanced, build, clean, is_blank

Ask = Callable[..., Awaitable[dict[str, Any]]]

TOOL = "pubmed_search_articles"
REVIEWS = Filters(publication_types=["Review"])


async def test_four_thousand_characters_are_searched_as_they_are(ask: Ask) -> None:
    """They go in the request's body; nothing of them is cut."""
    query = " OR ".join(f"hypertension AND w{number:04}" for number in range(200))[:3990] + " OR cancer"
    assert len(query) == 4000
    assert (await ask(TOOL, query=query))["effectiveQuery"] == query


async def test_two_hundred_parentheses_are_searched_as_they_are(ask: Ask) -> None:
    """With a filter behind them, too."""
    query = "(" * 200 + "cancer" + ")" * 200
    deep, flat = await ask(TOOL, query=query), await ask(TOOL, query="cancer")
    assert (deep["totalCount"], deep["effectiveQuery"]) == (flat["totalCount"], query)
    filtered = await ask(TOOL, query=query, publicationTypes=["Review"])
    assert filtered["effectiveQuery"] == f'({query}) AND ("Review"[Publication Type])'
    assert filtered["totalCount"] < flat["totalCount"]


@pytest.mark.parametrize("plane", range(17))
async def test_a_word_of_any_plane_is_searched_or_refused(offline: Host, plane: int) -> None:
    """Letters, signs, unassigned and private ones: sent as they are, or refused with a reason."""
    start = plane * 0x10000
    letters = [chr(start + step) for step in (0x61, 0x3B1, 0x1F600 & 0xFFFF, 0x2345, 0xFFF0)]
    word = "".join(letter for letter in letters if unicodedata.category(letter) not in ("Cc", "Cs"))
    reply = await offline.call(TOOL, {"query": f"cancer {word}"}, LOCAL)
    if reply.is_error:
        assert reply.structured["error"]["data"]["reason"] == "invalid_arguments"
    else:
        assert unquote(reply.structured["searchUrl"].partition("term=")[2]) == f"cancer {word}"
        assert reply.structured["effectiveQuery"] == f"cancer {word}"


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("<script>alert(1)</script>cancer", "alert(1) cancer"),
        ("<i>in vivo</i> H<sub>2</sub>O", "in vivo H2O"),
        ("P<0.05 AND n>3", "P<0.05 AND n>3"),
        ("AT&T &amp; x", "AT&T &amp; x"),
        ("cancer'; DROP TABLE articles; --", "cancer'; DROP TABLE articles; --"),
        ("' OR '1'='1", "' OR '1'='1"),
        ("{{7*7}} ${jndi:ldap://x} {%if%}", "{{7*7}} ${jndi:ldap://x} {%if%}"),
        ("cancer&retmax=100000&db=protein#", "cancer&retmax=100000&db=protein#"),
        ("cancer\r\nHost: elsewhere", "cancer Host: elsewhere"),
        ("%00%0a../../etc/passwd", "%00%0a../../etc/passwd"),
    ],
)
async def test_markup_and_injections_are_words(ask: Ask, query: str, sent: str) -> None:
    """Tags go, all else is one term: no parameter, header, path or template comes of it."""
    result = await ask(TOOL, query=query, maxResults=1)
    assert result["effectiveQuery"] == sent
    assert unquote(result["searchUrl"].partition("term=")[2]) == sent
    assert len(result["pmids"]) <= 1


@pytest.mark.parametrize(
    "value",
    ['Nature"[Journal] OR "cancer', "x] OR cancer[ti", "x) OR (cancer", '" OR 1=1 --', "a AND b OR c", "1900:3000[dp]"],
)
@pytest.mark.parametrize("name", ["author", "journal", "language"])
async def test_a_filter_value_cannot_leave_its_clause(ask: Ask, name: str, value: str) -> None:
    """Whatever stands in it, the result is a part of what the query finds alone."""
    whole = await ask(TOOL, query="hypertension", maxResults=1000)
    part = await ask(TOOL, query="hypertension", maxResults=1000, **{name: value})
    assert set(part["pmids"]) <= set(whole["pmids"])
    assert part["effectiveQuery"].startswith("(hypertension) AND ")
    assert part["effectiveQuery"].count('"') % 2 == 0


@given(st.text(st.sampled_from('ab()[]" ANDOR<>/&:*'), min_size=1, max_size=60))
def test_a_filter_holds_for_any_query(query: str) -> None:
    """The query stands in one pair of parentheses of its own, by every way of reading quotes."""
    cleaned = clean(query)
    if is_blank(cleaned):
        return
    term = build(cleaned, REVIEWS)
    inner = term.text.removeprefix("(").removesuffix(') AND ("Review"[Publication Type])')
    assert term.text == f'({inner}) AND ("Review"[Publication Type])'
    assert balanced(inner) == (inner, [])
    depth = 0
    for letter in inner:
        depth += (letter == "(") - (letter == ")")
        assert depth >= 0
    assert depth == 0


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("\0cancer", "invalid_arguments"),
        ("\ud800cancer", "invalid_arguments"),
        ("", "invalid_arguments"),
        ("((()))[ti]", "blank_query"),
        ("<b></b>[mh]()", "blank_query"),
        ('""', "blank_query"),
    ],
)
async def test_what_is_no_query_is_a_clear_failure(refused: Ask, query: str, reason: str) -> None:
    """Never a search for nothing."""
    assert (await refused(TOOL, query=query))["data"]["reason"] == reason
