"""The way out: an `httpx.AsyncClient` for each upstream, over one stack of transports.

Above are the host and the providers' clients; below is the network, or an emulator. Nothing here knows of MCP, tools or
providers. What a call is, the transports learn from `context.CURRENT`.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from random import Random
from typing import Any

import httpx

from scigate.clock import Clock, SystemClock
from scigate.upstream.breaker import BreakerTransport, Circuit, State
from scigate.upstream.cache import CacheStore, CacheTransport, MemoryCache
from scigate.upstream.client import UpstreamClient
from scigate.upstream.coalesce import CoalesceTransport
from scigate.upstream.context import CURRENT, Demand, Priority, Usage, current
from scigate.upstream.deadline import DeadlineTransport
from scigate.upstream.declaration import Lifetime, LifetimeTable, Overrides, Upstream
from scigate.upstream.errors import (
    CircuitOpen,
    DeadlineExceeded,
    ForeignUrl,
    QuotaExhausted,
    RefusedError,
    ResponseTooLarge,
)
from scigate.upstream.pace import Pace
from scigate.upstream.quota import QuotaTransport
from scigate.upstream.retry import RetryTransport
from scigate.upstream.trace import TraceTransport
from scigate.upstream.turnstile import Turnstile
from scigate.upstream.window import MemoryQuotas, QuotaStore
from scigate.upstream.wire import KEEPALIVE_EXPIRY_S, EmulatorTransport, WireTransport

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
    "Upstream",
    "UpstreamStatus",
    "Upstreams",
    "Usage",
    "current",
]

FarEnd = Callable[[Upstream, bool], httpx.AsyncBaseTransport]


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


class _Site:
    """One upstream in use: its client, and the parts of the stack that its status is read from."""

    def __init__(
        self,
        upstream: Upstream,
        *,
        offline: bool,
        clock: Clock,
        random: Random,
        quotas: QuotaStore,
        cache: CacheStore | None,
        stale_s: float,
        far_end: FarEnd,
        told: bool,
    ) -> None:
        name = upstream.name
        self.pace = Pace(clock, max((window.span_s / window.limit for window in upstream.windows), default=0.0))
        self.turnstile = Turnstile(
            name, upstream.windows, concurrency=upstream.concurrency, store=quotas, pace=self.pace, clock=clock
        )
        # Whoever waits for a slot of an upstream that is down need not wait to learn it.
        self.circuit = Circuit(name, clock, on_open=lambda: self.turnstile.refuse_waiting(self.circuit.refusal))
        self.cache: CacheTransport
        self.breaker: BreakerTransport
        self.quota: QuotaTransport

        def caching(inner: httpx.AsyncBaseTransport) -> CacheTransport:
            self.cache = CacheTransport(
                inner,
                upstream=name,
                store=cache,
                lifetime_s=LifetimeTable(upstream).seconds,
                is_cacheable=upstream.is_cacheable,
                is_transient=upstream.transient,
                stale_s=stale_s,
                clock=clock,
            )
            return self.cache

        def breaking(inner: httpx.AsyncBaseTransport) -> BreakerTransport:
            self.breaker = BreakerTransport(inner, circuit=self.circuit, is_transient=upstream.transient)
            return self.breaker

        def limiting(inner: httpx.AsyncBaseTransport) -> QuotaTransport:
            self.quota = QuotaTransport(
                inner,
                turnstile=self.turnstile,
                pace=self.pace,
                clock=clock,
                throttle=upstream.throttle,
                is_transient=upstream.transient,
            )
            return self.quota

        # The way of a request, from the provider's client down to the wire.
        stack: list[Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport]] = [
            caching,
            lambda inner: DeadlineTransport(inner, upstream=name, clock=clock),
            lambda inner: CoalesceTransport(inner, upstream=name, on_urgent=self.turnstile.raise_priority),
            lambda inner: RetryTransport(
                inner, retries=upstream.retries, is_transient=upstream.transient, clock=clock, random=random
            ),
            breaking,
            limiting,
            lambda inner: TraceTransport(inner, upstream=name, clock=clock, told=told),
            lambda inner: WireTransport(
                inner,
                upstream=name,
                base_url=httpx.URL(upstream.base_url),
                timeout_s=upstream.timeout_s,
                max_response_bytes=upstream.max_response_bytes,
                sign=upstream.sign,
                clock=clock,
            ),
        ]
        transport = far_end(upstream, offline)
        for layer in reversed(stack):
            transport = layer(transport)
        self.client = UpstreamClient(
            base_url=upstream.base_url,
            headers={"User-Agent": _user_agent(), **upstream.headers},
            transport=transport,
        )


class Upstreams(Mapping[str, httpx.AsyncClient]):
    """The clients of all declared upstreams, by name; each is made when it is first asked for.

    Args:
        declarations: what providers declare; see `declare`.
        overrides: an operator's settings by upstream name.
        offline: let emulators answer; an upstream without one cannot be used then.
        cache: where answers are kept; None keeps none.
        stale_s: seconds past its lifetime for which an answer is served when the upstream fails.
        quotas: where the windows live; None for this process's memory.
        random: for jitter.
        far_end: makes the transport below the stack, for an upstream and whether offline; for tests.
        traced: names of the upstreams that are told a trace's id.
    """

    def __init__(
        self,
        declarations: Iterable[Upstream] = (),
        *,
        overrides: Mapping[str, Overrides] | None = None,
        offline: bool = False,
        clock: Clock | None = None,
        cache: CacheStore | None = None,
        stale_s: float = 0.0,
        quotas: QuotaStore | None = None,
        random: Random | None = None,
        far_end: FarEnd | None = None,
        traced: Collection[str] = (),
    ) -> None:
        self._overrides = overrides or {}
        self._offline = offline
        self._clock = clock or SystemClock()
        self._cache = cache
        self._stale_s = stale_s
        self._quotas = quotas or MemoryQuotas(self._clock)
        self._quotas.tell(self._report)
        self._random = random or Random()
        self._far_end = far_end or _far_end
        self._traced = traced
        self._declared: dict[str, Upstream] = {}
        self._sites: dict[str, _Site] = {}
        for declaration in declarations:
            self.declare(declaration)

    def declare(self, upstream: Upstream) -> None:
        """Add an upstream, or what another provider says of one that is known already.

        Raises:
            ValueError: the declarations contradict each other, or a new one would change an upstream that is in use.
        """
        known = self._declared.get(upstream.name)
        merged = known.merged(upstream) if known else upstream
        if upstream.name in self._sites and merged != known:
            raise ValueError(f"upstream {upstream.name!r} is in use and can't be declared anew")
        self._declared[upstream.name] = merged

    def __getitem__(self, name: str) -> httpx.AsyncClient:
        """The client of an upstream.

        Raises:
            KeyError: nobody declares it.
            ValueError: offline, and it has no emulator; or its settings are wrong.
        """
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = self._site(self._declared[name])
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

    async def survey(self) -> list[UpstreamStatus]:
        """`status`, after asking the store; what the others who share it report is counted in."""
        for name in self._declared:
            await self._quotas.look(name, self.declaration(name).windows)
            slowing = self._quotas.slowing(name)
            if slowing is not None and name in self._sites:
                self._sites[name].pace.heed(slowing)
        others: list[dict[str, dict[str, Any]]] = [json.loads(text) for text in await self._quotas.reports() if text]
        return [
            _counted_in(each, [other[each.name] for other in others if each.name in other]) for each in self.status()
        ]

    async def aclose(self) -> None:
        """Close all clients; requests under way fail with an `httpx.TransportError`."""
        while self._sites:
            _, site = self._sites.popitem()
            await site.client.aclose()
        await self._quotas.aclose()
        if self._cache is not None:
            await self._cache.aclose()

    def _report(self) -> str:
        """This process's own figures of each upstream that it has used, for whoever shares the store."""
        found = {
            name: {**{field: getattr(status, field) for field in _SUMMED}, "breaker": status.breaker}
            for name, status in ((name, self._status(name)) for name in self._sites)
        }
        return json.dumps(found)

    def _site(self, declared: Upstream) -> _Site:
        overrides = self._overrides.get(declared.name)
        uncached = overrides is not None and overrides.cache is False
        return _Site(
            self.declaration(declared.name),
            offline=self._offline,
            clock=self._clock,
            random=self._random,
            quotas=self._quotas,
            cache=None if uncached else self._cache,
            stale_s=self._stale_s,
            far_end=self._far_end,
            told=declared.name in self._traced,
        )

    def _status(self, name: str) -> UpstreamStatus:
        upstream = self.declaration(name)
        site = self._sites.get(name)
        entries, size = self._cache.held(name) if self._cache else (0, 0)
        told = self._quotas.slowing(name) if site is None else None
        return UpstreamStatus(
            name=name,
            base_url=upstream.base_url,
            offline=self._offline,
            quotas=upstream.quotas,
            used=self._quotas.used(name, upstream.windows),
            store=self._quotas.kind,
            members=self._quotas.members,
            trouble=self._quotas.trouble or (self._cache.trouble if self._cache else None),
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


def _far_end(upstream: Upstream, offline: bool) -> httpx.AsyncBaseTransport:
    if not offline:
        limits = httpx.Limits(
            max_connections=upstream.concurrency,
            max_keepalive_connections=upstream.concurrency,
            keepalive_expiry=KEEPALIVE_EXPIRY_S,
        )
        return httpx.AsyncHTTPTransport(limits=limits, trust_env=False)
    if upstream.emulator is None:
        raise ValueError(f"upstream {upstream.name!r} has no emulator to be used offline")
    return EmulatorTransport(upstream.emulator, upstream.name)


def _user_agent() -> str:
    try:
        return f"scigate/{version('scigate')} (scientific data gateway)"
    except PackageNotFoundError:
        return "scigate/0 (scientific data gateway)"
