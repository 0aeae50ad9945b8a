"""The run ledger: what it keeps, from whom, and what happens to it when processes die."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import scigate_immunograph
from scigate.call import LOCAL, Caller
from scigate.host import Host, Reply
from scigate.settings import Settings
from scigate_immunograph.ledger import Ledger, LedgerError, RecordedStep
from scigate_immunograph.step import Step

Call = Callable[..., Awaitable[Reply]]

STEPS = """
import sys, anyio, scigate_immunograph
from scigate import LOCAL, Host, Settings

async def main(ledger, run, most):
    section = {"immunograph": {"ledger": ledger}}
    settings = Settings.model_validate({"offline": True, "log": {"level": "error"}, "providers": section})
    async with Host.open(settings, plugins={"immunograph": scigate_immunograph}) as host:
        print("ready", flush=True)
        sys.stdin.readline()
        for _ in range(most):
            reply = await host.call("fetch_compound", {"runId": run, "source": "fixture", "compoundRef": "aspirin",
                                                       "fallbackPolicy": "FIXTURE_ONLY"}, LOCAL)
            assert "notice" not in reply.structured["meta"], reply.structured
            print("step", reply.structured["meta"]["requestId"], flush=True)

anyio.run(main, sys.argv[1], sys.argv[2], int(sys.argv[3]))
"""


def making_steps(ledger: Path, run: str, most: int) -> subprocess.Popen[str]:
    """A process that makes steps of a run once it is sent a line, and says each one when it is answered."""
    command = [sys.executable, "-c", STEPS, str(ledger), run, str(most)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def answered(lines: list[str]) -> list[str]:
    return [line.split()[1] for line in lines if line.startswith("step ") and line.endswith("\n")]


def a_step(number: int, run: str = "run-1", **changes: Any) -> RecordedStep:
    values: dict[str, Any] = {
        "request_id": f"request-{number}",
        "run_id": run,
        "tool": "validate_compound",
        "version": "0.1.0",
        "started_at": f"2026-01-01T00:00:0{number}.000Z",
        "completed_at": f"2026-01-01T00:00:0{number}.500Z",
        "duration_ms": 500.0,
        "arguments": {"smiles": "CCO"},
        "input_hash": "sha256:in",
        "output_hash": "sha256:out",
        "data": {"valid": True},
        "error": None,
        "notice": None,
    }
    caller = changes.pop("caller", "local")
    return RecordedStep(Step(**values | changes), caller, None)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "new" / "folder" / "runs.sqlite3")


def test_a_step_comes_back_as_it_was(ledger: Ledger) -> None:
    """In a file and folders that are made for it."""
    recorded = RecordedStep(a_step(1).step, "someone", {"answer": "{}"})
    ledger.append(recorded)
    assert ledger.steps("run-1", None) == (1, [recorded])
    ledger.close()
    assert Ledger(ledger.path).steps("run-1", "someone") == (1, [recorded])


def test_runs_are_those_of_their_caller(ledger: Ledger) -> None:
    """The latest first; two callers' runs of one name are two."""
    ledger.append(a_step(1, caller="a"))
    ledger.append(a_step(2, "run-2", caller="a", data=None, error={"code": "X"}))
    ledger.append(a_step(3, caller="b"))
    total, runs = ledger.runs("a")
    assert (total, [(run.run_id, run.steps, run.failed) for run in runs]) == (2, [("run-2", 1, 1), ("run-1", 1, 0)])
    assert ledger.runs(None)[0] == 3
    assert [step.step.request_id for step in ledger.steps("run-1", "b")[1]] == ["request-3"]


def test_what_is_no_ledger_is_refused(tmp_path: Path) -> None:
    """The file is left as it is."""
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to have a header of sixteen bytes")
    with pytest.raises(LedgerError, match="not a database"):
        Ledger(path).append(a_step(1))
    assert path.read_text().startswith("not a database")


