"""Whose a request is: the mark that the doorkeeper leaves in its ASGI scope.

Apart from `auth`, so that a gateway on stdio does not load what reads tokens.
"""

from __future__ import annotations

from typing import Final, cast

from starlette.requests import Request

from scigate.call import Caller

__all__ = ["CALLER", "caller_of"]

CALLER: Final = "scigate.caller"
"""Key of the caller in an ASGI scope."""


def caller_of(request: object) -> Caller | None:
    """Whom the doorkeeper let in with a request; None where none stood there."""
    return cast("Caller | None", request.scope.get(CALLER)) if isinstance(request, Request) else None
