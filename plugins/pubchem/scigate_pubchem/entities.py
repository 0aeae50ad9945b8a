"""Summaries of assays, genes, proteins and taxa: from PubChem's members to fields of one record.

PubChem has renamed members over time, so each field has several names; what it does not fill is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic import ConfigDict, Field
from scigate import Record

from scigate_pubchem.accession import normalized
from scigate_pubchem.client import EntityType
from scigate_pubchem.excerpt import DESCRIPTION, NAME, excerpt

__all__ = ["EntitySummary", "entity_id"]

LARGEST_ID: Final = 2**31 - 1

_ACCESSION: Final = re.compile(r"[A-Za-z0-9_.\-]{1,60}")

# Upstream's order runs from the species up.
_RANKS: Final = ("Superkingdom", "Kingdom", "Phylum", "Class", "Order", "Family", "Genus", "Species")

_ORGANISM: Final = {"taxonomy_id": ("TaxID", "TaxonomyID"), "taxonomy": ("Taxonomy", "ScientificName")}
_SYNONYMS: Final = {"synonyms": ("Synonym", "OtherNames")}
_MEMBERS: Final[Mapping[EntityType, Mapping[str, tuple[str, ...]]]] = {
    "assay": {
        "aid": ("AID",),
        "name": ("Name", "AssayName"),
        "description": ("Description",),
        "source_name": ("SourceName",),
        # Substances, not compounds: CIDCountAll and CIDCountActive stand beside them.
        "num_substances": ("SIDCountAll",),
        "num_active": ("SIDCountActive",),
    },
    "gene": {
        "gene_id": ("GeneID",),
        "symbol": ("Symbol",),
        "name": ("Name",),
        **_ORGANISM,
        "description": ("Description", "Summary"),
        **_SYNONYMS,
    },
    "protein": {
        "protein_accession": ("ProteinAccession", "Accession"),
        "name": ("Name", "Title"),
        **_ORGANISM,
        **_SYNONYMS,
    },
    "taxonomy": {
        "taxonomy_id": ("TaxonomyID", "TaxID"),
        "scientific_name": ("ScientificName",),
        "common_name": ("CommonName",),
        "rank": ("Rank",),
        "lineage": ("RankedLineage",),
        **_SYNONYMS,
    },
}
_NUMBERS: Final = frozenset(("aid", "num_substances", "num_active", "gene_id", "taxonomy_id"))
_LISTS: Final = frozenset(("synonyms", "lineage"))


class EntitySummary(Record):
    """The summary of an assay, gene, protein or taxon; fields of the other kinds are left out."""

    model_config = ConfigDict(extra="forbid")

    aid: int | None = None
    name: str | None = None
    description: str | None = None
    source_name: str | None = Field(default=None, description="assay: who deposited it.")
    num_substances: int | None = Field(default=None, description="assay: substances tested.")
    num_active: int | None = Field(default=None, description="assay: substances found active.")
    gene_id: int | None = None
    symbol: str | None = None
    taxonomy_id: int | None = None
    taxonomy: str | None = Field(default=None, description="gene, protein: organism.")
    synonyms: list[str] | None = None
    protein_accession: str | None = None
    scientific_name: str | None = None
    common_name: str | None = None
    rank: str | None = None
    lineage: list[str] | None = Field(default=None, description="taxonomy: from the widest rank to the narrowest.")

    @classmethod
    def of(cls, kind: EntityType, members: Mapping[str, Any]) -> EntitySummary:
        """The summary that PubChem gives with these members."""
        filled = {field: _value(field, members, names) for field, names in _MEMBERS[kind].items()}
        return cls.model_validate({field: value for field, value in filled.items() if value is not None})


def entity_id(kind: EntityType, identifier: int | str) -> str | None:
    """An identifier as PubChem's paths hold it; None when it cannot be one of this kind."""
    text = str(identifier).strip()
    if kind == "protein":
        return normalized(text) if _ACCESSION.fullmatch(text) and text.strip(".") else None
    if not (text.isascii() and text.isdigit() and 0 < int(text[:11]) <= LARGEST_ID and len(text) <= 10):
        return None
    return str(int(text))


def _value(field: str, members: Mapping[str, Any], names: tuple[str, ...]) -> object:
    read = _number if field in _NUMBERS else _list if field in _LISTS else _text
    found = (value for name in names if (value := read(members.get(name))) is not None)
    value = next(found, None)
    if isinstance(value, str):
        return excerpt(value, DESCRIPTION if field == "description" else NAME)
    return value


def _number(value: Any) -> int | None:
    text = str(value).strip()
    if isinstance(value, float) and value.is_integer():
        text = str(int(value))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def _text(value: Any) -> str | None:
    if isinstance(value, list):
        return "\n".join(str(part) for part in cast("list[Any]", value)).strip() or None
    return None if value is None or isinstance(value, dict) else str(value).strip() or None


def _list(value: Any) -> list[str] | None:
    if isinstance(value, dict):
        ranks = cast("dict[str, Any]", value)
        value = [ranks.get(rank) for rank in _RANKS]
    parts = cast("list[Any]", value) if isinstance(value, list) else [value]
    names = [excerpt(str(part).strip(), NAME) for part in parts if part is not None and str(part).strip()]
    return names or None
