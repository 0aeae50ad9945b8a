"""The PUG REST client: what it asks, and what it reads off the answers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest
from scigate_pubchem.client import PubChem
from scigate_pubchem.faults import NotFound, PubChemError, SearchRejected, UnexpectedAnswer
from scigate_pubchem.searches import BoundedList, ListedPage, Resolution

RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings" / "pubchem"
ROOT = "https://pubchem.ncbi.nlm.nih.gov/"
Answers = Callable[[httpx.Request], httpx.Response]


class Asked:
    """A client whose answers a test gives, and the requests that it made."""

    def __init__(self, *answers: httpx.Response | Answers) -> None:
        self.requests: list[httpx.Request] = []
        self._answers = list(answers)
        http = httpx.AsyncClient(base_url=ROOT, transport=httpx.MockTransport(self._answer))
        self.pubchem = PubChem(http, poll_interval_s=0)
        self.search = self.pubchem.search

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return answer(request) if callable(answer) else answer

    @property
    def line(self) -> str:
        """The only request: method, path and query as sent, and the form."""
        (request,) = self.requests
        form = "&".join(f"{name}={value[0]}" for name, value in parse_qs(request.content.decode()).items())
        return f"{request.method} {request.url.raw_path.decode()} {form}".strip()


def cids(*numbers: int, **more: object) -> httpx.Response:
    return httpx.Response(200, json={"IdentifierList": {"CID": list(numbers), **more}})


def waiting(status: int = 202) -> httpx.Response:
    return httpx.Response(status, json={"Waiting": {"ListKey": "77", "Message": "Your request is running"}})


def fault(status: int, code: str = "PUGREST.X", message: str = "m") -> httpx.Response:
    return httpx.Response(status, json={"Fault": {"Code": code, "Message": message}})


@pytest.mark.parametrize(
    ("kind", "identifier", "line"),
    [
        ("name", "aspirin", "GET /rest/pug/compound/name/aspirin/cids/JSON"),
        ("name", " vitamin C ", "GET /rest/pug/compound/name/vitamin%20C/cids/JSON"),
        ("name", "50%?#&+", "GET /rest/pug/compound/name/50%25%3F%23%26%2B/cids/JSON"),
        ("name", "α-pinene", "GET /rest/pug/compound/name/%CE%B1-pinene/cids/JSON"),
        ("name", "a/b", "POST /rest/pug/compound/name/cids/JSON name=a/b"),
        ("name", "..", "POST /rest/pug/compound/name/cids/JSON name=.."),
        ("smiles", "C/C=C\\C#N", "POST /rest/pug/compound/smiles/cids/JSON smiles=C/C=C\\C#N"),
        ("inchi", "InChI=1S/CH4/h1H4", "POST /rest/pug/compound/inchi/cids/JSON inchi=InChI=1S/CH4/h1H4"),
        (
            "inchikey",
            "bsynRYMUTXBXSQ-uhfffaoysa-n",
            "GET /rest/pug/compound/inchikey/BSYNRYMUTXBXSQ-UHFFFAOYSA-N/cids/JSON",
        ),
    ],
)
async def test_an_identifier_is_one_request(kind: Any, identifier: str, line: str) -> None:
    """In the path where nothing in it can be taken for a path, else in the form; keys in capitals."""
    asked = Asked(cids(7))
    assert await asked.search.resolve(kind, identifier) == Resolution((7,))
    assert asked.line == line


async def test_a_post_says_that_it_only_reads() -> None:
    """It may then be repeated, cached and shared; and it is a form."""
    asked = Asked(cids(7))
    await asked.search.resolve("smiles", "CC")
    (request,) = asked.requests
    assert request.extensions["scigate.safe"] is True
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("answer", "resolution"),
    [
        (cids(3, 1, 2), Resolution((3, 1, 2))),
        (cids(0), Resolution(())),
        (cids(5, 0, 5, 6), Resolution((5, 6))),
        (httpx.Response(200, json={"IdentifierList": {}}), Resolution(())),
        (fault(404, "PUGREST.NotFound", "No CID found"), Resolution(())),
        (fault(400, "PUGREST.BadRequest", "Unable"), Resolution((), refused="PUGREST.BadRequest: Unable")),
    ],
)
async def test_an_identifier_leads_somewhere_or_nowhere(answer: httpx.Response, resolution: Resolution) -> None:
    """In PubChem's order, without zeros and repeats; nothing found and unreadable are two things."""
    assert await Asked(answer).search.resolve("smiles", "CC") == resolution


