"""Upstream answers in an SQLite file: they outlive the process and are shared by those of one user on one machine.

hishel's SQLite storage forgets what has expired, which stale answers need, and bounds bytes only.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

import structlog

from scigate.clock import Clock
from scigate.upstream.cache import Entry
from scigate.upstream.tiers import digest, packed, unpacked

__all__ = ["SqliteCache"]

_log: Final = structlog.get_logger("scigate.upstream")

VERSION: Final = 1
"""Part of the file's name: another layout is another file."""
TRIMMED_EVERY: Final = 100
"""Answers written between two looks at the bounds."""
RETRY_S: Final = 30.0
"""Seconds for which a file that cannot be used is left alone."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS answer (
  key BLOB PRIMARY KEY, kept_until REAL NOT NULL, stored_at REAL NOT NULL, size INTEGER NOT NULL, entry BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answer_age ON answer (stored_at, size);
CREATE INDEX IF NOT EXISTS answer_end ON answer (kept_until);
"""

T = TypeVar("T")


class SqliteCache:
    """A `CacheStore` in a file, bounded by entries and by bytes; the oldest answers go first.

    A corrupt file is begun anew; where none can be had, nothing is kept in it.

    Args:
        stale_s: seconds past its lifetime for which an answer is kept.
    """

    kind = "sqlite"

    def __init__(
        self, directory: Path, clock: Clock, *, max_entries: int, max_bytes: int, stale_s: float = 0.0
    ) -> None:
        self.path = directory / f"answers-{VERSION}.sqlite3"
        self._clock = clock
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._stale_s = stale_s
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scigate cache")
        self._file: sqlite3.Connection | None = None
        self._written = 0
        self._idle_until = 0.0
        self.trouble: str | None = None

    async def get(self, upstream: str, key: str) -> Entry | None:
        return await self._run(lambda file: self._read(file, digest(upstream, key)), None)

    async def put(self, upstream: str, key: str, entry: Entry) -> None:
        await self._run(lambda file: self._write(file, digest(upstream, key), entry), None)

    def held(self, upstream: str) -> tuple[int, int]:
        return (0, 0)

    async def aclose(self) -> None:
        with suppress(RuntimeError):  # Closed already.
            self._thread.submit(self._shut)
        await asyncio.to_thread(self._thread.shutdown)

    async def _run(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._tried, work, otherwise)

    # What follows runs in the thread.

    def _read(self, file: sqlite3.Connection, key: bytes) -> Entry | None:
        row = file.execute("SELECT entry FROM answer WHERE key = ?", (key,)).fetchone()
        try:
            return unpacked(row[0]) if row else None
        except ValueError:
            return None

    def _write(self, file: sqlite3.Connection, key: bytes, entry: Entry) -> None:
        row = (key, entry.fresh_until + self._stale_s, entry.stored_at, entry.size, packed(entry))
        file.execute("INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?)", row)
        self._written += 1
        if self._written % TRIMMED_EVERY == 1:
            self._trim(file)

    def _trim(self, file: sqlite3.Connection) -> None:
        file.execute("DELETE FROM answer WHERE kept_until <= ?", (self._clock.now().timestamp(),))
        entries, size = file.execute("SELECT count(*), coalesce(sum(size), 0) FROM answer").fetchone()
        if entries <= self._max_entries and size <= self._max_bytes:
            return
        for key, bytes_ in file.execute("SELECT key, size FROM answer ORDER BY stored_at").fetchall():
            if entries <= self._max_entries and size <= self._max_bytes:
                break
            file.execute("DELETE FROM answer WHERE key = ?", (key,))
            entries, size = entries - 1, size - bytes_

    def _tried(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        if self._clock.monotonic() < self._idle_until:
            return otherwise
        for begun_anew in (False, True):
            try:
                return work(self._opened())
            except (sqlite3.Error, OSError) as error:
                self._shut()
                # A locked, full or read-only file is no reason to throw away what others keep there.
                is_corrupt = isinstance(error, sqlite3.DatabaseError) and not isinstance(
                    error, sqlite3.OperationalError
                )
                if is_corrupt and not begun_anew:
                    _log.warning("cache_file_replaced", path=str(self.path), reason=str(error))
                    with suppress(OSError):
                        self._remove()
                    continue
                if self.trouble is None:
                    _log.warning("cache_store_lost", store=self.kind, path=str(self.path), reason=str(error))
                self.trouble = f"{self.path} cannot be used ({error}): answers are kept in memory only"
                self._idle_until = self._clock.monotonic() + RETRY_S
        return otherwise

    def _opened(self) -> sqlite3.Connection:
        if self._file is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # What is asked here may be confidential: nobody else reads the file.
            os.close(os.open(self.path, os.O_CREAT, 0o600))
            file = sqlite3.connect(self.path, timeout=0.5, isolation_level=None, check_same_thread=False)
            try:
                file.execute("PRAGMA journal_mode = WAL")
                file.execute("PRAGMA synchronous = OFF")
                file.executescript(_SCHEMA)
            except BaseException:
                file.close()
                raise
            self._file, self.trouble = file, None
        return self._file

    def _shut(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(sqlite3.Error):
                file.close()

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
