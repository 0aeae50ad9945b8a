"""Tells the audit log of sign-ins that were refused, and of a flood of them only that there was one.

Above is who asks the caller, below the log. What a caller has shown is not known here.
"""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

import anyio
from starlette.types import Scope

from scigate.clock import Clock

__all__ = ["LINES", "PEERS", "WINDOW_S", "SignIns"]

WINDOW_S: Final = 60.0
"""Seconds from a refusal, in which refusals are counted; the next one after them begins anew."""

LINES: Final = 3
"""Refusals of one peer in that time that have a line each; a further one tells how many more there were."""

PEERS: Final = 20
"""Peers in that time that have lines of their own; those of all others are counted together."""

_OTHERS: Final = "others"


class SignIns:
    """Hands one entry over for each refusal, as long as there are few.

    Args:
        write: Where entries go.
        clock: The clock of the window.
    """

    def __init__(self, write: Callable[[Mapping[str, object]], None], clock: Clock) -> None:
        self._write = write
        self._clock = clock
        self._counts: dict[str, int] = {}
        self._begun = anyio.Event()

    def refuse(self, scope: Scope, reason: str, caller: str | None = None) -> None:
        """Tell of one refusal.

        Args:
            scope: The request's, for the address of its peer.
            reason: Why, as the audit log has it.
            caller: Who it is, where that is known.
        """
        peer = _peer(scope)
        if peer not in self._counts and len(self._counts) >= PEERS:
            peer = _OTHERS
        count = self._counts[peer] = self._counts.get(peer, 0) + 1
        self._begun.set()
        if peer != _OTHERS and count <= LINES:
            self._tell(peer, 1, reason=reason, caller=caller)

    @asynccontextmanager
    async def counting(self) -> AsyncGenerator[None]:
        """Tell of those that had no line when their time is over, for as long as the block runs."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._sum_up)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                self._tell_rest()

    async def _sum_up(self) -> None:
        while True:
            await self._begun.wait()
            await self._clock.sleep(WINDOW_S)
            self._tell_rest()

    def _tell_rest(self) -> None:
        counts, self._counts, self._begun = self._counts, {}, anyio.Event()
        for peer, count in counts.items():
            rest = count if peer == _OTHERS else count - LINES
            if rest > 0:
                self._tell(peer, rest, reason=None, caller=None)

    def _tell(self, peer: str, count: int, *, reason: str | None, caller: str | None) -> None:
        self._write(
            {
                "event": "sign_in",
                "peer": peer,
                "caller": caller,
                "outcome": "refused",
                "reason": reason,
                "count": count,
            }
        )


def _peer(scope: Scope) -> str:
    """The address of who is connected, or that a proxy on this machine forwards, which may be any text."""
    client = scope.get("client")
    try:
        # Without a zone, which may be any text too.
        return str(ipaddress.ip_address(str(client[0]).partition("%")[0])) if client else "unknown"
    except ValueError:
        return "unknown"
