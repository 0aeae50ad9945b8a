"""Structures that are unlike drugs, through all the chemistry: a right result or a typed failure, never a fault."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import scigate_immunograph
from scigate.host import Host, Reply
from scigate.settings import Settings
from scigate_pubchem.emulator.sample import sample

Call = Callable[..., Awaitable[Reply]]


@pytest.fixture(scope="module")
async def host() -> AsyncIterator[Host]:
    """One host for these tests, so that its worker processes are started once."""
    settings = Settings.model_validate({"offline": True, "providers": {"immunograph": {"record": False}}})
    async with Host.open(settings, plugins={"immunograph": scigate_immunograph}) as host:
        yield host


HARD = {
    "five thousand atoms": "C" * 5_000,
    "ferrocene": "C1=CC=CC1[Fe]C1C=CC=C1",
    "cisplatin": "Cl[Pt](Cl)(N)N",
    "a dative bond": "N->[Cu]",
    "a metal alone": "[Fe]",
    "an R-group": "C[R1]",
    "a wildcard": "*CC",
    "a reaction": "CC>>CO",
    "a polymer": "{[]CC[]}",
    "nothing but a space": " ",
    "a radical": "C[CH]C",
    "a carbene": "[CH2]",
    "isotopes": "[2H]C([2H])([2H])[13CH2]O",
    "a proton": "[H+]",
    "hydrogen": "[H][H]",
    "helium": "[He]",
    "a salt of many": ".".join(["[Na+]", "[Cl-]"] * 50),
    "cubane": "C12C3C4C1C5C4C3C25",
    "a fullerene's belt": "c1cc2ccc3ccc4ccc5ccc6ccc1c1c2c3c4c5c61",
    "a strained allene": "C1CC1C2CC2=C=C3C4=CC5=C3C45",
    "a high ring number": "C%99CCCCC%99",
    "deep branches": "C(" * 500 + "C" + ")" * 500,
    "odd charges": "[O-][Cl+3]([O-])([O-])[O-]",
    "other writing": "Ω-3",
}

TYPED = {"INVALID_STRUCTURE", "SEVERAL_COMPONENTS", "LIGAND_SIZE", "EMBEDDING_FAILED", "PDBQT_UNSUPPORTED"}


@pytest.mark.parametrize("smiles", HARD.values(), ids=HARD)
async def test_a_hard_structure_is_answered(call: Call, smiles: str) -> None:
    """Validation and descriptors always give a result; preparing gives one or says why not."""
    validated = await call("validate_compound", smiles=smiles)
    assert not validated.is_error, validated.structured
    described = await call("calculate_molecular_descriptors", smiles=[smiles])
    assert not described.is_error, described.structured
    (molecule,) = described.structured["data"]["molecules"]
    assert ("descriptors" in molecule) is ("canonicalSmiles" in validated.structured["data"])
    prepared = await call("prepare_ligand", smiles=smiles)
    assert prepared.structured.get("error", {"code": "LIGAND_SIZE"})["code"] in TYPED


async def test_real_compounds_pass_through_a_run(call: Call) -> None:
    """Some of the sample, one after another; `scripts/run_sample.py` takes a thousand."""
    known = sample()
    for cid in random.Random(2).sample(known.cids, 8):
        smiles = known.text(cid, "SMILES")
        validated = (await call("validate_compound", smiles=smiles, inchiKey=known.text(cid, "InChIKey"))).structured
        assert validated["data"]["agreement"][0]["agrees"], smiles
        described = (await call("calculate_molecular_descriptors", smiles=[smiles])).structured["data"]["molecules"]
        assert described[0]["descriptors"]["molecularFormula"] == known.text(cid, "MolecularFormula")
        prepared = (await call("prepare_ligand", smiles=smiles, largestComponent=True)).structured
        assert prepared.get("error", {"code": "LIGAND_SIZE"})["code"] in TYPED
