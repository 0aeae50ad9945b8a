"""Page arithmetic: from what an upstream gave to one page, its totals and its next offset.

Pure: no I/O, no wire. A handler hands its items to the call's `PageWindow`; core reads the finished
window back and fills the page fields of the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["PageWindow"]

T = TypeVar("T")


@dataclass(slots=True)
class PageWindow:
    """One window of a result.

    Exactly one of `whole`, `prefix` and `part` is called by a handler, once; what it returns are the items to show.

    Attributes:
        offset: Zero-based position of the first item asked for.
        size: Most items on the page, caps applied.
        shown: Items on this page; None until a handler has cut one.
        total: Exact number of items over all pages, or None where it was not observed.
        at_least: A floor for that number, where no exact one is known.
        next_offset: Offset of the following page, or None at the end or past a ceiling.
        more: Whether items remain after this page, also when a ceiling withholds their offset.
        ceiling: The last offset that the upstream can serve, where there is one.
    """

    offset: int = 0
    size: int = 0
    shown: int | None = None
    total: int | None = None
    at_least: int | None = None
    next_offset: int | None = None
    more: bool = False
    ceiling: int | None = None

    def whole(self, items: Sequence[T]) -> list[T]:
        """Cut the page out of the complete result."""
        page = list(items[self.offset : self.offset + self.size])
        self._close(len(page), total=len(items))
        return page

    def prefix(self, items: Sequence[T], *, complete: bool, ceiling: int | None = None) -> list[T]:
        """Cut the page out of the first items of a result that the upstream serves without a count.

        Args:
            items: The first items of the result, from position 0 on, without repeats.
            complete: Whether nothing follows them; only then is their number a total.
            ceiling: The last offset that can be asked for; a next offset past it is withheld.
        """
        page = list(items[self.offset : self.offset + self.size])
        self.ceiling = ceiling
        if complete:
            self._close(len(page), total=len(items))
        else:
            self._close(len(page), at_least=len(items), more=True)
        return page

    def part(
        self, items: Sequence[T], *, total: int, taken: int | None = None, reachable: int | None = None
    ) -> list[T]:
        """Take the page that the upstream itself cut.

        Args:
            items: The items from `offset` on; those past the page size are dropped.
            total: Exact number of items over all pages.
            taken: How many positions of the upstream's list the page covers, where that is more than its items: what
                is dropped from a page (repeats, numbers that stand for nothing) still counts where the next one begins.
            reachable: Number of items that the upstream can serve at all, where that is less than `total`.
        """
        page = list(items[: self.size])
        self.ceiling = None if reachable is None else reachable - 1
        self._close(len(page), total=total, taken=taken)
        return page

    def _close(
        self,
        shown: int,
        *,
        total: int | None = None,
        at_least: int | None = None,
        more: bool = False,
        taken: int | None = None,
    ) -> None:
        if self.shown is not None:
            raise RuntimeError("a handler cuts one page in a call")
        self.shown, self.total, self.at_least = shown, total, at_least
        covered = shown if taken is None else taken
        end = self.offset + covered
        self.more = more or (total is not None and covered > 0 and end < total)
        # A page that covers nothing offers no next offset: it would come again.
        if self.more and covered > 0 and (self.ceiling is None or end <= self.ceiling):
            self.next_offset = end

    @property
    def sentence(self) -> str | None:
        """The page in words: past the end, more to come, or None when the page holds everything."""
        if self.shown is None:
            return None
        if self.shown == 0:
            if self.offset == 0 or (self.total is None and self.at_least is None):
                return None
            known = f"{self.total:,}" if self.total is not None else f"at least {self.at_least:,}"
            return f"Offset {self.offset:,} is past the end: {known} found. Ask again with a smaller offset."
        if not self.more:
            return None
        span = f"Showing {self.offset + 1:,} to {self.offset + self.shown:,}"
        span += f" of {self.total:,}" if self.total is not None else f" of at least {self.at_least:,} (no exact count)"
        if self.next_offset is not None:
            return f"{span}; next page: offset {self.next_offset}."
        text = f"{span}; paging ends here, offsets over {self.ceiling:,} cannot be asked for: narrow the search."
        if self.ceiling is not None and self.offset < self.ceiling:
            text += f" A page at offset {self.ceiling} shows the last that can be reached."
        return text