@pytest.mark.parametrize("answer", [fault(500), fault(503), fault(400, "PUGREST.ServerBusy"), fault(504)])
async def test_a_failing_lookup_is_no_empty_result(answer: httpx.Response) -> None:
    """It is raised, whatever the status."""
    with pytest.raises(PubChemError):
        await Asked(answer).search.resolve("smiles", "CC")


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html></html>", headers={"Content-Type": "text/html"}),
        httpx.Response(200, content=b'{"IdentifierList": {"CI', headers={"Content-Type": "application/json"}),
        httpx.Response(200, json={}),
        httpx.Response(200, json={"IdentifierList": {"CID": ["x"]}}),
        httpx.Response(200, json={"InformationList": {"Information": [{"AID": 1, "CID": [7]}]}}),
        httpx.Response(200, json=[]),
        httpx.Response(200, content=b""),
    ],
    ids=["HTML", "cut off", "empty object", "text for a number", "grouped list", "a list", "nothing"],
)
async def test_an_answer_of_another_shape_is_no_empty_result(answer: httpx.Response) -> None:
    """It names what is wrong, without the body."""
    with pytest.raises(UnexpectedAnswer) as caught:
        await Asked(answer).search.resolve("smiles", "CC")
    assert "<html>" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "form", "query", "line"),
    [
        (
            "substructure",
            "smiles",
            "c1ccccc1",
            "POST /rest/pug/compound/fastsubstructure/smiles/cids/JSON?MaxRecords=9 smiles=c1ccccc1",
        ),
        ("superstructure", "cid", "7", "GET /rest/pug/compound/fastsuperstructure/cid/7/cids/JSON?MaxRecords=9"),
        (
            "similarity",
            "cid",
            "7",
            "GET /rest/pug/compound/fastsimilarity_2d/cid/7/cids/JSON?MaxRecords=9&Threshold=85",
        ),
    ],
)
async def test_a_structure_search_is_bounded(kind: Any, form: Any, query: str, line: str) -> None:
    """Left out, the bound would bring the service's whole match set; the threshold is similarity's alone."""
    asked = Asked(cids(1, 2))
    assert await asked.search.by_structure(kind, form, query, most=9, threshold=85) == BoundedList((1, 2), True)
    assert asked.line == line


@pytest.mark.parametrize(("other", "suffix"), [(False, ""), (True, "&AllowOtherElements=true")])
async def test_a_formula_search_is_bounded(other: bool, suffix: str) -> None:
    """The formula is one path segment."""
    asked = Asked(cids(1))
    await asked.search.by_formula("C6H12/O6", allow_other_elements=other, most=9)
    assert asked.line == f"GET /rest/pug/compound/fastformula/C6H12%2FO6/cids/JSON?MaxRecords=9{suffix}"


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ([], BoundedList((), True)),
        ([1, 2], BoundedList((1, 2), True)),
        ([1, 2, 3], BoundedList((1, 2, 3), False)),
        ([1, 1, 0], BoundedList((1,), False)),
        ([1, 2, 3, 4], BoundedList((1, 2, 3), False)),
    ],
)
async def test_a_list_is_complete_when_it_came_back_short(raw: list[int], found: BoundedList) -> None:
    """Judged before zeros and repeats are dropped; a list over the bound is cut to it."""
    assert await Asked(cids(*raw)).search.by_formula("X", allow_other_elements=False, most=3) == found


async def test_no_hits_are_an_empty_list() -> None:
    """PubChem says 404 for it."""
    answer = fault(404, "PUGREST.NotFound", "Search returned no hits")
    found = await Asked(answer).search.by_formula("X", allow_other_elements=False, most=3)
    assert found == BoundedList((), True)


