"""What one gateway may use of a budget while the store that the fleet shares it through is away.

Pure arithmetic. The shares of all members add up to the quota or less, so that members who cannot speak to each other
cannot overrun it together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from scigate.upstream.window import Window

# Windows up to this length are waited out when the store is lost; of longer ones a part of what was left is used.
SHORT_S = 10.0


@dataclass(frozen=True)
class Share:
    """One member's part of every window.

    Attributes:
        members: of the fleet.
        rank: this member's place among them, from 0; None when it is not known.
    """

    members: int
    rank: int | None = None

    def of(self, limit: int) -> int:
        """The member's part of `limit`: what an even division leaves over goes to the first by rank.

        With more members than the limit, those behind it get nothing: no two of them could agree on whose turn it is.
        """
        each, over = divmod(limit, self.members)
        return each + (self.rank is not None and self.rank < over)

    def of_windows(self, windows: Sequence[Window]) -> tuple[Window, ...] | None:
        """The windows with the member's part as their limits; None when one of them leaves it nothing."""
        parts = tuple(replace(window, limit=self.of(window.limit)) for window in windows)
        return parts if all(part.limit for part in parts) else None


@dataclass(frozen=True)
class Contact:
    """What was last learnt from the store, and when.

    Attributes:
        at: monotonic seconds of the reply; minus infinity for never.
        share: this member's part, as the fleet stood then.
        settled: whether every other member had had the time to learn of this one.
        refused_at: monotonic seconds at which the store was known to be dead, since nothing listens at its address;
            infinite while that is not known.
    """

    at: float
    share: Share
    settled: bool
    refused_at: float = inf

    def granted_until(self, stale_s: float, fresh_s: float) -> float:
        """Monotonic seconds until which requests may have gone out that the store granted.

        Args:
            stale_s: how long after the last contact it may still grant the others the whole budget.
            fresh_s: how long after its death what it granted may still go out.
        """
        return min(self.at + stale_s, self.refused_at + fresh_s)


def waited_out_s(window: Window) -> float:
    """Seconds after what others may have sent before which nothing may be sent under `window`."""
    return window.held_s if window.span_s <= SHORT_S else 0.0