def test_a_newer_ledger_is_not_touched(ledger: Ledger) -> None:
    """Its form is not known here."""
    ledger.append(a_step(1))
    ledger.close()
    connection = sqlite3.connect(ledger.path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(LedgerError, match="newer version"):
        Ledger(ledger.path).append(a_step(2))


def test_no_answered_step_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    """SIGKILL comes anywhere in the middle, again and again on one ledger."""
    path = tmp_path / "runs.sqlite3"
    chance = random.Random(20)
    for turn in range(5):
        with making_steps(path, f"run-{turn}", 100_000) as process:
            assert process.stdout is not None
            begin(process)
            lines = [process.stdout.readline() for _ in range(chance.randrange(2, 40))]
            os.kill(process.pid, signal.SIGKILL)
            lines += process.stdout.readlines()
        ledger = Ledger(path)
        total, steps = ledger.steps(f"run-{turn}", None)
        ledger.close()
        said, kept = answered(lines), [recorded.step.request_id for recorded in steps]
        assert len(said) >= 2
        assert said == kept[: len(said)]
        # At most the one that was written and not yet answered.
        assert total - len(said) <= 1
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_several_processes_write_one_ledger(tmp_path: Path) -> None:
    """None of their steps is lost, and they make the file at the same time."""
    path = tmp_path / "runs.sqlite3"
    processes = [making_steps(path, "run-1", 40) for _ in range(3)]
    for process in processes:
        begin(process)
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    said = {request for output in outputs for request in answered(output.splitlines(keepends=True))}
    ledger = Ledger(path)
    total, steps = ledger.steps("run-1", None)
    ledger.close()
    assert (total, {recorded.step.request_id for recorded in steps}) == (120, said)


async def test_every_step_of_a_run_is_recorded(host: Host, call: Call, fetch: Call, settings: Settings) -> None:
    """Successes and failures, with what they were answered with and where it came from."""
    replies = [
        await fetch(host),
        await fetch(host, compoundRef="0"),
        await fetch(host, source="fixture", compoundRef="caffeine", fallbackPolicy="FIXTURE_ONLY"),
    ]
    steps = (await call("get_run", includeData=True)).structured["data"]["steps"]
    assert [step["requestId"] for step in steps] == [reply.structured["meta"]["requestId"] for reply in replies]
    assert [step["ok"] for step in steps] == [True, False, True]
    assert [step.get("data") for step in steps] == [reply.structured.get("data") for reply in replies]
    assert steps[1]["error"] == replies[1].structured["error"]
    assert [step.get("provenance", {}).get("mode") for step in steps] == ["live", None, "fixture"]
    for step, reply in zip(steps, replies, strict=True):
        assert step["inputHash"] == reply.structured["meta"]["inputHash"]
        assert step.get("outputHash") == reply.structured["meta"].get("outputHash")


async def test_refused_arguments_are_no_step(host: Host, call: Call, fetch: Call) -> None:
    """Nothing ran; reading the ledger is no step either."""
    await fetch(host, source="nowhere")
    error = (await call("get_run")).structured["error"]
    assert (error["code"], error["category"]) == ("RUN_NOT_FOUND", "not_found")
    assert (await host.call("list_runs", {}, LOCAL)).structured["data"]["runs"] == []


async def test_runs_and_steps_have_pages(host: Host, call: Call, fetch: Call) -> None:
    """Walked by nextOffset they give each once."""
    for run in ("a", "b", "c"):
        await fetch(host, runId=run, source="fixture", compoundRef="caffeine", fallbackPolicy="FIXTURE_ONLY")
    first = (await host.call("list_runs", {"maxResults": 2}, LOCAL)).structured["data"]
    assert ([run["runId"] for run in first["runs"]], first["nextOffset"], first["totalFound"]) == (["c", "b"], 2, 3)
    last = (await host.call("list_runs", {"maxResults": 2, "offset": 2}, LOCAL)).structured["data"]
    assert ([run["runId"] for run in last["runs"]], "nextOffset" in last) == (["a"], False)


async def test_a_caller_sees_no_runs_of_others(host: Host, fetch: Call) -> None:
    """Neither their names nor their steps."""
    await fetch(host)
    stranger = Caller("stranger", "key")
    assert (await host.call("list_runs", {}, stranger)).structured["data"]["runs"] == []
    assert (await host.call("get_run", {"runId": "run-1"}, stranger)).is_error


@pytest.fixture
async def hindered(tmp_path: Path) -> AsyncIterator[Host]:
    """A host whose ledger stands where nothing can be written: below a file."""
    (tmp_path / "file").write_text("")
    section = {"ledger": str(tmp_path / "file" / "runs.sqlite3")}
    settings = Settings.model_validate({"offline": True, "providers": {"immunograph": section}})
    async with Host.open(settings, plugins={"immunograph": scigate_immunograph}) as host:
        yield host


async def test_a_step_that_cannot_be_recorded_is_answered_and_told(hindered: Host, fetch: Call) -> None:
    """Finished work is not thrown away for the ledger's sake."""
    reply = await fetch(hindered, source="fixture", compoundRef="caffeine", fallbackPolicy="FIXTURE_ONLY")
    assert not reply.is_error
    assert "not in the run ledger" in reply.structured["meta"]["notice"]
