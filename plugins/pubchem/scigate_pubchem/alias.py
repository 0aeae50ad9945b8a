"""Names that agents give arguments by guess: taken for the right ones, and advertised nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

__all__ = ["renamed"]


def renamed(values: Any, **right: str) -> Any:
    """Arguments with guessed names put right; where the right one is given too, the guess stays and is refused.

    Args:
        values: The arguments as they came, of whatever shape.
        right: The right name for each guessed one.
    """
    if not isinstance(values, Mapping):
        return values
    given = dict(cast("Mapping[str, Any]", values))
    for guess, name in right.items():
        if guess in given and name not in given:
            given[name] = given.pop(guess)
    return given
