"""The audit log as a file: what stands in it after rotation, restarts, full disks and tampering."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from scigate.audit import AuditError, AuditLog, verify
from scigate.settings import AuditSettings
from scigate.testing.clock import ManualClock

KEYED = {"key": SecretStr("a key of the operator")}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit" / "audit.jsonl"


@pytest.fixture
def kept(path: Path) -> Iterator[Callable[..., AuditLog]]:
    """Keeps entries in a log with some settings, closes it, and gives it."""

    def keep(*numbers: int, **settings: Any) -> AuditLog:
        log = AuditLog(AuditSettings(path=path, **settings), ManualClock())
        for number in numbers:
            log.write({"event": "call", "number": number})
        log.close()
        return log

    yield keep
    assert not [thread for thread in threading.enumerate() if thread.name == "scigate-audit"]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_line_is_an_entry_with_its_number_and_time(path: Path, kept: Callable[..., AuditLog]) -> None:
    """Numbers start at 1, times are UTC."""
    log = kept(7, 8)
    assert lines(path) == [
        {"seq": 1, "time": "2026-01-01T00:00:00.000+00:00", "event": "call", "number": 7},
        {"seq": 2, "time": "2026-01-01T00:00:00.000+00:00", "event": "call", "number": 8},
    ]
    assert (log.status.written, log.status.lost, log.status.waiting) == (2, 0, 0)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_the_file_is_its_owners_alone(path: Path, kept: Callable[..., AuditLog]) -> None:
    """It says who asked for what."""
    kept(1)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("settings", [{}, {"chain": True}, KEYED], ids=["plain", "chained", "keyed"])
def test_a_log_goes_on_after_a_restart_and_over_files(
    path: Path, kept: Callable[..., AuditLog], settings: dict[str, Any]
) -> None:
    """Numbers and chain run through; the last line of all files together is known."""
    for start in range(0, 30, 10):
        for number in range(start, start + 10, 2):
            last = kept(number, number + 1, max_bytes=300, **settings)
    found = verify(path, AuditSettings(path=path, **settings))
    assert found.problems == []
    assert len(found.files) > 2
    assert (found.first, found.last, found.lines) == (1, 30, 30)
    assert found.head == last.status.head
    assert [entry["number"] for file in found.files for entry in lines(file)] == list(range(30))


def test_old_files_go_where_only_some_are_kept(path: Path, kept: Callable[..., AuditLog]) -> None:
    """The newest stay, and the log says from which line on it is whole."""
    for number in range(10):
        kept(number, max_bytes=1, keep=3, chain=True)
    found = verify(path, AuditSettings(path=path, chain=True))
    assert [file.name for file in found.files] == [
        *("audit.jsonl.000000000007", "audit.jsonl.000000000008", "audit.jsonl.000000000009", "audit.jsonl")
    ]
    assert (found.first, found.last, found.problems) == (7, 10, [])


def change(path: Path, number: int, line: str | None, *, before: bool = False) -> None:
    """Put a line for another one, or before it; None takes it away."""
    whole = path.read_text(encoding="utf-8").splitlines(keepends=True)
    whole[number - 1 : number - 1 if before else number] = [] if line is None else [line]
    path.write_text("".join(whole), encoding="utf-8")


def tampered(path: Path, how: str) -> None:
    third = path.read_text(encoding="utf-8").splitlines(keepends=True)[2]
    match how:
        case "changed":
            change(path, 3, third.replace('"number":3', '"number":4'))
        case "removed":
            change(path, 3, None)
        case "added":
            change(path, 3, third, before=True)
        case "swapped":
            change(path, 3, None)
            change(path, 2, third, before=True)
        case "unchained":
            entry = json.loads(third)
            change(path, 3, json.dumps({name: entry[name] for name in entry if name not in ("prev", "hash")}) + "\n")
        case "garbled":
            change(path, 3, "nonsense\n")
        case _:
            raise AssertionError(how)


@pytest.mark.parametrize("settings", [{"chain": True}, KEYED], ids=["chained", "keyed"])
@pytest.mark.parametrize("how", ["changed", "removed", "added", "swapped", "unchained", "garbled"])
def test_tampering_shows(path: Path, kept: Callable[..., AuditLog], settings: dict[str, Any], how: str) -> None:
    """The place is named by file and line."""
    kept(1, 2, 3, 4, 5, **settings)
    tampered(path, how)
    found = verify(path, AuditSettings(path=path, **settings))
    assert found.problems
    assert found.problems[0].startswith(("audit.jsonl:2: ", "audit.jsonl:3: ", "audit.jsonl:4: "))


def test_a_chain_written_anew_shows_by_the_key_or_by_a_noted_hash(path: Path, kept: Callable[..., AuditLog]) -> None:
    """Without either, whoever writes the file can forge it as a whole, and nothing shows."""
    noted = kept(1, 2, 3, chain=True).status.head
    path.unlink()
    kept(1, 2, 4, chain=True)
    chained = AuditSettings(path=path, chain=True)
    assert verify(path, chained).problems == []
    assert "cut off or written anew" in verify(path, chained, noted).problems[0]
    assert len(verify(path, AuditSettings(path=path, **KEYED)).problems) == 3


def test_a_noted_hash_is_found_again_in_a_log_that_has_grown(path: Path, kept: Callable[..., AuditLog]) -> None:
    """And no more once the end is cut off, which a chain alone does not show."""
    kept(1, chain=True)
    noted = kept(2, chain=True).status.head
    kept(3, chain=True)
    assert verify(path, AuditSettings(path=path, chain=True), noted).problems == []
    change(path, 2, None)
    change(path, 2, None)
    assert verify(path, AuditSettings(path=path, chain=True)).problems == []
    assert verify(path, AuditSettings(path=path, chain=True), noted).problems


def test_a_chain_can_begin_in_a_log_that_had_none(path: Path, kept: Callable[..., AuditLog]) -> None:
    """From its first line on it holds what stood before it, too."""
    kept(1, 2)
    kept(3, 4, chain=True)
    settings = AuditSettings(path=path, chain=True)
    assert verify(path, settings).problems == []
    change(path, 2, path.read_text(encoding="utf-8").splitlines(keepends=True)[1].replace('"number":2', '"number":9'))
    assert verify(path, settings).problems == ["audit.jsonl:3: the line before it is not the one it was written behind"]


def test_a_log_stripped_of_its_chain_shows(path: Path, kept: Callable[..., AuditLog]) -> None:
    """The settings say that there has to be one."""
    kept(1, 2)
    assert verify(path, AuditSettings(path=path)).problems == []
    assert "no line is chained" in verify(path, AuditSettings(path=path, chain=True)).problems[0]


def test_a_line_that_was_not_finished_harms_no_other(path: Path, kept: Callable[..., AuditLog]) -> None:
    """Its gateway was stopped within it; the next one begins a new file behind the last whole line."""
    kept(1, 2, chain=True)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"seq":3,"ti')
    kept(3, chain=True)
    found = verify(path, AuditSettings(path=path, chain=True))
    assert (found.problems, found.torn, found.last) == ([], 1, 3)


@pytest.mark.skipif(os.name != "posix", reason="locks")
def test_a_second_gateway_writes_a_file_beside_the_first(path: Path, kept: Callable[..., AuditLog]) -> None:
    """Two would break each other's chain; several editors each start a gateway of their own."""
    first = AuditLog(AuditSettings(path=path, chain=True), ManualClock())
    first.write({"number": 1})
    while not first.status.written:
        threading.Event().wait(0.01)
    second = kept(2, 3, chain=True)
    first.close()
    assert second.status.path.name == "audit-2.jsonl"
    assert [entry["number"] for entry in lines(second.status.path)] == [2, 3]
    assert verify(path, AuditSettings(path=path, chain=True)).lines == 1
    assert kept(4, chain=True).status.path == path


