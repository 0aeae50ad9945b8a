"""The issuer's keys: found through its metadata, kept for a while, fetched again when a token names a new one."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import urlsplit

import httpx
import jwt
import structlog
from pydantic import TypeAdapter, ValidationError

from scigate.clock import Clock
from scigate.settings.access import Address, AuthSettings

__all__ = ["Issuer", "IssuerUnavailable"]

_log: Final = structlog.get_logger("scigate.auth")

_FRESH_S: Final = 600.0
"""Seconds after which the keys are fetched again, so that one that the issuer withdraws is no longer accepted."""

_USABLE_S: Final = 3600.0
"""Seconds for which keys are good while the issuer cannot be reached."""

_FETCHES: Final = 6
_FETCHES_IN_S: Final = 60.0
"""Fetches at most in so many seconds: tokens with made-up key ids must not have the gateway flood the issuer."""

_TIMEOUT_S: Final = 5.0
_MAX_BYTES: Final = 512 * 1024

_ADDRESS: Final[TypeAdapter[str]] = TypeAdapter(Address)


class IssuerUnavailable(Exception):
    """No key of the issuer is at hand: its tokens can be neither accepted nor refused."""


class Issuer:
    """The public keys of one issuer, by their ids.

    Args:
        settings: The issuer, and where its keys are if its metadata does not say so.
        clock: The clock of the keys' age.
    """

    def __init__(self, settings: AuthSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._keys: list[Mapping[str, Any]] = []
        self._found: dict[tuple[str | None, str], jwt.PyJWK] = {}
        self._fetched: float | None = None
        self._tries: deque[float] = deque()
        self._attempts = 0
        self._fetching = asyncio.Lock()

    async def key(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        """The key to check a signature with; None where the issuer has none of this id and for this algorithm.

        Args:
            kid: The key id that the token names; None if it names none, which only one fitting key makes clear.
            algorithm: The algorithm that the token names; an accepted one.

        Raises:
            IssuerUnavailable: There are no keys, and none can be fetched.
        """
        age_s = None if self._fetched is None else self._clock.monotonic() - self._fetched
        if age_s is None or age_s >= _USABLE_S:
            await self._refresh()
        elif age_s >= _FRESH_S and not self._fetching.locked():
            # One call waits for the new keys; the others go on with those that are there.
            await self._refresh()
        if self._fetched is None or self._clock.monotonic() - self._fetched >= _USABLE_S:
            raise IssuerUnavailable(self._settings.issuer)
        found = self._find(kid, algorithm)
        if found is None and kid is not None and not any(key.get("kid") == kid for key in self._keys):
            await self._refresh()
            found = self._find(kid, algorithm)
        return found

    def _find(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        if (known := self._found.get((kid, algorithm))) is not None:
            return known
        usable = [key for key in self._keys if kid is None or key.get("kid") == kid]
        found = [made for key in usable if (made := _made(key, algorithm)) is not None]
        if not found or (kid is None and len(found) > 1):
            return None
        # Only what was found is kept: ids that nobody has are made up without end.
        self._found[kid, algorithm] = found[0]
        return found[0]

    async def _refresh(self) -> None:
        before = self._attempts
        async with self._fetching:
            if self._attempts != before:
                # Somebody else has just tried; whoever waited for that does not try again.
                return
            now = self._clock.monotonic()
            while self._tries and self._tries[0] <= now - _FETCHES_IN_S:
                self._tries.popleft()
            if len(self._tries) >= _FETCHES:
                return
            self._tries.append(now)
            self._attempts += 1
            try:
                self._keys = await self._fetch()
                self._found.clear()
                self._fetched = now
            except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError) as error:
                _log.warning("issuer's keys not fetched", issuer=self._settings.issuer, error=str(error))

    async def _fetch(self) -> list[Mapping[str, Any]]:
        async with asyncio.timeout(2 * _TIMEOUT_S), httpx.AsyncClient(timeout=_TIMEOUT_S) as http:
            url = self._settings.jwks_url or await self._jwks_url(http)
            keys: object = (await _json(http, url)).get("keys")
        if not isinstance(keys, list):
            raise ValueError(f"{url} holds no list of keys")
        return [cast("Mapping[str, Any]", key) for key in cast("list[object]", keys) if isinstance(key, dict)]

    async def _jwks_url(self, http: httpx.AsyncClient) -> str:
        issuer = str(self._settings.issuer)
        trouble = ""
        for url in _metadata_urls(issuer):
            try:
                metadata = await _json(http, url)
            except (httpx.HTTPError, ValueError) as error:
                trouble = str(error)
                continue
            if metadata.get("issuer") != issuer:
                raise ValueError(f"{url} is the metadata of another issuer")
            try:
                return _ADDRESS.validate_python(metadata.get("jwks_uri"))
            except ValidationError as error:
                raise ValueError(f"{url} has no jwks_uri that can be trusted") from error
        raise ValueError(trouble)


def _metadata_urls(issuer: str) -> list[str]:
    """Where metadata may be: RFC 8414, section 3.1, and OpenID Connect Discovery in its two readings of a path."""
    parts = urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    urls = [
        f"{root}/.well-known/oauth-authorization-server{path}",
        f"{root}/.well-known/openid-configuration{path}",
        f"{root}{path}/.well-known/openid-configuration",
    ]
    return list(dict.fromkeys(urls))


async def _json(http: httpx.AsyncClient, url: str) -> dict[str, Any]:
    body = bytearray()
    async with http.stream("GET", url, headers={"Accept": "application/json"}) as response:
        if response.status_code != 200:
            raise ValueError(f"{url} answers {response.status_code}")
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _MAX_BYTES:
                raise ValueError(f"{url} answers with more than {_MAX_BYTES:,} bytes")
    return TypeAdapter(dict[str, Any]).validate_json(bytes(body))


def _made(key: Mapping[str, Any], algorithm: str) -> jwt.PyJWK | None:
    """The key for one algorithm; None where it is meant for another, for encryption, or is a shared secret."""
    if key.get("alg", algorithm) != algorithm or key.get("use", "sig") != "sig":
        return None
    if "verify" not in key.get("key_ops", ["verify"]):
        return None
    kinds = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
    if key.get("kty") != kinds[algorithm[:2]]:
        return None
    try:
        return jwt.PyJWK(dict(key), algorithm)
    except jwt.PyJWTError:
        return None
