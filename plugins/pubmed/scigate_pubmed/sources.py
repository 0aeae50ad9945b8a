"""The services that this provider's tools ask, in one place."""

from dataclasses import dataclass

from scigate_pubmed.client import Entrez
from scigate_pubmed.europepmc import EuropePmc
from scigate_pubmed.europepmc_reasons import EUROPEPMC_DISABLED
from scigate_pubmed.idconv import IdConverter
from scigate_pubmed.links import Links
from scigate_pubmed.unpaywall import Unpaywall


@dataclass(frozen=True, kw_only=True)
class Sources:
    """One client for each service; one that is switched off is None."""

    entrez: Entrez
    converter: IdConverter
    links: Links
    europepmc: EuropePmc | None = None
    unpaywall: Unpaywall | None = None

    @property
    def europe(self) -> EuropePmc:
        """Europe PMC, for tools that are nothing without it.

        Raises:
            FailureError: It is switched off.
        """
        if self.europepmc is None:
            raise EUROPEPMC_DISABLED.error("Europe PMC is switched off in this gateway")
        return self.europepmc
