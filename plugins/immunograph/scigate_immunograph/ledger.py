"""The run ledger: every finished step in one SQLite file, shared by all gateways of a user.

Above are the recording policy, the tools that read runs, and the `scigate runs` commands. A step is in the file before
its answer is sent, in a transaction of its own that is written through to the disk: killing the process loses none.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final, cast

import platformdirs

from scigate_immunograph.step import Step

__all__ = ["Ledger", "LedgerError", "RecordedStep", "RunSummary", "usual_path"]

Json = dict[str, Any]

_VERSION: Final = 1

_BUSY_TIMEOUT_S: Final = 10.0
"""Seconds that a writer waits for another's transaction, which takes milliseconds."""

_BUSY_PAUSE_S: Final = 0.02

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS steps (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    request_id   TEXT NOT NULL UNIQUE,
    caller       TEXT NOT NULL,
    run_id       TEXT NOT NULL,
    tool         TEXT NOT NULL,
    version      TEXT NOT NULL,
    started_at   TEXT NOT NULL,
    completed_at TEXT NOT NULL,
    duration_ms  REAL NOT NULL,
    ok           INTEGER NOT NULL,
    input_hash   TEXT NOT NULL,
    output_hash  TEXT,
    arguments    TEXT NOT NULL,
    data         TEXT,
    error        TEXT,
    notice       TEXT,
    evidence     TEXT
);
CREATE INDEX IF NOT EXISTS steps_of_run ON steps (caller, run_id, seq);
"""

_COLUMNS: Final = (
    "request_id, caller, run_id, tool, version, started_at, completed_at, duration_ms, ok, input_hash, output_hash, "
    "arguments, data, error, notice, evidence"
)


class LedgerError(Exception):
    """The ledger's file cannot be opened, read or written; the text says why, without the path."""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A step as it stands in the ledger.

    Attributes:
        step: The step itself.
        caller: Who called.
        evidence: What a source said, from which the step can be replayed without it; None where nothing is needed.
    """

    step: Step
    caller: str
    evidence: Json | None

    @property
    def provenance(self) -> Json | None:
        """Where the step's facts came from, for steps that say so."""
        found: object = (self.step.data or {}).get("provenance")
        return cast("Json", found) if isinstance(found, dict) else None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run at a glance; times are those of its first step's start and its last step's end."""

    run_id: str
    caller: str
    steps: int
    failed: int
    started_at: str
    completed_at: str
    tools: tuple[str, ...]


def usual_path() -> Path:
    """The ledger of this user, in the directory that the operating system keeps for data."""
    return platformdirs.user_data_path("scigate") / "immunograph" / "runs.sqlite3"


class Ledger:
    """One ledger file; opened when it is first used, and safe to use from several threads and processes.

    Args:
        path: The file; it and its folders are made when the first step is appended.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._lock = Lock()

    def append(self, recorded: RecordedStep) -> None:
        """Write a finished step through to the disk.

        Raises:
            LedgerError: It could not be written.
        """
        step = recorded.step
        values = (
            step.request_id,
            recorded.caller,
            step.run_id,
            step.tool,
            step.version,
            step.started_at,
            step.completed_at,
            step.duration_ms,
            int(step.ok),
            step.input_hash,
            step.output_hash,
            _text(step.arguments or {}),
            _text(step.data),
            _text(step.error),
            step.notice,
            _text(recorded.evidence),
        )
        places = ", ".join("?" * len(values))
        with self._opened() as connection, connection:
            connection.execute(f"INSERT INTO steps ({_COLUMNS}) VALUES ({places})", values)  # noqa: S608  # constants

    def runs(self, caller: str | None, *, offset: int = 0, limit: int = -1) -> tuple[int, list[RunSummary]]:
        """How many runs there are, and some of them, the latest first.

        Args:
            caller: Whose runs; None for everybody's.
            offset: Runs to pass over.
            limit: The most to give; -1 for all.

        Raises:
            LedgerError: The file cannot be read.
        """
        if not self.path.exists():
            return 0, []
        every = caller is None
        with self._opened() as connection:
            (total,) = connection.execute(
                "SELECT COUNT(*) FROM (SELECT 1 FROM steps WHERE ? OR caller = ? GROUP BY caller, run_id)",
                (every, caller),
            ).fetchone()
            rows = connection.execute(
                "SELECT run_id, caller, COUNT(*), SUM(ok = 0), MIN(started_at), MAX(completed_at), "
                "GROUP_CONCAT(DISTINCT tool) FROM steps WHERE ? OR caller = ? GROUP BY caller, run_id "
                "ORDER BY MAX(seq) DESC LIMIT ? OFFSET ?",
                (every, caller, limit, offset),
            ).fetchall()
        return total, [_summary(row) for row in rows]

    def steps(
        self, run_id: str, caller: str | None, *, offset: int = 0, limit: int = -1
    ) -> tuple[int, list[RecordedStep]]:
        """How many steps a run has, and some of them, in the order in which they were finished; as `runs`."""
        if not self.path.exists():
            return 0, []
        every = caller is None
        with self._opened() as connection:
            (total,) = connection.execute(
                "SELECT COUNT(*) FROM steps WHERE run_id = ? AND (? OR caller = ?)", (run_id, every, caller)
            ).fetchone()
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM steps WHERE run_id = ? AND (? OR caller = ?) "  # noqa: S608  # constants
                "ORDER BY seq LIMIT ? OFFSET ?",
                (run_id, every, caller, limit, offset),
            ).fetchall()
        return total, [_recorded(row) for row in rows]

    def close(self) -> None:
        """Close the file; a later use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = _connected(self.path)
                yield self._connection
            except (sqlite3.Error, OSError) as error:
                raise LedgerError(f"the ledger cannot be used: {type(error).__name__}: {_cause(error)}") from error


def _connected(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    latest = time.monotonic() + _BUSY_TIMEOUT_S
    while True:
        try:
            return _prepared(path)
        except sqlite3.OperationalError as error:
            # Two processes that make the file at once: SQLite does not wait for the lock that WAL is turned on under.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > latest:
                raise
            time.sleep(_BUSY_PAUSE_S)


def _prepared(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, check_same_thread=False)
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > _VERSION:
            raise LedgerError("the ledger was written by a newer version of scigate-immunograph: upgrade it")
        # A reader does not stop a writer; FULL waits for the disk at each commit.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        if version < _VERSION:
            connection.executescript(f"{_SCHEMA} PRAGMA user_version = {_VERSION};")
    except BaseException:
        connection.close()
        raise
    return connection


def _summary(row: tuple[Any, ...]) -> RunSummary:
    run_id, caller, steps, failed, started_at, completed_at, tools = row
    return RunSummary(run_id, caller, steps, failed, started_at, completed_at, tuple(tools.split(",")))


def _recorded(row: tuple[Any, ...]) -> RecordedStep:
    step = Step(
        request_id=row[0],
        run_id=row[2],
        tool=row[3],
        version=row[4],
        started_at=row[5],
        completed_at=row[6],
        duration_ms=row[7],
        arguments=_value(row[11]),
        input_hash=row[9],
        output_hash=row[10],
        data=_value(row[12]),
        error=_value(row[13]),
        notice=row[14],
    )
    return RecordedStep(step, row[1], _value(row[15]))


def _text(value: Json | None) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _value(text: str | None) -> Json | None:
    return None if text is None else json.loads(text)


def _cause(error: Exception) -> str:
    return (error.strerror or "" if isinstance(error, OSError) else str(error)).rstrip(".")
