"""When a running gateway reads its settings again."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import anyio
import pytest
from scigate import Input, Output, tool
from scigate.call import Call
from scigate.gateway import Gateway
from scigate.reload import LOOK_S, keeping_current
from scigate.settings import Settings, SettingsError
from scigate.testing.clock import ManualClock
from structlog.testing import capture_logs

BOUND_S = 20
OFF = "[providers.shop]\nenabled = false\n"


class Nothing(Input):
    pass


class Done(Output):
    done: bool = True


@tool("shop_look", title="Look")
async def look(args: Nothing, client: object, call: Call) -> Done:
    """Look."""
    return Done()


@pytest.fixture
def plugins(provider: Callable[..., ModuleType]) -> dict[str, object]:
    return {"shop": provider(look)}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "scigate.toml"
    write(path, "")
    return path


def write(path: Path, text: str | bytes | None) -> None:
    """Have the file hold this; None takes it away."""
    if text is None:
        path.unlink()
    else:
        path.write_bytes(text.encode() if isinstance(text, str) else text)


def names(gateway: Gateway) -> list[str]:
    return list(gateway.host.catalogue.tools)


async def test_a_changed_file_is_read(plugins: dict[str, object], clock: ManualClock, path: Path) -> None:
    """It is looked at from time to time; a wrong one is refused with its reason, and a right one is taken after it."""

    def load() -> Settings:
        return Settings.load(path)

    async with Gateway.open(load(), plugins=plugins, clock=clock) as gateway, keeping_current(gateway, load, path):
        await clock.settle()
        write(path, "[providers.shop]\nenable = false\n")
        with capture_logs() as logs:
            await clock.advance(2 * LOOK_S)
        (refused,) = [line for line in logs if line["event"] == "reload refused"]
        assert "scigate.toml:2" in refused["reason"]
        assert "enabled" in refused["reason"]
        assert names(gateway) == ["shop_look"]
        write(path, OFF)
        await clock.advance(2 * LOOK_S)
        assert names(gateway) == []


async def test_a_file_that_breaks_the_watch_is_looked_at_again(
    plugins: dict[str, object], clock: ManualClock, path: Path
) -> None:
    """Neither a file that is away nor one that is no text ends the watch."""

    def load() -> Settings:
        return Settings.load(path)

    async with Gateway.open(load(), plugins=plugins, clock=clock) as gateway, keeping_current(gateway, load, path):
        await clock.settle()
        write(path, None)
        await clock.advance(2 * LOOK_S)
        write(path, b"\xff\xfe")
        await clock.advance(2 * LOOK_S)
        assert names(gateway) == ["shop_look"]
        write(path, OFF)
        await clock.advance(2 * LOOK_S)
        assert names(gateway) == []


async def test_a_comment_costs_no_provider_its_client(
    plugins: dict[str, object], clock: ManualClock, path: Path
) -> None:
    """A file that says the same in other words replaces nothing."""

    def load() -> Settings:
        return Settings.load(path)

    async with Gateway.open(load(), plugins=plugins, clock=clock) as gateway, keeping_current(gateway, load, path):
        before = gateway.host
        await clock.settle()
        write(path, "# as ever\n")
        with capture_logs() as logs:
            await clock.advance(2 * LOOK_S)
        assert gateway.host is before
    assert [line["event"] for line in logs if line["event"].startswith("reload")] == []


async def test_a_hangup_reads_the_settings_anew(plugins: dict[str, object], path: Path) -> None:
    """SIGHUP does so at once, equal settings or not: what is installed may be different."""
    replaced = anyio.Event()

    async def tell() -> None:
        replaced.set()

    with anyio.fail_after(BOUND_S):
        async with Gateway.open(Settings.load(path), plugins=plugins) as gateway:
            before = gateway.host
            gateway.on_replaced(tell)
            async with keeping_current(gateway, lambda: Settings.load(path), None):
                await anyio.wait_all_tasks_blocked()
                os.kill(os.getpid(), signal.SIGHUP)
                await replaced.wait()
            assert gateway.host is not before


async def test_a_file_that_is_being_written_is_not_read(
    plugins: dict[str, object], clock: ManualClock, path: Path
) -> None:
    """One look is not enough, and an empty file in the place of a filled one is refused."""
    write(path, OFF)

    def load() -> Settings:
        return Settings.load(path)

    async with Gateway.open(load(), plugins=plugins, clock=clock) as gateway, keeping_current(gateway, load, path):
        await clock.advance(2 * LOOK_S)
        write(path, "")
        await clock.advance(LOOK_S)
        write(path, OFF + "# written on\n")
        await clock.advance(2 * LOOK_S)
        assert names(gateway) == []
        write(path, "\n")
        with capture_logs() as logs:
            await clock.advance(2 * LOOK_S)
        assert names(gateway) == []
    assert [line["event"] for line in logs] == ["reload refused"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are pipes of this kind on POSIX alone")
async def test_a_pipe_in_the_files_place_holds_nothing_up(
    plugins: dict[str, object], clock: ManualClock, path: Path
) -> None:
    """It is taken for a file that is not there."""

    def load() -> Settings:
        return Settings.load(path)

    with anyio.fail_after(BOUND_S):
        async with Gateway.open(load(), plugins=plugins, clock=clock) as gateway, keeping_current(gateway, load, path):
            await clock.settle()
            write(path, None)
            os.mkfifo(path)
            await clock.advance(2 * LOOK_S)
            assert names(gateway) == ["shop_look"]
            with pytest.raises(SettingsError, match="not a regular file"):
                load()
