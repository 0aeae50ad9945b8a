"""Hashes of JSON values that any program can check.

A hash is `sha256:` and the lower-case hex SHA-256 of the value's canonical JSON: RFC 8785 (JCS), that is members
sorted by UTF-16 code units, no white space, numbers as ECMAScript prints them, UTF-8.
"""

from __future__ import annotations

import hashlib
from typing import Final

import rfc8785

__all__ = ["ALGORITHM", "canonical", "digest"]

ALGORITHM: Final = "sha256"


def canonical(value: object) -> bytes:
    """The canonical JSON of a value.

    Raises:
        ValueError: It holds a number that JSON does not keep (NaN, whole ones over 2^53 - 1) or half a surrogate pair.
        TypeError: It is no JSON value.
    """
    # The library's own type of a JSON value is closed; what comes here was made or read as JSON.
    return rfc8785.dumps(value)  # type: ignore[arg-type]


def digest(value: object) -> str:
    """The hash of a JSON value, as the module says.

    Raises:
        ValueError, TypeError: As `canonical`.
    """
    return f"{ALGORITHM}:{hashlib.sha256(canonical(value)).hexdigest()}"
