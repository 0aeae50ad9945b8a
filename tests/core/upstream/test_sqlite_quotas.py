"""Windows in a file, shared by processes."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from scigate.testing.clock import ManualClock
from scigate.upstream.pace import Slowing
from scigate.upstream.sqlite_quotas import LEASE_S, SqliteQuotas
from scigate.upstream.window import Token, Window

THREE = (Window(3, 100.0),)
BOTH = (Window(2, 10.0), Window(3, 100.0))

Open = Callable[..., SqliteQuotas]


@pytest.fixture
async def opened(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Open]:
    """Opens the file once more, as another process would."""
    stores: list[SqliteQuotas] = []

    def once_more(directory: Path = tmp_path, **options: float) -> SqliteQuotas:
        stores.append(SqliteQuotas(directory, clock, **options))  # type: ignore[arg-type]
        return stores[-1]

    yield once_more
    for store in stores:
        await store.aclose()


async def soon(step: Callable[[], Awaitable[Any]], wanted: Callable[[Any], bool]) -> Any:
    """Repeat a step until what was told the store behind the caller's back has reached it."""
    for _ in range(1000):
        if wanted(outcome := await step()):
            return outcome
    raise AssertionError(f"still {outcome!r}")


async def send(store: SqliteQuotas, windows: tuple[Window, ...] = THREE) -> float | None:
    """Take and send; the seconds to wait where nothing can be had."""
    token = await store.take("pubchem", windows)
    if not isinstance(token, Token):
        return token
    store.sent(token)
    return None


async def test_processes_share_one_budget(opened: Open, clock: ManualClock) -> None:
    """What one sends leaves less for the other, and both are told when the next place is free."""
    one, other = opened(), opened()
    for store in (one, other, one):
        assert await send(store) is None
        await clock.advance(1.0)
    assert await send(other) == pytest.approx(THREE[0].held_s - 3.0)
    assert await send(one) == pytest.approx(THREE[0].held_s - 3.0)
    await clock.advance(THREE[0].held_s - 3.0)
    assert await send(other) is None
    assert (one.kind, one.trouble) == ("sqlite", None)


async def test_takes_from_every_window_or_from_none(opened: Open, clock: ManualClock) -> None:
    """A request that one window refuses leaves the others as they were."""
    one, other = opened(), opened()
    assert [await send(one, BOTH), await send(other, BOTH)] == [None, None]
    assert await send(other, BOTH) == pytest.approx(BOTH[0].held_s)
    await clock.advance(BOTH[0].held_s)
    assert await send(one, BOTH) is None
    assert await send(other, BOTH) == pytest.approx(BOTH[1].held_s - BOTH[0].held_s)
    assert other.used("pubchem", BOTH) == (1, 3)


async def test_unsent_token_is_given_back_to_all(opened: Open) -> None:
    """A token whose request never went out is there for any process's next request."""
    one, other = opened(), opened()
    window = (Window(1, 100.0),)
    token = await one.take("pubchem", window)
    assert isinstance(token, Token)
    assert await send(other, window) == pytest.approx(window[0].held_s)
    one.give_back(token)
    await one.look("pubchem", window)
    assert await send(other, window) is None


async def test_token_of_a_process_that_died_is_freed(opened: Open, clock: ManualClock) -> None:
    """A token that is neither sent nor given back is free again when its lease is over."""
    one, other = opened(), opened()
    window = (Window(1, 1000.0),)
    assert isinstance(await one.take("pubchem", window), Token)
    await clock.advance(LEASE_S - 1)
    assert isinstance(await other.take("pubchem", window), float)
    await clock.advance(2)
    assert isinstance(await other.take("pubchem", window), Token)


async def test_caller_that_goes_away_leaves_no_token(opened: Open) -> None:
    """A token that is granted to a task that was cancelled meanwhile is given back."""
    store, window = opened(), (Window(1, 100.0),)
    asking = asyncio.create_task(store.take("pubchem", window))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})
    assert asking.cancelled()
    assert await soon(lambda: store.take("pubchem", window), lambda outcome: isinstance(outcome, Token))


async def test_slowing_down_is_shared(opened: Open, clock: ManualClock) -> None:
    """A refusal that one process met holds the other up, spaces both out together, and wears off."""
    one, other = opened(), opened()
    many = (Window(5, 1.0),)
    one.slow("pubchem", many, Slowing(7.0, 1.0, 12.0, "429"))
    await one.look("pubchem", many)
    assert await send(other, many) == pytest.approx(7.0)
    assert other.slowing("pubchem") == Slowing(7.0, 1.0, 12.0, "429")
    await clock.advance(7.0)
    assert await send(other, many) is None
    assert await send(one, many) == pytest.approx(1.0)
    await clock.advance(20.0)
    assert [await send(one, many), await send(other, many)] == [None, None]
    assert other.slowing("pubchem") is None


