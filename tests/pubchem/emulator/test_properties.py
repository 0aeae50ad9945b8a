"""Property tables, synonyms and full records."""

import sys

import httpx
import pytest

ALL = (
    "MolecularFormula,MolecularWeight,CanonicalSMILES,IsomericSMILES,InChI,InChIKey,IUPACName,Title,XLogP,ExactMass,"
    "MonoisotopicMass,TPSA,Complexity,Charge,HBondDonorCount,HBondAcceptorCount,RotatableBondCount,HeavyAtomCount,"
    "IsotopeAtomCount,AtomStereoCount,DefinedAtomStereoCount,UndefinedAtomStereoCount,BondStereoCount,"
    "DefinedBondStereoCount,UndefinedBondStereoCount,CovalentUnitCount,Volume3D"
)


async def table(pug: httpx.AsyncClient, cids: str, names: str) -> list[dict[str, object]]:
    answer = await pug.get(f"/compound/cid/{cids}/property/{names}/JSON")
    return answer.json()["PropertyTable"]["Properties"]


async def test_all_names(pug: httpx.AsyncClient):
    """All 27 names are accepted; SMILES come under their new names; what has no value is left out."""
    (row,) = await table(pug, "2244", ALL)
    expected = set(ALL.split(",")) | {"CID", "SMILES", "ConnectivitySMILES"}
    assert set(row) == expected - {"CanonicalSMILES", "IsomericSMILES", "Volume3D"}
    assert (row["MolecularWeight"], row["ExactMass"]) == ("180.16", "180.042258736")
    assert (row["TPSA"], row["HBondAcceptorCount"], row["RotatableBondCount"]) == (63.6, 4, 3)


@pytest.mark.parametrize(
    ("cid", "name", "value"),
    [
        (702, "MolecularWeight", "46.07"),
        (962, "MolecularWeight", "18.015"),
        (241, "MolecularWeight", "78.11"),
        (3672, "MolecularWeight", "206.28"),
        (36314, "MolecularWeight", "853.9"),
        (305, "MolecularFormula", "C5H14NO+"),
        (305, "Charge", 1),
        (5288826, "IsomericSMILES", "CN1CC[C@]23[C@@H]4[C@H]1CC5=C2C(=C(C=C5)O)O[C@H]3[C@H](C=C4)O"),
        (5288826, "DefinedAtomStereoCount", 5),
        (5957, "HBondAcceptorCount", 17),
        (2519, "HBondAcceptorCount", 3),
        (2519, "TPSA", 58.4),
        (2519, "XLogP", -0.1),
        (2519, "Complexity", 293),
    ],
)
async def test_value(pug: httpx.AsyncClient, cid: int, name: str, value: object):
    """Weights have PubChem's digits and are text; counts follow PubChem's definitions."""
    (row,) = await table(pug, str(cid), name)
    assert row[{"IsomericSMILES": "SMILES"}.get(name, name)] == value


async def test_property_without_value(pug: httpx.AsyncClient):
    """XLogP is left out, not null or 0, where the sample does not know it."""
    (row,) = await table(pug, "5288826", "XLogP,Charge")
    assert row == {"CID": 5288826, "Charge": 0}


async def test_unknown_cid(pug: httpx.AsyncClient):
    """An unknown CID is a row of its own with nothing but the CID, in its place."""
    rows = await table(pug, "2519,999999999,2244", "Title")
    assert rows == [{"CID": 2519, "Title": "Caffeine"}, {"CID": 999999999}, {"CID": 2244, "Title": "Aspirin"}]


async def test_posted_cids(pug: httpx.AsyncClient):
    """A long list of CIDs is posted."""
    cids = [2244, 2519] * 200
    answer = await pug.post("/compound/cid/property/Title/JSON", data={"cid": ",".join(map(str, cids))})
    assert [row["CID"] for row in answer.json()["PropertyTable"]["Properties"]] == cids


async def test_csv(pug: httpx.AsyncClient):
    """CSV has the answered names as its header, text quoted and numbers bare."""
    answer = await pug.get("/compound/cid/2244,2519/property/CanonicalSMILES,TPSA/CSV")
    assert answer.headers["content-type"] == "text/csv"
    assert answer.text.splitlines()[0] == '"CID","ConnectivitySMILES","TPSA"'
    assert answer.text.splitlines()[1] == '2244,"CC(=O)OC1=CC=CC=C1C(=O)O",63.6'


async def test_by_name(pug: httpx.AsyncClient):
    """Every way to name compounds leads to every operation."""
    answer = await pug.post("/compound/name/property/Title/JSON", data={"name": "aspirin"})
    assert answer.json()["PropertyTable"]["Properties"] == [{"CID": 2244, "Title": "Aspirin"}]


async def test_synonyms(pug: httpx.AsyncClient):
    """Synonyms keep their order and hold the CAS number; hundreds are normal for a well-known drug."""
    answer = await pug.get("/compound/cid/2244/synonyms/JSON")
    (entry,) = answer.json()["InformationList"]["Information"]
    assert entry["Synonym"][0] == "aspirin"
    assert "50-78-2" in entry["Synonym"]
    assert len(entry["Synonym"]) > 500


async def test_record(pug: httpx.AsyncClient):
    """A record has atoms with hydrogens, bonds between them, a drawing and the property list."""
    answer = await pug.get("/compound/cid/2244/record/JSON")
    (record,) = answer.json()["PC_Compounds"]
    assert record["atoms"]["element"].count(1) == 8
    assert len(record["bonds"]["aid1"]) == 21
    assert set(record["bonds"]["order"]) == {1, 2}
    assert {
        "urn": {"label": "InChIKey", "name": "Standard", "datatype": 1},
        "value": {"sval": "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"},
    } in record["props"]


async def test_record_of_unknown_cid(pug: httpx.AsyncClient):
    """There is no empty record: an unknown CID is not found."""
    answer = await pug.get("/compound/cid/999999999/JSON")
    assert answer.json()["Fault"] == {
        "Code": "PUGREST.NotFound",
        "Message": "Record not found",
        "Details": ["No record data for CID 999999999"],
    }


async def test_rdkit_is_not_imported_before_a_structure_comes():
    """Names, properties and formulas are answered without RDKit, which takes a third of a second to import."""
    program = """
import asyncio, sys, httpx
from scigate_pubchem.emulator import create_app
async def main():
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=create_app()), base_url="http://p/rest/pug") as pug:
        for path in ("name/aspirin/cids", "cid/2244/property/MolecularWeight", "fastformula/C9H8O4/cids"):
            assert (await pug.get(f"/compound/{path}/JSON")).status_code == 200
asyncio.run(main())
print("rdkit" in sys.modules)
"""
    import anyio

    done = await anyio.run_process([sys.executable, "-c", program])
    assert done.stdout.split() == [b"False"]
