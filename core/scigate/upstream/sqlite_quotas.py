"""Windows in an SQLite file, shared by every process of one user on one machine.

Each operation is one write transaction in a thread of its own, so that a slow disk or another process's lock holds no
event loop up. Times are monotonic seconds, which all processes of a machine read alike until it is started anew.

pyrate-limiter's SQLite bucket cannot give a place back and stamps with the wall clock, which may jump.
"""

import asyncio
import os
import secrets
import sqlite3
import sys
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from typing import Final, TypeVar

import structlog

from scigate.clock import Clock
from scigate.upstream.pace import RECOVERY_STEP_S, Slowing
from scigate.upstream.share import SHORT_S, Share
from scigate.upstream.window import MemoryQuotas, Token, Window

__all__ = ["SqliteQuotas"]

_log: Final = structlog.get_logger("scigate.upstream")

LOCKED_S: Final = 2.0
"""Seconds after which a lock is taken for that of a process that hangs: operations take well under a millisecond."""
LEASE_S: Final = 25.0
"""Seconds that a token may be out unsent: more than a connection may take to be made."""
SILENT_S: Final = 120.0
"""Seconds after which a process that has asked for nothing is no longer counted among those that share the file."""
_RETRY_S: Final = 0.005
VERSION: Final = 1
"""Part of the file's name: another layout is another file."""

# A token that is out unsent stands at infinity, so that every window counts it.
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS token (id INTEGER PRIMARY KEY, upstream TEXT NOT NULL, at REAL NOT NULL, lease REAL);
CREATE INDEX IF NOT EXISTS token_at ON token (upstream, at);
CREATE INDEX IF NOT EXISTS token_lease ON token (lease) WHERE lease IS NOT NULL;
CREATE TABLE IF NOT EXISTS pace (
  upstream TEXT PRIMARY KEY, told_at REAL, paused_until REAL, spacing_s REAL, recover_at REAL, cause TEXT,
  last_start REAL
);
CREATE TABLE IF NOT EXISTS gateway (pid INTEGER PRIMARY KEY, seen REAL, report TEXT);
CREATE TABLE IF NOT EXISTS birth (at REAL);
"""

_NO_REPORTS: Final[list[str]] = []

T = TypeVar("T")


class _Taken(Token):
    """A token with its number in the file, or the token of the process's own windows that it was taken from instead."""

    __slots__ = ("alone", "number")

    def __init__(self, upstream: str, number: int, alone: Token | None = None) -> None:
        super().__init__(upstream)
        self.number = number
        self.alone = alone


