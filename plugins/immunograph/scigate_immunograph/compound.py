"""A compound's identity, and where it came from: the records that `fetch_compound` gives and fixtures hold."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from scigate import Output, Record

from scigate_immunograph.digest import digest

__all__ = ["Compound", "FetchedCompound", "Provenance", "Skipped", "Source"]

Source = Literal["pubchem", "fixture"]


class Compound(Record):
    """Who a compound is; nothing of it is calculated here."""

    cid: int = Field(description="PubChem compound identifier.")
    title: str | None = Field(default=None, description="PubChem's name of the compound.")
    iupac_name: str | None = Field(default=None, description="Systematic name.")
    molecular_formula: str = Field(description="In Hill order.")
    molecular_weight: float | None = Field(default=None, description="As the source states it, in g/mol.")
    smiles: str = Field(description="With stereochemistry and isotopes.")
    connectivity_smiles: str | None = Field(default=None, description="Without stereochemistry and isotopes.")
    inchi: str | None = Field(default=None, description="Standard InChI.")
    inchi_key: str | None = Field(default=None, description="Standard InChIKey.")

    @property
    def content_hash(self) -> str:
        """Hash of these facts alone: equal wherever and whenever they were served from."""
        return digest(
            self.model_dump(mode="json", by_alias=True, exclude_none=True, include=set(Compound.model_fields))
        )


class Skipped(Record):
    """A source that stood earlier in the policy's order and did not serve."""

    source: Literal["live", "cache", "fixture"]
    reason: str = Field(description="Why, as a stable name.")
    message: str


class Provenance(Record):
    """Where a compound's record was served from."""

    source: Source = Field(description="Who states the facts: pubchem, or the fixture that was asked for.")
    mode: Literal["live", "cache", "fixture"] = Field(description="What served them.")
    url: str = Field(description="Address that they came from.")
    retrieved_at: str = Field(description="When they were fetched from there: UTC, ISO 8601.")
    content_hash: str = Field(description="Hash of the members beside provenance but source and compoundRef.")
    licence: str = Field(description="Under which terms the source gives them.")
    sample_data: bool | None = Field(default=None, description="True: an offline emulator answered, not the service.")
    fixture_key: str | None = Field(default=None, description="Key of the fixture, when one served.")
    fixture_set: Literal["shipped", "user"] | None = Field(default=None, description="Whose fixture it is.")
    skipped: list[Skipped] | None = Field(default=None, description="Earlier sources, in order, and why not they.")


class FetchedCompound(Compound, Output):
    """A compound as it was asked for, with its provenance."""

    source: Source = Field(description="As asked for.")
    compound_ref: str = Field(description="As asked for.")
    provenance: Provenance
