"""When a running gateway reads its settings again: at SIGHUP, and when their file has changed."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
import structlog

from scigate.gateway import Gateway
from scigate.settings import Settings, SettingsError
from scigate.settings.regular import read_regular
from scigate.settings.source import LONGEST_FILE

__all__ = ["LOOK_S", "keeping_current"]

_log: Final = structlog.get_logger("scigate.gateway")

LOOK_S: Final = 2.0
"""Seconds between two looks at the file. A watch by the operating system would miss what a mounted volume or a
symbolic link further up brings, which is how a cluster hands configuration out."""

_EMPTY: Final = hashlib.sha256(b"").digest()


@asynccontextmanager
async def keeping_current(gateway: Gateway, load: Callable[[], Settings], path: Path | None) -> AsyncGenerator[None]:
    """Serve by the settings as they are written, for as long as the block runs.

    Wrong ones are refused: the log says why, and those before stay in force.

    Args:
        gateway: What serves.
        load: Reads the settings.
        path: Their file; None where there is none to look at.
    """
    watch = _Watch(gateway, load, path)
    # No task group: what the block raises should not come out in a group.
    tasks = [asyncio.create_task(watch.hangups(), name="reload at SIGHUP")]
    if path is not None:
        tasks.append(asyncio.create_task(watch.changes(), name="reload at change"))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


class _Watch:
    def __init__(self, gateway: Gateway, load: Callable[[], Settings], path: Path | None) -> None:
        self._gateway = gateway
        self._load = load
        self._path = path
        # The first look reads the file in any case: it may have changed since the start has read it.
        self._seen: bytes | None = None

    async def hangups(self) -> None:
        """Reload at each SIGHUP."""
        # Windows has no SIGHUP, and signals reach the main thread alone.
        if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
            return
        # Where it is ignored, as under nohup, the terminal may go.
        minds_terminal = _has_terminal() and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
        with anyio.open_signal_receiver(signal.SIGHUP) as signals:
            async for _ in signals:
                if minds_terminal and not _has_terminal():
                    # The terminal that it was started in has gone, and nobody could stop it there any more.
                    os.kill(os.getpid(), signal.SIGTERM)
                    return
                self._seen = _digest(self._path)
                # Asked for by name, so that what is installed is looked at as well.
                await self._reload("SIGHUP", anew=True)

    async def changes(self) -> None:
        """Reload when the file says something else, and says it still at the next look: it may be written just now."""
        written: bytes | None = None
        while True:
            await self._gateway.host.clock.sleep(LOOK_S)
            now = _digest(self._path)
            # A file that is not there may be about to be moved into place.
            if now is None or now == self._seen:
                written = None
            elif now != written:
                written = now
            else:
                emptied = now == _EMPTY and self._seen is not None
                self._seen, written = now, None
                if emptied:
                    _log.error("reload refused", trigger="file", reason=f"{self._path} is empty; SIGHUP takes it so")
                else:
                    await self._reload("file", anew=False)

    async def _reload(self, trigger: str, *, anew: bool) -> None:
        try:
            changed = await self._gateway.replace(self._load(), anew=anew)
        except SettingsError as error:
            remedy = "`scigate doctor` shows what is wrong"
            self._record(trigger, "refused", str(error))
            _log.error("reload refused", trigger=trigger, reason=str(error), remedy=remedy)
        except Exception:  # noqa: BLE001  # the top of a task, which has to outlive what goes wrong once
            _log.exception("reload failed", trigger=trigger)
        else:
            if changed:
                self._record(trigger, "ok", None)
                _log.info("reloaded", trigger=trigger)
            else:
                _log.debug("nothing to reload", trigger=trigger)

    def _record(self, trigger: str, outcome: str, reason: str | None) -> None:
        self._gateway.host.record({"event": "reload", "trigger": trigger, "outcome": outcome, "reason": reason})


def _digest(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return hashlib.sha256(read_regular(path, LONGEST_FILE).strip()).digest()
    except OSError:
        return None


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
