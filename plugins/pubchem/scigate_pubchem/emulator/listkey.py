"""Stored lists: what a `ListKey` stands for, and the waiting that comes before it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from .fault import PugError, bad_request

__all__ = ["ListKeys", "WaitingError"]

_KEPT: Final = 1000
_FIRST: Final = 3_000_000_000_000_000_001


@dataclass(frozen=True)
class WaitingError(Exception):
    """The list is not ready: the answer is a 202 that names its key."""

    key: str

    def body(self) -> dict[str, Any]:
        """The answer that tells to wait, with its list key."""
        return {"Waiting": {"ListKey": self.key, "Message": "Your request is running"}}


class ListKeys:
    """The last thousand stored lists. A list is ready after its key was asked for `polls` times in vain."""

    def __init__(self, polls: int) -> None:
        self._polls = polls
        self._numbers = count(_FIRST)
        self._stored: OrderedDict[str, tuple[int, list[int] | PugError]] = OrderedDict()

    def store(self, found: list[int] | PugError, *, ready: bool) -> str:
        """Keeps a list, or the fault that its search ended with, and gives its key."""
        key = str(next(self._numbers))
        self._stored[key] = 0 if ready else self._polls, found
        if len(self._stored) > _KEPT:
            self._stored.popitem(last=False)
        return key

    def read(self, key: str) -> list[int]:
        """The whole stored list.

        Raises:
            WaitingError: It is not ready.
            PugError: The key is unknown, or the search failed.
        """
        if key not in self._stored:
            raise bad_request("Invalid list key", f"No list is stored under {key}")
        polls, found = self._stored[key]
        if polls:
            self._stored[key] = polls - 1, found
            raise WaitingError(key)
        if isinstance(found, PugError):
            raise found
        return found
