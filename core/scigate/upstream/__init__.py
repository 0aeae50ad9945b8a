"""The way out: an `httpx.AsyncClient` for each upstream, over one stack of transports.

Above are the host and the providers' clients; below is the network, or an emulator. Nothing here knows of MCP, tools or
providers. What a call is, the transports learn from `context.CURRENT`.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import httpx

from scigate.clock import Clock, SystemClock
from scigate.upstream.breaker import State
from scigate.upstream.cache import CacheStore, MemoryCache
from scigate.upstream.context import CURRENT, Demand, Priority, Usage, current
from scigate.upstream.declaration import Lifetime, Overrides, Upstream
from scigate.upstream.errors import (
    CircuitOpen,
    DeadlineExceeded,
    ForeignUrl,
    QuotaExhausted,
    RefusedError,
    ResponseTooLarge,
)
from scigate.upstream.site import FarEnd, Plan, Site, Sites
from scigate.upstream.window import MemoryQuotas, QuotaStore

__all__ = [
    "CURRENT",
    "CacheStore",
    "CircuitOpen",
    "DeadlineExceeded",
    "Demand",
    "ForeignUrl",
    "Lifetime",
    "MemoryCache",
    "MemoryQuotas",
    "Overrides",
    "Priority",
    "QuotaExhausted",
    "QuotaStore",
    "RefusedError",
    "ResponseTooLarge",
    "Sites",
    "Upstream",
    "UpstreamStatus",
    "Upstreams",
    "Usage",
    "current",
]


@dataclass(frozen=True)
class UpstreamStatus:
    """Where one upstream stands.

    Attributes:
        offline: whether its emulator answers in this process.
        quotas: as declared or set, such as "5/second".
        used: how much of each quota's window is taken up now.
        store: where the windows live: "memory", "sqlite" or "redis".
        members: gateways that share them, this one included.
        trouble: why a store serves less than it should, as a sentence; None when all is well.
        waiting: requests that wait for a slot.
        in_flight: requests that have one.
        paused_for_s: seconds until requests are sent again; 0 when they are.
        spacing_s: seconds that are left between requests; 0 when only the quotas govern.
        slowed_by: what the upstream said to be slowed down ("429", "503", "throttle"), or None.
        cache_hits, cache_misses: answers served from, and put into, the cache since start.
        cache_stale: those served past their lifetime, because the upstream failed.
        cache_entries, cache_bytes: what it holds now.
        breaker: "closed", "open" or "half-open".
        requests: put on the wire since start.
        failures: attempts since start that ended in a transport error or a transient 5xx.
    """

    name: str
    base_url: str
    offline: bool
    quotas: tuple[str, ...]
    used: tuple[int, ...]
    store: str
    members: int
    trouble: str | None
    waiting: int
    in_flight: int
    paused_for_s: float
    spacing_s: float
    slowed_by: str | None
    cache_hits: int
    cache_misses: int
    cache_stale: int
    cache_entries: int
    cache_bytes: int
    breaker: State
    requests: int
    failures: int


class Upstreams(Mapping[str, httpx.AsyncClient]):
    """The clients of all declared upstreams, by name; each is made when it is first asked for.

    Args:
        declarations: what providers declare; see `declare`.
        overrides: an operator's settings by upstream name.
        offline: let emulators answer; an upstream without one cannot be used then.
        traced: names of the upstreams that are told a trace's id.
        sites: the pool that the clients are leased from, and that its owner closes; None for one of its own, which is
            made of `clock`, `cache`, `stale_s`, `quotas`, `random` and `far_end`: see `Sites`.
    """

    def __init__(
        self,
        declarations: Iterable[Upstream] = (),
        *,
        overrides: Mapping[str, Overrides] | None = None,
        offline: bool = False,
        traced: Collection[str] = (),
        sites: Sites | None = None,
        clock: Clock | None = None,
        cache: CacheStore | None = None,
        stale_s: float = 0.0,
        quotas: QuotaStore | None = None,
        random: Random | None = None,
        far_end: FarEnd | None = None,
    ) -> None:
        self._overrides = overrides or {}
        self._offline = offline
        self._traced = traced
        self._owns_pool = sites is None
        self._pool = sites or Sites(
            clock or SystemClock(), quotas=quotas, cache=cache, stale_s=stale_s, random=random, far_end=far_end
        )
        self._declared: dict[str, Upstream] = {}
        self._leased: dict[str, Site] = {}
        for declaration in declarations:
            self.declare(declaration)

    def declare(self, upstream: Upstream) -> None:
        """Add an upstream, or what another provider says of one that is known already.

        Raises:
            ValueError: the declarations contradict each other, or a new one would change an upstream that is in use.
        """
        known = self._declared.get(upstream.name)
        merged = known.merged(upstream) if known else upstream
        if upstream.name in self._leased and merged != known:
            raise ValueError(f"upstream {upstream.name!r} is in use and can't be declared anew")
        self._declared[upstream.name] = merged

    def __getitem__(self, name: str) -> httpx.AsyncClient:
        """The client of an upstream.

        Raises:
            KeyError: nobody declares it.
            ValueError: offline, and it has no emulator; or its settings are wrong.
        """
        site = self._leased.get(name)
        if site is None:
            site = self._leased[name] = self._pool.lease(self._plan(name))
        return site.client

    def __iter__(self) -> Iterator[str]:
        return iter(self._declared)

    def __len__(self) -> int:
        return len(self._declared)

    def declaration(self, name: str) -> Upstream:
        """An upstream as it is used: all declarations and the settings put together."""
        upstream = self._declared[name]
        overrides = self._overrides.get(name)
        return upstream.overridden(overrides) if overrides else upstream

    def status(self) -> list[UpstreamStatus]:
        """Where each upstream stands, in the order of declaration, those not used yet included."""
        return [self._status(name) for name in self._declared]

    def announce(self) -> None:
        """Let those who share the store read how it stands here, from now on."""
        self._pool.quotas.tell(self._report)

    async def survey(self) -> list[UpstreamStatus]:
        """`status`, after asking the store; what the others who share it report is counted in."""
        for name in self._declared:
            await self._pool.quotas.look(name, self.declaration(name).windows)
            slowing = self._pool.quotas.slowing(name)
            if slowing is not None and name in self._leased:
                self._leased[name].pace.heed(slowing)
        others: list[dict[str, dict[str, Any]]] = [
            json.loads(text) for text in await self._pool.quotas.reports() if text
        ]
        return [
            _counted_in(each, [other[each.name] for other in others if each.name in other]) for each in self.status()
        ]

    async def aclose(self) -> None:
        """Give all clients back; where nobody else has one, its requests under way fail (`httpx.TransportError`)."""
        while self._leased:
            _, site = self._leased.popitem()
            await self._pool.release(site)
        if self._owns_pool:
            await self._pool.aclose()

    def _report(self) -> str:
        """This process's own figures of each upstream that it has used, for whoever shares the store."""
        found = {
            name: {**{field: getattr(status, field) for field in _SUMMED}, "breaker": status.breaker}
            for name, status in ((name, self._status(name)) for name in self._leased)
        }
        return json.dumps(found)

    def _plan(self, name: str) -> Plan:
        overrides = self._overrides.get(name)
        cached = overrides is None or overrides.cache is not False
        return Plan(self.declaration(name), self._offline, cached, told=name in self._traced)

    def _status(self, name: str) -> UpstreamStatus:
        upstream = self.declaration(name)
        quotas, cache = self._pool.quotas, self._pool.cache
        site = self._leased.get(name)
        entries, size = cache.held(name) if cache else (0, 0)
        told = quotas.slowing(name) if site is None else None
        return UpstreamStatus(
            name=name,
            base_url=upstream.base_url,
            offline=self._offline,
            quotas=upstream.quotas,
            used=quotas.used(name, upstream.windows),
            store=quotas.kind,
            members=quotas.members,
            trouble=quotas.trouble or (cache.trouble if cache else None),
            waiting=site.turnstile.waiting if site else 0,
            in_flight=site.turnstile.in_flight if site else 0,
            paused_for_s=max(site.pace.paused_for_s if site else 0.0, told.pause_s if told else 0.0),
            spacing_s=max(site.pace.spacing_s if site else 0.0, told.spacing_s if told else 0.0),
            slowed_by=(site.pace.slowed_by if site else None) or (told.cause if told else None),
            cache_hits=site.cache.hits if site else 0,
            cache_misses=site.cache.misses if site else 0,
            cache_stale=site.cache.stale if site else 0,
            cache_entries=entries,
            cache_bytes=size,
            breaker=site.circuit.state if site else "closed",
            requests=site.quota.requests if site else 0,
            failures=site.breaker.failures if site else 0,
        )


# Of these the figures of several gateways add up.
_SUMMED = (
    "waiting",
    "in_flight",
    "cache_hits",
    "cache_misses",
    "cache_stale",
    "cache_entries",
    "cache_bytes",
    "requests",
    "failures",
)


def _counted_in(status: UpstreamStatus, others: list[dict[str, Any]]) -> UpstreamStatus:
    """A process that only asks has figures of its own that are 0; the worst of the breakers is shown."""
    if not others:
        return status
    sums: dict[str, Any] = {name: sum(int(other.get(name, 0)) for other in others) for name in _SUMMED}
    states = {other.get("breaker") for other in others}
    worst: State = "open" if "open" in states else "half-open" if "half-open" in states else "closed"
    return replace(status, **sums, breaker=worst, members=len(others))
