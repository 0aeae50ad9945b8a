"""What is asked for above a cap is served at the cap, and told."""

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate import Batch, Call, Cap, Input, Offset, Page, PageSize, tool
from scigate.call import LOCAL
from scigate.host import Host

CAP, ACCEPTS = 4, 12


class Ask(Input):
    sample_names: Annotated[list[str] | None, Batch(cap=CAP, accepts=ACCEPTS)] = None
    other_numbers: Annotated[list[int] | None, Batch(cap=2, accepts=ACCEPTS)] = None
    max_results: Annotated[int, PageSize(cap=CAP, accepts=ACCEPTS)] = 3
    names_a_row: Annotated[int | None, Cap(cap=2, accepts=9)] = None
    names_each: Annotated[int, Cap(cap=CAP, accepts=ACCEPTS)] = 2
    start_at: Annotated[int, Offset()] = 0


class Served(Page):
    served: list[str]
    numbers: list[int]
    rows: list[int]
    size: int
    names_a_row: int | None = None
    names_each: int


@tool("lab_ask", title="Ask")
async def ask(args: Ask, client: object, call: Call) -> Served:
    """Give what reached the handler."""
    rows = call.page.whole(list(range(30)))
    return Served(
        served=args.sample_names or [],
        numbers=args.other_numbers or [],
        rows=rows,
        size=args.max_results,
        names_a_row=args.names_a_row,
        names_each=args.names_each,
    )


@pytest.fixture(scope="module")
async def host(hosting: Callable[..., Any]) -> AsyncIterator[Host]:
    async with hosting(ask) as host:
        yield host


async def answer(host: Host, **arguments: Any) -> dict[str, Any]:
    reply = await host.call("lab_ask", arguments, LOCAL)
    assert not reply.is_error, reply.structured
    return reply.structured


@given(names=st.lists(st.text("abc", min_size=1), min_size=1, max_size=ACCEPTS))
async def test_processed_and_unprocessed_are_the_input(host: Host, names: list[str]) -> None:
    """In order, nothing twice, nothing dropped, repeats of the caller's own kept."""
    result = await answer(host, sampleNames=names)
    assert result["served"] + result.get("unprocessed", []) == names
    assert len(result["served"]) == min(len(names), CAP)
    capped = [{"input": "sampleNames", "requested": len(names), "served": CAP, "unprocessed": len(names) - CAP}]
    assert result.get("cappedInputs", []) == (capped if len(names) > CAP else [])


@given(size=st.integers(1, ACCEPTS))
async def test_a_page_size_is_served_up_to_the_cap(host: Host, size: int) -> None:
    """The handler sees the size in force; the entry names both sizes."""
    result = await answer(host, maxResults=size)
    assert result["size"] == len(result["rows"]) == result["cap"] == min(size, CAP)
    capped = [{"input": "maxResults", "requested": size, "served": CAP}]
    assert result.get("cappedInputs", []) == (capped if size > CAP else [])


@given(number=st.integers(1, ACCEPTS))
async def test_a_number_beside_the_page_size_has_a_cap_of_its_own(host: Host, number: int) -> None:
    """It is lowered and told alike, and the page keeps its size."""
    result = await answer(host, namesEach=number)
    assert (result["namesEach"], result["size"]) == (min(number, CAP), 3)
    capped = [{"input": "namesEach", "requested": number, "served": CAP}]
    assert result.get("cappedInputs", []) == (capped if number > CAP else [])


async def test_every_capped_input_has_its_entry(host: Host) -> None:
    """What two batches leave over stands one after the other, numbers as text."""
    result = await answer(host, sampleNames=list("abcde"), otherNumbers=[1, 2, 3, 4], maxResults=5)
    assert [entry["input"] for entry in result["cappedInputs"]] == ["maxResults", "sampleNames", "otherNumbers"]
    assert result["unprocessed"] == ["e", "3", "4"]
    assert result["numbers"] == [1, 2]


@pytest.mark.parametrize(("asked", "served"), [(None, None), (1, 1), (2, 2), (9, 2)])
async def test_any_number_may_have_a_cap(host: Host, asked: int | None, served: int | None) -> None:
    """One that is left out stays so."""
    result = await answer(host, namesARow=asked)
    assert result.get("namesARow") == served
    capped = [] if asked == served else [{"input": "namesARow", "requested": asked, "served": served}]
    assert result.get("cappedInputs", []) == capped


async def test_the_default_is_not_an_input_above_its_cap(host: Host) -> None:
    """Without arguments nothing is capped, and no such fields are in the result."""
    result = await answer(host)
    assert {"cappedInputs", "unprocessed"}.isdisjoint(result)
    assert len(result["rows"]) == 3
