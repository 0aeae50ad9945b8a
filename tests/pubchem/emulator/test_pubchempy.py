"""PubChemPy, somebody else's client, against the emulator on a socket."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pubchempy
import pytest
from scigate.emulator import Emulator, serving

ASPIRIN = "CC(=O)OC1=CC=CC=C1C(=O)O"

Ask = Callable[..., Any]


@pytest.fixture
async def ask(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Ask]:
    """Calls PubChemPy, which blocks, in a thread; it polls without its pause of two seconds."""
    monkeypatch.setattr(pubchempy, "time", SimpleNamespace(sleep=lambda seconds: None))

    async def ask(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return await anyio.to_thread.run_sync(lambda: function(*args, **options))

    async with serving(emulator) as base_url:
        monkeypatch.setattr(pubchempy, "API_BASE", f"{base_url}/rest/pug")
        yield ask


@pytest.mark.parametrize(
    ("identifier", "namespace"),
    [("aspirin", "name"), (ASPIRIN, "smiles"), ("BSYNRYMUTXBXSQ-UHFFFAOYSA-N", "inchikey")],
)
async def test_get_cids(ask: Ask, identifier: str, namespace: str):
    """A name, a SMILES and an InChIKey lead to aspirin."""
    assert await ask(pubchempy.get_cids, identifier, namespace) == [2244]


async def test_get_cids_by_formula(ask: Ask):
    """PubChemPy's formula search is the polled one."""
    assert 2244 in await ask(pubchempy.get_cids, "C9H8O4", "formula")


async def test_substructure(ask: Ask, emulator: Emulator):
    """A structure search is polled until its list is there."""
    found = await ask(pubchempy.get_cids, ASPIRIN, "smiles", searchtype="substructure")
    assert found[0] == 2244
    assert len(found) > 5
    assert ["listkey" in arrival.path for arrival in emulator.requests] == [False, True, True]


async def test_get_properties(ask: Ask):
    """Properties come under the names that the service answers with."""
    names = ["molecular_weight", "isomeric_smiles", "InChIKey", "HeavyAtomCount"]
    (row,) = await ask(pubchempy.get_properties, names, "caffeine", "name")
    assert row == {
        "CID": 2519,
        "MolecularWeight": "194.19",
        "SMILES": "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
        "InChIKey": "RYYVLZVUVIJVGH-UHFFFAOYSA-N",
        "HeavyAtomCount": 14,
    }


async def test_compound(ask: Ask):
    """A record fills the fields of PubChemPy's `Compound`."""
    compound = await ask(pubchempy.Compound.from_cid, 2244)
    assert (compound.cid, compound.molecular_formula, compound.molecular_weight) == (2244, "C9H8O4", 180.16)
    assert (compound.smiles, compound.inchikey) == (ASPIRIN, "BSYNRYMUTXBXSQ-UHFFFAOYSA-N")
    assert (compound.exact_mass, compound.tpsa, compound.charge) == (180.042258736, 63.6, 0)
    assert (compound.h_bond_donor_count, compound.h_bond_acceptor_count, compound.rotatable_bond_count) == (1, 4, 3)
    assert (len(compound.atoms), len(compound.bonds), compound.coordinate_type) == (21, 21, "2d")
    assert (compound.heavy_atom_count, compound.covalent_unit_count) == (13, 1)


async def test_charged_compound_and_single_atom(ask: Ask):
    """Charges reach the atoms, and a record without bonds has none."""
    choline = await ask(pubchempy.Compound.from_cid, 305)
    water = await ask(pubchempy.get_compounds, "water", "name")
    assert [atom.charge for atom in choline.atoms if atom.charge] == [1]
    assert water[0].elements == ["O", "H", "H"]


async def test_synonyms(ask: Ask):
    """Synonyms come with their compound."""
    (entry,) = await ask(pubchempy.get_synonyms, 2519)
    assert entry["CID"] == 2519
    assert "58-08-2" in entry["Synonym"]


async def test_synonyms_by_name(ask: Ask):
    """And the synonyms of a `Compound`, which it asks for when they are read."""
    (entry,) = await ask(pubchempy.get_synonyms, "aspirin", "name")
    compound = await ask(pubchempy.Compound.from_cid, 2244)
    assert entry["Synonym"] == await ask(lambda: compound.synonyms)


async def test_descriptions_and_cross_references(ask: Ask):
    """Its general request reaches the other operations."""
    described = json.loads(await ask(pubchempy.get, 2244, operation="description"))
    listed = json.loads(await ask(pubchempy.get, 2244, operation="xrefs/RN"))
    assert described["InformationList"]["Information"][0] == {"CID": 2244, "Title": "Aspirin"}
    assert "50-78-2" in listed["InformationList"]["Information"][0]["RN"]


async def test_sdf(ask: Ask):
    """A structure file in two dimensions, and in three."""
    flat = await ask(pubchempy.get_sdf, "aspirin", "name")
    solid = await ask(pubchempy.get_sdf, 2244, record_type="3d")
    assert flat.splitlines()[0] == solid.splitlines()[0] == "2244"
    assert "M  END" in flat
    assert await ask(pubchempy.get_sdf, 5234, record_type="3d") is None


@pytest.mark.parametrize(("form", "begins"), [("SDF", b"2244"), ("PNG", b"\x89PNG"), ("CSV", b'"CID"')])
async def test_download(ask: Ask, tmp_path: Path, form: str, begins: bytes):
    """Its download call writes the file that was asked for."""
    path = tmp_path / f"aspirin.{form.lower()}"
    operation = "property/MolecularFormula" if form == "CSV" else None
    await ask(pubchempy.download, form, path, "aspirin", "name", operation=operation)
    assert path.read_bytes().startswith(begins)


async def test_unknown(ask: Ask):
    """What is not there is PubChemPy's `NotFoundError`, or its empty list where it swallows that."""
    with pytest.raises(pubchempy.NotFoundError, match="No CID found") as caught:
        await ask(pubchempy.get, "nonesuch", "name", operation="cids")
    assert caught.value.details == ["No CID found that matches the given name"]
    with pytest.raises(pubchempy.NotFoundError):
        await ask(pubchempy.Compound.from_cid, 999999999)
    assert await ask(pubchempy.get_cids, "nonesuch", "name") == []


async def test_unreadable(ask: Ask):
    """A broken SMILES is its `BadRequestError`."""
    with pytest.raises(pubchempy.BadRequestError, match="Unable to standardize"):
        await ask(pubchempy.get_cids, "c1ccccc12cCc4", "smiles")


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("503;retry-after=1", pubchempy.ServerBusyError),
        ("504", pubchempy.TimeoutError),
        ("500", pubchempy.ServerError),
        ("busy", pubchempy.BadRequestError),
    ],
)
async def test_faults(ask: Ask, emulator: Emulator, fault: str, error: type[Exception]):
    """Injected faults are worded so that PubChemPy knows them."""
    emulator.faults.add(fault)
    with pytest.raises(error, match=r"PUGREST\.\w+: "):
        await ask(pubchempy.get_cids, "aspirin", "name")
