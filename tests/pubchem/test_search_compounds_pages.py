"""The invariants of `pubchem_search_compounds`, on lists as odd as PubChem may send them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scigate.emulator import Emulator
from scigate.host import Reply
from scigate_pubchem.emulator import create_app

Search = Callable[..., Awaitable[Reply]]

BOUNDED = {
    "formula": {"formula": "CH4"},
    "substructure": {"query": "C", "queryType": "smiles"},
    "superstructure": {"query": "7", "queryType": "cid"},
    "similarity": {"query": "C", "queryType": "smiles"},
}
# Long lists of few numbers: repeats and zeros are frequent, and lists end on either side of what is asked for.
LISTS = st.builds(
    lambda length, modulus, stride: [number * stride % modulus for number in range(length)],
    st.integers(0, 1_500),
    st.integers(1, 1_200),
    st.integers(1, 97),
)


class Made:
    """Lists that a test makes up, served as PubChem would."""

    def __init__(self) -> None:
        self.raw: list[int] = []
        self.names: dict[str, list[int] | None] = {}

    def answer(self, path: str, options: dict[str, str]) -> tuple[int, Any]:
        if path.startswith("compound/name/"):
            cids = self.names[path.split("/")[2]]
            if cids is None:
                return 400, {"Fault": {"Code": "PUGREST.BadRequest", "Message": "Unable"}}
        elif path.startswith("assay/aid/"):
            return 200, {"IdentifierList": {"Size": len(self.raw), "ListKey": "7"}}
        elif path.startswith("compound/listkey/"):
            start = int(options["listkey_start"])
            cids = self.raw[start : start + int(options["listkey_count"])]
        else:
            cids = self.raw[: int(options["MaxRecords"])]
        if not cids:
            return 404, {"Fault": {"Code": "PUGREST.NotFound", "Message": "No CID found"}}
        return 200, {"IdentifierList": {"CID": cids}}


@pytest.fixture(scope="module")
def made() -> Made:
    return Made()


@pytest.fixture(scope="module")
async def search(made: Made, searching: Any, pug_answering: Any) -> AsyncIterator[Search]:
    async with searching(pug_answering(made.answer), quotas=["100000/second"], cache=False) as search:
        yield search


def distinct(raw: list[int]) -> list[int]:
    return list(dict.fromkeys(cid for cid in raw if cid))


async def walk(search: Search, kind: str, offset: int | None = 0, **arguments: Any) -> tuple[list[int], list[Any]]:
    """All compounds by `nextOffset`, and the pages."""
    found: list[int] = []
    pages: list[dict[str, Any]] = []
    while offset is not None:
        reply = await search(kind, offset=offset, **arguments)
        assert not reply.is_error, reply.structured
        page = reply.structured
        found += [row["cid"] for row in page["results"]]
        pages.append(page)
        assert page.get("nextOffset", offset + 1) > offset
        offset = page.get("nextOffset")
    return found, pages


@given(raw=LISTS, size=st.integers(40, 200), kind=st.sampled_from(list(BOUNDED)))
async def test_pages_of_a_bounded_search_are_its_list(
    made: Made, search: Search, raw: list[int], size: int, kind: str
) -> None:
    """Each compound once, in order, never CID 0; a total is exact, a floor is below it."""
    made.raw = raw
    found, pages = await walk(search, kind, maxResults=size, **BOUNDED[kind])
    assert found == distinct(raw)
    for page in pages:
        assert ("totalFound" in page) != ("totalFoundAtLeast" in page)
        assert page.get("totalFound", len(found)) == len(found)
        assert page.get("totalFoundAtLeast", 0) <= len(found)
    assert {"truncated", "nextOffset"}.isdisjoint(pages[-1])
    assert pages[-1]["totalFound"] == len(found)


@given(length=st.integers(1, 1_500), size=st.integers(40, 200))
async def test_pages_of_an_assay_are_its_list(made: Made, search: Search, length: int, size: int) -> None:
    """Read from the stored list, with an exact total on each page."""
    made.raw = list(range(length, 0, -1))
    found, pages = await walk(search, "assay", aid=1000, maxResults=size)
    assert found == made.raw
    assert {page["totalFound"] for page in pages} == {len(made.raw)}


@given(
    lists=st.lists(st.none() | st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=30),
    size=st.integers(1, 30),
)
async def test_every_identifier_is_accounted_for(
    made: Made, search: Search, lists: list[list[int] | None], size: int
) -> None:
    """Found, unresolved or unprocessed: together they are the input, each page by page and in order."""
    names = [f"n{number}" for number in range(len(lists))]
    made.names = dict(zip(names, lists, strict=True))
    served, rest = names[:25], names[25:]
    arguments = {"identifierType": "name", "identifiers": names, "maxResults": size}
    if all(made.names[name] is None for name in served):
        reply = await search("identifier", **arguments)
        assert reply.structured["error"]["data"]["reason"] == "identifier_rejected"
        return
    found, pages = await walk(search, "identifier", **arguments)
    expected = distinct([cid for name in served for cid in made.names[name] or []])
    assert found == expected
    resolved = [name for name in served if distinct(made.names[name] or [])]
    for page in pages:
        assert page["totalFound"] == len(expected)
        assert page.get("unresolvedIdentifiers", []) == [name for name in served if name not in resolved]
        assert page.get("unprocessed", []) == rest
        for row in page["results"]:
            assert row["identifier"] == next(name for name in served if row["cid"] in (made.names[name] or []))


@settings(max_examples=8)
@given(length=st.integers(9_990, 10_300), size=st.sampled_from([150, 200]))
async def test_a_bounded_search_ends_at_its_ceiling(made: Made, search: Search, length: int, size: int) -> None:
    """No offset over 10,000 is offered; what lies behind is announced, and how to see the last of it."""
    made.raw = list(range(1, length + 1))
    found, pages = await walk(search, "substructure", offset=9_800, maxResults=size, **BOUNDED["substructure"])
    assert found == made.raw[9_800 : 9_800 + len(found)]
    assert all(page.get("nextOffset", 0) <= 10_000 for page in pages)
    if len(found) < length - 9_800:
        assert pages[-1]["truncated"]
        assert "offsets over 10,000 cannot be asked for: narrow the search." in pages[-1]["notice"]
    else:
        assert "truncated" not in pages[-1]


async def test_the_last_reachable_page_is_named(made: Made, search: Search) -> None:
    """When the ceiling stops a walk before it, a page at offset 10,000 still shows more."""
    made.raw = list(range(1, 20_000))
    page = (await search("substructure", offset=9_900, maxResults=200, **BOUNDED["substructure"])).structured
    assert (page["truncated"], page["shown"], page["totalFoundAtLeast"]) == (True, 200, 10_201)
    assert "nextOffset" not in page
    assert page["notice"].endswith("A page at offset 10000 shows the last that can be reached.")
    last = (await search("substructure", offset=10_000, maxResults=200, **BOUNDED["substructure"])).structured
    assert last["shown"] == 200
    assert last["notice"].endswith("cannot be asked for: narrow the search.")


@pytest.fixture(scope="module")
async def emulated(searching: Any) -> AsyncIterator[Search]:
    async with searching(create_app()) as search:
        yield search


@settings(max_examples=15)
@given(query=st.sampled_from(["c1ccncc1", "CC(=O)O", "C1CCNCC1"]), size=st.integers(60, 200))
async def test_any_page_size_walks_the_same_list(emulated: Search, query: str, size: int) -> None:
    """A substructure search of the emulator's sample, in larger and smaller pages."""
    found, pages = await walk(emulated, "substructure", query=query, queryType="smiles", maxResults=size)
    whole, _ = await walk(emulated, "substructure", query=query, queryType="smiles", maxResults=200)
    assert found == whole
    assert len(set(found)) == len(found) == pages[-1]["totalFound"]


