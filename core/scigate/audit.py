"""The audit log: one line of JSON for each call, appended by a thread of its own, so that no call waits for a disk.

Above is the policy that hands entries over. The log knows neither calls nor callers: an entry is a mapping.

A line carries `seq`, counted from 1 over all files, and in a chained log `prev` and `hash`: `hash` is the digest of the
line without it, `prev` the `hash` of the line before. Old files stand beside the current one, with the number of their
first line behind their name.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import queue
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import structlog

from scigate.clock import Clock
from scigate.settings.access import AuditSettings

__all__ = ["AuditError", "AuditLog", "AuditStatus", "Verification", "verify"]

_log: Final = structlog.get_logger("scigate.audit")

_WAITING: Final = 10_000
"""Entries that wait for the disk at most; more are lost and counted."""

_AT_ONCE: Final = 500
"""Lines written together at most."""

_LAST_WORDS_S: Final = 5.0
"""Seconds that closing waits for what is not written yet."""

_NEWEST_LINE_BYTES: Final = 1024 * 1024
"""Bytes at a file's end in which its last line is looked for; an entry is far shorter."""

_NO_HASH: Final = "0" * 64
"""Stands for the line before the first."""

_HASHED_LINE: Final = re.compile(rb'(?P<body>.*),"hash":"(?P<hash>[0-9a-f]{64})"\}', re.DOTALL)


class AuditError(Exception):
    """The audit log cannot be kept where the settings say."""


@dataclass(frozen=True, slots=True)
class AuditStatus:
    """How the log stands.

    Attributes:
        path: The file that is written; a neighbour of the one in the settings where another gateway writes that.
        written: Lines that this process has written.
        waiting: Entries not written yet.
        lost: Entries that this process could not write.
        seq: Number of the last line, and `head` its hash where the log is chained.
    """

    path: Path
    written: int
    waiting: int
    lost: int
    seq: int
    head: str


