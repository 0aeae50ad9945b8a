"""PubMed as a provider of scigate: NCBI's E-utilities, the services beside them, and the tools over all of them."""

from collections.abc import Iterable, Mapping

import httpx
from pydantic import BaseModel
from scigate import Example, Failure, Prompt, Resource, Tool, Upstream, hookimpl

from scigate_pubmed.citations import format_citations
from scigate_pubmed.client import Entrez
from scigate_pubmed.database import database_info
from scigate_pubmed.europe_links import EuropeLinker
from scigate_pubmed.europepmc import EuropePmc, europepmc
from scigate_pubmed.europepmc_reasons import europepmc_failure
from scigate_pubmed.europepmc_search import fetch_europepmc, search_europepmc
from scigate_pubmed.fetch import fetch_articles
from scigate_pubmed.fulltext import fulltext_tool
from scigate_pubmed.headings import lookup_mesh
from scigate_pubmed.idconv import IdConverter
from scigate_pubmed.identifiers import convert_ids
from scigate_pubmed.links import Linker, Links
from scigate_pubmed.openalex import OpenAlexLinker
from scigate_pubmed.plan import research_plan
from scigate_pubmed.reasons import failure
from scigate_pubmed.reference import lookup_citation
from scigate_pubmed.related import find_related
from scigate_pubmed.search import search_articles
from scigate_pubmed.settings import PubMedSettings
from scigate_pubmed.sources import Sources
from scigate_pubmed.spelling import spell_check
from scigate_pubmed.unpaywall import Unpaywall, unpaywall, unpaywall_failure
from scigate_pubmed.upstream import ncbi, openalex, pmc

scigate_api = ">=1,<2"


@hookimpl
def register_tools(settings: PubMedSettings) -> Iterable[Tool]:
    """The provider's tools; Europe PMC's own are left out where it is switched off."""
    return [
        search_articles,
        fetch_articles,
        fulltext_tool(europepmc=settings.europepmc, unpaywall=settings.unpaywall_email is not None),
        *([search_europepmc, fetch_europepmc] if settings.europepmc else []),
        format_citations,
        find_related,
        spell_check,
        lookup_mesh,
        lookup_citation,
        convert_ids,
    ]


@hookimpl
def register_resources() -> Iterable[Resource]:
    """What NCBI tells of the database."""
    return [database_info]


@hookimpl
def register_prompts() -> Iterable[Prompt]:
    """The plan of a piece of research."""
    return [research_plan]


@hookimpl
def settings_model() -> type[BaseModel]:
    """The keys of `[providers.pubmed]`."""
    return PubMedSettings


@hookimpl
def register_upstreams(settings: PubMedSettings) -> Iterable[Upstream]:
    """NCBI and the services beside it, each with a budget of its own."""
    return [
        ncbi(keyed=settings.api_key is not None),
        pmc(),
        # Declared also where they are switched off: their sections of the configuration and their emulators stay valid.
        europepmc(),
        unpaywall(),
        *([openalex()] if settings.openalex else []),
    ]


@hookimpl
def build_client(upstreams: Mapping[str, httpx.AsyncClient], settings: PubMedSettings) -> Sources:
    """The clients of all services, those that are switched off left out."""
    entrez = Entrez(upstreams["ncbi"], settings.identity)
    linkers: list[Linker] = []
    europe = upstreams["europepmc"] if settings.europepmc else None
    if europe is not None:
        linkers.append(EuropeLinker(europe))
    if (works := upstreams.get("openalex")) is not None:
        linkers.append(OpenAlexLinker(works, settings.identity))
    return Sources(
        entrez=entrez,
        converter=IdConverter(upstreams["pmc"], settings.identity),
        links=Links(entrez, *linkers),
        europepmc=EuropePmc(europe, settings.email) if europe is not None else None,
        unpaywall=Unpaywall(upstreams["unpaywall"], settings.unpaywall_email) if settings.unpaywall_email else None,
    )


@hookimpl
def map_error(error: Exception) -> Failure | None:
    """Each service's faults in a caller's words."""
    return europepmc_failure(error) or unpaywall_failure(error) or failure(error)


@hookimpl
def register_examples() -> Iterable[Example]:
    """Calls that show paging, a filter and a doubtful match on the sample."""
    return [
        Example(
            title="PubMed search with a filter, two pages",
            tool="pubmed_search_articles",
            arguments={
                "query": "hypertension OR cancer",
                "publicationTypes": ["Review"],
                "maxResults": 2,
                "summaryCount": 2,
            },
            pages=2,
        ),
        Example(
            title="A reference looked up, with a doubt about its year",
            tool="pubmed_lookup_citation",
            arguments={
                "citations": [
                    {
                        "journal": "Nature",
                        "volume": "409",
                        "firstPage": "860",
                        "year": "2002",
                        "authorName": "Lander ES",
                    }
                ]
            },
        ),
    ]