async def test_further_pages_cost_no_request(searching: Any) -> None:
    """A list that is at hand is cut again; the upstream counts one request for all pages of it."""
    emulator: Emulator = create_app()
    async with searching(emulator) as search:
        found, pages = await walk(search, "formula", formula="C10H16O", maxResults=5)
        assert len(pages) > 1
        assert len(set(found)) == len(found) == pages[0]["totalFound"]
        assert len(emulator.requests) == 1
        reply = await search("formula", formula="C10H16O", maxResults=5, offset=5)
    assert reply.meta["scigate/usage"]["requests"] == 0
    assert reply.meta["scigate/usage"]["cached"] == 1


async def test_pages_of_an_assay_cost_one_request_each(searching: Any) -> None:
    """Its list is stored upstream once."""
    emulator: Emulator = create_app()
    async with searching(emulator) as search:
        for offset in (0, 5, 10, 5):
            assert not (await search("assay", aid=900000001, maxResults=5, offset=offset)).is_error
    assert len(emulator.requests) == 1 + 3


@pytest.mark.parametrize(
    ("summary", "active_only", "notice"),
    [
        ({"CIDCountAll": 1234}, True, "Assay 5 lists no active compounds; it tested 1,234. Set activeOnly to false"),
        ({}, True, "Assay 5 lists no active compounds. Set activeOnly to false to list all tested ones."),
        ({}, False, "Assay 5 exists, but lists no compounds."),
    ],
)
async def test_an_assay_without_compounds_of_a_kind_says_so(
    searching: Any, pug_answering: Any, summary: dict[str, int], active_only: bool, notice: str
) -> None:
    """PubChem answers as for an assay that is not there; the summary tells them apart."""

    def answer(path: str, options: dict[str, str]) -> tuple[int, Any]:
        if path.endswith("/summary/JSON"):
            return 200, {"AssaySummaries": {"AssaySummary": [{"AID": 5, "Name": "n", **summary}]}}
        return 404, {"Fault": {"Code": "PUGREST.NotFound", "Message": "No CIDs found for the given AID(s)"}}

    async with searching(pug_answering(answer)) as search:
        page = (await search("assay", aid=5, activeOnly=active_only)).structured
    assert (page["results"], page["totalFound"], page["activeOnly"]) == ([], 0, active_only)
    assert page["notice"].startswith(notice)


