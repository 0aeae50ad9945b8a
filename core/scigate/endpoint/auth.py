"""Ask who calls, before a request's body is read, and tell who may not how to sign in.

The answers are those of RFC 6750 with the parameters that MCP 2026-07-28 asks for: `resource_metadata` (RFC 9728) and
`scope` in each challenge, `error` only where something was shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.shared.auth import ProtectedResourceMetadata
from pydantic import AnyHttpUrl
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from scigate.call import Caller
from scigate.clock import Clock
from scigate.endpoint.caller import CALLER
from scigate.endpoint.issuer import IssuerUnavailable
from scigate.endpoint.sign_ins import SignIns
from scigate.endpoint.tokens import token_verifier
from scigate.settings import AuthSettings

__all__ = ["Doorkeeper", "metadata_routes"]


class Doorkeeper:
    """Lets a request through with its caller's name on it, or answers it.

    Args:
        app: What stands behind.
        settings: What is accepted; something is.
        clock: The clock of keys' and tokens' ages.
        sign_ins: Is told of who is not let through; None where nobody wants to know.
    """

    def __init__(self, app: ASGIApp, settings: AuthSettings, clock: Clock, sign_ins: SignIns | None = None) -> None:
        self._app = app
        self._sign_ins = sign_ins
        self._bearer = BearerAuthBackend(token_verifier(settings, clock))
        self._scopes = settings.scopes
        by_token = "jwt" in settings.accept and settings.resource_url is not None
        self._metadata = str(_metadata_url(settings)) if by_token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._ask(scope)
        await (answer or self._app)(scope, receive, send)

    async def _ask(self, scope: Scope) -> Response | None:
        """Put the caller into the scope; a response where there is none."""
        if b"access_token=" in scope["query_string"]:
            # Addresses are logged and cached on the way: such a token is no secret any more.
            self._tell(scope, "token_in_address")
            return self._challenge(400, "invalid_request", "A token in the address is not accepted")
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        if not shown:
            self._tell(scope, "nothing_shown")
            return self._challenge(401)
        if len(shown) > 1:
            self._tell(scope, "shown_twice")
            return self._challenge(400, "invalid_request", "More than one Authorization header")
        try:
            accepted = await self._bearer.authenticate(HTTPConnection(scope))
        except IssuerUnavailable:
            self._tell(scope, "issuer_unavailable")
            body = {"error": "temporarily_unavailable", "error_description": "The issuer's keys cannot be fetched"}
            return JSONResponse(body, 503, {"Retry-After": "5"})
        if accepted is None:
            self._tell(scope, "invalid_token")
            return self._challenge(401, "invalid_token", "The key or token is unknown, expired or not for this server")
        credentials, user = cast("tuple[object, AuthenticatedUser]", accepted)
        caller = _caller(user)
        if caller.kind == "token" and not caller.scopes.issuperset(self._scopes):
            self._tell(scope, "insufficient_scope", caller.id)
            return self._challenge(403, "insufficient_scope", "The token lacks a scope that this server asks for")
        scope["auth"], scope["user"], scope[CALLER] = credentials, user, caller
        return None

    def _tell(self, scope: Scope, reason: str, caller: str | None = None) -> None:
        if self._sign_ins is not None:
            self._sign_ins.refuse(scope, reason, caller)

    def _challenge(self, status: int, error: str | None = None, description: str | None = None) -> Response:
        parameters = {
            "realm": "scigate",
            "error": error,
            "error_description": description,
            "scope": " ".join(self._scopes) if self._metadata else None,
            "resource_metadata": self._metadata,
        }
        parts = ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value)
        body = {"error": error or "unauthorized", "error_description": description or "Show a key or a token"}
        return JSONResponse(body, status, {"WWW-Authenticate": f"Bearer {parts}"})


def metadata_routes(settings: AuthSettings) -> Sequence[Route]:
    """Where the protected-resource metadata (RFC 9728) stands: none where no token is accepted.

    At the root too, where clients look that know no path.
    """
    if "jwt" not in settings.accept or settings.resource_url is None or settings.issuer is None:
        return []
    metadata = ProtectedResourceMetadata(
        resource=AnyHttpUrl(settings.resource_url),
        authorization_servers=[AnyHttpUrl(settings.issuer)],
        scopes_supported=settings.scopes or None,
        resource_name="scigate",
    )
    # As the settings write them: clients and issuers compare these as texts, and a URL object adds a slash.
    told = metadata.model_dump(mode="json", exclude_none=True) | {
        "resource": settings.resource_url,
        "authorization_servers": [settings.issuer],
    }

    async def answer(request: Request) -> Response:
        return JSONResponse(told, headers={"Cache-Control": "public, max-age=3600"})

    paths = dict.fromkeys([urlsplit(str(_metadata_url(settings))).path, "/.well-known/oauth-protected-resource"])
    return [Route(path, answer, methods=["GET"]) for path in paths]


def _metadata_url(settings: AuthSettings) -> AnyHttpUrl:
    return build_resource_metadata_url(AnyHttpUrl(str(settings.resource_url)))


def _caller(user: AuthenticatedUser) -> Caller:
    name = user.access_token.client_id
    return Caller(name, "key" if name.startswith("key:") else "token", frozenset(user.scopes))
