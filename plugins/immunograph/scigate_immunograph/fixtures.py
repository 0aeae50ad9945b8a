"""Fixtures: recorded compounds that are replayed exactly, from files that prove their content.

A folder holds one JSON file for each fixture, `KEY.json`, with a key of letters, digits, `.`, `_` and `-`:

    {
      "key": "aspirin",                     the file's name without .json
      "source": "pubchem",                  whose record it is, and
      "compoundRef": "2244",                under which reference: what it can stand in for
      "url": "https://...",                 where it came from,
      "retrievedAt": "2026-11-30T12:00:00.000Z",
      "licence": "...",
      "compound": { ... },                  the members of fetch_compound's data from cid to inchiKey
      "hash": "sha256:..."                  of this object without hash, as canonical JSON (RFC 8785)
    }

A fixture whose content does not match its hash is refused by name, and so is one of another form; the others serve.
The shipped folder stands beside this module. A folder of the user's own comes before it: a key in both is the user's.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, cast

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from scigate import Failure, FailureError

from scigate_immunograph.compound import Compound
from scigate_immunograph.digest import digest
from scigate_immunograph.reasons import FIXTURE_HASH_MISMATCH, FIXTURE_INVALID, FIXTURE_NOT_FOUND

__all__ = ["SHIPPED", "Fixture", "FixtureFile", "Fixtures", "sealed"]

SHIPPED: Final = Path(__file__).parent / "fixtures"

_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")

FixtureSet = Literal["shipped", "user"]


class FixtureFile(BaseModel):
    """The content of a fixture's file, its hash left aside."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", populate_by_name=True)

    key: str
    source: Literal["pubchem"]
    compound_ref: str
    url: str
    retrieved_at: str
    licence: str
    compound: Compound


@dataclass(frozen=True, slots=True)
class Fixture:
    """A fixture that was read and found intact, and the set that it belongs to."""

    content: FixtureFile
    origin: FixtureSet


def sealed(content: FixtureFile) -> dict[str, Any]:
    """The content as it goes into a file, with its hash."""
    plain = content.model_dump(mode="json", by_alias=True, exclude_none=True)
    return plain | {"hash": digest(plain)}


class Fixtures:
    """The shipped fixtures and the user's own, read when one is first asked for.

    Args:
        user: A folder of the user's, or None.
    """

    def __init__(self, user: Path | None = None) -> None:
        self._folders: list[tuple[FixtureSet, Path]] = [("shipped", SHIPPED)]
        if user is not None:
            self._folders.append(("user", user))

    def by_key(self, key: str) -> Fixture:
        """The fixture of exactly this key.

        Raises:
            FailureError: There is none, or it is refused.
        """
        found = self._shelf.get(key)
        if found is None:
            raise FIXTURE_NOT_FOUND.error(f"There is no fixture {key[:200]!r}.")
        return _intact(found)

    def standing_for(self, source: str, compound_ref: str) -> Fixture:
        """The fixture that can stand in for a source's record; the user's before a shipped one.

        Raises:
            FailureError: There is none; refused ones are named, since it may be one of them.
        """
        for found in reversed(self._shelf.values()):
            if isinstance(found, Failure):
                continue
            if (found.content.source, found.content.compound_ref) == (source, compound_ref):
                return found
        refused = ", ".join(key for key, found in self._shelf.items() if isinstance(found, Failure))
        more = f" Refused for what is in their files: {refused[:200]}." if refused else ""
        raise FIXTURE_NOT_FOUND.error(f"No fixture stands for {source} {compound_ref[:200]}.{more}")

    @property
    def keys(self) -> list[str]:
        """Keys of all fixtures, refused ones included."""
        return sorted(self._shelf)

    @cached_property
    def _shelf(self) -> dict[str, Fixture | Failure]:
        return {
            path.stem: _read(path, origin) for origin, folder in self._folders for path in sorted(folder.glob("*.json"))
        }


def _intact(found: Fixture | Failure) -> Fixture:
    if isinstance(found, Failure):
        raise FailureError(found)
    return found


def _read(path: Path, origin: FixtureSet) -> Fixture | Failure:
    """A fixture, or why it is refused."""
    key = path.stem
    try:
        loaded: object = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        return FIXTURE_INVALID.failure(f"The file of fixture {key!r} is no JSON: {type(error).__name__}.")
    if not isinstance(loaded, dict):
        return FIXTURE_INVALID.failure(f"The file of fixture {key!r} holds no object.")
    plain = cast("dict[str, Any]", loaded)
    recorded = plain.pop("hash", None)
    try:
        found = digest(plain)
        content = FixtureFile.model_validate(plain)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return FIXTURE_INVALID.failure(f"The file of fixture {key!r} is not of the documented form at {where}.")
    except (ValueError, TypeError):
        return FIXTURE_INVALID.failure(f"The file of fixture {key!r} holds a value that has no canonical JSON.")
    if found != recorded:
        return FIXTURE_HASH_MISMATCH.failure(
            f"The content of fixture {key!r} does not match its recorded hash.", recorded=recorded, found=found
        )
    if content.key != key or _KEY.fullmatch(key) is None:
        return FIXTURE_INVALID.failure(f"The file of fixture {key!r} holds the key {content.key[:200]!r}.")
    return Fixture(content, origin)
