"""What the steps of a run work with: the provider's client."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from scigate_immunograph.ledger import Ledger
from scigate_immunograph.retrieval import CompoundSource
from scigate_immunograph.workers import Workers

__all__ = ["Workbench"]


@dataclass(frozen=True, slots=True)
class Workbench:
    """Made once for a host, and closed by it.

    Attributes:
        retrieval: Compounds by reference.
        workers: Chemistry.
        ledger: Where steps are recorded; None where they are not.
    """

    retrieval: CompoundSource
    workers: Workers
    ledger: Ledger | None

    async def aclose(self) -> None:
        """End the workers and close the ledger's file."""
        await self.workers.aclose()
        if self.ledger is not None:
            await anyio.to_thread.run_sync(self.ledger.close)
