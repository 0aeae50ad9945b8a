"""What a caller shows, and who it is thereby: the SDK's `TokenVerifier` for keys and for an issuer's tokens.

Neither a key nor a token is kept: what is handed on holds the caller's id and scopes alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import jwt
import structlog
from mcp.server.auth.provider import AccessToken, TokenVerifier

from scigate.clock import Clock
from scigate.endpoint.issuer import Issuer
from scigate.keys import KeyRing, default_path
from scigate.settings.access import AuthSettings

__all__ = ["AnyOf", "IssuedTokens", "Keys", "token_verifier"]

_log: Final = structlog.get_logger("scigate.auth")

_LONGEST: Final = 16 * 1024
"""Characters of a token; with a longer one there is no checking what it says."""

_TYPES: Final = (None, "jwt", "at+jwt", "application/at+jwt")
"""Values of a token's `typ`, lower case, that an access token may have (RFC 9068, section 2.1); a logout token, a DPoP
proof and others by the same issuer have one of their own."""


def token_verifier(settings: AuthSettings, clock: Clock) -> TokenVerifier:
    """The verifier of what the settings accept; they accept something."""
    verifiers: list[TokenVerifier] = []
    if "keys" in settings.accept:
        verifiers.append(Keys(KeyRing(settings.keys_file or default_path()), clock))
    if "jwt" in settings.accept:
        verifiers.append(IssuedTokens(settings, Issuer(settings, clock)))
    return AnyOf(verifiers)


class AnyOf(TokenVerifier):
    """Accepts what one of several verifiers accepts."""

    def __init__(self, verifiers: Sequence[TokenVerifier]) -> None:
        self._verifiers = verifiers

    async def verify_token(self, token: str) -> AccessToken | None:
        for verifier in self._verifiers:
            if (found := await verifier.verify_token(token)) is not None:
                return found
        return None


class Keys(TokenVerifier):
    """Accepts the keys of a file, as `key:NAME`."""

    def __init__(self, keys: KeyRing, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    async def verify_token(self, token: str) -> AccessToken | None:
        key = self._keys.find(token, self._clock.now())
        if key is None:
            return None
        return AccessToken(token="", client_id=f"key:{key.name}", scopes=list(key.scopes))


class IssuedTokens(TokenVerifier):
    """Accepts an issuer's signed tokens for this resource, as `token:SUBJECT`.

    A token has to be whole in every respect: signed with an accepted algorithm by a key that the issuer publishes now,
    for this audience, by this issuer, not expired nor ahead of its time, naming a caller. What it says of where its key
    is (`jku`, `x5u`, `jwk`) is not looked at.
    """

    def __init__(self, settings: AuthSettings, issuer: Issuer) -> None:
        self._settings = settings
        self._issuer = issuer
        resource = str(settings.resource_url)
        # The same resource with and without a slash at its end: issuers normalise.
        self._audience = list({resource, resource.rstrip("/"), resource.rstrip("/") + "/"})

    async def verify_token(self, token: str) -> AccessToken | None:
        if len(token) > _LONGEST or token.count(".") != 2:
            return None
        try:
            claims = await self._claims(token)
        except (jwt.PyJWTError, ValueError, OverflowError, RecursionError) as error:
            # The exception's kind says why; its text can hold a part of the token.
            _log.info("token refused", why=type(error).__name__)
            return None
        if claims is None:
            return None
        subject: object = claims.get(self._settings.caller_claim)
        if not isinstance(subject, str) or not subject.strip() or len(subject) > 256 or not subject.isprintable():
            _log.info("token refused", why=f"no {self._settings.caller_claim}")
            return None
        return AccessToken(
            token="",
            client_id=f"token:{subject}",
            scopes=_scopes(claims),
            expires_at=None,
            resource=str(self._settings.resource_url),
            subject=subject,
            claims={"iss": self._settings.issuer},
        )

    async def _claims(self, token: str) -> Mapping[str, Any] | None:
        header = jwt.get_unverified_header(token)
        algorithm, kid, kind = header.get("alg"), header.get("kid"), header.get("typ")
        if algorithm not in self._settings.algorithms:
            _log.info("token refused", why="algorithm")
            return None
        if (kind.lower() if isinstance(kind, str) else kind) not in _TYPES:
            _log.info("token refused", why="type")
            return None
        key = await self._issuer.key(kid if isinstance(kid, str) else None, algorithm)
        if key is None:
            _log.info("token refused", why="key")
            return None
        return cast(
            "Mapping[str, Any]",
            jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self._audience,
                issuer=self._settings.issuer,
                leeway=self._settings.leeway_s,
                options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
            ),
        )


def _scopes(claims: Mapping[str, Any]) -> list[str]:
    """The scopes of a token: one text with spaces (RFC 9068), or a list under `scp` or `scope` as some issuers do."""
    found: object = claims.get("scope", claims.get("scp", ""))
    words = found.split() if isinstance(found, str) else found
    return [str(word) for word in cast("list[object]", words)] if isinstance(words, list) else []
