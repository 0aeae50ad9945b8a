"""The lock: a file with the definitions that an operator has accepted, and when each of them changed."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, cast

from scigate.snapshot.canonical import canonical, digest
from scigate.snapshot.change import Change, changes

__all__ = ["Entry", "Lock", "LockError"]

FORMAT: Final = 1
"""Version of the file's form."""


class LockError(Exception):
    """The file is not there, or is no lock; the text says which and what to do."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the changelog.

    Attributes:
        on: Day, as YYYY-MM-DD, UTC.
        tool: Name of the tool.
        change: What happened to it.
    """

    on: str
    tool: str
    change: Change


@dataclass(frozen=True, slots=True)
class Lock:
    """Accepted definitions by the tools' names, and their history, oldest first.

    Attributes:
        taken: When the definitions were accepted, UTC.
        tools: Canonical definitions.
        log: What changed from one lock to the next; the first lock has none.
    """

    taken: datetime
    tools: Mapping[str, Mapping[str, Any]]
    log: tuple[Entry, ...] = field(default=())

    @classmethod
    def of(cls, definitions: Sequence[Mapping[str, Any]], now: datetime) -> "Lock":
        """A first lock of what a server lists."""
        return cls(now, {str(each["name"]): canonical(each) for each in definitions})

    def renewed(self, definitions: Sequence[Mapping[str, Any]], now: datetime) -> "Lock":
        """The lock with the present definitions, and its log with what changed since."""
        entries = tuple(Entry(now.date().isoformat(), tool, change) for tool, change in self.compared(definitions))
        return replace(Lock.of(definitions, now), log=self.log + entries)

    def compared(self, definitions: Sequence[Mapping[str, Any]]) -> list[tuple[str, Change]]:
        """What differs between the lock and what a server lists, tools in the order of their names."""
        present = {str(each["name"]): each for each in definitions}
        return [
            (name, change)
            for name in sorted({*self.tools, *present})
            for change in changes(self.tools.get(name), present.get(name))
        ]

    def objection(self, definition: Mapping[str, Any]) -> str | None:
        """Why a definition is not to be served: what differs from the lock, in words; None where nothing does."""
        name = str(definition["name"])
        pinned = self.tools.get(name)
        if pinned is None:
            return f"tool {name} is not in the lock; accept it with `scigate schema lock`"
        if digest(pinned) == digest(definition):
            return None
        found = "; ".join(f"{change.words} ({change.kind})" for change in changes(pinned, definition))
        return f"tool {name} differs from the lock: {found}; accept it with `scigate schema lock`"

    @classmethod
    def read(cls, path: Path) -> "Lock":
        """The lock in a file.

        Raises:
            LockError: There is none, it cannot be read, or a definition does not have its hash.
        """
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
            if held["format"] != FORMAT:
                raise LockError(f"{path} is a lock of format {held['format']}; this scigate reads format {FORMAT}")
            tools = cast("dict[str, dict[str, Any]]", held["tools"])
            log = tuple(
                Entry(each["on"], each["tool"], Change(tuple(each["path"]), each["words"], each["kind"]))
                for each in held["log"]
            )
            lock = cls(
                datetime.fromisoformat(held["taken"]), {name: tool["definition"] for name, tool in tools.items()}, log
            )
            changed = [name for name, tool in tools.items() if digest(tool["definition"]) != tool["sha256"]]
        except FileNotFoundError as error:
            raise LockError(f"there is no lock {path}; `scigate schema lock` makes one") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise LockError(f"{path} is no lock: {type(error).__name__}: {error}") from error
        if changed:
            raise LockError(
                f"{path} was changed by hand: the hash of {', '.join(changed)} is not that of its definition"
            )
        return lock

    def write(self, path: Path) -> None:
        """Put the lock into a file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.new")
        beside.write_text(json.dumps(self.as_json(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        os.replace(beside, path)

    def as_json(self) -> dict[str, Any]:
        """The file's content."""
        return {
            "format": FORMAT,
            "taken": self.taken.isoformat(),
            "tools": {
                name: {"sha256": digest(self.tools[name]), "definition": self.tools[name]}
                for name in sorted(self.tools)
            },
            "log": [
                {
                    "on": entry.on,
                    "tool": entry.tool,
                    "kind": entry.change.kind,
                    "words": entry.change.words,
                    "path": list(entry.change.path),
                }
                for entry in self.log
            ],
        }
