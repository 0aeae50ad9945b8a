"""PUG View, SDQ, cross-references, drawings and conformers of the emulator."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from scigate.emulator import Emulator
from scigate_pubchem.conformer import Molfile
from scigate_pubchem.pug_view import View

Recorded = Callable[[str], str]


@pytest.fixture
async def service(emulator: Emulator) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=emulator)
    async with httpx.AsyncClient(transport=transport, base_url="http://pubchem") as client:
        yield client


def shape(value: Any) -> Any:
    """Names and types; of a list, those of its first entry."""
    if isinstance(value, dict):
        return {name: shape(entry) for name, entry in value.items()}
    return [shape(value[0])] if isinstance(value, list) and value else type(value).__name__


def section(sections: list[dict[str, Any]], heading: str) -> dict[str, Any]:
    """The first section of a heading, at any depth."""
    waiting = list(sections)
    while waiting:
        found = waiting.pop(0)
        if found["TOCHeading"] == heading:
            return found
        waiting += found.get("Section", [])
    raise AssertionError(heading)


async def test_a_heading_leads_to_its_sections(service: httpx.AsyncClient) -> None:
    """With the sections above them; a plus sign is a space."""
    answer = await service.get("/rest/pug_view/data/compound/2244/JSON?heading=Safety+and+Hazards")
    record = answer.json()["Record"]
    assert (record["RecordType"], record["RecordNumber"], record["RecordTitle"]) == ("CID", 2244, "Aspirin")
    assert [one["TOCHeading"] for one in record["Section"]] == ["Safety and Hazards"]
    assert answer.headers["x-sample-data"] == "pubchem"
    whole = (await service.get("/rest/pug_view/data/compound/2244/JSON")).json()["Record"]
    assert len(whole["Section"]) == 4


@pytest.mark.parametrize(
    ("cid", "heading", "message"),
    [
        (999999999, "Safety and Hazards", "No record found"),
        (962, "Safety and Hazards", "No data found"),
        (2244, "Nonsense", "No data found"),
    ],
)
async def test_the_two_404(service: httpx.AsyncClient, cid: int, heading: str, message: str) -> None:
    """The message alone tells them apart."""
    answer = await service.get(f"/rest/pug_view/data/compound/{cid}/JSON", params={"heading": heading})
    assert answer.status_code == 404
    assert answer.json() == {"Fault": {"Code": "PUGVIEW.NotFound", "Message": message}}


async def test_hazards_have_the_recorded_shape(service: httpx.AsyncClient, recorded: Recorded) -> None:
    """Names and forms of the items that both have are the same."""
    ours = (await service.get("/rest/pug_view/data/compound/2244/JSON")).json()["Record"]["Section"]
    theirs = json.loads(recorded("pugview_compound_8057_inner.json"))["Section"]
    want = {one["Name"]: one for one in section(theirs, "GHS Classification")["Information"]}
    have = {one["Name"]: one for one in section(ours, "GHS Classification")["Information"]}
    assert set(have) == set(want) - {"ECHA C&L Notifications Summary"}
    assert shape(have["Pictogram(s)"]) == shape(want["Pictogram(s)"])
    assert (
        shape(section(ours, "Record Description")["Information"])[0]["Value"]["StringWithMarkup"][0]["String"] == "str"
    )


async def test_every_annotated_compound_can_be_read(service: httpx.AsyncClient) -> None:
    """Some tens of them, each with something under a heading."""
    found = 0
    for cid in (2244, 2519, 3672, 1983, 4091, 54678486, 180, 702, 887, 241, 1140, 996, 712, 222, 8058):
        answer = await service.get(f"/rest/pug_view/data/compound/{cid}/JSON")
        found += len(View.parse(answer.content).under("Record Description")) > 0
    assert found > 8


async def table(service: httpx.AsyncClient, **query: Any) -> dict[str, Any]:
    whole = {"select": ["cid"], "where": {"ands": [{"cid": "2244"}]}, "start": 1, "limit": 10, **query}
    answer = await service.get("/sdq/sdqagent.cgi", params={"query": json.dumps(whole)})
    assert answer.status_code == 200
    (found,) = answer.json()["SDQOutputSet"]
    return found


async def test_a_table(service: httpx.AsyncClient) -> None:
    """A window of rows with the columns asked for, and the total."""
    first = await table(service, collection="drugbankddi", select=["name2", "descr"], limit=2)
    rest = await table(service, collection="drugbankddi", select=["name2"], start=3, limit=100)
    assert (len(first["rows"]), first["totalCount"]) == (2, 21)
    assert set(first["rows"][0]) == {"name2", "descr"}
    assert len(rest["rows"]) == 19


async def test_activities_by_rising_value(service: httpx.AsyncClient) -> None:
    """Rows without a value come last."""
    found = await table(service, collection="bioactivity", select=["acvalue"], order=["acvalue,asc"], limit=100)
    values = [row["acvalue"] for row in found["rows"]]
    known = [value for value in values if value is not None]
    assert known == sorted(known) == values[: len(known)]


async def test_past_the_end_a_table_says_that_it_is_empty(service: httpx.AsyncClient) -> None:
    """As the service does, with a warning."""
    found = await table(service, collection="drugbankddi", start=22)
    assert (found["rows"], found["totalCount"], found["status"]["warning"]) == ([], 0, ["eNoHitsFound"])


@pytest.mark.parametrize("query", [{"collection": "nonsense"}, {"collection": "drugbankddi", "start": 2**31}, {}])
async def test_a_query_that_cannot_be_served(service: httpx.AsyncClient, query: dict[str, Any]) -> None:
    """Is refused under HTTP 200."""
    found = await table(service, **query)
    assert (found["rows"], found["status"]["error"]) == ([], "eInvalidQuery")


async def test_cross_references(pug: httpx.AsyncClient, recorded: Recorded) -> None:
    """In the recorded shape; a compound of a list without any has an entry with its number alone."""
    answer = await pug.get("/compound/cid/22247451,962/xrefs/RN/JSON")
    assert shape(answer.json()) == shape(json.loads(recorded("xrefs_rn_water.json")))
    assert "7732-18-5" in answer.json()["InformationList"]["Information"][1]["RN"]
    assert (await pug.get("/compound/cid/962/xrefs/ProteinGI/JSON")).status_code == 404
    assert (await pug.get("/compound/cid/962/xrefs/CAS/JSON")).status_code == 400


async def test_descriptions(pug: httpx.AsyncClient, recorded: Recorded) -> None:
    """A title, then texts with their sources, as recorded; the fault is the recorded one too."""
    ours = (await pug.get("/compound/cid/241/description/JSON")).json()["InformationList"]["Information"]
    theirs = json.loads(recorded("description_cid241.json"))["InformationList"]["Information"]
    assert shape(ours[0]) == shape(theirs[0])
    assert set(ours[1]) <= set(theirs[1])
    fault = (await pug.get("/compound/cid/8/description/JSON")).json()["Fault"]
    assert fault == {"Code": "PUGREST.NotFound", "Message": "No description found for the given CID(s)"}


@pytest.mark.parametrize(("size", "side"), [("small", 100), ("large", 300), ("50x50", 50), ("nonsense", 300)])
async def test_a_drawing(pug: httpx.AsyncClient, size: str, side: int) -> None:
    """A PNG of the size asked for, the same in every run."""
    answer = await pug.get("/compound/cid/2244/PNG", params={"image_size": size})
    assert answer.headers["content-type"] == "image/png"
    assert (answer.content[:4], int.from_bytes(answer.content[16:20])) == (b"\x89PNG", side)
    assert (await pug.get("/compound/cid/2244/PNG", params={"image_size": size})).content == answer.content


async def test_a_conformer(pug: httpx.AsyncClient, recorded: Recorded) -> None:
    """The recorded one's atoms and bonds, with coordinates in space that are the same in every run."""
    answer = await pug.get("/compound/cid/2244/record/SDF?record_type=3d")
    assert answer.headers["content-type"] == "chemical/x-mdl-sdfile"
    assert answer.text.endswith("$$$$\n")
    ours, theirs = Molfile.parse(answer.text), Molfile.parse(recorded("record_aspirin_3d.sdf"))
    assert sorted(atom[0] for atom in ours.atoms) == sorted(atom[0] for atom in theirs.atoms)
    assert len(ours.bonds) == len(theirs.bonds)
    assert any(abs(atom[3]) > 0.1 for atom in ours.atoms)
    assert (await pug.get("/compound/cid/2244/SDF?record_type=3d")).text == answer.text


@pytest.mark.parametrize("cid", [5234, 517045, 999999999])
async def test_what_has_no_conformer(pug: httpx.AsyncClient, cid: int) -> None:
    """Salts, mixtures and what is not there are answered alike, in lines."""
    answer = await pug.get(f"/compound/cid/{cid}/record/SDF?record_type=3d")
    assert answer.status_code == 404
    assert answer.text.splitlines()[1] == "Code: PUGREST.NotFound"
    assert (await pug.get(f"/compound/cid/{cid}/conformers/JSON")).status_code == 404


async def test_conformer_ids(pug: httpx.AsyncClient) -> None:
    """Sixteen hexadecimal digits, of which the first half is the compound's number."""
    found = (await pug.get("/compound/cid/2244/conformers/JSON")).json()["InformationList"]["Information"]
    assert found[0]["ConformerID"][0] == "000008C400000001"
