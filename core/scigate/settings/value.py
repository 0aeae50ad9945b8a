"""The kinds of value that sections share."""

import re
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, SecretStr

STRICT_KEYS = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]


def _as_quota(text: str) -> str:
    if not re.fullmatch(r"[1-9]\d*/([1-9]\d*s|second|minute|hour|day)", text):
        raise ValueError("should be a number of requests and a window, such as 5/second, 400/minute or 100/10s")
    return text


Quota = Annotated[str, AfterValidator(_as_quota)]


def _as_keys(secrets: list[SecretStr]) -> list[SecretStr]:
    values = [secret.get_secret_value() for secret in secrets]
    if any(len(value.encode()) < 32 for value in values):
        raise ValueError("should each have 32 bytes or more (`openssl rand -hex 32` makes one)")
    if len(set(values)) < len(values):
        raise ValueError("should differ")
    return secrets


StateKeys = Annotated[list[SecretStr], AfterValidator(_as_keys)]
