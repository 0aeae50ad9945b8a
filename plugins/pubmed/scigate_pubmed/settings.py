"""The provider's section of the configuration, `[providers.pubmed]`."""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from scigate_pubmed.upstream import Identity


def _or_unset(value: object) -> object:
    """None for a value that a template left empty or unfilled, such as `${NCBI_API_KEY}`."""
    if isinstance(value, str) and (not value.strip() or re.fullmatch(r"\$\{.*\}", value.strip())):
        return None
    return value.strip() if isinstance(value, str) else value


def _as_email(value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", value):
        raise ValueError("should be an e-mail address such as name@example.org")
    return value


class PubMedSettings(BaseModel):
    """How this gateway introduces itself to NCBI."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    api_key: Annotated[SecretStr | None, BeforeValidator(_or_unset)] = None
    """An NCBI API key; with one, NCBI allows 10 requests a second instead of 3, and the quota follows."""
    email: Annotated[str | None, BeforeValidator(_or_unset), AfterValidator(_as_email)] = None
    """Whom NCBI, Europe PMC and OpenAlex may write to when this gateway troubles them; NCBI asks every user for it."""
    europepmc: bool = True
    """Whether Europe PMC is asked; without it its two tools are not listed."""
    unpaywall_email: Annotated[str | None, BeforeValidator(_or_unset), AfterValidator(_as_email)] = None
    """The address that Unpaywall wants with every request; without one, no open copies are looked for."""
    openalex: bool = True
    """Whether OpenAlex may be asked for links between articles that neither NCBI nor Europe PMC has."""
    tool: Annotated[str, Field(min_length=1, pattern=r"^\S+$")] = "scigate"
    """The name of the calling software that NCBI sees."""

    @property
    def identity(self) -> Identity:
        """What NCBI and the other services are told of who asks."""
        return Identity(tool=self.tool, email=self.email, api_key=self.api_key)
