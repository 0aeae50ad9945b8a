"""Chemistry by RDKit: plain functions of text and records, without any I/O, calls or state.

Above is `workers`, which runs them in worker processes; nothing in the gateway's own process imports the modules that
import RDKit. A function that cannot do its work raises `ChemistryError` with the reason for it.
"""

from __future__ import annotations

__all__ = ["ChemistryError"]


class ChemistryError(Exception):
    """A structure cannot be worked on.

    Attributes:
        reason: Name of one of the provider's reasons.
        message: What is wrong, for a caller.
    """

    def __init__(self, reason: str, message: str) -> None:
        # Both are arguments, so that the exception survives the way out of a worker process.
        super().__init__(reason, message)
        self.reason = reason
        self.message = message
