"""`prepare_ligand` through the host: files, choices, failures, and that others are not held up."""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import pytest
import scigate_immunograph
from rdkit import Chem
from scigate.call import LOCAL
from scigate.host import Host, Reply
from scigate.settings import Settings

Call = Callable[..., Awaitable[Reply]]


@pytest.fixture(scope="module")
async def host() -> AsyncIterator[Host]:
    """One host for these tests, so that its worker processes are started once."""
    settings = Settings.model_validate({"offline": True, "providers": {"immunograph": {"record": False}}})
    async with Host.open(settings, plugins={"immunograph": scigate_immunograph}) as host:
        yield host


async def prepared(call: Call, smiles: str, **arguments: Any) -> dict[str, Any]:
    reply = await call("prepare_ligand", smiles=smiles, **arguments)
    assert not reply.is_error, reply.structured
    return reply.structured["data"]


async def failed(call: Call, smiles: str, **arguments: Any) -> str:
    reply = await call("prepare_ligand", smiles=smiles, **arguments)
    assert reply.is_error
    assert reply.structured["error"]["details"]["recovery"]["hint"]
    return reply.structured["error"]["code"]


async def test_a_ligand_comes_in_both_files(call: Call) -> None:
    """The SDF holds all hydrogens, the PDBQT the polar ones; counts and hashes are of the files."""
    ligand = await prepared(call, "CC(=O)Oc1ccccc1C(=O)O", name="aspirin")
    molecule = Chem.MolFromMolBlock(ligand["sdf"], removeHs=False)
    assert molecule.GetProp("_Name") == "aspirin"
    assert molecule.GetNumAtoms() == ligand["atoms"] == 20
    assert molecule.GetConformer().Is3D()
    assert (ligand["heavyAtoms"], ligand["pdbqtAtoms"], ligand["torsions"], ligand["formalCharge"]) == (13, 13, 3, -1)
    assert ligand["pdbqt"].count("\nATOM ") == 13
    assert ligand["pdbqtSha256"] == hashlib.sha256(ligand["pdbqt"].encode()).hexdigest()
    assert (ligand["minimisation"]["forceField"], ligand["minimisation"]["converged"]) == ("MMFF94", True)
    assert ligand["embedding"] == {"method": "ETKDGv3", "seed": 42}


async def test_the_same_question_has_the_same_answer(call: Call) -> None:
    """The seed decides the coordinates."""
    first, second, other = [
        await call("prepare_ligand", smiles="CCC(C)CO", seed=seed, protonation="as_given") for seed in (7, 7, 8)
    ]
    hashes = [reply.structured["meta"]["outputHash"] for reply in (first, second, other)]
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize(
    ("smiles", "ph", "species"),
    [
        ("NCC(=O)O", 7.4, "[NH3+]CC(=O)[O-]"),
        ("NCC(=O)O", 1.0, "[NH3+]CC(=O)O"),
        ("NCC(=O)O", 12.0, "NCC(=O)[O-]"),
        ("C[C@H](N)C(=O)O", 7.4, "C[C@H]([NH3+])C(=O)[O-]"),
        ("[13CH3]C(=O)O", 7.4, "[13CH3]C(=O)[O-]"),
    ],
)
async def test_protons_follow_the_ph(call: Call, smiles: str, ph: float, species: str) -> None:
    """Stereo and isotopes are kept; the method and its limits are told."""
    ligand = await prepared(call, smiles, pH=ph)
    assert Chem.CanonSmiles(ligand["smiles"]) == Chem.CanonSmiles(species)
    assert (ligand["protonation"]["pH"], "Dimorphite-DL" in ligand["protonation"]["method"]) == (ph, True)
    assert ligand["protonation"]["limits"]


async def test_protons_may_stay_as_they_are(call: Call) -> None:
    """And no pH is claimed then."""
    ligand = await prepared(call, "NCC(=O)O", protonation="as_given", formats=["sdf"])
    assert (ligand["smiles"], "pH" in ligand["protonation"], "pdbqt" in ligand) == ("NCC(=O)O", False, False)


