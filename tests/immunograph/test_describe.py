"""`calculate_molecular_descriptors` through the host: values, verdicts, batches."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import scigate_immunograph
from scigate.host import Host, Reply
from scigate.settings import Settings

Call = Callable[..., Awaitable[Reply]]


@pytest.fixture(scope="module")
async def host() -> AsyncIterator[Host]:
    """One host for these tests, so that its worker processes are started once."""
    settings = Settings.model_validate({"offline": True, "providers": {"immunograph": {"record": False}}})
    async with Host.open(settings, plugins={"immunograph": scigate_immunograph}) as host:
        yield host


# PubChem's own computed properties: exact mass, formula, donors, acceptors, rotatable bonds, TPSA, heavy atoms; then
# which acid OH are no acceptors here, and which ester bonds do not count as rotatable.
# https://pubchem.ncbi.nlm.nih.gov/rest/pug/compound/cid/2244/JSON and so on, records of 2020 to 2025.
PUBCHEM = {
    "CC(=O)OC1=CC=CC=C1C(=O)O": (180.042, "C9H8O4", 1, 4, 3, 63.6, 13, 1, 1),  # CID 2244
    "CCOC(=O)C": (88.052, "C4H8O2", 0, 2, 2, 26.3, 6, 0, 1),  # CID 8857
    "C(=C/Cl)\\Cl": (95.953, "C2H2Cl2", 0, 0, 0, 0.0, 4, 0, 0),  # CID 638186
    "C1=CC=CC=C1": (78.047, "C6H6", 0, 0, 0, 0.0, 6, 0, 0),  # CID 241
    "CC(=O)OC(CC(=O)[O-])C[N+](C)(C)C": (203.116, "C9H17NO4", 0, 4, 5, 66.4, 14, 0, 0),  # CID 1
    "CC(=O)OC(CC(=O)O)C[N+](C)(C)C": (204.124, "C9H18NO4+", 1, 4, 6, 63.6, 14, 1, 1),  # CID 2
}


async def found(call: Call, *smiles: str) -> list[dict[str, Any]]:
    reply = await call("calculate_molecular_descriptors", smiles=list(smiles))
    assert not reply.is_error, reply.structured
    return reply.structured["data"]["molecules"]


async def test_values_agree_with_pubchem(call: Call) -> None:
    """Mass to 0.001 Da, TPSA to 0.1; formula, donors and atoms exactly; the rest after two stated differences.

    An ion lacks its electron here, which is 0.00055 Da.
    """
    for molecule, expected in zip(await found(call, *PUBCHEM), PUBCHEM.values(), strict=True):
        mass, formula, donors, acceptors, rotatable, tpsa, atoms, acid_oh, esters = expected
        values = molecule["descriptors"]
        assert values["exactMass"] == pytest.approx(mass, abs=1.1e-3)
        assert values["tpsa"] == pytest.approx(tpsa, abs=0.1)
        assert (values["molecularFormula"], values["hbd"], values["heavyAtoms"]) == (formula, donors, atoms)
        assert (values["hba"], values["rotatableBonds"]) == (acceptors - acid_oh, rotatable - esters)


async def test_verdicts_show_the_numbers_behind_them(call: Call) -> None:
    """One broken Lipinski bound is allowed, and each bound says its value."""
    ((aspirin), (palmitate)) = await found(call, "CC(=O)Oc1ccccc1C(=O)O", "CCCCCCCCCCCCCCCC(=O)OCCCCCCCCCCCCCCCC")
    assert [aspirin["descriptors"][rule]["passes"] for rule in ("lipinski", "veber", "egan")] == [True] * 3
    lipinski = palmitate["descriptors"]["lipinski"]
    broken = [rule for rule in lipinski["rules"] if not rule["holds"]]
    assert (lipinski["passes"], [rule["descriptor"] for rule in broken]) == (True, ["logP"])
    assert (broken[0]["bound"], broken[0]["value"] > 5) == ("<= 5", True)
    assert palmitate["descriptors"]["veber"]["passes"] is False


async def test_every_descriptor_names_its_method_and_version(call: Call) -> None:
    """The names are those of the descriptors on the wire."""
    data = (await call("calculate_molecular_descriptors", smiles=["C"])).structured["data"]
    assert set(data["methods"]) | {"formalCharge", "heavyAtoms"} == set(data["molecules"][0]["descriptors"])
    assert all(text.startswith(data["software"]) for text in data["methods"].values())


async def test_an_entry_that_is_no_structure_keeps_its_place(call: Call) -> None:
    """It has problems instead of descriptors; nothing is dropped."""
    first, second, third = await found(call, "CCO", "C1CC", "c1ccccc1")
    assert ("descriptors" in first, "descriptors" in second, "descriptors" in third) == (True, False, True)
    assert second["problems"][0]["code"] == "unclosed_ring"


async def test_a_batch_over_its_cap_is_cut_and_said(call: Call) -> None:
    """A hundred are served; the rest come back, and the input's hash is of all of them."""
    smiles = ["C" * length for length in range(1, 103)]
    reply = await call("calculate_molecular_descriptors", smiles=smiles)
    data = reply.structured["data"]
    assert [molecule["smiles"] for molecule in data["molecules"]] == smiles[:100]
    assert data["unprocessed"] == smiles[100:]
    assert data["cappedInputs"] == [{"input": "smiles", "requested": 102, "served": 100, "unprocessed": 2}]
    cut = await call("calculate_molecular_descriptors", smiles=smiles[:100])
    assert reply.structured["meta"]["inputHash"] != cut.structured["meta"]["inputHash"]


async def test_numbers_that_overflow_are_left_out(call: Call) -> None:
    """QED is made of exponentials that very large molecules take out of range."""
    (huge,) = await found(call, "CC(=O)NC" * 1_000)
    assert "qed" not in huge["descriptors"]
    assert huge["descriptors"]["heavyAtoms"] == 5_000
