"""The page fields of a result follow from the page that its handler cut."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from scigate import Call, Input, Offset, Page, PageSize, tool
from scigate.call import LOCAL


class Ask(Input):
    total: int = 0
    start: Annotated[int, Offset()] = 0
    size: Annotated[int, PageSize(cap=10)] = 2


class Rows(Page):
    rows: list[int]


@tool("lab_whole", title="Whole")
async def whole(args: Ask, client: object, call: Call) -> Rows:
    """All rows at hand."""
    return Rows(rows=call.page.whole(list(range(args.total))))


@tool("lab_prefix", title="Prefix")
async def prefix(args: Ask, client: object, call: Call) -> Rows:
    """The first rows, more may follow."""
    return Rows(rows=call.page.prefix(list(range(args.total)), complete=False, ceiling=3))


@tool("lab_none", title="None")
async def none(args: Ask, client: object, call: Call) -> Rows:
    """No page at all."""
    return Rows(rows=[])


@tool("lab_two", title="Two")
async def two(args: Ask, client: object, call: Call) -> Rows:
    """Two pages."""
    return Rows(rows=call.page.whole([1]) + call.page.whole([2]))


@pytest.mark.parametrize(
    ("name", "arguments", "fields", "notice"),
    [
        ("lab_whole", {"total": 2}, {"totalFound": 2}, None),
        ("lab_whole", {"total": 0}, {"totalFound": 0}, None),
        (
            "lab_whole",
            {"total": 5, "start": 1},
            {"offset": 1, "totalFound": 5, "nextOffset": 3, "truncated": True, "shown": 2, "cap": 2},
            "Showing 2 to 3 of 5; next page: offset 3.",
        ),
        ("lab_whole", {"total": 5, "start": 4}, {"offset": 4, "totalFound": 5}, None),
        (
            "lab_whole",
            {"total": 5, "start": 5},
            {"offset": 5, "totalFound": 5},
            "Offset 5 is past the end: 5 found. Ask again with a smaller offset.",
        ),
        (
            "lab_prefix",
            {"total": 4},
            {"totalFoundAtLeast": 4, "nextOffset": 2, "truncated": True, "shown": 2, "cap": 2},
            "Showing 1 to 2 of at least 4 (no exact count); next page: offset 2.",
        ),
        (
            "lab_prefix",
            {"total": 6, "start": 2},
            {"offset": 2, "totalFoundAtLeast": 6, "truncated": True, "shown": 2, "cap": 2},
            "Showing 3 to 4 of at least 6 (no exact count); paging ends here, offsets over 3 cannot be asked for: "
            "narrow the search. A page at offset 3 shows the last that can be reached.",
        ),
        (
            "lab_prefix",
            {"total": 6, "start": 3},
            {"offset": 3, "totalFoundAtLeast": 6, "truncated": True, "shown": 2, "cap": 2},
            "Showing 4 to 5 of at least 6 (no exact count); paging ends here, offsets over 3 cannot be asked for: "
            "narrow the search.",
        ),
    ],
)
async def test_fields_and_notice_of_a_page(
    hosting: Callable[..., Any], name: str, arguments: dict[str, int], fields: dict[str, Any], notice: str | None
) -> None:
    """Only what was observed is stated, and the notice says the same in words."""
    async with hosting(whole, prefix) as host:
        result = (await host.call(name, arguments, LOCAL)).structured
    rows = result.pop("rows")
    assert result.pop("notice", None) == notice
    assert result == {"offset": 0, **fields}
    assert len(rows) == fields.get("shown", len(rows))


@pytest.mark.parametrize("name", ["lab_none", "lab_two"])
async def test_a_handler_cuts_one_page(hosting: Callable[..., Any], name: str) -> None:
    """A page that was not cut, or cut twice, is a fault of the handler, never a wrong count."""
    async with hosting(none, two) as host:
        reply = await host.call(name, {}, LOCAL)
    assert reply.structured["error"]["data"]["reason"] == "internal_error"
