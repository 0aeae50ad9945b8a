"""The emulator's answers beside recorded answers of the real service (2020 to 2025)."""

import csv
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from rdkit import Chem
from scigate_pubchem.emulator.sample import sample

Recorded = Callable[[str], str]

UNKNOWN = "C[Fe](C)(C)OC(C)=O"


@pytest.mark.parametrize(
    ("file", "path", "form"),
    [
        ("cids_smiles_unknown_zero.json", "smiles/cids", {"smiles": UNKNOWN}),
        ("fault_400_cannot_standardize.json", "smiles/cids", {"smiles": "c1ccccc12cCc4"}),
        ("fault_400_invalid_property.json", "cid/2244/property/Foo", None),
        ("fault_400_missing_cid_list.json", "cid/cids", None),
        ("fault_404_no_cid_found.json", "name/nonesuch/cids", None),
    ],
)
async def test_same_json(pug: httpx.AsyncClient, recorded: Recorded, file: str, path: str, form: dict[str, str] | None):
    """These answers are the recorded ones, word for word."""
    expected = json.loads(recorded(file))
    url = f"/compound/{path}/JSON"
    answer = await (pug.post(url, data=form) if form else pug.get(url))
    assert answer.json() == expected


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("cids_name_aspirin.txt", "name/aspirin/cids"),
        ("property_canonicalsmiles_post.txt", "cid/2244/property/CanonicalSMILES"),
    ],
)
async def test_same_text(pug: httpx.AsyncClient, recorded: Recorded, file: str, path: str):
    """The text forms are the recorded ones."""
    assert (await pug.get(f"/compound/{path}/TXT")).text.strip() == recorded(file).strip()


def keys(value: Any) -> Any:
    """The shape of a value: names and types, lists by their first entry."""
    if isinstance(value, dict):
        return {name: keys(entry) for name, entry in value.items()}
    return [keys(value[0])] if isinstance(value, list) and value else type(value).__name__


async def test_synonyms_shape(pug: httpx.AsyncClient, recorded: Recorded):
    """Synonyms have the recorded shape."""
    expected = json.loads(recorded("synonyms_smiles.json"))
    answer = await pug.post("/compound/smiles/synonyms/JSON", data={"smiles": "c1ccccc1"})
    assert keys(answer.json()) == keys(expected)


@pytest.mark.parametrize("file", ["cid_2244_2d.json", "record_cid241_2d.json", "record_inchikey_cid8857.json"])
async def test_record(pug: httpx.AsyncClient, recorded: Recorded, file: str):
    """A record has the recorded parts, and its facts are those of the recording."""
    (expected,) = json.loads(recorded(file))["PC_Compounds"]
    cid = expected["id"]["id"]["cid"]
    (record,) = (await pug.get(f"/compound/cid/{cid}/record/JSON")).json()["PC_Compounds"]
    assert record.keys() == expected.keys()
    assert {**record["count"], "tautomers": 0} == {**expected["count"], "tautomers": 0}
    assert sorted(record["atoms"]["element"]) == sorted(expected["atoms"]["element"])
    assert sorted(record["bonds"]["order"]) == sorted(expected["bonds"]["order"])
    for label, name in FACTS:
        assert fact(record, label, name) == pytest.approx(fact(expected, label, name), abs=0.06), (label, name)
    for label, name in (("InChI", "Standard"), ("InChIKey", "Standard"), ("Molecular Formula", None)):
        assert text(record, label, name) == text(expected, label, name)


FACTS = [
    ("Count", "Hydrogen Bond Acceptor"),
    ("Count", "Hydrogen Bond Donor"),
    ("Count", "Rotatable Bond"),
    ("Mass", "Exact"),
    ("Molecular Weight", None),
    ("Topological", "Polar Surface Area"),
    ("Weight", "MonoIsotopic"),
]


def text(record: dict[str, Any], label: str, name: str | None) -> Any:
    (found,) = (
        next(iter(prop["value"].values()))
        for prop in record["props"]
        if prop["urn"]["label"] == label and prop["urn"].get("name") == name
    )
    return found


def fact(record: dict[str, Any], label: str, name: str | None) -> float:
    return float(text(record, label, name))


async def test_connectivity_smiles(pug: httpx.AsyncClient, recorded: Recorded):
    """SMILES of CIDs that the sample shares with a recorded table mean the same structures."""
    rows = list(csv.DictReader(recorded("property_cids_123.csv").splitlines()))
    shared = [row for row in rows if int(row["CID"]) in sample()]
    for row in shared:
        ours = sample().text(int(row["CID"]), "SMILES")
        assert Chem.CanonSmiles(ours) == Chem.CanonSmiles(row["IsomericSMILES"])
    assert rows
