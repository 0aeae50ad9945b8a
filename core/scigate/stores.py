"""Which stores the settings ask for: where the quotas' windows live, and where answers are kept.

Above is the host, below are the stores of `upstream/`, which know no settings. A store's library is imported only where
the store is used.
"""

from pathlib import Path
from typing import Literal

from scigate.clock import Clock
from scigate.settings import Settings, SettingsError
from scigate.upstream import CacheStore, MemoryCache, MemoryQuotas, QuotaStore

__all__ = ["AutoStore", "cache_store", "quota_store"]

AutoStore = Literal["memory", "sqlite"]
"""What `quota.store = "auto"` stands for where no Redis is set."""


def quota_store(settings: Settings, clock: Clock, auto: AutoStore) -> QuotaStore:
    """The store of the windows; offline always this process's memory, since no upstream counts.

    Raises:
        SettingsError: The Redis URL is wrong, or its library is not installed.
    """
    quota = settings.quota
    kind = quota.store
    if kind == "auto":
        kind = "redis" if quota.redis_url else auto
    if settings.offline or kind == "memory":
        return MemoryQuotas(clock)
    if kind == "sqlite":
        from scigate.upstream.sqlite_quotas import SqliteQuotas  # for start-up time

        return SqliteQuotas(_directory(settings), clock, replicas=quota.replicas)
    from scigate.upstream.redis_quotas import RedisQuotas  # an extra

    try:
        return RedisQuotas(_redis_url(settings, "quota.store"), clock, replicas=quota.replicas)
    except (ModuleNotFoundError, ValueError) as error:
        raise SettingsError([f"quota.redis_url: {error}"]) from error


def cache_store(settings: Settings, clock: Clock) -> CacheStore | None:
    """The store of answers; None for none. Offline it is this process's memory.

    Raises:
        SettingsError: As `quota_store`.
    """
    cache = settings.cache
    if not cache.enabled:
        return None
    near = MemoryCache(cache.max_entries, cache.max_bytes)
    if settings.offline or cache.store == "memory":
        return near
    from scigate.upstream.tiers import TieredCache  # for start-up time

    if cache.store == "sqlite":
        from scigate.upstream.sqlite_cache import SqliteCache  # for start-up time

        far = SqliteCache(
            _directory(settings),
            clock,
            max_entries=cache.max_stored_entries,
            max_bytes=cache.max_stored_bytes,
            stale_s=cache.stale_s,
        )
        return TieredCache(near, far, clock)
    from scigate.upstream.redis_cache import RedisCache  # an extra

    try:
        return TieredCache(near, RedisCache(_redis_url(settings, "cache.store"), clock, stale_s=cache.stale_s), clock)
    except (ModuleNotFoundError, ValueError) as error:
        raise SettingsError([f"quota.redis_url: {error}"]) from error


def _directory(settings: Settings) -> Path:
    if settings.quota.directory is not None:
        return settings.quota.directory
    from platformdirs import user_cache_path  # for start-up time

    return user_cache_path("scigate", appauthor=False)


def _redis_url(settings: Settings, wanted_by: str) -> str:
    url = settings.quota.redis_url
    if url is None:
        raise SettingsError([f"{wanted_by} is redis, and quota.redis_url is not set"])
    return url.get_secret_value()
