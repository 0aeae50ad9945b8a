"""Pages are the result: walked by `nextOffset`, each item comes once, and no count is stated that was not seen."""

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate import Call, Input, Offset, Page, PageSize, tool
from scigate.call import LOCAL
from scigate.host import Host
from scigate.paging import PageWindow

CAP = 7


class Ask(Input):
    kind: Literal["whole", "prefix", "part"]
    total: int
    ceiling: int | None = None
    step: int = 1
    start_at: Annotated[int, Offset()] = 0
    size: Annotated[int, PageSize(cap=CAP, accepts=20)] = 5


class Rows(Page):
    rows: list[int]


@tool("lab_rows", title="Rows")
async def rows(args: Ask, client: object, call: Call) -> Rows:
    """Rows of a result of which the upstream gives all, the first ones, or a page."""
    everything = range(args.total)
    if args.kind == "whole":
        return Rows(rows=call.page.whole(everything))
    if args.kind == "part":
        reachable = None if args.ceiling is None else args.ceiling + 1
        page = everything[:reachable][args.start_at : args.start_at + args.size]
        return Rows(rows=call.page.part(page, total=args.total, reachable=reachable))
    asked = args.step * (1 + (args.start_at + args.size) // args.step)
    got = everything[:asked]
    return Rows(rows=call.page.prefix(got, complete=len(got) < asked, ceiling=args.ceiling))


@pytest.fixture(scope="module")
async def host(hosting: Callable[..., Any]) -> AsyncIterator[Host]:
    async with hosting(rows) as host:
        yield host


async def walk(host: Host, **arguments: Any) -> tuple[list[int], list[dict[str, Any]]]:
    """All rows by `nextOffset`, and the pages."""
    found: list[int] = []
    pages: list[dict[str, Any]] = []
    offset: int | None = arguments.pop("startAt", 0)
    while offset is not None:
        reply = await host.call("lab_rows", {**arguments, "startAt": offset}, LOCAL)
        assert not reply.is_error, reply.structured
        page = reply.structured
        assert page["offset"] == offset
        found += page["rows"]
        pages.append(page)
        offset = page.get("nextOffset")
        assert offset is None or offset == page["offset"] + len(page["rows"]) > page["offset"]
    return found, pages


@given(
    kind=st.sampled_from(["whole", "prefix", "part"]),
    total=st.integers(0, 60),
    size=st.integers(1, 20),
    step=st.integers(1, 25),
)
async def test_pages_walked_are_the_result(host: Host, kind: str, total: int, size: int, step: int) -> None:
    """Each item once, in order; truncated with its page size while there is more, and on the last page neither."""
    found, pages = await walk(host, kind=kind, total=total, size=size, step=step)
    assert found == list(range(total))
    for page in pages[:-1]:
        assert (page["truncated"], page["shown"], page["cap"]) == (True, len(page["rows"]), min(size, CAP))
    assert {"truncated", "shown", "cap", "nextOffset"}.isdisjoint(pages[-1])


@given(total=st.integers(0, 60), size=st.integers(1, 20), start=st.integers(0, 80))
async def test_a_walk_may_begin_anywhere(host: Host, total: int, size: int, start: int) -> None:
    """From an offset on, the rest; past the end, nothing, and the notice says how many there are."""
    for kind in ("whole", "prefix", "part"):
        found, pages = await walk(host, kind=kind, total=total, size=size, startAt=start)
        assert found == list(range(total))[start:]
        if start >= total and start > 0:
            assert f"Offset {start} is past the end: {total} found." in pages[0]["notice"]


@given(
    kind=st.sampled_from(["whole", "prefix", "part"]),
    total=st.integers(0, 60),
    size=st.integers(1, 20),
    step=st.integers(1, 25),
    start=st.integers(0, 70),
)
async def test_a_total_is_exact_or_absent_and_a_floor_is_a_floor(
    host: Host, kind: str, total: int, size: int, step: int, start: int
) -> None:
    """One of the two is always there, never both; a floor covers more than the page."""
    reply = await host.call(
        "lab_rows", {"kind": kind, "total": total, "size": size, "step": step, "startAt": start}, LOCAL
    )
    page = reply.structured
    assert ("totalFound" in page) != ("totalFoundAtLeast" in page)
    if "totalFound" in page:
        assert page["totalFound"] == total
    else:
        assert kind == "prefix"
        assert start + len(page["rows"]) < page["totalFoundAtLeast"] <= total


@given(
    kind=st.sampled_from(["prefix", "part"]), total=st.integers(0, 60), size=st.integers(1, 9), at=st.integers(0, 30)
)
async def test_a_ceiling_withholds_offsets_past_it(host: Host, kind: str, total: int, size: int, at: int) -> None:
    """No offset past the ceiling is offered; what lies behind it is still announced as more."""
    found, pages = await walk(host, kind=kind, total=total, size=size, ceiling=at)
    assert found == list(range(total))[: len(found)]
    assert all(page.get("nextOffset", 0) <= at for page in pages)
    if len(found) < total:
        assert pages[-1]["truncated"]
        assert f"offsets over {at} cannot be asked for" in pages[-1]["notice"]
    else:
        assert "truncated" not in pages[-1]


def test_an_incomplete_prefix_without_items_on_the_page_is_no_end() -> None:
    """Repeats can leave a bounded list shorter than the offset: a floor is told, and no offset that comes again."""
    window = PageWindow(offset=10, size=5)
    assert window.prefix([1, 2, 3], complete=False) == []
    assert (window.total, window.at_least, window.next_offset) == (None, 3, None)
    assert window.sentence == "Offset 10 is past the end: at least 3 found. Ask again with a smaller offset."


def test_a_part_longer_than_the_page_is_cut() -> None:
    """An upstream with fixed page lengths may send more than was asked for."""
    window = PageWindow(offset=4, size=2)
    assert window.part("abc", total=9) == ["a", "b"]
    assert window.next_offset == 6