async def test_times_of_before_a_restart_of_the_machine_hold_nobody_up_for_long(tmp_path: Path, opened: Open) -> None:
    """Monotonic time begins anew with the machine: what lies in its future counts as sent now, and no pause lasts."""
    old = ManualClock()
    await old.advance(1e6)
    before = SqliteQuotas(tmp_path, old)
    assert [await send(before) for _ in range(3)] == [None] * 3
    before.slow("pubchem", THREE, Slowing(50.0, 9.0, 60.0, "503"))
    await before.aclose()
    assert await send(opened()) == pytest.approx(THREE[0].held_s)


async def test_corrupt_file_is_replaced(opened: Open, clock: ManualClock, capsys: pytest.CaptureFixture[str]) -> None:
    """It is moved aside and named; short windows are waited out, since what was sent is not known any more."""
    one, other, short = opened(), opened(), (Window(2, 1.0),)
    assert await send(one, short) is None
    await one.aclose()
    one.path.write_bytes(b"no database at all" * 500)
    again = opened()
    assert await send(again, short) == pytest.approx(short[0].held_s)
    assert await send(other, short) == pytest.approx(short[0].held_s)
    await clock.advance(short[0].held_s)
    assert [await send(again, short), await send(other, short)] == [None, None]
    assert isinstance(await send(again, short), float)
    assert again.path.with_suffix(".corrupt").read_bytes().startswith(b"no database")
    assert "quotas-1.corrupt" in capsys.readouterr().out


async def test_file_locked_by_a_process_that_hangs_is_replaced(opened: Open, clock: ManualClock) -> None:
    """The others go on in a new file together, and the one that hung finds it when it wakes up."""
    one, other, hung = opened(locked_s=0.05), opened(locked_s=0.05), opened(locked_s=0.05)
    assert await send(hung) is None
    await hung.look("pubchem", THREE)
    with sqlite3.connect(hung.path, isolation_level=None) as lock:
        lock.execute("BEGIN IMMEDIATE")
        outcomes = await asyncio.gather(send(one), send(other))
        lock.execute("ROLLBACK")
    lock.close()
    assert outcomes == [None, None]
    assert one.path.with_suffix(".locked").exists()
    assert await send(hung) is None
    assert await send(other) == pytest.approx(THREE[0].held_s)
    assert one.trouble is None


async def test_without_a_file_a_share_is_sent(opened: Open, tmp_path: Path, clock: ManualClock) -> None:
    """Where no file can be made, the process sends its part and says so; once one can, what it sent is counted."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    store = opened(blocked, replicas=3)
    assert await send(store) is None
    assert await send(store) == pytest.approx(THREE[0].held_s)
    assert store.trouble is not None
    assert "one of 3 shares" in store.trouble
    blocked.unlink()
    assert [await send(store), await send(store)] == [None, None]
    assert isinstance(await send(store), float)
    assert store.trouble is None


async def test_forecast_follows_what_was_last_known(opened: Open, clock: ManualClock) -> None:
    """The request after so many others is expected when their places have become free in turn."""
    store = opened()
    for _ in range(3):
        await send(store)
    assert await send(store) == pytest.approx(THREE[0].held_s)
    assert store.forecast("pubchem", THREE, 0) == pytest.approx(THREE[0].held_s)
    assert store.forecast("pubchem", THREE, 4) == pytest.approx(2 * THREE[0].held_s)


async def test_figures_are_there_for_others(opened: Open) -> None:
    """What a process reports of itself is read by one that only asks."""
    store, asking = opened(), opened()
    assert await asking.reports() == []
    store.tell(lambda: '{"pubchem": {"waiting": 3}}')
    await send(store)
    assert await asking.reports() == ['{"pubchem": {"waiting": 3}}']


def test_real_processes_keep_one_quota(tmp_path: Path) -> None:
    """Four processes that take as fast as they can get no more tokens together than the window allows."""
    program = (
        "import asyncio, pathlib, sys\n"
        "from scigate.clock import SystemClock\n"
        "from scigate.upstream.sqlite_quotas import SqliteQuotas\n"
        "from scigate.upstream.window import Token, Window\n"
        "async def main():\n"
        "    store, had = SqliteQuotas(pathlib.Path(sys.argv[1]), SystemClock()), 0\n"
        "    for _ in range(40):\n"
        "        token = await store.take('pubchem', (Window(50, 1000.0),))\n"
        "        if isinstance(token, Token):\n"
        "            store.sent(token)\n"
        "            had += 1\n"
        "    await store.aclose()\n"
        "    print(had)\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-W", "error", "-c", program, str(tmp_path)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert sum(int(process.communicate(timeout=60)[0]) for process in processes) == 50
