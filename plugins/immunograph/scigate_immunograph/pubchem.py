"""PUG REST for one compound: one URL, one answer parsed into a record.

Above is `retrieval`, which decides between sources; below is an HTTP client whose transport already has quota, retry,
cache and deadline.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final, Literal

import httpx
from pydantic import BaseModel, Field, ValidationError

from scigate_immunograph.compound import Compound
from scigate_immunograph.faults import NoSuchCompound, NotCached, SourceFailed, SourceUnreadable

__all__ = ["LICENCE", "Answer", "PubChem", "read_answer"]

Cache = Literal["none", "refresh", "only", "any"]
"""none: neither read nor written; refresh: written alone; only: nothing else is asked; any: as is usual."""

_WISHES: Final[dict[Cache, object]] = {"none": False, "refresh": "refresh", "only": "only"}

_PROPERTIES: Final = "Title,IUPACName,MolecularFormula,MolecularWeight,SMILES,ConnectivitySMILES,InChI,InChIKey"

LICENCE: Final = "PubChem: NLM sets no restriction on use; rights of contributors may apply"
"""NCBI website and data usage policies, https://www.ncbi.nlm.nih.gov/home/about/policies/"""


class _Row(BaseModel):
    cid: int = Field(alias="CID")
    title: str | None = Field(default=None, alias="Title")
    iupac_name: str | None = Field(default=None, alias="IUPACName")
    formula: str | None = Field(default=None, alias="MolecularFormula")
    weight: float | None = Field(default=None, alias="MolecularWeight")
    # Answers from before 2025-07 have the older names of the two.
    smiles: str | None = Field(default=None, alias="SMILES")
    isomeric_smiles: str | None = Field(default=None, alias="IsomericSMILES")
    connectivity_smiles: str | None = Field(default=None, alias="ConnectivitySMILES")
    canonical_smiles: str | None = Field(default=None, alias="CanonicalSMILES")
    inchi: str | None = Field(default=None, alias="InChI")
    inchi_key: str | None = Field(default=None, alias="InChIKey")


class _Rows(BaseModel):
    rows: list[_Row] = Field(alias="Properties")


class _Table(BaseModel):
    table: _Rows = Field(alias="PropertyTable")


class _Fault(BaseModel):
    code: str = Field(alias="Code")


class _FaultAnswer(BaseModel):
    fault: _Fault = Field(alias="Fault")


@dataclass(frozen=True, slots=True)
class Answer:
    """What PubChem said of a compound.

    Attributes:
        mode: Whether it was fetched for this call or had been before.
        age_s: Seconds since it was fetched.
        url: Where.
        body: The answer's text, from which `compound` can be read again.
        sample: Whether an emulator gave it.
    """

    mode: Literal["live", "cache"]
    age_s: float
    url: str
    body: str
    sample: bool

    def compound(self, cid: int) -> Compound:
        """The record in it; raises as `read_answer`."""
        return read_answer(self.body, cid)

    def retrieved_at(self, now: datetime) -> datetime:
        """When it was fetched."""
        return now - timedelta(seconds=self.age_s)


class PubChem:
    """The client.

    Args:
        http: Client of the upstream `pubchem`.
    """

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def compound(self, cid: int, cache: Cache) -> Answer:
        """A compound by its CID. Costs one request, or none from the cache.

        Raises:
            NoSuchCompound: There is none.
            NotCached: `cache` is only, and nothing fresh is there.
            SourceFailed: PubChem answered with a fault.
            httpx.TransportError: It did not answer.
        """
        wish = _WISHES.get(cache)
        response = await self._http.get(
            f"rest/pug/compound/cid/{cid}/property/{_PROPERTIES}/JSON",
            extensions={} if wish is None else {"scigate.cache": wish},
        )
        mode = response.extensions.get("scigate.served", "live")
        if cache == "only" and response.status_code == HTTPStatus.GATEWAY_TIMEOUT and mode == "cache":
            raise NotCached
        if response.status_code != HTTPStatus.OK:
            raise _refusal(response, cid)
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if kind not in ("", "application/json"):
            raise SourceUnreadable(f"it is {kind[:60]}, not application/json")
        return Answer(
            mode=mode,
            age_s=float(response.extensions.get("scigate.age_s", 0.0)),
            url=str(response.url),
            body=response.text,
            sample="x-sample-data" in response.headers,
        )


def _refusal(response: httpx.Response, cid: int) -> NoSuchCompound | SourceFailed:
    try:
        fault = _FaultAnswer.model_validate_json(response.content).fault.code
    except ValidationError:
        fault = ""
    # Under load a 4xx may say ServerBusy: the fault's code decides before the status does.
    if response.status_code == HTTPStatus.NOT_FOUND and not fault.endswith("ServerBusy"):
        return NoSuchCompound(cid)
    return SourceFailed(response.status_code, fault)


def read_answer(body: str, cid: int) -> Compound:
    """The record of a CID in a property table.

    Raises:
        NoSuchCompound: The table says that there is none.
        SourceUnreadable: It is of another shape.
    """
    try:
        rows = _Table.model_validate_json(body).table.rows
    except ValidationError as error:
        raise SourceUnreadable("it is no property table") from error
    row = next((row for row in rows if row.cid == cid), None)
    if row is None:
        raise SourceUnreadable(f"it has no row of CID {cid}")
    smiles = row.smiles or row.isomeric_smiles
    if not any((smiles, row.formula, row.inchi, row.inchi_key)):
        # A CID that was never given out is answered with 200 and a row of nothing but the number.
        raise NoSuchCompound(cid)
    if not (smiles and row.formula):
        raise SourceUnreadable("SMILES or formula is missing in it")
    return Compound(
        cid=cid,
        title=row.title,
        iupac_name=row.iupac_name,
        molecular_formula=row.formula,
        molecular_weight=row.weight,
        smiles=smiles,
        connectivity_smiles=row.connectivity_smiles or row.canonical_smiles,
        inchi=row.inchi,
        inchi_key=row.inchi_key,
    )
