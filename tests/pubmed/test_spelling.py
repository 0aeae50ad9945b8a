"""`pubmed_spell_check`, called through the host."""

from collections.abc import Awaitable, Callable
from typing import Any

Ask = Callable[..., Awaitable[dict[str, Any]]]

TOOL = "pubmed_spell_check"


async def test_a_misspelt_word_is_corrected(ask: Ask) -> None:
    """The query is told as NCBI read it."""
    result = await ask(TOOL, query="hypertensoin")
    assert (result["original"], result["corrected"], result["hasSuggestion"]) == ("hypertensoin", "hypertension", True)


async def test_a_right_word_has_no_suggestion(ask: Ask) -> None:
    """The correction is then the query itself."""
    result = await ask(TOOL, query="hypertension")
    assert (result["corrected"], result["hasSuggestion"]) == ("hypertension", False)


async def test_a_query_of_white_space_is_refused(refused: Ask) -> None:
    """Before anything is asked."""
    assert (await refused(TOOL, query="   "))["data"]["reason"] == "blank_query"
    assert (await refused(TOOL, query="a"))["code"] == -32602
