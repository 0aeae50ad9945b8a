"""Transport: an answer that is fresh enough is not fetched again.

A `CacheStore` keeps the answers of every upstream; where it lives decides who shares them.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import httpx

from scigate.clock import Clock
from scigate.upstream import wish
from scigate.upstream.context import CURRENT
from scigate.upstream.errors import DeadlineExceeded, RefusedError
from scigate.upstream.retry import is_fault

# Header by which an emulator says that its answer is sample data.
SAMPLE_DATA = "x-sample-data"

MAX_ENTRIES = 20_000
MAX_BYTES = 128 * 1024 * 1024

# What an entry takes up besides its body and headers, in bytes: objects, dictionary slots, the key.
_OVERHEAD = 1000

# Belongs to one connection or one client, not to the answer.
_NOT_STORED = frozenset({b"set-cookie", b"connection", b"keep-alive", b"transfer-encoding", b"retry-after"})


@dataclass(frozen=True)
class Entry:
    """A stored answer.

    Attributes:
        headers: raw pairs, as httpx holds them.
        content: the decoded body.
        stored_at: when it was fetched, in seconds since 1970, so that it means the same to whoever shares the store.
        fresh_until: likewise; past it the answer is served only when the upstream fails.
        sample_source: name of the upstream whose emulator answered, or None.
    """

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    content: bytes
    stored_at: float
    fresh_until: float
    sample_source: str | None

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes up."""
        return _OVERHEAD + len(self.content) + sum(len(name) + len(value) for name, value in self.headers)


class CacheStore(Protocol):
    """Where answers are kept, by upstream and by `wish.identity`.

    No method raises because the store is out of order: it then keeps nothing.
    """

    @property
    def kind(self) -> str:
        """Its name in settings: "memory", "sqlite" or "redis"."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why it keeps less than it should, as a sentence for an operator; None when all is well."""
        ...

    async def get(self, upstream: str, key: str) -> Entry | None:
        """The stored answer, fresh or not."""
        ...

    async def put(self, upstream: str, key: str, entry: Entry) -> None:
        """Keep an answer, dropping others when there are too many or they are too large."""
        ...

    def held(self, upstream: str) -> tuple[int, int]:
        """How many answers of an upstream this process keeps in memory, and their bytes."""
        ...

    async def aclose(self) -> None:
        """Write what is not yet written and let go of the store."""
        ...