@pytest.mark.parametrize(
    "answer", [fault(500, "PUGREST.ServerError", "Search status indicates failure"), fault(400, "PUGREST.BadRequest")]
)
async def test_a_query_that_cannot_be_searched_is_rejected(answer: httpx.Response) -> None:
    """It holds what was sent; any other 500 is the server's fault."""
    with pytest.raises(SearchRejected) as caught:
        await Asked(answer).search.by_structure("similarity", "cid", "1", most=3, threshold=90)
    assert (caught.value.form, caught.value.query) == ("cid", "1")
    with pytest.raises(PubChemError) as other:
        await Asked(fault(500)).search.by_structure("similarity", "cid", "1", most=3, threshold=90)
    assert not isinstance(other.value, SearchRejected)


@pytest.mark.parametrize("status", [200, 202])
async def test_a_search_that_is_not_ready_is_asked_for_again(status: int) -> None:
    """Its key does not carry the bound: it is sent again, and kept here; such looks are never cached."""
    asked = Asked(waiting(status), waiting(status), cids(1, 2, 3, 4))
    found = await asked.search.by_formula("X", allow_other_elements=False, most=3)
    assert found == BoundedList((1, 2, 3), False)
    assert [request.url.raw_path.decode() for request in asked.requests[1:]] == [
        "/rest/pug/compound/listkey/77/cids/JSON?listkey_count=3"
    ] * 2
    assert asked.requests[1].extensions["scigate.cache"] is False


async def test_an_identifier_that_is_not_ready_is_asked_for_whole() -> None:
    """All its compounds are wanted."""
    asked = Asked(waiting(), cids(1, 2))
    assert await asked.search.resolve("smiles", "CC") == Resolution((1, 2))
    assert asked.requests[1].url.raw_path == b"/rest/pug/compound/listkey/77/cids/JSON"


async def test_a_search_that_is_never_ready_times_out() -> None:
    """After twenty looks, as a timeout of PubChem."""
    asked = Asked(waiting())
    with pytest.raises(PubChemError) as caught:
        await asked.search.resolve("smiles", "CC")
    assert (caught.value.fault.status, len(asked.requests)) == (504, 21)


async def test_an_assay_s_page_is_read_off_its_stored_list() -> None:
    """One request for the list's size, one for the page; none for a page past the end."""
    asked = Asked(cids(Size=9, ListKey="5"), cids(4, 5, 6))
    found = await asked.search.assay_compounds(1000, active_only=True, offset=3, size=3)
    assert found == ListedPage(9, (4, 5, 6), 3)
    assert [request.url.raw_path.decode() for request in asked.requests] == [
        "/rest/pug/assay/aid/1000/cids/JSON?cids_type=active&list_return=listkey",
        "/rest/pug/compound/listkey/5/cids/JSON?listkey_start=3&listkey_count=3",
    ]
    odd = Asked(cids(Size=9, ListKey="5"), cids(4, 0, 4))
    # What stands for nothing, or stood before, still takes its place in the list: the next page begins after it.
    assert await odd.search.assay_compounds(1000, active_only=True, offset=3, size=3) == ListedPage(9, (4,), 3)
    past = Asked(cids(Size=9, ListKey="5"))
    assert await past.search.assay_compounds(1000, active_only=False, offset=9, size=3) == ListedPage(9, (), 0)
    assert "cids_type=all" in past.line


@pytest.mark.parametrize("forgotten", [fault(404), fault(400)])
async def test_a_list_that_was_forgotten_is_stored_anew(forgotten: httpx.Response) -> None:
    """Once, and past the cache that still holds the old key."""
    asked = Asked(cids(Size=9, ListKey="5"), forgotten, cids(Size=8, ListKey="6"), cids(1))
    assert await asked.search.assay_compounds(1000, active_only=True, offset=0, size=1) == ListedPage(8, (1,), 1)
    assert asked.requests[2].extensions["scigate.cache"] == "refresh"
    with pytest.raises(PubChemError):
        await Asked(cids(Size=9, ListKey="5"), forgotten, cids(Size=8, ListKey="6"), forgotten).search.assay_compounds(
            1000, active_only=True, offset=0, size=1
        )