class AuditLog:
    """Appends entries; opens its file with the first one.

    Args:
        settings: Where and how; `path` is set.
        clock: The clock of the lines' times.

    Raises:
        AuditError: The file's directory cannot be written.
    """

    def __init__(self, settings: AuditSettings, clock: Clock) -> None:
        if settings.path is None:
            raise AuditError("audit.path is not set")
        self._settings = settings
        self._clock = clock
        self._waiting: queue.Queue[Mapping[str, object] | None] = queue.Queue(_WAITING)
        self._file = _File(settings.path.absolute(), settings)
        self._thread: threading.Thread | None = None
        # Each counted by one thread alone: what the queue refused, and what the disk did.
        self._refused = 0
        self._unwritten = 0
        self._told = 0

    @property
    def digests_only(self) -> bool:
        """Whether arguments go into it as a digest alone."""
        return self._settings.arguments == "hashed"

    def write(self, entry: Mapping[str, object]) -> None:
        """Hand an entry over, without waiting; its values are JSON's and do not change any more."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="scigate-audit", daemon=True)
            self._thread.start()
        try:
            self._waiting.put_nowait({"time": self._clock.now().isoformat(timespec="milliseconds"), **entry})
        except queue.Full:
            self._refused += 1

    def digest(self, text: bytes) -> str:
        """The digest of arguments: with the key where there is one, since short arguments could be guessed."""
        return _digest(text, _secret(self._settings))

    @property
    def status(self) -> AuditStatus:
        """How the log stands."""
        file = self._file
        return AuditStatus(file.path, file.written, self._waiting.qsize(), self._lost, file.seq, file.head)

    @property
    def _lost(self) -> int:
        return self._refused + self._unwritten

    def close(self) -> None:
        """Write what waits, for five seconds at most, and close the file."""
        if self._thread is None:
            return
        with suppress(queue.Full):
            self._waiting.put(None, timeout=_LAST_WORDS_S)
        self._thread.join(_LAST_WORDS_S)
        status = self.status
        self._thread = None
        _log.info("audit closed", path=str(status.path), seq=status.seq, head=status.head, lost=status.lost)

    def _work(self) -> None:
        ended = False
        while not ended:
            entries: list[Mapping[str, object]] = []
            entry = self._waiting.get()
            while entry is not None:
                entries.append(entry)
                if len(entries) == _AT_ONCE or self._waiting.empty():
                    break
                entry = self._waiting.get()
            ended = entry is None
            self._append(entries)
        self._file.close()

    def _append(self, entries: list[Mapping[str, object]]) -> None:
        lost = self._lost
        if lost > self._told:
            now = self._clock.now().isoformat(timespec="milliseconds")
            entries.append({"time": now, "event": "lost", "lines": lost - self._told})
        try:
            self._file.append(entries)
        except (OSError, AuditError) as error:
            _tell_loss(len(entries), str(error))
            self._unwritten += len(entries) - (lost > self._told)
            return
        if lost > self._told:
            _tell_loss(lost - self._told, "the disk did not keep up")
        self._told = lost


def _tell_loss(lines: int, error: str) -> None:
    # A log that is closed or full must not end the thread.
    with suppress(OSError, ValueError):
        _log.error("audit lines lost", lines=lines, error=error)


class _File:
    """The current file: numbers and chains the lines, and begins a new file when it is full."""

    def __init__(self, path: Path, settings: AuditSettings) -> None:
        self.path = path
        self.seq = 0
        self.head = ""
        self.written = 0
        self._settings = settings
        self._key = _secret(settings)
        self._chained = settings.chain or self._key is not None
        self._fd = -1
        self._lock = -1
        self._size = 0
        _require_writable(path)

    def append(self, entries: Sequence[Mapping[str, object]]) -> None:
        if not entries:
            return
        if self._fd < 0:
            self._open()
        if self._size >= self._settings.max_bytes:
            self._begin_anew()
        seq, head = self.seq, self.head
        lines: list[bytes] = []
        for entry in entries:
            seq += 1
            line, head = _line(entry, seq, head, chained=self._chained, key=self._key)
            lines.append(line)
        text = b"".join(lines)
        if (written := os.write(self._fd, text)) < len(text):
            # A full disk takes a part; what stands there then is torn, and a new file is begun with the next entry.
            self._size = self._settings.max_bytes
            raise AuditError(f"{self.path}: only {written:,} of {len(text):,} bytes could be written")
        self.seq, self.head = seq, head
        self.written += len(lines)
        self._size += len(text)

    def close(self) -> None:
        for fd in (self._fd, self._lock):
            if fd >= 0:
                os.close(fd)
        self._fd = self._lock = -1

    def _open(self) -> None:
        if self._lock < 0:
            self.path, self._lock = _claimed(self.path)
        last, torn = _last_line(self.path)
        if last is None:
            older = _older(self.path)
            last = _last_line(older[-1])[0] if older else None
        if last is not None:
            self.seq, self.head = _number(last), _hash_of(last, self._key)
        self._fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._size = os.fstat(self._fd).st_size
        if torn:
            # Its last writer was stopped within a line: what follows it would be taken for a part of it.
            self._begin_anew()

    def _begin_anew(self) -> None:
        os.close(self._fd)
        self._fd = -1
        os.replace(self.path, _aside(self.path))
        self._fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._size = 0
        if self._settings.keep:
            for old in _older(self.path)[: -self._settings.keep]:
                old.unlink(missing_ok=True)


@dataclass(slots=True)
class Verification:
    """What a look through a log found.

    Attributes:
        files: The files, oldest first.
        lines: Lines in them.
        first, last: Numbers of the first and the last line; a first one over 1 means that older files are gone.
        head: The hash of the last line; empty where it has none. Noted elsewhere, it shows later that nothing up to
            there was cut off or written anew.
        lost: Calls of which the log itself says that it has no line.
        torn: Files whose last line its writer did not finish.
        problems: What should not be, each with file and line; empty for a whole log.
    """

    files: list[Path] = field(default_factory=list[Path])
    lines: int = 0
    first: int = 0
    last: int = 0
    head: str = ""
    lost: int = 0
    torn: int = 0
    problems: list[str] = field(default_factory=list[str])


def verify(path: Path, settings: AuditSettings, noted: str | None = None) -> Verification:
    """Look through a log, its old files included.

    Args:
        path: The current file.
        settings: Whether lines are chained, and by which key.
        noted: A hash that was noted earlier and has to be among the lines.

    Raises:
        AuditError: There is no such file, or it cannot be read.
    """
    found = Verification(files=[*_older(path), *([path] if path.exists() else [])])
    if not found.files:
        raise AuditError(f"{path}: there is no audit log")
    key = _secret(settings)
    before = None
    met = noted is None
    chained = 0
    for file, number, line in _lines(found):
        where = f"{file.name}:{number}"
        seq = _number(line)
        if before is not None and seq != found.last + 1:
            found.problems.append(f"{where}: line {found.last + 1} was expected, this is {seq or 'none of the log'}")
        match = _HASHED_LINE.fullmatch(line)
        if match is not None:
            chained += 1
            body = match["body"] + b"}"
            if not hmac.compare_digest(_digest(body, key), match["hash"].decode()):
                found.problems.append(f"{where}: the line was changed, or hashed with another key")
            prev = _parsed(line).get("prev")
            expected = _NO_HASH if seq == 1 else None if before is None else _hash_of(before, key)
            if expected is not None and prev != expected:
                found.problems.append(f"{where}: the line before it is not the one it was written behind")
            met = met or match["hash"].decode() == noted
        elif chained:
            found.problems.append(f"{where}: the line is not chained")
        entry = _parsed(line)
        found.lost += int(entry.get("lines", 0)) if entry.get("event") == "lost" else 0
        found.first = found.first or seq
        found.last, found.lines, before = seq, found.lines + 1, line
    found.head = _hash_of(before, key) if before is not None and chained else ""
    if (settings.chain or key) and not chained and found.lines:
        found.problems.append(f"{path.name}: no line is chained, although the settings say so")
    if not met:
        found.problems.append(f"{path.name}: no line has the hash {noted}: lines were cut off or written anew")
    return found


def _lines(found: Verification) -> Iterator[tuple[Path, int, bytes]]:
    for file in found.files:
        try:
            with file.open("rb") as lines:
                for number, line in enumerate(lines, start=1):
                    if not line.endswith(b"\n"):
                        found.torn += 1
                        break
                    yield file, number, line.rstrip(b"\n")
        except OSError as error:
            raise AuditError(f"{file}: {error.strerror or error}") from error


def _line(entry: Mapping[str, object], seq: int, head: str, *, chained: bool, key: bytes | None) -> tuple[bytes, str]:
    """An entry as a line, and the line's hash."""
    numbered = {"seq": seq, **entry}
    if not chained:
        return json.dumps(numbered, separators=(",", ":")).encode() + b"\n", ""
    body = json.dumps({**numbered, "prev": head or _NO_HASH}, separators=(",", ":")).encode()
    digest = _digest(body, key)
    return body[:-1] + b',"hash":"' + digest.encode() + b'"}\n', digest


