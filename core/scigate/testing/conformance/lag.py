"""Sees what holds the event loop up, and where it stands meanwhile."""

import asyncio
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Final, Self

__all__ = ["LONGEST_S", "Lag"]

LONGEST_S: Final = 0.05
"""The longest that one step may take: other calls wait for it."""

_TICK_S: Final = 0.01


class Lag:
    """Watches the running loop from a thread.

    Time in which the machine gave this thread no processor does not count (Linux's schedstat says how much that was),
    so that a busy machine blames nobody. Steps of an emulator do not count either: it is no part of a served provider.

    Args:
        ignored: Parts of file paths whose code may hold the loop up.
    """

    def __init__(self, ignored: Sequence[str] = ()) -> None:
        self.found: list[str] = []
        self._ignored = tuple(ignored)
        self._loop_thread = threading.get_ident()
        self._waits = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        self._last = self._busy()
        self._over = threading.Event()

    async def __aenter__(self) -> Self:
        self._last = self._busy()
        self._ticking = asyncio.create_task(self._tick())
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._over.set()
        self._ticking.cancel()
        with suppress(asyncio.CancelledError):
            await self._ticking
        await asyncio.to_thread(self._thread.join)

    async def _tick(self) -> None:
        while True:
            self._last = self._busy()
            await asyncio.sleep(_TICK_S)

    def _sample(self) -> None:
        while not self._over.wait(_TICK_S):
            held = self._busy() - self._last
            frame = sys._current_frames().get(self._loop_thread)  # pyright: ignore[reportPrivateUsage]  # documented
            if held > LONGEST_S and frame is not None:
                place = self._place(frame)
                if place and place not in self.found:
                    self.found.append(place)

    def _place(self, frame: FrameType | None) -> str:
        """The innermost function outside the standard library, or "" where the ignored code or the loop runs."""
        place = ""
        while frame is not None:
            name = frame.f_code.co_filename
            if any(part in name for part in self._ignored):
                return ""
            # The loop itself, at rest: the sample came just as a step ended.
            if not place and name.endswith(("selectors.py", "asyncio/base_events.py", "asyncio/events.py")):
                return ""
            if not place and "/lib/python" not in name.replace("site-packages", "/") and "<" not in name:
                place = f"{frame.f_code.co_qualname} ({Path(name).name}:{frame.f_lineno})"
            frame = frame.f_back
        return place

    def _busy(self) -> float:
        """Seconds, without those that the loop's thread waited for a processor."""
        try:
            waited = int(self._waits.read_text().split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            waited = 0.0
        return time.monotonic() - waited
