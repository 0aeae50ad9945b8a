"""The HTTP client that a provider's client is given: httpx's, without the steps that no upstream needs.

Most calls are answered from the cache, and there httpx's own work is most of the cost: parsing the URL anew, and a
generator each for authentication and redirects, which the stack allows neither of.
"""

from collections.abc import Mapping
from functools import lru_cache

import httpx

__all__ = ["UpstreamClient"]

_URLS_KEPT = 1024


class UpstreamClient(httpx.AsyncClient):
    """An `httpx.AsyncClient` for one upstream: no authentication flow, no redirects, no cookies, no event hooks.

    As with `httpx.AsyncClient.send` without `stream`, the answer has been read to its end.
    """

    def __init__(self, *, base_url: str, headers: Mapping[str, str], transport: httpx.AsyncBaseTransport) -> None:
        super().__init__(
            base_url=base_url,
            headers=headers,
            transport=transport,
            timeout=None,  # The wire and the deadline keep time, on the injected clock.
            follow_redirects=False,
            trust_env=False,
        )
        self._url_of = lru_cache(_URLS_KEPT)(super()._merge_url)

    def _merge_url(self, url: httpx.URL | str) -> httpx.URL:
        return self._url_of(url)

    async def aclose(self) -> None:
        """Nothing: the client is the gateway's, and others may use it. Its pool ends it by `end`."""

    async def end(self) -> None:
        """Close it; requests under way fail."""
        await super().aclose()

    async def send(self, request: httpx.Request, **_options: object) -> httpx.Response:  # type: ignore[override]
        """Send a request through the stack."""
        if self.is_closed:
            raise RuntimeError("the client is closed")
        try:
            response = await self._transport.handle_async_request(request)
        except httpx.RequestError as error:
            error.request = request
            raise
        response.request = request
        if not response.is_closed:
            await response.aread()
        return response
