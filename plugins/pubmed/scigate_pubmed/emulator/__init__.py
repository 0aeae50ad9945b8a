"""E-utilities on sample data: an ASGI app that answers as NCBI does, over real bibliographic facts without abstracts.

Each answer says with `X-Sample-Data: ncbi` that it is sample data, and faults can be injected, as `scigate.emulator`
tells. What differs from NCBI: it knows some five hundred records, has no tree of MeSH headings and no abstracts to
search, maps no words to headings, takes the date of publication for every other date, and works out from headings and
titles which articles resemble and cite each other. Beside it stand the PMC ID converter and OpenAlex on the same
sample.
"""

from scigate_pubmed.emulator.app import create_app
from scigate_pubmed.emulator.idconv import create_pmc
from scigate_pubmed.emulator.openalex import create_openalex

__all__ = ["create_app", "create_openalex", "create_pmc"]
