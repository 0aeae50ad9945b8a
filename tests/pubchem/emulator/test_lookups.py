"""Names, InChIKeys, SMILES and InChIs to CIDs."""

import httpx
import pytest
from scigate.emulator import Emulator

ASPIRIN = 2244
INCHI = "InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12)"


def cids(answer: httpx.Response) -> list[int]:
    assert answer.status_code == 200, answer.text
    return answer.json()["IdentifierList"]["CID"]


@pytest.mark.parametrize(
    ("name", "cid"),
    [
        ("aspirin", 2244),
        ("Acetylsalicylic Acid", 2244),
        ("50-78-2", 2244),
        ("caffeine", 2519),
        ("ibuprofen", 3672),
        ("paracetamol", 1983),
        ("metformin", 4091),
        ("glucose", 5793),
        ("morphine", 5288826),
        ("benzoic acid%2C 2-%28acetyloxy%29-", 2244),
    ],
)
async def test_name(pug: httpx.AsyncClient, name: str, cid: int):
    """A name in any case, a CAS number and a percent-encoded name find the compound, the best known one first."""
    assert cids(await pug.get(f"/compound/name/{name}/cids/JSON"))[0] == cid


async def test_name_with_slash(pug: httpx.AsyncClient):
    """A slash inside an identifier is no separator once it is percent-encoded."""
    answer = await pug.get("/compound/name/no%2Fsuch/cids/JSON")
    assert answer.json()["Fault"]["Code"] == "PUGREST.NotFound"


@pytest.mark.parametrize("smiles", ["CC(=O)OC1=CC=CC=C1C(=O)O", "OC(=O)c1ccccc1OC(C)=O"])
async def test_smiles(pug: httpx.AsyncClient, smiles: str):
    """Any way to write a structure finds it, posted, in the path or among the options."""
    assert cids(await pug.post("/compound/smiles/cids/JSON", data={"smiles": smiles})) == [ASPIRIN]
    assert cids(await pug.get(f"/compound/smiles/{smiles}/cids/JSON")) == [ASPIRIN]
    assert cids(await pug.get("/compound/smiles/cids/JSON", params={"smiles": smiles})) == [ASPIRIN]


async def test_stereo(pug: httpx.AsyncClient):
    """The enantiomers of alanine and the compound without stereo are three structures, as in PubChem."""
    found = [
        cids(await pug.post("/compound/smiles/cids/JSON", data={"smiles": smiles}))
        for smiles in ("C[C@@H](C(=O)O)N", "C[C@H](C(=O)O)N", "CC(C(=O)O)N")
    ]
    assert found == [[5950], [71080], [602]]


async def test_inchi(pug: httpx.AsyncClient):
    """An InChI is posted, since its slashes can't stand in a path."""
    assert cids(await pug.post("/compound/inchi/cids/JSON", data={"inchi": INCHI})) == [ASPIRIN]


async def test_inchikey(pug: httpx.AsyncClient):
    """InChIKeys are matched as written, several at once; a lower-case key is none."""
    assert cids(await pug.get("/compound/inchikey/BSYNRYMUTXBXSQ-UHFFFAOYSA-N/cids/JSON")) == [ASPIRIN]
    two = {"inchikey": "BSYNRYMUTXBXSQ-UHFFFAOYSA-N,RYYVLZVUVIJVGH-UHFFFAOYSA-N"}
    assert cids(await pug.post("/compound/inchikey/cids/JSON", data=two)) == [ASPIRIN, 2519]
    lower = await pug.get("/compound/inchikey/bsynrymutxbxsq-uhfffaoysa-n/cids/JSON")
    assert lower.status_code == 404


async def test_structure_that_is_not_in_the_sample(pug: httpx.AsyncClient):
    """A readable structure that is in no record is compound 0, not a fault."""
    answer = await pug.post("/compound/smiles/cids/JSON", data={"smiles": "C[Fe](C)(C)OC(C)=O"})
    assert cids(answer) == [0]


