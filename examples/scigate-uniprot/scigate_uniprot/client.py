"""The client of UniProt's REST service (https://www.uniprot.org/help/api_queries, read 2026-11)."""

from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

ModelT = TypeVar("ModelT", bound=BaseModel)

REACHABLE = 500
"""Results that one request can give; further ones are behind a cursor, which cannot be entered at an offset."""

FIELDS = "accession,id,protein_name,gene_names,organism_name,organism_id,length"


class UniProtError(Exception):
    """UniProt refused a request.

    Attributes:
        status: HTTP status: 400 for a query that it cannot read, 404 for an unknown accession.
        asked: The query or the accession.
        said: UniProt's own words.
    """

    def __init__(self, status: int, asked: str, said: str) -> None:
        super().__init__(f"status {status} for {asked!r}: {said}")
        self.status, self.asked, self.said = status, asked, said


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class _Value(_Part):
    value: str


class _Name(_Part):
    full_name: _Value


class _Description(_Part):
    recommended_name: _Name | None = None
    submission_names: list[_Name] = []


class _Gene(_Part):
    gene_name: _Value | None = None


class _Organism(_Part):
    scientific_name: str
    taxon_id: int


class _Comment(_Part):
    comment_type: str
    texts: list[_Value] = []


class _Sequence(_Part):
    value: str | None = None
    length: int


class Entry(_Part):
    """An entry of UniProtKB, as far as it is read here."""

    primary_accession: str
    entry_name: str = Field(alias="uniProtkbId")
    entry_type: str
    organism: _Organism | None = None
    description: _Description | None = Field(default=None, alias="proteinDescription")
    genes: list[_Gene] = []
    comments: list[_Comment] = []
    sequence: _Sequence | None = None

    @property
    def name(self) -> str | None:
        """The recommended name, or the one it was submitted with."""
        if self.description is None:
            return None
        names = [*filter(None, [self.description.recommended_name]), *self.description.submission_names]
        return names[0].full_name.value if names else None

    @property
    def gene(self) -> str | None:
        """The first gene's name."""
        return next((gene.gene_name.value for gene in self.genes if gene.gene_name), None)

    @property
    def function(self) -> str | None:
        """What the protein does, in UniProt's words."""
        texts = [text.value for each in self.comments if each.comment_type == "FUNCTION" for text in each.texts]
        return " ".join(texts) or None


class _Results(_Part):
    results: list[Entry]


@dataclass(frozen=True)
class Hits:
    """The first results of a search, `REACHABLE` at most, and how many there are in all."""

    entries: list[Entry]
    total: int


class UniProt:
    """Asks UniProtKB."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def search(self, query: str) -> Hits:
        """The first results of a query in UniProt's own order.

        Raises:
            UniProtError: The query cannot be read.
            httpx.HTTPError: No answer, or none of the known shape.
        """
        parameters: dict[str, Any] = {"query": query, "fields": FIELDS, "format": "json", "size": REACHABLE}
        response = await self._get("uniprotkb/search", parameters, query)
        total = response.headers.get("X-Total-Results", "")
        if not total.isdigit():
            raise httpx.DecodingError("the answer does not say its total", request=response.request)
        return Hits(self._read(_Results, response).results, int(total))

    async def entry(self, accession: str) -> Entry:
        """One entry.

        Raises:
            UniProtError: There is none of this accession.
            httpx.HTTPError: No answer, or none of the known shape.
        """
        response = await self._get(f"uniprotkb/{accession}", {"format": "json"}, accession)
        return self._read(Entry, response)

    async def _get(self, path: str, parameters: dict[str, Any], asked: str) -> httpx.Response:
        response = await self._http.get(path, params=parameters)
        if response.status_code in (400, 404) and "messages" in response.text:
            raise UniProtError(response.status_code, asked, " ".join(response.json()["messages"]))
        response.raise_for_status()
        return response

    def _read(self, model: type[ModelT], response: httpx.Response) -> ModelT:
        try:
            return model.model_validate_json(response.content)
        except ValidationError as error:
            raise httpx.DecodingError("the answer is not of UniProt's shape", request=response.request) from error
