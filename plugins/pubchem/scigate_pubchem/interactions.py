"""pubchem_get_compound_interactions: statements on a compound with other drugs, with food and with targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, model_validator
from scigate import Call, Input, Offset, Output, PageSize, Record, tool

from scigate_pubchem.alias import renamed
from scigate_pubchem.cid import Cid
from scigate_pubchem.client import PubChem
from scigate_pubchem.excerpt import DESCRIPTION, NAME, excerpt
from scigate_pubchem.lookups import look_up
from scigate_pubchem.pug_view import FOOD
from scigate_pubchem.sdq import LAST_OFFSET, Cell

__all__ = ["get_interactions"]

Kind = Literal["drug-drug", "drug-food", "target"]

UNKNOWN_SOURCE: Final = "PubChem"


class GetInteractions(Input):
    cid: Cid = Field(description="Compound number, from pubchem_search_compounds.")
    kinds: list[Kind] = Field(default=["drug-drug"], min_length=1)
    offset: Annotated[int, Offset(maximum=LAST_OFFSET)] = Field(
        default=0, description="First source record of each kind; to read on ask for one kind, with its nextOffset."
    )
    max_entries: Annotated[int, PageSize(cap=50)] = Field(default=10, description="Entries of each kind; 50 at most.")

    @model_validator(mode="before")
    @classmethod
    def _names(cls, values: Any) -> Any:
        return renamed(values, maxResults="maxEntries")


class Entry(Record):
    """One interaction in its source's words."""

    model_config = ConfigDict(extra="forbid")

    kind: Kind
    partner: str | None = Field(default=None, description="The other drug, or the target.")
    source: str
    text: str


class Paging(Record):
    """How far one kind was read; offsets count source records, not entries."""

    model_config = ConfigDict(extra="forbid")

    kind: Kind
    returned_count: int
    total_records: int = Field(description="Source records, of which not all yield an entry.")
    next_offset: int | None = None
    truncated: bool


class Interactions(Output):
    """The entries of all kinds asked for, kind by kind."""

    cid: int
    entries: list[Entry]
    paging: list[Paging] = Field(description="One for each kind that could be read.")
    requested_kinds: str
    returned_count: int
    offset: int
    next_offset: int | None = Field(default=None, description="When exactly one kind has records left.")
    failed_kinds: str | None = None
    truncated: bool


@dataclass(frozen=True, slots=True)
class _Stream:
    """What was read of one kind.

    Attributes:
        entries: Those that the records read yield.
        read: How many records that were.
        total: How many there are.
    """

    entries: Sequence[Entry]
    read: int
    total: int


@tool("pubchem_get_compound_interactions", title="Get Compound Interactions")
async def get_interactions(args: GetInteractions, pubchem: PubChem, call: Call) -> Interactions:
    """List statements on a compound (CID) with other drugs (drug-drug), food (drug-food) and proteins (target,
    strongest value first), each with its source; approved drugs have most. To ask about one target use
    pubchem_get_bioactivity, which filters by it. Returns a page of each kind; one that could not be read is named in
    failedKinds.

    Costs one PubChem request for each kind, two past its end.
    """
    kinds = list(dict.fromkeys(args.kinds))

    async def one(kind: Kind) -> _Stream:
        return await _READ[kind](args, pubchem)

    looked_up = await look_up(call, kinds, one)
    looked_up.or_raise()
    looked_up.tell(call, lambda failed: f"interactions of kind {', '.join(failed)}")
    paging = [_paging(kind, stream, args.offset) for kind, stream in looked_up.found.items()]
    left = [one for one in paging if one.truncated]
    entries = [entry for stream in looked_up.found.values() for entry in stream.entries]
    _tell(call, args, looked_up.found, left)
    return Interactions(
        cid=args.cid,
        entries=entries,
        paging=paging,
        requested_kinds=", ".join(kinds),
        returned_count=len(entries),
        offset=args.offset,
        next_offset=left[0].next_offset if len(left) == 1 else None,
        failed_kinds=", ".join(looked_up.failed) or None,
        truncated=bool(left),
    )


