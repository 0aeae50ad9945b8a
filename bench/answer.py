"""One answer and the ways to give it: the same work for the bare SDK server and for the gateway."""

from __future__ import annotations

from typing import Any, Final

from scigate import Call, Input, Output, Record, hookimpl, tool

ROWS: Final = 20
TEXT: Final = "\n".join(f"{2244 + row} | compound {row}" for row in range(ROWS))
STRUCTURED: Final[dict[str, Any]] = {"rows": [{"cid": 2244 + row, "name": f"compound {row}"} for row in range(ROWS)]}


class Ask(Input):
    name: str


class Row(Record):
    cid: int
    name: str


class Rows(Output):
    rows: list[Row]


@tool("bench_rows", title="Rows")
async def rows(args: Ask, client: object, call: Call) -> Rows:
    """Give twenty rows."""
    return Rows(rows=[Row(cid=2244 + row, name=f"compound {row}") for row in range(ROWS)])


class Provider:
    """The provider of the one trivial tool."""

    @hookimpl
    def register_tools(self) -> list[Any]:
        return [rows]