async def test_an_assay_without_a_list_is_not_found() -> None:
    """Whether there is such an assay its summary tells."""
    with pytest.raises(NotFound):
        await Asked(fault(404)).search.assay_compounds(1000, active_only=True, offset=0, size=1)
    with pytest.raises(UnexpectedAnswer):
        await Asked(cids(1, 2)).search.assay_compounds(1000, active_only=True, offset=0, size=1)


def rows(*entries: dict[str, Any]) -> httpx.Response:
    return httpx.Response(200, json={"PropertyTable": {"Properties": list(entries)}})


async def test_properties_have_the_names_that_were_asked_for() -> None:
    """PubChem renamed two in 2025: new names are sent, either is read, and the caller's come back."""
    asked = Asked(rows({"CID": 1, "SMILES": "C", "ConnectivitySMILES": "CC", "Charge": 0}))
    found = await asked.pubchem.properties([1, 2], ["IsomericSMILES", "CanonicalSMILES", "Charge"])
    assert found == {1: {"IsomericSMILES": "C", "CanonicalSMILES": "CC", "Charge": 0}}
    assert asked.line == "GET /rest/pug/compound/cid/1,2/property/SMILES,ConnectivitySMILES,Charge/JSON"
    old = Asked(rows({"CID": 1, "IsomericSMILES": "C", "CanonicalSMILES": "CC"}))
    assert await old.pubchem.properties([1], ["IsomericSMILES", "CanonicalSMILES"]) == {
        1: {"IsomericSMILES": "C", "CanonicalSMILES": "CC"}
    }


async def test_a_compound_without_properties_is_absent() -> None:
    """An unknown CID comes back as a row that holds the CID alone."""
    asked = Asked(rows({"CID": 1, "XLogP": -0.1}, {"CID": 2}))
    assert await asked.pubchem.properties([1, 2], ["XLogP"]) == {1: {"XLogP": -0.1}}


@pytest.mark.parametrize(("count", "method"), [(50, "GET"), (51, "POST")])
async def test_many_compounds_go_into_a_form(count: int, method: str) -> None:
    """So that no URL grows past what proxies take."""
    asked = Asked(rows())
    await asked.pubchem.properties(list(range(1, count + 1)), ["Charge"])
    (request,) = asked.requests
    assert request.method == method
    assert (b"cid=1%2C2%2C" in request.content) == (method == "POST")


def recorded(*beginnings: str) -> list[Any]:
    index = RECORDINGS / "index.json"
    if not index.exists():
        return []
    entries = json.loads(index.read_text(encoding="utf-8"))["files"]
    return [
        entry
        for entry in entries
        if entry["file"].startswith(beginnings) and entry["file"].endswith(".json") and entry["http_status"] == 200
    ]


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not at hand")
def test_recorded_answers_are_at_hand() -> None:
    """So that the next tests are not empty."""
    assert len(recorded("cids_")) >= 1
    assert len(recorded("property_")) >= 1


@pytest.mark.parametrize("entry", recorded("cids_"), ids=lambda entry: entry["file"])
async def test_a_recorded_list_is_read(entry: dict[str, Any]) -> None:
    """A true answer of the service: a structure that it can read and does not hold is answered with CID 0."""
    body = (RECORDINGS / entry["file"]).read_bytes()
    listed = json.loads(body)["IdentifierList"]["CID"]
    answer = httpx.Response(200, content=body, headers={"Content-Type": "application/json"})
    found = await Asked(answer).search.resolve("smiles", "CC")
    assert found == Resolution(tuple(cid for cid in listed if cid))


@pytest.mark.parametrize("entry", recorded("property_"), ids=lambda entry: entry["file"])
async def test_a_recorded_property_table_is_read(entry: dict[str, Any]) -> None:
    """Under the names that were asked for when it was recorded."""
    body = (RECORDINGS / entry["file"]).read_bytes()
    table = json.loads(body)["PropertyTable"]["Properties"]
    names = [name for name in table[0] if name != "CID"]
    answer = httpx.Response(200, content=body, headers={"Content-Type": "application/json"})
    found = await Asked(answer).pubchem.properties([row["CID"] for row in table], names)
    assert found == {row["CID"]: {name: row[name] for name in names} for row in table}
