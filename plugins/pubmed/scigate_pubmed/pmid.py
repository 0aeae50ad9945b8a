"""PMIDs as an argument: text of digits, refused with a sentence that shows one."""

from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError


def _digits(value: object) -> object:
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        raise PydanticCustomError(
            "pmid", "a PMID is digits only, such as 13054692, without white space, commas or a prefix"
        )
    return value


Pmid = Annotated[str, Field(pattern=r"^\d+$"), BeforeValidator(_digits)]


def canonical(pmid: str) -> str:
    """The form in which NCBI gives a PMID: without leading zeros."""
    return pmid.lstrip("0") or "0"
