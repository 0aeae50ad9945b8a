"""NCBI's E-utilities as methods that give records.

Below is an `httpx.AsyncClient` that waits for quota, retries and signs; above are the tools. A request is built and an
answer parsed here, and nothing is decided about either.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Literal
from urllib.parse import urlencode

import httpx

from scigate_pubmed.ecitmatch import Match, Reference, lines, parse_matches
from scigate_pubmed.efetch import ArticleSet, parse_articles
from scigate_pubmed.einfo import Database, parse_database
from scigate_pubmed.elink import parse_links
from scigate_pubmed.errors import NcbiUnreadable
from scigate_pubmed.esearch import WINDOW, SearchAnswer, parse_search
from scigate_pubmed.espell import Spelling, parse_spelling
from scigate_pubmed.esummary import ArticleSummary, parse_summaries
from scigate_pubmed.faults import fault
from scigate_pubmed.mesh import Heading, parse_headings
from scigate_pubmed.upstream import IDENTITY, Identity

Sort = Literal["relevance", "pub_date", "author", "journal"]
LinkName = Literal["pubmed_pubmed", "pubmed_pubmed_citedin", "pubmed_pubmed_refs"]

# ESearch ignores a word it does not know, silently: `author` would leave the default order.
_SORTS: Mapping[Sort, str] = {
    "relevance": "relevance",
    "pub_date": "pub_date",
    "author": "Author",
    "journal": "JournalName",
}

_LONGEST_GET = 2000
_MOST_IDS_BY_GET = 200
_MOST_ARTICLES_BY_GET = 99
_MOST_FULL_TEXTS_BY_GET = 5
_ANY_POSITION = 2**31


class Entrez:
    """E-utilities over a client of the `ncbi` upstream.

    Every method raises an `NcbiError` where what came back is not an answer, and an `httpx.HTTPError` where the request
    was refused or no answer came.
    """

    def __init__(self, http: httpx.AsyncClient, identity: Identity) -> None:
        self._http = http
        self._extensions = {IDENTITY: identity}

    async def search(self, term: str, *, offset: int, count: int, sort: Sort = "relevance") -> SearchAnswer:
        """At most `count` PMIDs from position `offset` (0 to 9998) on; fewer where PubMed's window ends."""
        asked = min(count, WINDOW - offset)
        answer = await self._json(
            "esearch", {"db": "pubmed", "term": term, "retstart": offset, "retmax": asked, "sort": _SORTS[sort]}
        )
        return parse_search(answer, offset=offset, asked=asked)

    async def summaries(self, pmids: Sequence[str]) -> list[ArticleSummary]:
        """The short records of PMIDs in their order; those that PubMed does not have are left out."""
        answer = await self._json("esummary", {"db": "pubmed", "version": "2.0", "id": ",".join(pmids)}, ids=len(pmids))
        return parse_summaries(answer, tuple(pmids))

    async def articles(self, pmids: Sequence[str], *, most_by_get: int = _MOST_ARTICLES_BY_GET) -> ArticleSet:
        """The full records of PMIDs, each asked for once; those that PubMed does not have are left out."""
        return parse_articles(
            await self._body(
                "efetch.fcgi",
                {"db": "pubmed", "id": ",".join(pmids), "retmode": "xml"},
                in_body=len(pmids) > most_by_get,
            )
        )

    async def full_texts(self, pmcids: Sequence[str]) -> bytes:
        """The JATS articles of PMCIDs, given with or without their prefix, as one document."""
        return await self._body(
            "efetch.fcgi",
            {"db": "pmc", "id": ",".join(one.upper().removeprefix("PMC") for one in pmcids), "retmode": "xml"},
            in_body=len(pmcids) > _MOST_FULL_TEXTS_BY_GET,
        )

    async def links(self, pmid: str, name: LinkName) -> tuple[str, ...]:
        """All PMIDs linked with one, the nearest first; none also where PubMed does not know the one."""
        parameters = {"dbfrom": "pubmed", "db": "pubmed", "id": pmid, "cmd": "neighbor", "linkname": name}
        body = await self._body("elink.fcgi", {**parameters, "retmode": "xml"})
        return parse_links(body, source=pmid, name=name)

    async def spelling(self, text: str) -> Spelling:
        """NCBI's correction of a query."""
        return parse_spelling(await self._body("espell.fcgi", {"db": "pubmed", "term": text}))

    async def database(self, name: str = "pubmed") -> Database:
        """What NCBI tells of one of its databases."""
        return parse_database(await self._body("einfo.fcgi", {"db": name, "retmode": "xml"}))

    async def matches(self, references: Sequence[Reference]) -> list[Match]:
        """The record that each citation means, in the order of the citations."""
        body = await self._body("ecitmatch.cgi", {"db": "pubmed", "retmode": "xml", "bdata": lines(references)})
        return parse_matches(body.decode("utf-8", "replace"), len(references))

    async def find_headings(self, term: str, *, offset: int, count: int) -> SearchAnswer:
        """At most `count` Entrez numbers of MeSH records from position `offset` on; any position may be asked for."""
        answer = await self._json("esearch", {"db": "mesh", "term": term, "retstart": offset, "retmax": count})
        return parse_search(answer, offset=offset, asked=count, window=_ANY_POSITION)

    async def headings(self, uids: Sequence[str]) -> list[Heading]:
        """The MeSH records of Entrez numbers in their order."""
        # EFetch gives MeSH as plain text only.
        answer = await self._json("esummary", {"db": "mesh", "version": "2.0", "id": ",".join(uids)}, ids=len(uids))
        return parse_headings(answer, tuple(uids))

    async def _json(self, endpoint: str, parameters: Mapping[str, str | int], *, ids: int = 0) -> object:
        body = await self._body(f"{endpoint}.fcgi", {**parameters, "retmode": "json"}, in_body=ids > _MOST_IDS_BY_GET)
        return _decoded(endpoint, body)

    async def _body(self, path: str, parameters: Mapping[str, str | int], *, in_body: bool = False) -> bytes:
        """The body of one answer; the parameters go into the request's own where they are too long for a URL."""
        query = urlencode(parameters)
        if in_body or len(query) > _LONGEST_GET:
            response = await self._http.post(
                path,
                content=query.encode(),
                headers={"Content-Type": "application/x-www-form-urlencoded"},
                extensions={"scigate.safe": True, **self._extensions},
            )
        else:
            response = await self._http.get(f"{path}?{query}", extensions=self._extensions)
        if error := fault(response):
            raise error
        response.raise_for_status()
        return response.content


def _decoded(endpoint: str, body: bytes) -> object:
    try:
        return json.loads(body, strict=False)
    except (ValueError, RecursionError) as error:
        raise NcbiUnreadable(endpoint, "is not well-formed JSON") from error
