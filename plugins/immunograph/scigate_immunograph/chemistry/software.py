"""Which software computes: named in every result that it computes."""

from __future__ import annotations

from importlib.metadata import version

__all__ = ["RDKIT", "software"]

RDKIT = f"RDKit {version('rdkit')}"


def software(*others: str) -> str:
    """RDKit and further distributions with their versions, for a result."""
    return ", ".join([RDKIT, *(f"{name} {version(name)}" for name in others)])