async def test_a_search_stands_without_properties_that_come_too_late(searching: Any, pug_answering: Any) -> None:
    """Finished work is not thrown away for want of a turn: what is missing is said."""

    def answer(path: str, options: dict[str, str]) -> tuple[int, Any]:
        return 200, {"IdentifierList": {"CID": [1, 2]}}

    async with searching(pug_answering(answer), quotas=["1/hour"]) as search:
        page = (await search("formula", formula="CH4", properties=["Charge"])).structured
    assert page["results"] == [{"cid": 1}, {"cid": 2}]
    assert page["notice"].startswith("The properties are left out (quota_exhausted). Ask for them again in about ")


async def test_a_search_stands_without_properties_that_pubchem_fails_to_give(
    searching: Any, pug_answering: Any
) -> None:
    """A fault in the step that only adds costs what it would have added."""

    def answer(path: str, options: dict[str, str]) -> tuple[int, Any]:
        if "/property/" in path:
            return 503, {"Fault": {"Code": "PUGREST.ServerBusy", "Message": "Too many requests"}}
        return 200, {"IdentifierList": {"CID": [1, 2]}}

    async with searching(pug_answering(answer)) as search:
        page = (await search("formula", formula="CH4", properties=["Charge"])).structured
    assert page["results"] == [{"cid": 1}, {"cid": 2}]
    assert page["notice"] == "The properties are left out (upstream_rate_limited). Ask for them again."


async def test_a_batch_of_identifiers_that_runs_out_of_quota_is_served_in_part(
    searching: Any, pug_answering: Any
) -> None:
    """The rest comes back in order, those over the cap behind it; the wait is told."""

    def answer(path: str, options: dict[str, str]) -> tuple[int, Any]:
        return 200, {"IdentifierList": {"CID": [int(path.split("/")[2].removeprefix("n"))]}}

    names = [f"n{number}" for number in range(1, 31)]
    async with searching(pug_answering(answer), quotas=["4/hour"], concurrency=1) as search:
        page = (await search("identifier", identifierType="name", identifiers=names)).structured
    assert [row["cid"] for row in page["results"]] == [1, 2, 3, 4]
    assert page["unprocessed"] == names[4:]
    assert "21 entries were not looked up, the upstream's quota leaves no turn" in page["notice"]
