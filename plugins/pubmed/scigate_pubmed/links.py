"""Articles that are linked with an article, from the first service that has any.

NCBI is asked first, then Europe PMC, then OpenAlex; what two of them say is never joined. Each service is a `Linker`,
so the order is the order of a list, and a service that is switched off is not in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

import httpx
from scigate import DeadlineExceeded, QuotaExhausted

from scigate_pubmed.client import Entrez, LinkName
from scigate_pubmed.errors import LinksUnavailable, NcbiError, NcbiNotFound
from scigate_pubmed.esummary import ArticleSummary

Relationship = Literal["similar", "cited_by", "references"]
Provider = Literal["ncbi", "europepmc", "openalex"]

LINK_NAMES: Final[dict[Relationship, LinkName]] = {
    "similar": "pubmed_pubmed",
    "cited_by": "pubmed_pubmed_citedin",
    "references": "pubmed_pubmed_refs",
}


@dataclass(frozen=True)
class Linked:
    """PMIDs from the first position on, each once, without the source's own."""

    pmids: tuple[str, ...] = ()
    complete: bool = True
    """Whether there are no more."""


class Linker(Protocol):
    """A service that knows links between articles."""

    @property
    def provider(self) -> Provider:
        """Its name in a result."""
        ...

    async def linked(self, pmid: str, relationship: Relationship, *, need: int) -> Linked | None:
        """The first links, `need` of them or all; None where the service has no such relationship.

        Raises:
            LinksUnavailable, NcbiError, httpx.HTTPError: The service has no usable answer.
        """
        ...


@dataclass(frozen=True)
class Found:
    """What became of asking the services in turn."""

    provider: Provider = "ncbi"
    """Who answered; `ncbi` also when nobody did."""
    linked: Linked = field(default_factory=Linked)
    failed: tuple[tuple[Provider, str], ...] = ()
    """Who could not answer, and what was wrong, in the order asked."""
    answered: bool = False
    """Whether anybody did, be it that there are no links."""
    source: ArticleSummary | None = None
    """The source's record, looked up where NCBI has no links of it."""
    unknown: bool = False
    """Whether PubMed has no such source."""


class EntrezLinker:
    """NCBI's ELink."""

    provider: Provider = "ncbi"

    def __init__(self, entrez: Entrez) -> None:
        self._entrez = entrez

    async def linked(self, pmid: str, relationship: Relationship, *, need: int) -> Linked | None:
        """All links; ELink does not page."""
        try:
            return Linked(await self._entrez.links(pmid, LINK_NAMES[relationship]))
        except NcbiNotFound:
            return Linked()


class Links:
    """The services in the order in which they are asked."""

    def __init__(self, entrez: Entrez, *others: Linker) -> None:
        self._entrez = entrez
        self._others: Sequence[Linker] = others

    async def find(self, pmid: str, relationship: Relationship, *, need: int) -> Found:
        """The links of an article: at least the first `need`, where there are as many.

        Raises:
            QuotaExhausted, DeadlineExceeded: There is no turn at NCBI or no time for it, so nobody else is asked.
        """
        found = await self._ask(EntrezLinker(self._entrez), pmid, relationship, need, Found())
        if found.answered and not found.linked.pmids:
            # No links and no such article look alike to ELink.
            found = await self._looked_up(found, pmid)
        for linker in self._others:
            if found.linked.pmids or found.unknown:
                break
            found = await self._ask(linker, pmid, relationship, need, found)
        return found

    async def _ask(self, linker: Linker, pmid: str, relationship: Relationship, need: int, found: Found) -> Found:
        try:
            linked = await linker.linked(pmid, relationship, need=need)
        except (LinksUnavailable, NcbiError, httpx.HTTPError) as error:
            if linker.provider == "ncbi" and isinstance(error, QuotaExhausted | DeadlineExceeded):
                raise
            return replace(found, failed=(*found.failed, (linker.provider, _said(error))))
        if linked is None:
            return found
        if linked.pmids:
            return replace(found, provider=linker.provider, linked=linked, answered=True)
        # Europe PMC and OpenAlex have no links of much that they do not hold; only NCBI's "none" is an answer.
        return replace(found, answered=found.answered or linker.provider == "ncbi")

    async def _looked_up(self, found: Found, pmid: str) -> Found:
        try:
            records = await self._entrez.summaries([pmid])
        except NcbiNotFound:
            return replace(found, unknown=True)
        except (NcbiError, httpx.HTTPError):
            return found
        titled = [record for record in records if record.title]
        return replace(found, source=titled[0]) if titled else replace(found, unknown=True)


def _said(error: Exception) -> str:
    """What was wrong, without URL or body."""
    match error:
        case NcbiError() | LinksUnavailable():
            return str(error)
        case QuotaExhausted():
            return "no turn before the deadline"
        case httpx.TimeoutException() | DeadlineExceeded():
            return "no answer in time"
        case httpx.HTTPStatusError():
            return f"HTTP status {error.response.status_code}"
        case _:
            return "no connection"
