"""PUG REST's requests: a path asked for, and the answer unless it is a fault.

Above are `searches` and `client`, which know the paths; below is an HTTP client whose transport already has quota,
retry, cache and deadline.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

import httpx

from scigate_pubchem.faults import raise_for_fault

__all__ = ["PugRest", "distinct", "segment"]

PUG: Final = "rest/pug"
READ: Final = {"scigate.safe": True}
"""These POSTs only read: they may be retried, cached and shared."""


class PugRest:
    """Requests below `rest/pug`; a fault in place of an answer raises `NotFound`, `BadRequest` or `PubChemError`."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def get(
        self,
        path: str,
        options: Mapping[str, str | int] | None = None,
        *,
        extensions: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        """The answer of a GET; `extensions` are wishes of this request alone."""
        response = await self._http.get(f"{PUG}/{path}", params=options or None, extensions=dict(extensions or {}))
        raise_for_fault(response)
        return response

    async def post(
        self, path: str, form: Mapping[str, str], options: Mapping[str, str | int] | None = None
    ) -> httpx.Response:
        """The answer of a POST of a form, for values that are too long for a path or hold slashes."""
        response = await self._http.post(
            f"{PUG}/{path}", params=options or None, data=dict(form), extensions=dict(READ)
        )
        raise_for_fault(response)
        return response


def distinct(cids: Iterable[int]) -> tuple[int, ...]:
    """Numbers without repeats and zeros, which stand for what is understood and not in the database."""
    return tuple(dict.fromkeys(cid for cid in cids if cid > 0))


def segment(text: str) -> str:
    """Text as one segment of a path; dots alone would be read as a direction."""
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")