async def test_a_salt_is_refused_or_reduced_as_asked(call: Call) -> None:
    """What is set aside is told."""
    assert await failed(call, "CCN.Cl") == "SEVERAL_COMPONENTS"
    ligand = await prepared(call, "CCN.Cl", largestComponent=True)
    assert (ligand["smiles"], ligand["protonation"]["setAside"]) == ("CC[NH3+]", ["Cl"])


@pytest.mark.parametrize(
    ("smiles", "code"),
    [
        ("C1CC", "INVALID_STRUCTURE"),
        ("*CC", "INVALID_STRUCTURE"),
        ("CC>>CO", "INVALID_STRUCTURE"),
        ("[H+]", "LIGAND_SIZE"),
        ("C" * 5_000, "LIGAND_SIZE"),
        ("Cl[Pt](Cl)(N)N", "PDBQT_UNSUPPORTED"),
        ("C[Se]C", "PDBQT_UNSUPPORTED"),
        ("C1CC1C2CC2=C=C3C4=CC5=C3C45", "EMBEDDING_FAILED"),
    ],
)
async def test_what_cannot_be_prepared_fails_by_its_reason(call: Call, smiles: str, code: str) -> None:
    """Each with a hint of what to do instead."""
    assert await failed(call, smiles) == code


async def test_what_pdbqt_does_not_know_has_an_sdf(call: Call) -> None:
    """As the hint of the failure says."""
    assert "Se" in (await prepared(call, "C[Se]C", formats=["sdf"]))["sdf"]


async def test_choices_are_warned_of(call: Call) -> None:
    """Open stereocentres, and a force field that stands in."""
    (open_stereo,) = (await prepared(call, "CC(O)C(F)Cl"))["warnings"]
    assert open_stereo.startswith("2 stereocentres are undefined")
    boron = await prepared(call, "CCB(O)O")
    assert (boron["minimisation"]["forceField"], "UFF" in boron["warnings"][0]) == ("UFF", True)


async def test_progress_is_reported_stage_by_stage(host: Host) -> None:
    """From nought to all four."""
    seen: list[tuple[float, float | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append((done, total))

    await host.call("prepare_ligand", {"runId": "run-1", "smiles": "CCO"}, LOCAL, progress=progress)
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]


async def test_other_calls_are_answered_while_ligands_are_prepared(host: Host, call: Call, fetch: Call) -> None:
    """Eight ligands are under way and none is finished when the fetch is answered."""
    await prepared(call, "CCO")
    finished: list[str] = []
    started = anyio.Event()

    async def progress(done: float, total: float | None, message: str | None) -> None:
        started.set()

    async def prepare(seed: int) -> None:
        arguments = {"runId": "run-1", "smiles": "CC(C)CC1CCC(CC1)" * 9, "seed": seed}
        await host.call("prepare_ligand", arguments, LOCAL, progress=progress)
        finished.append("ligand")

    async with anyio.create_task_group() as tasks:
        for seed in range(8):
            tasks.start_soon(prepare, seed)
        await started.wait()
        reply = await fetch(host, source="fixture", compoundRef="caffeine", fallbackPolicy="FIXTURE_ONLY")
        assert not reply.is_error
        assert finished == []
        tasks.cancel_scope.cancel()


async def test_a_cancelled_call_frees_its_worker(host: Host, call: Call) -> None:
    """Both workers are taken by calls that are then cancelled; the next ligand is prepared all the same."""
    begun = anyio.Event()

    async def progress(done: float, total: float | None, message: str | None) -> None:
        if done == 1:
            begun.set()

    async with anyio.create_task_group() as tasks:
        for seed in (1, 2):
            arguments = {"runId": "run-1", "smiles": "CC(C)CC1CCC(CC1)" * 9, "seed": seed}
            tasks.start_soon(lambda given: host.call("prepare_ligand", given, LOCAL, progress=progress), arguments)
        await begun.wait()
        tasks.cancel_scope.cancel()
    assert (await prepared(call, "CCO"))["smiles"] == "CCO"
