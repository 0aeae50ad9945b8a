"""Upstream answers in Redis or Valkey, shared by every replica of a fleet.

Each goes by itself when it is of no use any more. How much there may be is the server's `maxmemory` to say.
"""

from typing import Any, Final

import structlog

from scigate.clock import Clock
from scigate.upstream.cache import Entry
from scigate.upstream.redis_quotas import TIMEOUT_S, redis_client, redis_errors
from scigate.upstream.tiers import digest, packed, unpacked

__all__ = ["RedisCache"]

_log: Final = structlog.get_logger("scigate.upstream")

RETRY_S: Final = 5.0
"""Seconds for which a server that failed is left alone."""


class RedisCache:
    """A `CacheStore` in Redis; a server that is away keeps nothing.

    Args:
        stale_s: seconds past its lifetime for which an answer is kept.
    """

    kind = "redis"

    def __init__(self, url: str, clock: Clock, *, stale_s: float = 0.0) -> None:
        self._client: Any = redis_client(url)
        self._clock = clock
        self._stale_s = stale_s
        self._idle_until = 0.0
        self.trouble: str | None = None

    async def get(self, upstream: str, key: str) -> Entry | None:
        told = await self._run("GET", _name(upstream, key))
        try:
            return unpacked(told) if told else None
        except ValueError:
            return None

    async def put(self, upstream: str, key: str, entry: Entry) -> None:
        kept_s = entry.fresh_until + self._stale_s - self._clock.now().timestamp()
        if kept_s > 0:
            await self._run("SET", _name(upstream, key), packed(entry), "PX", int(kept_s * 1000) or 1)

    def held(self, upstream: str) -> tuple[int, int]:
        return (0, 0)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _run(self, *command: object) -> Any:
        if self._clock.monotonic() < self._idle_until:
            return None
        try:
            async with self._clock.timeout(TIMEOUT_S):
                told = await self._client.execute_command(*command)
        except redis_errors() as error:
            if self.trouble is None:
                _log.warning("cache_store_lost", store=self.kind, reason=str(error))
            self.trouble = f"Redis is away ({type(error).__name__}): answers are kept in memory only"
            self._idle_until = self._clock.monotonic() + RETRY_S
            return None
        self.trouble = None
        return told


def _name(upstream: str, key: str) -> str:
    return f"scigate:answer:{digest(upstream, key).hex()}"