async def _with_drugs(args: GetInteractions, pubchem: PubChem) -> _Stream:
    columns = ("cid", "name2", "descr")
    table = await pubchem.sdq.rows("drugbankddi", args.cid, columns, offset=args.offset, limit=args.max_entries)
    entries = [
        _entry("drug-drug", row.get("name2"), "DrugBank", str(row.get("descr")))
        for row in table.rows
        if row.get("descr")
    ]
    return _Stream(entries, len(table.rows), table.total)


async def _with_food(args: GetInteractions, pubchem: PubChem) -> _Stream:
    view = await pubchem.view.heading(args.cid, FOOD)
    texts = view.texts(FOOD) if view else []
    page = texts[args.offset : args.offset + args.max_entries]
    entries = [_entry("drug-food", None, source or UNKNOWN_SOURCE, text) for text, source in page]
    return _Stream(entries, len(page), len(texts))


async def _with_targets(args: GetInteractions, pubchem: PubChem) -> _Stream:
    columns = ("cid", "targetname", "acname", "acqualifier", "acvalue", "aidsrcname")
    # Most rows name no target, so more are asked for than entries are wanted.
    limit = min(max(args.max_entries * 4, 20), 100)
    table = await pubchem.sdq.rows(
        "bioactivity", args.cid, columns, offset=args.offset, limit=limit, order="acvalue,asc"
    )
    entries: dict[tuple[Cell, str], Entry] = {}
    read = 0
    for row in table.rows:
        if len(entries) == args.max_entries:
            break
        read += 1
        if target := row.get("targetname"):
            text = _measured(row)
            source = str(row.get("aidsrcname") or UNKNOWN_SOURCE)
            entries.setdefault((target, text), _entry("target", target, source, text))
    return _Stream(list(entries.values()), read, table.total)


_READ: Final = {"drug-drug": _with_drugs, "drug-food": _with_food, "target": _with_targets}


def _measured(row: Mapping[str, Cell]) -> str:
    """A row's value; the table has no column for the unit, which is micromolar by PubChem's rule for deposits."""
    name, qualifier, value = (row.get(column) for column in ("acname", "acqualifier", "acvalue"))
    if name is None or value is None:
        return "activity reported, without a value"
    return " ".join(str(part) for part in (name, qualifier, value, "uM") if part is not None)


def _entry(kind: Kind, partner: Cell, source: str, text: str) -> Entry:
    named = None if partner is None else excerpt(str(partner), NAME)
    return Entry(kind=kind, partner=named, source=excerpt(source, NAME), text=excerpt(text, DESCRIPTION))


def _paging(kind: Kind, stream: _Stream, offset: int) -> Paging:
    end = offset + stream.read
    more = stream.read > 0 and end < stream.total
    return Paging(
        kind=kind,
        returned_count=len(stream.entries),
        total_records=stream.total,
        next_offset=end if more and end <= LAST_OFFSET else None,
        truncated=more,
    )


def _tell(call: Call, args: GetInteractions, streams: Mapping[Kind, _Stream], left: Sequence[Paging]) -> None:
    largest = max(stream.total for stream in streams.values())
    read = sum(stream.read for stream in streams.values())
    kinds = " or ".join(streams)
    if not any(stream.entries for stream in streams.values()):
        if not largest:
            call.notice(
                f"PubChem holds no {kinds} records of CID {args.cid}; coverage is best for approved drugs. Check the "
                "number with pubchem_search_compounds."
            )
        elif args.offset >= largest:
            call.notice(f"Offset {args.offset:,} is past the end, the longest kind has {largest:,} records: use less.")
        else:
            call.notice(f"None of the {read:,} records read, of {largest:,}, names an interaction.")
    for one in left:
        call.notice(f"More {one.kind}: offset {one.next_offset} of {one.total_records:,} records.")
