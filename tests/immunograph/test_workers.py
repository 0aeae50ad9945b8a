"""Worker processes: what they raise, that they die alone, and that they leave time for an answer."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel
import pytest
import scigate_immunograph
from scigate.call import LOCAL
from scigate.host import Host
from scigate.settings import Settings
from scigate_immunograph.chemistry import ChemistryError
from scigate_immunograph.workers import Workers


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    """One worker at once."""
    workers = Workers(1)
    yield workers
    await workers.aclose()


def is_running(pid: int) -> bool:
    """Whether a process lives; one that is gone and waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_one_process_does_one_job_after_another(workers: Workers) -> None:
    """It is not the gateway's own, which is never blocked by it."""
    first, second = await workers.run(os.getpid), await workers.run(os.getpid)
    assert first == second != os.getpid()


async def test_no_process_outlives_its_workers() -> None:
    """Idle or at work, they end when the host closes its client."""
    workers = Workers(2)
    idle = await workers.run(os.getpid)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(workers.run, time.sleep, 60)
        await anyio.lowlevel.checkpoint()
        busy = await workers.run(os.getpid)
        assert busy != idle
        tasks.cancel_scope.cancel()
    await workers.aclose()
    assert not is_running(idle)
    assert not is_running(busy)


async def test_a_cancelled_job_ends_with_its_process(workers: Workers) -> None:
    """However long it would take; the next job gets a fresh process."""
    first = await workers.run(os.getpid)
    with anyio.move_on_after(0.05) as scope:
        await workers.run(time.sleep, 60)
    assert scope.cancelled_caught
    assert not is_running(first)
    assert await workers.run(os.getpid) != first


async def test_an_idle_worker_that_was_ended_is_replaced(workers: Workers) -> None:
    """As by an operating system that is short of memory; no call fails for it."""
    os.kill(await workers.run(os.getpid), signal.SIGKILL)
    assert await workers.run(len, "abc") == 3


async def test_what_a_job_raises_is_raised(workers: Workers) -> None:
    """And the process goes on."""
    pid = await workers.run(os.getpid)
    with pytest.raises(ValueError, match="invalid literal"):
        await workers.run(int, "x")
    assert await workers.run(os.getpid) == pid


async def test_a_worker_that_dies_is_a_typed_failure(workers: Workers) -> None:
    """The next one works."""
    with pytest.raises(ChemistryError) as caught:
        await workers.run(signal.raise_signal, signal.SIGKILL)
    assert caught.value.reason == "chemistry_crashed"
    assert await workers.run(len, "abc") == 3


async def test_what_libraries_print_disturbs_nothing(workers: Workers, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither the answers, nor the gateway's own output, nor a pipe that nobody reads."""
    for stream in (1, 2):
        assert await workers.run(os.write, stream, b"x" * 200_000) == 200_000
    assert capfd.readouterr() == ("", "")


IMPORTS = """
import sys, anyio, scigate_immunograph
from scigate import LOCAL, Host, Settings

async def main():
    section = {"immunograph": {"record": False}}
    settings = Settings.model_validate({"offline": True, "log": {"level": "error"}, "providers": section})
    async with Host.open(settings, plugins={"immunograph": scigate_immunograph}) as host:
        reply = await host.call("prepare_ligand", {"runId": "run-1", "smiles": "CCO"}, LOCAL)
        assert not reply.is_error

anyio.run(main)
raise SystemExit(any(name in sys.modules for name in ("rdkit", "meeko", "dimorphite_dl")))
"""


def test_the_gateway_does_not_import_rdkit() -> None:
    """The workers do: the gateway starts fast, and no import holds up its loop."""
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


async def test_a_batch_out_of_time_gives_what_it_has() -> None:
    """The entries that take too long come back unprocessed, with a notice; the others are answered."""
    settings = Settings.model_validate(
        {"offline": True, "deadline_s": 3, "providers": {"immunograph": {"record": False}}}
    )
    slow = "CC(=O)NC" * 2_400
    async with Host.open(settings, plugins={"immunograph": scigate_immunograph}) as host:
        await host.call("calculate_molecular_descriptors", {"runId": "run-1", "smiles": ["C"]}, LOCAL)
        arguments = {"runId": "run-1", "smiles": ["CCO", *[slow] * 30]}
        reply = await host.call("calculate_molecular_descriptors", arguments, LOCAL)
    assert not reply.is_error, reply.structured
    data = reply.structured["data"]
    assert data["molecules"][0]["smiles"] == "CCO"
    assert len(data["molecules"]) + len(data["unprocessed"]) == 31
    assert "were not looked up" in reply.structured["meta"]["notice"]


async def test_a_call_out_of_time_is_a_timeout_and_ends_its_worker() -> None:
    """The deadline holds for chemistry too, and the next call is served."""
    settings = Settings.model_validate(
        {"offline": True, "deadline_s": 3, "providers": {"immunograph": {"record": False, "workers": 1}}}
    )
    async with Host.open(settings, plugins={"immunograph": scigate_immunograph}) as host:
        slow = await host.call("validate_compound", {"runId": "run-1", "smiles": "C" * 19_999 + "O"}, LOCAL)
        quick = await host.call("validate_compound", {"runId": "run-1", "smiles": "CCO"}, LOCAL)
    error = slow.structured["error"]
    assert (error["code"], error["category"], error["retryable"]) == ("TIMEOUT", "timeout", True)
    assert quick.structured["data"]["valid"]