def _digest(text: bytes, key: bytes | None) -> str:
    return hmac.digest(key, text, "sha256").hex() if key else hashlib.sha256(text).hexdigest()


def _hash_of(line: bytes, key: bytes | None) -> str:
    """A line's own hash; for one that is not chained its digest, so that a chain can begin behind it."""
    match = _HASHED_LINE.fullmatch(line)
    return _digest(line, key) if match is None else match["hash"].decode()


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        entry: object = json.loads(line)
    except ValueError:
        return {}
    return cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}


def _number(line: bytes) -> int:
    """A line's number; 0 where it has none."""
    seq = _parsed(line).get("seq")
    return seq if isinstance(seq, int) else 0


def _secret(settings: AuditSettings) -> bytes | None:
    return settings.key.get_secret_value().encode() if settings.key else None


def _last_line(path: Path) -> tuple[bytes | None, bool]:
    """The last whole line of a file, and whether an unfinished one follows it."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _NEWEST_LINE_BYTES))
            whole, _, rest = file.read().rpartition(b"\n")
    except FileNotFoundError:
        return None, False
    return whole.rpartition(b"\n")[2] or None, bool(rest)


def _older(path: Path) -> list[Path]:
    """The old files of a log, oldest first."""
    return sorted(old for old in path.parent.glob(f"{path.name}.*") if re.fullmatch(r"\.\d{12}", old.suffix))


def _aside(path: Path) -> Path:
    """A name for a full file: the number of its first line."""
    with path.open("rb") as file:
        first = _number(file.readline().rstrip(b"\n"))
    name = path.with_name(f"{path.name}.{first:012}")
    while name.exists():
        first += 1
        name = path.with_name(f"{path.name}.{first:012}")
    return name


def _require_writable(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AuditError(f"audit.path: {path.parent} cannot be made ({error.strerror or error})") from error
    target = path if path.exists() else path.parent
    if not os.access(target, os.W_OK):
        raise AuditError(f"audit.path: {target} cannot be written")


def _claimed(path: Path) -> tuple[Path, int]:
    """The path, or its first neighbour, that no other gateway writes, and what holds it.

    Two writers would break each other's chain. On Windows nothing is held: there, one gateway to a file.
    """
    for number in range(1, 1000):
        wanted = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        lock = os.open(wanted.with_name(f".{wanted.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        if sys.platform == "win32":
            return wanted, lock
        import fcntl  # not on Windows

        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        return wanted, lock
    raise AuditError(f"{path}: a thousand gateways write beside it")
