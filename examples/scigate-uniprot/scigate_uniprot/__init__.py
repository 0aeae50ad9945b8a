"""UniProtKB for scigate: the hooks of the provider `uniprot`."""

from collections.abc import Mapping

import httpx
from scigate import Example, Failure, Lifetime, Policy, Resource, Tool, Upstream, hookimpl

from scigate_uniprot.client import UniProt, UniProtError
from scigate_uniprot.licence import LICENCE
from scigate_uniprot.proteins import INVALID_QUERY, UNKNOWN_ACCESSION, entry, get_protein, search_proteins

scigate_api = ">=1.0,<2"


@hookimpl
def register_upstreams() -> list[Upstream]:
    """UniProt's REST service. It states no rate; one that a person would not be blamed for is kept."""
    return [
        Upstream(
            "uniprot",
            "https://rest.uniprot.org/",
            quotas=("5/second",),
            # A release comes every eight weeks (https://www.uniprot.org/help/synchronization).
            lifetimes=(Lifetime(r"GET /uniprotkb/search", 3600), Lifetime(r"GET /uniprotkb/", 86400, negative_s=3600)),
            emulator="scigate_uniprot.emulator:create_app",
            licence="CC BY 4.0",
        )
    ]


@hookimpl
def build_client(upstreams: Mapping[str, httpx.AsyncClient]) -> UniProt:
    """The client of the REST service."""
    return UniProt(upstreams["uniprot"])


@hookimpl
def register_tools() -> list[Tool]:
    """Search, then read."""
    return [search_proteins, get_protein]


@hookimpl
def register_resources() -> list[Resource]:
    """An entry by its URI."""
    return [entry]


@hookimpl
def register_policies() -> list[Policy]:
    """The licence, said with each result."""
    return [LICENCE]


@hookimpl
def map_error(error: Exception) -> Failure | None:
    """What UniProt's refusals mean."""
    if not isinstance(error, UniProtError):
        return None
    if error.status == 404:
        return UNKNOWN_ACCESSION.failure(f"UniProtKB has no entry {error.asked!r}.")
    return INVALID_QUERY.failure(f"UniProt cannot read the query {error.asked!r}: {error.said}")


@hookimpl
def register_examples() -> list[Example]:
    """Calls that work on the emulator's proteins."""
    return [
        Example(title="Human proteins, page by page", tool="uniprot_search_proteins",
                arguments={"query": "organism_id:9606", "maxResults": 4}, pages=2),
        Example(title="One protein", tool="uniprot_get_protein", arguments={"accession": "P01308"}),
    ]  # fmt: skip
