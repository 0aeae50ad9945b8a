"""Formula and structure searches, tickets and sample assays."""

import anyio
import httpx
import pytest
from rdkit import Chem
from scigate_pubchem.emulator import create_app
from scigate_pubchem.emulator.sample import sample

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"


def cids(answer: httpx.Response) -> list[int]:
    assert answer.status_code == 200, answer.text
    return answer.json()["IdentifierList"]["CID"]


async def formula(pug: httpx.AsyncClient, query: str, options: str = "") -> list[int]:
    return cids(await pug.get(f"/compound/fastformula/{query}/cids/JSON?{options}"))


async def structure(pug: httpx.AsyncClient, kind: str, smiles: str, options: str = "") -> list[int]:
    return cids(await pug.post(f"/compound/fast{kind}/smiles/cids/JSON?{options}", data={"smiles": smiles}))


async def test_formula(pug: httpx.AsyncClient):
    """Only compounds of exactly this formula match, in any order of its elements."""
    found = await formula(pug, "C9H8O4")
    assert 2244 in found
    assert {sample().text(cid, "MolecularFormula") for cid in found} == {"C9H8O4"}
    assert await formula(pug, "O4H8C9") == found


async def test_formula_with_other_elements(pug: httpx.AsyncClient):
    """`AllowOtherElements` keeps the counts and lets other elements in."""
    strict, loose = await formula(pug, "C9H8O4"), await formula(pug, "C9H8O4", "AllowOtherElements=true")
    assert set(strict) < set(loose)


async def test_formula_range(pug: httpx.AsyncClient):
    """A range of one element is the union of the formulas in it."""
    union = [cid for n in (1, 2, 3) for cid in await formula(pug, f"C{n}H4O")]
    assert await formula(pug, "C1-3H4O") == sorted(union)


async def test_max_records_is_a_stable_prefix(pug: httpx.AsyncClient):
    """Asking for more only adds to the end of the list."""
    whole = await structure(pug, "substructure", "c1ccccc1")
    assert len(whole) > 4000
    for n in (1, 50, 51, 1000):
        assert await structure(pug, "substructure", "c1ccccc1", f"MaxRecords={n}") == whole[:n]


async def test_substructure_agrees_with_rdkit(pug: httpx.AsyncClient):
    """The fingerprint screen loses no match: matching every compound one by one gives the same list."""
    query = Chem.MolFromSmiles(ASPIRIN)
    smiles = zip(sample().cids, sample().column("SMILES"), strict=True)
    expected = [cid for cid, text in smiles if Chem.MolFromSmiles(text).HasSubstructMatch(query)]
    assert await structure(pug, "substructure", ASPIRIN) == expected


async def test_superstructure_is_the_converse(pug: httpx.AsyncClient):
    """What aspirin contains, contains aspirin's parts: a compound found above has the query found below it."""
    found = await structure(pug, "superstructure", ASPIRIN)
    assert {2244, 241, 338, 243} <= set(found)  # itself, benzene, salicylic and benzoic acid
    assert 2244 in await structure(pug, "substructure", sample().text(338, "SMILES"))


async def test_similarity(pug: httpx.AsyncClient):
    """The query itself comes first, a lower threshold only adds compounds behind, and 90 is the default."""
    lists = {t: await structure(pug, "similarity_2d", ASPIRIN, f"Threshold={t}") for t in (95, 90, 80)}
    assert lists[95][0] == 2244
    assert lists[80][: len(lists[90])] == lists[90]
    assert lists[90][: len(lists[95])] == lists[95]
    assert len(lists[95]) < len(lists[90]) < len(lists[80])
    assert await structure(pug, "similarity_2d", ASPIRIN) == lists[90]


@pytest.mark.parametrize("kind", ["substructure", "superstructure", "similarity_2d", "identity"])
async def test_search_by_cid(pug: httpx.AsyncClient, kind: str):
    """A search from a CID is the search from its structure."""
    by_cid = cids(await pug.get(f"/compound/fast{kind}/cid/2519/cids/JSON"))
    assert by_cid == await structure(pug, kind, "CN1C=NC2=C1C(=O)N(C(=O)N2C)C")


@pytest.mark.parametrize(
    "path",
    [
        "fastformula/xyz",
        "fastformula/C9Q8",
        "fastsubstructure/smiles/c1ccc",
        "fastsubstructure/smiles/CC*",
        "fastsubstructure/smiles/%20",
        "fastsimilarity_2d/cid/999999999",
        "fastidentity/smiles/nonsense",
    ],
)
async def test_unsearchable(pug: httpx.AsyncClient, path: str):
    """A query that cannot be searched is a server error with exactly this message."""
    answer = await pug.get(f"/compound/{path}/cids/JSON")
    fault = {"Code": "PUGREST.ServerError", "Message": "Search status indicates failure"}
    assert (answer.status_code, answer.json()) == (500, {"Fault": fault})


async def test_no_hits(pug: httpx.AsyncClient):
    """A search without hits is not found, unlike a query that cannot be searched."""
    answer = await pug.get("/compound/fastformula/C1H99/cids/JSON")
    assert (answer.status_code, answer.json()["Fault"]["Message"]) == (404, "Search returned no hits")


