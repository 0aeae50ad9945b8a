"""Protein accessions as PubChem compares them."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["normalized"]

_PDB_CHAIN: Final = re.compile(r"(\d[A-Za-z0-9]{3})(_.+)")
"""A PDB entry (a digit and three signs) with its chain; `A` and `a` are two chains of one entry."""


def normalized(accession: str) -> str:
    """The accession trimmed and in upper case, but for the chain of a PDB chain ID.

    Example:
        >>> normalized(" p00533"), normalized("1zhh_a")
        ('P00533', '1ZHH_a')
    """
    text = accession.strip()
    if chain := _PDB_CHAIN.fullmatch(text):
        return chain[1].upper() + chain[2]
    return text.upper()
