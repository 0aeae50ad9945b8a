"""The lock of definitions: its file, its changelog, and what it objects to."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from scigate.snapshot import Lock, LockError

DAY = datetime(2026, 7, 30, tzinfo=UTC)
LATER = datetime(2026, 10, 24, tzinfo=UTC)


def tool(name: str = "lab_find", maximum: int = 200) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"properties": {"maxResults": {"maximum": maximum}}}}


def test_a_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    """History included; the directory is made."""
    lock = Lock.of([tool()], DAY).renewed([tool(maximum=1000), tool("lab_get")], LATER)
    path = tmp_path / "deep" / "lock.json"
    lock.write(path)
    assert Lock.read(path) == lock


def test_the_changelog_dates_each_change() -> None:
    """One entry a change, with the day on which it was accepted."""
    lock = Lock.of([tool()], DAY).renewed([tool(maximum=1000)], LATER).renewed([], LATER)
    assert [(entry.on, entry.tool, entry.change.words) for entry in lock.log] == [
        ("2026-10-24", "lab_find", "changed inputSchema / properties / maxResults / maximum: 200 -> 1000"),
        ("2026-10-24", "lab_find", "removed the tool"),
    ]


def test_it_objects_to_what_is_new_or_other() -> None:
    """In words that say the difference and how to accept it."""
    lock = Lock.of([tool()], DAY)
    assert lock.objection(tool()) is None
    assert "is not in the lock" in (lock.objection(tool("lab_get")) or "")
    assert "maximum: 200 -> 1000 (compatible); accept it with" in (lock.objection(tool(maximum=1000)) or "")


def test_a_file_changed_by_hand_is_refused(tmp_path: Path) -> None:
    """A lock whose definitions can be edited unseen pins nothing."""
    path = tmp_path / "lock.json"
    held = Lock.of([tool()], DAY).as_json()
    held["tools"]["lab_find"]["definition"]["title"] = "Other"
    path.write_text(json.dumps(held))
    with pytest.raises(LockError, match="changed by hand: the hash of lab_find"):
        Lock.read(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1, "taken": "x", "tools": {}, "log": []}'])
def test_what_is_no_lock_is_refused(tmp_path: Path, text: str) -> None:
    """With the file's name."""
    path = tmp_path / "lock.json"
    path.write_text(text)
    with pytest.raises(LockError, match="is no lock"):
        Lock.read(path)


def test_a_missing_lock_says_how_to_make_one(tmp_path: Path) -> None:
    """And a later format says that it is one."""
    with pytest.raises(LockError, match="scigate schema lock"):
        Lock.read(tmp_path / "lock.json")
    (tmp_path / "lock.json").write_text('{"format": 2}')
    with pytest.raises(LockError, match="format 2"):
        Lock.read(tmp_path / "lock.json")