def test_what_the_disk_cannot_keep_up_with_is_lost_and_counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits; the log itself says how many lines are missing, and its numbers have no gap."""
    monkeypatch.setattr("scigate.audit._WAITING", 5)
    gate = threading.Event()
    write = os.write

    def slow(fd: int, text: bytes) -> int:
        gate.wait()
        return write(fd, text)

    monkeypatch.setattr("scigate.audit.os.write", slow)
    log = AuditLog(AuditSettings(path=path, chain=True), ManualClock())
    for number in range(100):
        log.write({"event": "call", "number": number})
    lost = log.status.lost
    assert lost >= 90
    gate.set()
    log.close()
    found = verify(path, AuditSettings(path=path, chain=True))
    assert found.problems == []
    assert found.lost == lost
    assert found.lines == 100 - lost + 1


def test_a_full_disk_costs_lines_and_no_call(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once there is room, lines are written again, and say how many are missing."""
    write = os.write
    full = threading.Event()
    full.set()
    tried = threading.Semaphore(0)

    def failing(fd: int, text: bytes) -> int:
        if full.is_set():
            tried.release()
            raise OSError(28, "No space left on device")
        return write(fd, text)

    monkeypatch.setattr("scigate.audit.os.write", failing)
    log = AuditLog(AuditSettings(path=path, chain=True), ManualClock())
    log.write({"number": 1})
    tried.acquire()
    full.clear()
    log.write({"number": 2})
    log.close()
    found = verify(path, AuditSettings(path=path, chain=True))
    assert (found.problems, found.lost, log.status.lost) == ([], 1, 1)
    assert [entry.get("number") for entry in lines(path)] == [2, None]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_is_refused_at_start(tmp_path: Path) -> None:
    """Calls that nobody records would go unnoticed."""
    tmp_path.chmod(0o500)
    with pytest.raises(AuditError, match=r"audit\.path"):
        AuditLog(AuditSettings(path=tmp_path / "audit.jsonl"), ManualClock())


def test_a_place_below_a_file_is_refused_at_start(tmp_path: Path) -> None:
    """Also where root asks."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(AuditError, match="cannot be made"):
        AuditLog(AuditSettings(path=tmp_path / "file" / "audit.jsonl"), ManualClock())


def test_a_log_that_is_not_there_is_no_whole_one(path: Path) -> None:
    """A wrong path must not read as good news."""
    with pytest.raises(AuditError, match="there is no audit log"):
        verify(path, AuditSettings(path=path))