async def test_blank_formula(pug: httpx.AsyncClient):
    """A formula of blanks is answered with unrelated compounds, as PubChem does."""
    assert len(await formula(pug, "%20", "MaxRecords=3")) == 3


async def test_searches_leave_the_event_loop_free(pug: httpx.AsyncClient):
    """A name is answered while a structure search runs."""
    order: list[str] = []

    async def ask(label: str, path: str) -> None:
        await pug.get(path)
        order.append(label)

    await pug.get("/compound/name/aspirin/cids/JSON")
    async with anyio.create_task_group() as group:
        group.start_soon(ask, "structure", "/compound/fastsubstructure/smiles/C/cids/JSON")
        await anyio.lowlevel.checkpoint()
        group.start_soon(ask, "name", "/compound/name/caffeine/cids/JSON")
    assert order == ["name", "structure"]


async def ticket(pug: httpx.AsyncClient, path: str) -> str:
    answer = await pug.get(path)
    assert answer.status_code == 202
    return answer.json()["Waiting"]["ListKey"]


async def test_polled_search(pug: httpx.AsyncClient):
    """A search that is not "fast" gives a ticket; its list comes when it was asked for once in vain."""
    key = await ticket(pug, "/compound/substructure/smiles/CC(=O)Oc1ccccc1C(=O)O/cids/JSON")
    first = await pug.get(f"/compound/listkey/{key}/cids/JSON")
    assert (first.status_code, first.json()["Waiting"]["ListKey"]) == (202, key)
    assert cids(await pug.get(f"/compound/listkey/{key}/cids/JSON")) == await structure(pug, "substructure", ASPIRIN)


async def test_polls_can_be_set():
    """How often a ticket is refused is the choice of whoever makes the emulator."""
    transport = httpx.ASGITransport(app=create_app(polls=3))
    async with httpx.AsyncClient(transport=transport, base_url="http://pubchem/rest/pug") as pug:
        key = await ticket(pug, "/compound/formula/C9H8O4/JSON")
        statuses = [(await pug.get(f"/compound/listkey/{key}/cids/JSON")).status_code for _ in range(4)]
    assert statuses == [202, 202, 202, 200]


async def test_failed_polled_search(pug: httpx.AsyncClient):
    """A polled search fails at the poll, not at the request that began it."""
    key = await ticket(pug, "/compound/substructure/smiles/c1ccc/cids/JSON")
    statuses = [(await pug.get(f"/compound/listkey/{key}/cids/JSON")).status_code for _ in range(2)]
    assert statuses == [202, 500]


async def test_list_window(pug: httpx.AsyncClient):
    """`listkey_start` and `listkey_count` page a stored list; past its end there is nothing."""
    key = await ticket(pug, "/compound/formula/C9H8O4/JSON")
    await pug.get(f"/compound/listkey/{key}/cids/JSON")
    read = f"/compound/listkey/{key}/cids/JSON"
    whole = cids(await pug.get(read))
    assert cids(await pug.get(f"{read}?listkey_start=1&listkey_count=2")) == whole[1:3]
    assert (await pug.get(f"{read}?listkey_start={len(whole)}&listkey_count=2")).status_code == 404


async def test_unknown_list_key(pug: httpx.AsyncClient):
    """A key that was never given out is a fault that cannot be taken for an empty list."""
    assert (await pug.get("/compound/listkey/17/cids/JSON")).status_code == 400


async def test_assay_cids(pug: httpx.AsyncClient):
    """The default is grouped by assay; flat and stored lists hold the same compounds."""
    path = "/assay/aid/900000002/cids/JSON?cids_type=active"
    (group,) = (await pug.get(path)).json()["InformationList"]["Information"]
    stored = (await pug.get(f"{path}&list_return=listkey")).json()["IdentifierList"]
    assert group["AID"] == 900000002
    assert cids(await pug.get(f"{path}&list_return=flat")) == group["CID"]
    assert stored["Size"] == len(group["CID"])
    page = await pug.get(f"/compound/listkey/{stored['ListKey']}/cids/JSON?listkey_start=5&listkey_count=3")
    assert cids(page) == group["CID"][5:8]


async def test_assay_outcomes(pug: httpx.AsyncClient):
    """Active and inactive compounds are disjoint and make up all; the summary counts them."""
    lists = {
        kind: set(cids(await pug.get(f"/assay/aid/900000003/cids/JSON?cids_type={kind}&list_return=flat")))
        for kind in ("active", "inactive", "all")
    }
    answer = await pug.get("/assay/aid/900000003/summary/JSON")
    (summary,) = answer.json()["AssaySummaries"]["AssaySummary"]
    assert lists["active"] | lists["inactive"] == lists["all"]
    assert not lists["active"] & lists["inactive"]
    assert (summary["CIDCountAll"], summary["CIDCountActive"]) == (len(lists["all"]), len(lists["active"]))


async def test_assay_without_actives(pug: httpx.AsyncClient):
    """No compound of the asked kind and no such assay are one fault; only the summary tells them apart."""
    for aid, status in ((900000005, 200), (1, 404)):
        assert (await pug.get(f"/assay/aid/{aid}/cids/JSON?cids_type=active")).status_code == 404
        assert (await pug.get(f"/assay/aid/{aid}/summary/JSON")).status_code == status
