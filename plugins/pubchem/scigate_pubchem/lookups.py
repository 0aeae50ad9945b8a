"""Several lookups of one call side by side, of which each may fail alone.

For what adds to a result or stands beside others in it. Where the entries are the caller's own batch,
`call.each(..., apart=True)` sets those that failed aside as unprocessed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import httpx
from scigate import Call, DeadlineExceeded, QuotaExhausted

from scigate_pubchem.faults import PubChemError, QueryRefused, UnexpectedAnswer, map_error

__all__ = ["Lookups", "look_up"]

KeyT = TypeVar("KeyT", bound=Hashable)
FoundT = TypeVar("FoundT")


@dataclass(frozen=True, slots=True)
class Lookups(Generic[KeyT, FoundT]):
    """What came of them, in the order in which they were asked for.

    Attributes:
        found: Results.
        failed: What was raised in place of one.
    """

    found: Mapping[KeyT, FoundT]
    failed: Mapping[KeyT, Exception]

    def or_raise(self) -> None:
        """Do nothing when there is a result.

        Raises:
            Exception: Of the first lookup, when every one failed.
        """
        if self.failed and not self.found:
            raise next(iter(self.failed.values()))

    def tell(self, call: Call, named: Callable[[Sequence[KeyT]], str]) -> None:
        """Say in the notice which failed and for which reason.

        Args:
            call: Whose notice.
            named: Words for those that failed alike.
        """
        reasons: dict[str, list[KeyT]] = {}
        for key, error in self.failed.items():
            reasons.setdefault(_reason(error), []).append(key)
        for reason, keys in reasons.items():
            call.notice(f"Not read ({reason}): {named(keys)}. What else was asked for is here; ask again for these.")


async def look_up(
    call: Call, keys: Sequence[KeyT], function: Callable[[KeyT], Awaitable[FoundT]]
) -> Lookups[KeyT, FoundT]:
    """Apply a function to each key, concurrently; a fault of PubChem, and want of time or quota, costs one key."""
    failed: dict[KeyT, Exception] = {}

    async def one(key: KeyT) -> list[FoundT]:
        try:
            return [await function(key)]
        except (PubChemError, QueryRefused, UnexpectedAnswer, httpx.TransportError) as error:
            failed[key] = error
            return []

    done = await call.each(keys, one)
    return Lookups(
        {key: results[0] for key, results in done if results}, {key: failed[key] for key in keys if key in failed}
    )


def _reason(error: Exception) -> str:
    if failure := map_error(error):
        return failure.reason
    match error:
        case QuotaExhausted():
            return "quota_exhausted"
        case DeadlineExceeded():
            return "deadline_exceeded"
        case httpx.TimeoutException():
            return "upstream_timeout"
        case _:
            return "upstream_unavailable"
