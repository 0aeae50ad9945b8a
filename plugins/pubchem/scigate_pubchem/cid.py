"""Compound numbers: their bounds, batches of them, and what is said of one that PubChem does not have."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, field_serializer
from scigate import Code, Output, Reason

__all__ = ["CID_NOT_FOUND", "LARGEST", "Cid", "CidBatch"]

LARGEST: Final = 2**31 - 1
"""CIDs are signed 32-bit numbers upstream."""

Cid = Annotated[int, Field(ge=1, le=LARGEST)]

CID_NOT_FOUND: Final = Reason(
    "cid_not_found",
    Code.NOT_FOUND,
    "PubChem has no compound of this number",
    "Check the number with pubchem_search_compounds.",
)


class CidBatch(Output):
    """Base of a result for a batch of compounds: what was not served are numbers here too."""

    # Core hands over the entries as text, whatever they are.
    unprocessed: list[int] | None = Field(default=None, description="CIDs not served, in order; ask for them again.")  # type: ignore[assignment]

    @field_serializer("unprocessed")
    def _numbers(self, entries: list[int] | None) -> list[int] | None:
        return None if entries is None else [int(entry) for entry in entries]
