"""API keys: made once, shown once, kept as hashes in one file that every gateway of this machine may read.

A key is `scigate_ID_SECRET`. Its secret has 256 random bits, so that a plain hash of it can be neither reversed nor
searched; the slow hashes made for passwords would only slow down each call.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

import structlog

__all__ = ["Key", "KeyRing", "KeysError", "default_path"]

_log: Final = structlog.get_logger("scigate.keys")

_PREFIX: Final = "scigate"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
_LONGEST: Final = 200
"""Characters beyond which a text is no key of ours."""


class KeysError(Exception):
    """The file of keys, or what was asked of it, is wrong; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key.

    Attributes:
        id: Its public part, by which it is revoked.
        name: Whose it is; several keys may have one name, as while one replaces another.
        hash: SHA-256 of the whole key, in hexadecimal digits.
        created: When it was made, in ISO 8601.
        expires: From when on it is refused, in ISO 8601; None for never.
        scopes: What it is good for, for rules to ask for.
    """

    id: str
    name: str
    hash: str
    created: str
    expires: str | None = None
    scopes: tuple[str, ...] = ()

    def is_expired(self, now: datetime) -> bool:
        """Whether its time is over."""
        return self.expires is not None and _instant(self.expires) <= now


class KeyRing:
    """The keys of one file; a change of the file holds from the next question on.

    Args:
        path: The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int, int] | None = None
        self._keys: dict[str, Key] = {}

    def all(self) -> list[Key]:
        """Every key, the oldest first.

        Raises:
            KeysError: The file cannot be read, is not as it was written, or others may write to it.
        """
        return list(_read(self.path).values())

    def new(self, name: str, now: datetime, *, expires: datetime | None = None, scopes: Iterable[str] = ()) -> str:
        """Make a key and keep its hash.

        Returns:
            The key itself, which is not to be had again.

        Raises:
            KeysError: The name is not one, or the file cannot be read or written.
        """
        if _NAME.fullmatch(name) is None:
            raise KeysError(f"{name!r} is no name for a key: up to 64 letters, digits and the signs . _ @ + -")
        with _held(self.path):
            keys = _read(self.path)
            public = secrets.token_hex(4)
            while public in keys:
                public = secrets.token_hex(4)
            text = f"{_PREFIX}_{public}_{secrets.token_urlsafe(32)}"
            until = expires.isoformat(timespec="seconds") if expires else None
            keys[public] = Key(public, name, _hash(text), now.isoformat(timespec="seconds"), until, tuple(scopes))
            _write(self.path, keys)
        return text

    def revoke(self, which: str) -> list[Key]:
        """Remove the key of this id, or all keys of this name.

        Returns:
            What was removed.

        Raises:
            KeysError: There is none, or the file cannot be read or written.
        """
        with _held(self.path):
            keys = _read(self.path)
            gone = [keys[which]] if which in keys else [key for key in keys.values() if key.name == which]
            if not gone:
                raise KeysError(f"there is no key {which!r}; `scigate keys list` shows them")
            _write(self.path, {key.id: key for key in keys.values() if key not in gone})
        return gone

    def find(self, text: str, now: datetime) -> Key | None:
        """The key that a caller shows; None where it is unknown or expired."""
        self._refresh()
        prefix, _, rest = text[:_LONGEST].partition("_")
        key = self._keys.get(rest.partition("_")[0])
        if prefix != _PREFIX or key is None or len(text) > _LONGEST:
            return None
        matches = hmac.compare_digest(_hash(text), key.hash)
        return key if matches and not key.is_expired(now) else None

    def _refresh(self) -> None:
        try:
            status = os.stat(self.path)
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            seen = None
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self._keys = _read(self.path)
        except KeysError as error:
            # Nobody is let in by keys that may have been revoked since.
            self._keys = {}
            _log.error("no key is accepted", reason=str(error))


def default_path() -> Path:
    """The file of keys in the user's configuration directory."""
    import typer  # for start-up time

    return Path(typer.get_app_dir("scigate")) / "keys.json"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: Path) -> dict[str, Key]:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            entries = cast("list[Mapping[str, Any]]", json.load(file)["keys"])
        keys = [_key(entry) for entry in entries]
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise KeysError(f"{path}: {error.strerror or error}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise KeysError(f"{path}: not a file of keys as `scigate keys` writes it") from error
    if sys.platform != "win32" and mode & stat.S_IWOTH:
        raise KeysError(f"{path}: anybody on this machine may write to it; chmod 600 mends that")
    return {key.id: key for key in keys}


def _key(entry: Mapping[str, Any]) -> Key:
    return Key(
        id=str(entry["id"]),
        name=str(entry["name"]),
        hash=str(entry["hash"]),
        created=str(entry["created"]),
        expires=None if entry["expires"] is None else _instant(entry["expires"]).isoformat(),
        scopes=tuple(map(str, entry["scopes"])),
    )


def _instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _write(path: Path, keys: Mapping[str, Key]) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    text = json.dumps({"keys": [asdict(key) for key in keys.values()]}, indent=2) + "\n"
    try:
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # In one step, so that a gateway that reads meanwhile finds the old keys or the new ones.
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise KeysError(f"{path}: {error.strerror or error}") from error


@contextmanager
def _held(path: Path) -> Generator[None]:
    """Nobody else changes the file meanwhile: a revoked key must not come back with somebody's new one.

    On Windows nothing is held: there, one change at a time.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise KeysError(f"{path}: {error.strerror or error}") from error
    try:
        if sys.platform != "win32":
            import fcntl  # not on Windows

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
