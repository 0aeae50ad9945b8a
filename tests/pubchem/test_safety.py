"""`pubchem_get_compound_safety`."""

from typing import Any

import pytest

TOOL = "pubchem_get_compound_safety"
HEADING = "/rest/pug_view/data/compound/{}/JSON"


async def test_each_compound_has_its_entry(gateway: Any) -> None:
    """In input order, repeats included, with three kinds of status; one request for each compound."""
    found = await gateway.good(TOOL, cids=[962, 180, 999999999, 180])
    assert [(entry["cid"], entry["status"], entry["hasData"]) for entry in found["results"]] == [
        (962, "no_ghs_data", False),
        (180, "ok", True),
        (999999999, "cid_not_found", False),
        (180, "ok", True),
    ]
    assert (found["requestedCount"], found["withDataCount"]) == (4, 2)
    assert sorted(gateway.asked) == sorted(HEADING.format(cid) for cid in (962, 180, 999999999))


async def test_the_hazards(gateway: Any) -> None:
    """Signal word, pictograms, statements; codes without a standard text say so."""
    found = await gateway.good(TOOL, cids=[1140])
    (entry,) = found["results"]
    ghs = entry["ghs"]
    assert (ghs["signalWord"], ghs["pictograms"]) == ("Danger", ["Flammable", "Irritant", "Health Hazard"])
    codes = {one["code"]: one["statement"] for one in ghs["hazardStatements"]}
    assert list(codes) == ["H225", "H304", "H315", "H336", "H361d", "H373"]
    assert codes["H361d"] == "Suspected of damaging the unborn child"
    decoded = {one["code"]: (one["decoded"], one["statement"]) for one in ghs["precautionaryStatements"]}
    assert decoded["P405"] == (True, "Store locked up.")
    assert decoded["P501"] == (False, "")
    assert entry["source"] == "scigate sample data"


async def test_the_notice_tells_unknown_numbers_first(gateway: Any) -> None:
    """A wrong number says nothing of hazards; nothing deposited does not mean harmless."""
    notice = (await gateway.good(TOOL, cids=[962, 999999999]))["notice"]
    unknown, without = notice.index("no record of CIDs 999999999"), notice.index("deposited for CIDs 962")
    assert unknown < without
    assert "pubchem_search_compounds" in notice
    assert "includeDescription" in notice


async def test_a_batch_above_its_cap(gateway: Any) -> None:
    """25 are looked up, the rest come back as numbers, and the request counts all."""
    cids = list(range(1, 31))
    found = await gateway.good(TOOL, cids=cids)
    assert len(found["results"]) == 25 == len(gateway.asked)
    assert found["unprocessed"] == cids[25:]
    assert found["cappedInputs"] == [{"input": "cids", "requested": 30, "served": 25, "unprocessed": 5}]
    assert found["requestedCount"] == 30
    assert "unprocessed" in found["notice"]


async def test_one_failing_compound_leaves_the_others(gateway: Any) -> None:
    """It goes to `unprocessed` with the reason in the notice, and is not said to be without hazards."""
    gateway.emulator.faults.add(f"503;match={HEADING.format(180)}")
    found = await gateway.good(TOOL, cids=[887, 180, 702])
    assert [entry["cid"] for entry in found["results"]] == [887, 702]
    assert found["unprocessed"] == [180]
    assert "upstream_rate_limited" in found["notice"]


async def test_it_fails_when_every_compound_does(gateway: Any) -> None:
    """With the fault's own reason."""
    gateway.emulator.faults.add("504;times=all")
    assert (await gateway.bad(TOOL, cids=[180, 702]))["data"]["reason"] == "upstream_timeout"


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("No record found", "cid_not_found"),
        ("No data found", "no_ghs_data"),
        ("", "no_ghs_data"),
        ("Gone", "no_ghs_data"),
    ],
)
async def test_only_the_message_tells_the_two_404_apart(saying: Any, answer: Any, message: str, status: str) -> None:
    """An unknown wording is read as the meaning that claims less."""
    fault = answer(b'{"Fault":{"Code":"PUGVIEW.NotFound","Message":"%s"}}' % message.encode(), 404)
    async with saying(lambda path, query: fault) as gateway:
        found = await gateway.good(TOOL, cids=[5])
    assert found["results"] == [{"cid": 5, "hasData": False, "status": status}]


async def test_a_busy_service_under_404_is_no_absence(saying: Any, answer: Any) -> None:
    """The fault's code decides before the status does."""
    fault = answer(b'{"Fault":{"Code":"PUGVIEW.ServerBusy","Message":"No data found"}}', 404)
    async with saying(lambda path, query: fault) as gateway:
        error = await gateway.bad(TOOL, cids=[5])
    assert error["data"]["reason"] == "upstream_rate_limited"


@pytest.mark.parametrize("cids", [[], [0], [-1], [2**31], [1.5], ["x"], None])
async def test_wrong_numbers_are_refused_unasked(gateway: Any, cids: Any) -> None:
    """CIDs are whole numbers from 1 to 2147483647."""
    assert (await gateway.bad(TOOL, cids=cids))["data"]["reason"] == "invalid_arguments"
    assert gateway.asked == []