@pytest.mark.parametrize("smiles", ["c1ccccc12cCc4", "CC*", "C(C)(C)(C)(C)C", "<html>", "C\0C", "C" * 5000])
async def test_structure_that_cannot_be_read(pug: httpx.AsyncClient, smiles: str):
    """Bad syntax, wildcard atoms, impossible valences and giants are refused with the standardizer's log."""
    answer = await pug.post("/compound/smiles/cids/JSON", data={"smiles": smiles})
    fault = answer.json()["Fault"]
    assert answer.status_code == 400
    assert fault["Message"].startswith("Unable to standardize the given structure")
    assert fault["Details"][0] == "error: "


async def test_post_without_form_type(pug: httpx.AsyncClient):
    """A body that is not declared as a form is not read."""
    answer = await pug.post("/compound/smiles/cids/JSON", content="smiles=CCO", headers={"content-type": "text/plain"})
    assert answer.status_code == 400


async def test_every_answer_is_marked(pug: httpx.AsyncClient):
    """Good answers and faults alike say that they are sample data and how busy the service is."""
    for path in ("/compound/name/aspirin/cids/JSON", "/compound/name/nonesuch/cids/JSON", "/compound/cid/1/cids/XML"):
        headers = (await pug.get(path)).headers
        assert headers["x-sample-data"] == "pubchem"
        assert headers["x-throttling-control"].startswith("Request Count status: Green (0%)")


async def test_text(pug: httpx.AsyncClient):
    """TXT is one identifier a line, and its faults are lines too."""
    good = await pug.get("/compound/name/aspirin/cids/TXT")
    bad = await pug.get("/compound/name/nonesuch/cids/txt")
    assert (good.text, good.headers["content-type"]) == ("2244\n", "text/plain")
    assert bad.text.splitlines() == [
        "Status: 404",
        "Code: PUGREST.NotFound",
        "Message: No CID found",
        "Detail: No CID found that matches the given name",
    ]


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "code"),
    [
        ("PUT", "/compound/name/aspirin/cids/JSON", {}, 405, "PUGREST.NotAllowed"),
        ("GET", "/compound/name/aspirin/cids/JSON", {"accept": "text/html"}, 405, "PUGREST.NotAllowed"),
        ("GET", "/compound/cid/2244/classification/JSON", {}, 501, "PUGREST.Unimplemented"),
        ("GET", "/cell/cellacc/CVCL_0030/summary/JSON", {}, 501, "PUGREST.Unimplemented"),
        ("GET", "/compound/cid/x/cids/JSON", {}, 400, "PUGREST.BadRequest"),
        ("GET", "/compound/colour/red/cids/JSON", {}, 400, "PUGREST.BadRequest"),
        ("GET", "/compound/name/aspirin/nonsense/JSON", {}, 400, "PUGREST.BadRequest"),
        ("GET", "/compound/JSON", {}, 400, "PUGREST.BadRequest"),
    ],
)
async def test_refused_requests(
    pug: httpx.AsyncClient, method: str, path: str, headers: dict[str, str], status: int, code: str
):
    """What PUG REST does not offer, and what the sample does not, is a fault and never an empty list."""
    answer = await pug.request(method, path, headers=headers)
    assert (answer.status_code, answer.json()["Fault"]["Code"]) == (status, code)


async def test_requests_are_counted(pug: httpx.AsyncClient, emulator: Emulator):
    """The emulator keeps what arrived, in order."""
    await pug.get("/compound/name/aspirin/cids/JSON")
    await pug.post("/compound/smiles/cids/JSON?x=1", data={"smiles": "CCO"})
    assert [(a.method, a.path, a.query) for a in emulator.requests] == [
        ("GET", "/rest/pug/compound/name/aspirin/cids/JSON", ""),
        ("POST", "/rest/pug/compound/smiles/cids/JSON", "x=1"),
    ]
