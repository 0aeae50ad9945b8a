"""The kinds of value that sections share."""

import re
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

STRICT_KEYS = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]


def _as_quota(text: str) -> str:
    if not re.fullmatch(r"[1-9]\d*/([1-9]\d*s|second|minute|hour|day)", text):
        raise ValueError("should be a number of requests and a window, such as 5/second, 400/minute or 100/10s")
    return text


Quota = Annotated[str, AfterValidator(_as_quota)]
