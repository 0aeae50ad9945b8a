"""Keys: what is kept of them, who is found by one, and what becomes of a file that is wrong."""

import json
import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from scigate.keys import KeyRing, KeysError

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    return KeyRing(tmp_path / "config" / "keys.json")


def test_only_a_hash_is_kept(ring: KeyRing) -> None:
    """Whoever reads the file cannot call."""
    key = ring.new("ada", NOW, scopes=["lab"])
    kept = ring.path.read_text(encoding="utf-8")
    assert key.split("_", 2)[2] not in kept
    (found,) = ring.all()
    assert (found.name, found.scopes, found.created, found.expires) == ("ada", ("lab",), NOW.isoformat(), None)
    assert ring.find(key, NOW) == found


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_the_file_is_its_owners_alone(ring: KeyRing) -> None:
    """Its directory too, where it was not there before."""
    ring.new("ada", NOW)
    assert ring.path.stat().st_mode & 0o777 == 0o600
    assert ring.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_text_that_is_nearly_a_key_finds_nobody(ring: KeyRing) -> None:
    """Every character counts."""
    key = ring.new("ada", NOW)
    other = ring.new("bob", NOW)
    mixed = f"{key.rpartition('_')[0]}_{other.split('_', 2)[2]}"
    for text in ("", "scigate", "scigate__", key[:-1], key + "x", key.upper(), f" {key}", mixed, key + "x" * 500):
        assert ring.find(text, NOW) is None


def test_a_key_is_over_from_the_moment_it_names(ring: KeyRing) -> None:
    """Not a second later."""
    key = ring.new("ada", NOW, expires=NOW + timedelta(days=1))
    assert ring.find(key, NOW + timedelta(hours=23)) is not None
    assert ring.find(key, NOW + timedelta(days=1)) is None


def test_keys_are_revoked_by_id_or_by_name(ring: KeyRing) -> None:
    """One of several, or all that somebody has."""
    first, second, third = (ring.new(name, NOW) for name in ("ada", "ada", "bob"))
    assert [key.name for key in ring.revoke(first.split("_")[1])] == ["ada"]
    assert ring.find(first, NOW) is None
    assert ring.find(second, NOW) is not None
    ring.revoke("ada")
    assert ring.find(second, NOW) is None
    assert ring.find(third, NOW) is not None
    with pytest.raises(KeysError, match="there is no key 'ada'"):
        ring.revoke("ada")


@pytest.mark.parametrize("name", ["", "a b", "a\n", "x" * 65, "*", "key:ada", "-x"])
def test_a_name_is_one_word(ring: KeyRing, name: str) -> None:
    """Rules match it with patterns, and logs hold it on one line."""
    with pytest.raises(KeysError, match="is no name for a key"):
        ring.new(name, NOW)


def test_changes_side_by_side_lose_nothing(ring: KeyRing) -> None:
    """Two administrators at once: no key is forgotten, and no revoked one comes back."""
    gone = [ring.new(f"gone{number}", NOW) for number in range(8)]
    work = [threading.Thread(target=ring.new, args=(f"new{number}", NOW)) for number in range(8)]
    work += [threading.Thread(target=KeyRing(ring.path).revoke, args=(f"gone{number}",)) for number in range(8)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert {key.name for key in ring.all()} == {f"new{number}" for number in range(8)}
    assert all(ring.find(key, NOW) is None for key in gone)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"keys": [1]}', '{"keys": [{"id": "a"}]}', '{"keys": 1}'])
def test_a_broken_file_lets_nobody_in(ring: KeyRing, text: str) -> None:
    """It may have held a revocation; it is never overwritten by the next key."""
    key = ring.new("ada", NOW)
    assert ring.find(key, NOW) is not None
    ring.path.write_text(text, encoding="utf-8")
    assert ring.find(key, NOW) is None
    with pytest.raises(KeysError, match="not a file of keys"):
        ring.new("bob", NOW)
    assert ring.path.read_text(encoding="utf-8") == text


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_a_file_that_anybody_may_write_lets_nobody_in(ring: KeyRing) -> None:
    """Anybody could have put a key there."""
    key = ring.new("ada", NOW)
    ring.path.chmod(0o666)
    assert ring.find(key, NOW) is None
    with pytest.raises(KeysError, match="chmod 600"):
        ring.all()


def test_a_time_without_a_zone_is_utc(ring: KeyRing) -> None:
    """As a person may write it into the file."""
    key = ring.new("ada", NOW, expires=NOW)
    kept = json.loads(ring.path.read_text(encoding="utf-8"))
    kept["keys"][0]["expires"] = "2026-01-02T00:00:00"
    ring.path.write_text(json.dumps(kept), encoding="utf-8")
    assert ring.find(key, NOW) is not None
    assert ring.find(key, NOW + timedelta(days=1)) is None
