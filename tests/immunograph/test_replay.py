"""Replaying runs, and the `scigate runs` commands."""

import json
import socket
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scigate.cli.app import app
from scigate.host import Host, Reply
from scigate.settings import Settings
from scigate_immunograph.ledger import Ledger, RecordedStep
from scigate_immunograph.replay import Difference, first_difference, replay
from typer.testing import CliRunner

Call = Callable[..., Awaitable[Reply]]

SMILES = "CC(=O)OC1=CC=CC=C1C(=O)O"


@pytest.fixture
async def run(host: Host, call: Call, fetch: Call, settings: Settings, tmp_path: Path) -> AsyncIterator[Ledger]:
    """The ledger after a whole run: live and fixture, failures, and all the chemistry."""
    await fetch(host)
    await fetch(host, source="fixture", compoundRef="caffeine", fallbackPolicy="FIXTURE_ONLY")
    await fetch(host, compoundRef="999999999")
    await call("validate_compound", smiles=SMILES, inchiKey="BSYNRYMUTXBXSQ-UHFFFAOYSA-N")
    await call("calculate_molecular_descriptors", smiles=[SMILES, "C1CC"])
    await call("prepare_ligand", smiles=SMILES)
    await call("prepare_ligand", smiles="C1CC")
    ledger = Ledger(tmp_path / "runs.sqlite3")
    yield ledger
    ledger.close()


def steps_of(ledger: Ledger) -> list[RecordedStep]:
    return ledger.steps("run-1", None)[1]


async def test_a_run_replays_to_the_same_hashes_without_a_socket(run: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Live answers are read again from what PubChem said; failures end in the same code."""

    def refuse(*arguments: object) -> None:
        raise AssertionError(f"a connection to {arguments} was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    steps = steps_of(run)
    replayed = await replay(steps, workers=1)
    assert [step.verdict for step in replayed] == ["same", "same", "not_replayed", "same", "same", "same", "same"]
    assert [step.output_hash for step in replayed if step.verdict == "same"] == [
        recorded.step.output_hash for recorded in steps if recorded.step.tool != "fetch_compound" or recorded.step.ok
    ]
    assert steps == steps_of(run)


async def test_the_first_field_that_differs_is_named(run: Ledger) -> None:
    """As if another version had computed it then."""
    steps = steps_of(run)
    recorded = steps[5]
    data: dict[str, Any] = {**recorded.step.data} if recorded.step.data else {}
    data["minimisation"] = {**data["minimisation"], "energyKcalMol": 1.5}
    step = replace(recorded.step, data=data, output_hash="sha256:other")
    (found,) = await replay([replace(recorded, step=step)], workers=1)
    assert found.verdict == "different"
    assert found.difference is not None
    assert (found.difference.path, found.difference.recorded) == ("minimisation.energyKcalMol", 1.5)


@pytest.mark.parametrize(
    ("recorded", "replayed", "difference"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, None),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, Difference("a.b[1]", 2, 3)),
        ({"a": [1]}, {"a": [1, 2]}, Difference("a[1]", None, 2)),
        ({"a": 1}, {}, Difference("a", 1, None)),
        ({}, {"b": 1}, Difference("b", None, 1)),
        ({"a": [1]}, {"a": {"b": 1}}, Difference("a", [1], {"b": 1})),
    ],
)
def test_differences_are_found_in_the_recorded_order(
    recorded: object, replayed: object, difference: Difference | None
) -> None:
    """The order of members is none."""
    assert first_difference(recorded, replayed) == difference


def runs(*words: str) -> tuple[int, str]:
    """Runs a command; its exit code and what it said."""
    result = CliRunner().invoke(app, ["runs", *words])
    return result.exit_code, result.output


async def test_the_commands_list_show_and_export(run: Ledger, tmp_path: Path) -> None:
    """Plain lines in a pipe; an export holds everything."""
    ledger = str(run.path)
    assert runs("list", "--ledger", ledger)[1].split("\t")[:4] == ["run-1", "local", "7", "2"]
    shown = runs("show", "run-1", "--ledger", ledger)[1].splitlines()
    assert [line.split("\t")[1] for line in shown[:2]] == ["fetch_compound", "fetch_compound"]
    assert [line.split("\t")[2] for line in shown][2] == "COMPOUND_NOT_FOUND"
    target = tmp_path / "run.jsonl"
    assert runs("export", "run-1", "--ledger", ledger, "-o", str(target))[0] == 0
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    assert [line["outputHash"] for line in lines if line["ok"]] == [
        recorded.step.output_hash for recorded in steps_of(run) if recorded.step.ok
    ]
    assert lines[0]["evidence"]["answer"]


def test_an_unknown_run_or_ledger_is_wrong_usage(tmp_path: Path) -> None:
    """Exit code 2, in one line."""
    code, said = runs("show", "nothing", "--ledger", str(tmp_path / "none.sqlite3"))
    assert (code, said.count("\n")) == (2, 1)
    Ledger(tmp_path / "runs.sqlite3").runs(None)
    sqlite3.connect(tmp_path / "runs.sqlite3").close()
    code, said = runs("replay", "nothing", "--ledger", str(tmp_path / "runs.sqlite3"))
    assert (code, "no run 'nothing' is recorded" in said) == (2, True)