class SqliteQuotas:
    """A `QuotaStore` in a file.

    A file that is corrupt, or locked by a process that hangs, is moved aside and begun anew; the log and `trouble` name
    it. Where no file can be had, this process sends its share of `replicas` and tries again with every request.

    Args:
        directory: where the file is; made when it is not there.
        replicas: processes that are taken to share the budget while the file cannot be used.
    """

    kind = "sqlite"

    def __init__(self, directory: Path, clock: Clock, *, replicas: int = 1, locked_s: float = LOCKED_S) -> None:
        self.path = directory / f"quotas-{VERSION}.sqlite3"
        self._clock = clock
        self._share = Share(replicas)
        self._locked_s = locked_s
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scigate quotas")
        self._file: sqlite3.Connection | None = None
        self._inode = 0
        self._alone: MemoryQuotas | None = None
        self._trouble: str | None = None
        self._used: dict[str, tuple[int, ...]] = {}
        self._next_at: dict[str, float] = {}
        self._slowing: dict[str, Slowing | None] = {}
        self._report: Callable[[], str] = str
        self._members = 1
        self._seen_at = -inf

    @property
    def trouble(self) -> str | None:
        return self._trouble

    @property
    def members(self) -> int:
        return self._members

    async def take(self, upstream: str, windows: Sequence[Window]) -> Token | float:
        report = self._report() if self._clock.monotonic() - self._seen_at >= 1.0 else None
        asking = asyncio.get_running_loop().run_in_executor(self._thread, self._take, upstream, windows, report)
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            asking.add_done_callback(self._discard)
            raise

    async def may_go(self, token: Token) -> bool:
        return True

    def sent(self, token: Token) -> None:
        assert isinstance(token, _Taken)
        if not token.spent:
            token.spent = True
            self._post(self._sent, token, self._clock.monotonic())

    def give_back(self, token: Token) -> None:
        assert isinstance(token, _Taken)
        if not token.spent:
            token.spent = True
            self._post(self._freed, token)

    def slow(self, upstream: str, windows: Sequence[Window], slowing: Slowing) -> None:
        self._post(self._slowed, upstream, _interval_s(windows), slowing)

    def slowing(self, upstream: str) -> Slowing | None:
        return self._slowing.get(upstream)

    async def look(self, upstream: str, windows: Sequence[Window]) -> None:
        def read(file: sqlite3.Connection) -> None:
            self._turn(file, upstream, windows)

        await asyncio.get_running_loop().run_in_executor(self._thread, self._looked, read, None)

    def forecast(self, upstream: str, windows: Sequence[Window], ahead: int) -> float:
        wait_s = self._next_at.get(upstream, 0.0) - self._clock.monotonic()
        longest = 0.0
        for window, used in zip(windows, self._used.get(upstream, ()), strict=False):
            over = ahead - max(window.limit - used, 0)
            if over >= 0:
                longest = max(longest, wait_s + over // window.limit * window.held_s)
        return max(longest, 0.0)

    def used(self, upstream: str, windows: Sequence[Window]) -> tuple[int, ...]:
        return self._used.get(upstream) or (0,) * len(windows)

    def tell(self, report: Callable[[], str]) -> None:
        self._report = report

    async def reports(self) -> list[str]:
        def read(file: sqlite3.Connection) -> list[str]:
            rows = file.execute("SELECT report FROM gateway WHERE seen > ?", (self._clock.monotonic() - SILENT_S,))
            return [report for (report,) in rows.fetchall()]

        return await asyncio.get_running_loop().run_in_executor(self._thread, self._looked, read, _NO_REPORTS)

    async def aclose(self) -> None:
        self._post(self._close)
        await asyncio.to_thread(self._thread.shutdown)

    def _post(self, work: Callable[..., None], *arguments: object) -> None:
        with suppress(RuntimeError):  # Closed: what is left over then is freed with its lease.
            self._thread.submit(work, *arguments)

    # What follows runs in the thread.

    def _take(self, upstream: str, windows: Sequence[Window], report: str | None) -> Token | float:
        def turn(file: sqlite3.Connection) -> Token | float:
            wait_s = self._turn(file, upstream, windows)
            if report is not None:
                self._seen(file, report)
            if wait_s > 0:
                return wait_s
            # A number of its own in whatever file it ends up.
            number = secrets.randbits(62)
            lease = self._clock.monotonic() + LEASE_S
            file.execute("INSERT INTO token VALUES (?, ?, 9e999, ?)", (number, upstream, lease))
            slowing = self._slowing.get(upstream)
            if slowing is not None and slowing.spacing_s:
                file.execute("UPDATE pace SET last_start = ? WHERE upstream = ?", (self._clock.monotonic(), upstream))
            return _Taken(upstream, number)

        taken = self._written(turn, None)
        return self._take_alone(upstream, windows) if taken is None else taken

    def _take_alone(self, upstream: str, windows: Sequence[Window]) -> Token | float:
        parts = self._share.of_windows(windows)
        if parts is None:
            return 1.0
        alone = self._alone = self._alone or MemoryQuotas(self._clock)
        taken = alone.take_now(upstream, parts)
        return _Taken(upstream, secrets.randbits(62), taken) if isinstance(taken, Token) else taken

    def _sent(self, token: _Taken, at: float) -> None:
        if token.alone is not None and self._alone is not None:
            self._alone.sent(token.alone)
            return

        def mark(file: sqlite3.Connection) -> None:
            # The row may have gone with its lease, or with a file that was moved aside.
            file.execute("INSERT OR REPLACE INTO token VALUES (?, ?, ?, NULL)", (token.number, token.upstream, at))

        self._written(mark, None)

    def _freed(self, token: _Taken) -> None:
        if token.alone is not None:
            if self._alone is not None:
                self._alone.give_back(token.alone)
            return
        self._written(lambda file: file.execute("DELETE FROM token WHERE id = ?", (token.number,)), None)

    def _slowed(self, upstream: str, interval_s: float, slowing: Slowing) -> None:
        def write(file: sqlite3.Connection) -> None:
            now = self._clock.monotonic()
            paused_until, spacing_s, recover_at, last_start, _ = self._pace(file, upstream, interval_s)
            row = (
                upstream,
                now,
                max(paused_until, now + slowing.pause_s),
                max(spacing_s, slowing.spacing_s),
                max(recover_at, now + slowing.recover_s),
                slowing.cause,
                last_start,
            )
            file.execute("INSERT OR REPLACE INTO pace VALUES (?, ?, ?, ?, ?, ?, ?)", row)

        self._written(write, None)

    def _turn(self, file: sqlite3.Connection, upstream: str, windows: Sequence[Window]) -> float:
        """Seconds until a token may be had, as the file stands; what is over is forgotten."""
        now = self._clock.monotonic()
        longest = max((window.held_s for window in windows), default=0.0)
        file.execute("DELETE FROM token WHERE lease < ?", (now,))
        file.execute("DELETE FROM token WHERE upstream = ? AND at <= ?", (upstream, now - longest))
        # Times of before the machine was started are later than now: they count as now, which is later than they were.
        file.execute("UPDATE token SET at = ? WHERE upstream = ? AND at > ? AND at < 9e999", (now, upstream, now))
        paused_until, spacing_s, recover_at, last_start, cause = self._pace(file, upstream, _interval_s(windows))
        pause_s = max(0.0, paused_until - now)
        wait_s = max(pause_s, last_start + spacing_s - now if spacing_s else 0.0)
        (born,) = file.execute("SELECT max(at) FROM birth").fetchone()
        used: list[int] = []
        for window in windows:
            held = (upstream, now - window.held_s)
            (count,) = file.execute("SELECT count(*) FROM token WHERE upstream = ? AND at > ?", held).fetchone()
            used.append(count)
            if count >= window.limit:
                (freeing,) = file.execute(
                    "SELECT at FROM token WHERE upstream = ? AND at > ? ORDER BY at LIMIT 1 OFFSET ?",
                    (*held, count - window.limit),
                ).fetchone()
                wait_s = max(wait_s, window.held_s if freeing == inf else freeing + window.held_s - now)
            if born is not None and window.span_s <= SHORT_S:
                # What was sent before a file was moved aside is not in this one.
                wait_s = max(wait_s, min(born, now) + window.held_s - now)
        self._used[upstream] = tuple(used)
        self._next_at[upstream] = now + wait_s
        slowed = pause_s or spacing_s
        self._slowing[upstream] = Slowing(pause_s, spacing_s, max(0.0, recover_at - now), cause) if slowed else None
        return wait_s

    def _pace(
        self, file: sqlite3.Connection, upstream: str, interval_s: float
    ) -> tuple[float, float, float, float, str]:
        now = self._clock.monotonic()
        row = file.execute(
            # Times of before the machine was started are later than now.
            "SELECT paused_until, spacing_s, recover_at, last_start, cause FROM pace"
            " WHERE upstream = ? AND told_at <= ?",
            (upstream, now),
        ).fetchone()
        if row is None:
            return (-inf, 0.0, -inf, -inf, "")
        paused_until, spacing_s, recover_at, last_start, cause = row
        while spacing_s and now >= recover_at:
            recover_at += RECOVERY_STEP_S
            spacing_s /= 2
            if spacing_s <= interval_s:
                spacing_s = 0.0
        return (paused_until, spacing_s, recover_at, last_start, cause)

    def _seen(self, file: sqlite3.Connection, report: str) -> None:
        now = self._seen_at = self._clock.monotonic()
        file.execute("INSERT OR REPLACE INTO gateway VALUES (?, ?, ?)", (os.getpid(), now, report))
        file.execute("DELETE FROM gateway WHERE seen < ? OR seen > ?", (now - SILENT_S, now))
        (self._members,) = file.execute("SELECT count(*) FROM gateway").fetchone()

    def _looked(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """`_written`, for who only asks: it makes no file."""
        return self._written(work, otherwise) if self.path.exists() else otherwise

    def _written(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """What `work` gives in a write transaction; `otherwise` where no file can be had.

        A file that is out of order is replaced once, and the work done in the new one.
        """
        since, replaced = time.monotonic(), False
        while True:
            try:
                return self._transacted(work)
            except (sqlite3.Error, OSError) as error:
                kind = _out_of_order(error)
                if kind == "locked" and time.monotonic() - since < self._locked_s:
                    # SQLite does not wait for some of its locks, those of opening among them.
                    time.sleep(_RETRY_S)
                elif kind and not replaced and self._replaced(kind):
                    since, replaced = time.monotonic(), True
                else:
                    return self._without_file(error, otherwise)

    def _transacted(self, work: Callable[[sqlite3.Connection], T]) -> T:
        file = self._opened()
        file.execute("BEGIN IMMEDIATE")
        try:
            if self._alone is not None:
                for upstream, times in self._alone.sends().items():
                    rows = [(secrets.randbits(62), upstream, at) for at in times]
                    file.executemany("INSERT INTO token VALUES (?, ?, ?, NULL)", rows)
            result = work(file)
            file.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                file.execute("ROLLBACK")
            raise
        if self._alone is not None:
            _log.warning("quota_store_back", store=self.kind, path=str(self.path))
            self._alone, self._trouble = None, None
        return result

    def _opened(self) -> sqlite3.Connection:
        """The file that stands at the path now: another process may have replaced it, or its user removed it."""
        if self._file is not None:
            with suppress(OSError):
                if self.path.stat().st_ino == self._inode:
                    return self._file
            self._shut()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._inode = self.path.stat().st_ino if self.path.exists() else 0
        file = sqlite3.connect(self.path, timeout=self._locked_s, isolation_level=None, check_same_thread=False)
        try:
            file.execute("PRAGMA journal_mode = WAL")
            # What a power failure loses is older than the windows when the machine is up again.
            file.execute("PRAGMA synchronous = OFF")
            file.executescript(_SCHEMA)
            self._inode = self.path.stat().st_ino
        except BaseException:
            file.close()
            raise
        self._file = file
        return file

    def _shut(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(sqlite3.Error):
                file.close()

    def _replaced(self, kind: str) -> bool:
        """Move the file aside and begin another; False where that cannot be done."""
        inode = self._inode
        self._shut()
        aside = self.path.with_suffix(f".{kind}")
        guard = self.path.with_suffix(".lock")
        try:
            with _only_one(guard):
                # Another process may have been quicker.
                if not inode or self.path.stat().st_ino == inode:
                    os.replace(self.path, aside)
                    for suffix in ("-wal", "-shm"):
                        Path(f"{self.path}{suffix}").unlink(missing_ok=True)
                    self._opened().execute("INSERT INTO birth VALUES (?)", (self._clock.monotonic(),))
        except BlockingIOError:
            # Another process is at it: its new file is there in a moment.
            time.sleep(_RETRY_S)
            return True
        except (OSError, sqlite3.Error):
            return False
        self._trouble = None
        _log.warning("quota_file_replaced", reason=kind, path=str(self.path), moved_to=str(aside))
        return True

    def _without_file(self, error: BaseException, otherwise: T) -> T:
        self._shut()
        if self._alone is None:
            self._alone = MemoryQuotas(self._clock)
            _log.warning("quota_store_lost", store=self.kind, path=str(self.path), reason=str(error))
        self._trouble = f"{self.path} cannot be used ({error}): serving one of {self._share.members} shares"
        return otherwise

    def _close(self) -> None:
        if self._file is not None:
            with suppress(sqlite3.Error):
                self._file.execute("DELETE FROM gateway WHERE pid = ?", (os.getpid(),))
        self._shut()

    def _discard(self, asking: "asyncio.Future[Token | float]") -> None:
        if not asking.cancelled() and asking.exception() is None and isinstance(token := asking.result(), Token):
            self.give_back(token)


def _interval_s(windows: Sequence[Window]) -> float:
    return max((window.span_s / window.limit for window in windows), default=0.1)


def _out_of_order(error: BaseException) -> str | None:
    """What is wrong with a file that another one can take the place of, as it is called in the moved file's name."""
    if isinstance(error, sqlite3.OperationalError):
        return "locked" if "locked" in str(error) else None
    return "corrupt" if isinstance(error, sqlite3.DatabaseError) else None


@contextmanager
def _only_one(path: Path) -> Generator[None]:
    """Hold a file's lock; `OSError` where another process holds it."""
    with path.open("w") as file:
        if sys.platform == "win32":
            import msvcrt  # of this platform alone

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # of the other platforms alone

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