class MemoryCache:
    """A `CacheStore` for one process, bounded by entries and by bytes; the least recently used go first.

    cachetools' TLRUCache bounds one of the two and forgets what has expired, which a later stale answer needs.
    """

    kind = "memory"
    trouble: str | None = None

    def __init__(self, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._entries: OrderedDict[tuple[str, str], Entry] = OrderedDict()
        self._bytes = 0
        self._held: dict[str, tuple[int, int]] = {}

    async def get(self, upstream: str, key: str) -> Entry | None:
        entry = self._entries.get((upstream, key))
        if entry is not None:
            self._entries.move_to_end((upstream, key))
        return entry

    async def put(self, upstream: str, key: str, entry: Entry) -> None:
        self._drop((upstream, key))
        if entry.size > self._max_bytes:
            return
        self._entries[upstream, key] = entry
        self._count(upstream, 1, entry.size)
        while len(self._entries) > self._max_entries or self._bytes > self._max_bytes:
            self._drop(next(iter(self._entries)))

    def held(self, upstream: str) -> tuple[int, int]:
        return self._held.get(upstream, (0, 0))

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def _drop(self, key: tuple[str, str]) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._count(key[0], -1, -entry.size)

    def _count(self, upstream: str, entries: int, size: int) -> None:
        held = self.held(upstream)
        self._held[upstream] = (held[0] + entries, held[1] + size)
        self._bytes += size


class CacheTransport(httpx.AsyncBaseTransport):
    """Serves fresh answers from the store and puts new ones there.

    Only safe requests without credentials, only complete 200 answers (and 404 ones where the lifetime says so), only
    for a lifetime that the upstream declares or the request wishes. HTML is never kept: these upstreams answer in it
    only when something is wrong, with 200 at times.

    When the upstream fails, refuses or may not be asked, an answer that is past its lifetime is served instead, unless
    the request forbids it, and said to be so.

    Args:
        lifetime_s: seconds to keep the answer to a request, by method, path and status; 0 for not at all.
        is_cacheable: the upstream's own say on a 200 answer whose body tells of a fault.
        is_transient: whether a status tells of a failure of the upstream.
        stale_s: seconds past its lifetime for which an answer is served when the upstream fails; 0 for never.
    """

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        *,
        upstream: str,
        store: CacheStore | None,
        lifetime_s: Callable[[httpx.Request, int], float],
        is_cacheable: Callable[[httpx.Response], bool] | None = None,
        is_transient: Callable[[httpx.Response], bool] | None = None,
        stale_s: float = 0.0,
        clock: Clock,
    ) -> None:
        self._inner = inner
        self._upstream = upstream
        self._store = store
        self._lifetime_s = lifetime_s
        self._is_cacheable = is_cacheable
        self._is_transient = is_transient
        self._stale_s = stale_s
        self._clock = clock
        self.hits = 0
        self.misses = 0
        self.stale = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        store = self._store
        wished = request.extensions.get(wish.CACHE)
        if store is None or wished is False or not wish.is_safe(request) or wish.is_private(request):
            return _not_cached() if wished == wish.ONLY_CACHED else await self._fetch(request)
        key = wish.identity(request)
        entry: Entry | None = None
        if wished != wish.REFRESH:
            entry = await store.get(self._upstream, key)
            if entry is not None and entry.fresh_until > self._clock.now().timestamp():
                return self._serve(entry)
            if wished == wish.ONLY_CACHED:
                return _not_cached()
        try:
            response = await self._fetch(request)
        except httpx.TransportError as error:
            if entry is not None and self._may_be_stale(entry, request) and _is_outage(error):
                return self._serve(entry, stale=True)
            raise
        if entry is not None and self._has_failed(response) and self._may_be_stale(entry, request):
            return self._serve(entry, stale=True)
        lifetime_s = self._lifetime_of(request, response)
        if lifetime_s > 0:
            self.misses += 1
            await store.put(self._upstream, key, self._entry(response, lifetime_s))
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _may_be_stale(self, entry: Entry, request: httpx.Request) -> bool:
        over_s = self._clock.now().timestamp() - entry.fresh_until
        return over_s < self._stale_s and request.extensions.get(wish.STALE) is not False

    def _has_failed(self, response: httpx.Response) -> bool:
        return self._is_transient is not None and response.status_code >= 400 and self._is_transient(response)

    def _serve(self, entry: Entry, *, stale: bool = False) -> httpx.Response:
        self.hits += 1
        self.stale += stale
        # Another machine's clock may be a little ahead of ours.
        age_s = max(0.0, self._clock.now().timestamp() - entry.stored_at)
        demand = CURRENT.get()
        if demand is not None:
            usage = demand.usage
            usage.cached += 1
            usage.stale += stale
            usage.oldest_age_s = max(usage.oldest_age_s, age_s)
            if entry.sample_source:
                usage.sample_sources.add(entry.sample_source)
        return httpx.Response(
            entry.status,
            headers=entry.headers,
            stream=httpx.ByteStream(entry.content),
            extensions={wish.SERVED: "cache", wish.AGE_S: age_s, wish.IS_STALE: stale},
        )

    async def _fetch(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        response.request = request
        response.extensions[wish.SERVED] = "live"
        response.extensions[wish.AGE_S] = 0.0
        source = response.headers.get(SAMPLE_DATA)
        demand = CURRENT.get()
        if source and demand is not None:
            demand.usage.sample_sources.add(source)
        return response

    def _lifetime_of(self, request: httpx.Request, response: httpx.Response) -> float:
        status = response.status_code
        if status not in (200, 404) or response.headers.get("content-type", "").startswith("text/html"):
            return 0.0
        if status == 200 and self._is_cacheable is not None and not self._is_cacheable(response):
            return 0.0
        wished = request.extensions.get(wish.LIFETIME)
        return float(wished) if wished is not None and status == 200 else self._lifetime_s(request, status)

    def _entry(self, response: httpx.Response, lifetime_s: float) -> Entry:
        now = self._clock.now().timestamp()
        return Entry(
            status=response.status_code,
            headers=tuple(pair for pair in response.headers.raw if pair[0].lower() not in _NOT_STORED),
            content=response.content,
            stored_at=now,
            fresh_until=now + lifetime_s,
            sample_source=response.headers.get(SAMPLE_DATA),
        )


def _not_cached() -> httpx.Response:
    return httpx.Response(httpx.codes.GATEWAY_TIMEOUT, extensions={wish.SERVED: "cache", wish.AGE_S: 0.0})


def _is_outage(error: httpx.TransportError) -> bool:
    """Whether the request failed for want of the upstream, and not because of what it asks."""
    return is_fault(error) or isinstance(error, RefusedError | DeadlineExceeded)
