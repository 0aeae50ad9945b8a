"""One upstream in use: the stack of transports under its client, and the pool of those that are in use.

Above is `Upstreams`, which knows what is declared and set; below are the transports, one file each.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from random import Random

import httpx

from scigate.clock import Clock
from scigate.upstream.breaker import BreakerTransport, Circuit
from scigate.upstream.cache import CacheStore, CacheTransport
from scigate.upstream.client import UpstreamClient
from scigate.upstream.coalesce import CoalesceTransport
from scigate.upstream.deadline import DeadlineTransport
from scigate.upstream.declaration import LifetimeTable, Upstream
from scigate.upstream.pace import Pace
from scigate.upstream.quota import QuotaTransport
from scigate.upstream.retry import RetryTransport
from scigate.upstream.trace import TraceTransport
from scigate.upstream.turnstile import Turnstile
from scigate.upstream.window import MemoryQuotas, QuotaStore
from scigate.upstream.wire import KEEPALIVE_EXPIRY_S, EmulatorTransport, WireTransport

__all__ = ["FarEnd", "Plan", "Site", "Sites"]

FarEnd = Callable[[Upstream, bool], httpx.AsyncBaseTransport]


@dataclass(frozen=True)
class Plan:
    """What makes one upstream's stack what it is; equal plans are served by one stack.

    Attributes:
        upstream: The declaration, the operator's settings put into it.
        offline: Whether its emulator answers.
        cached: Whether answers are kept.
        told: Whether it is told a trace's id.
    """

    upstream: Upstream
    offline: bool
    cached: bool
    told: bool


class Site:
    """One upstream in use: its client, and the parts of the stack that its status is read from."""

    def __init__(
        self,
        plan: Plan,
        *,
        clock: Clock,
        random: Random,
        quotas: QuotaStore,
        cache: CacheStore | None,
        stale_s: float,
        far_end: FarEnd,
    ) -> None:
        self.plan = plan
        self.leases = 0
        upstream = plan.upstream
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
                store=cache if plan.cached else None,
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
            lambda inner: TraceTransport(inner, upstream=name, clock=clock, told=plan.told),
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
        transport = far_end(upstream, plan.offline)
        for layer in reversed(stack):
            transport = layer(transport)
        self.client = UpstreamClient(
            base_url=upstream.base_url,
            headers={"User-Agent": _user_agent(), **upstream.headers},
            transport=transport,
        )


class Sites:
    """The upstreams in use, each there once for all who lease it: its quota, pace, breaker and connections are one.

    Args:
        quotas: Where the windows live; None for this process's memory. It is closed with the pool, as is `cache`.
        cache: Where answers are kept; None keeps none.
        stale_s: Seconds past its lifetime for which an answer is served when the upstream fails.
        random: For jitter.
        far_end: Makes the transport below the stack, for an upstream and whether offline; for tests.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        quotas: QuotaStore | None = None,
        cache: CacheStore | None = None,
        stale_s: float = 0.0,
        random: Random | None = None,
        far_end: FarEnd | None = None,
    ) -> None:
        self.quotas = quotas or MemoryQuotas(clock)
        self.cache = cache
        self._clock = clock
        self._stale_s = stale_s
        self._random = random or Random()
        self._far_end = far_end or _far_end
        self._latest: dict[str, Site] = {}

    def lease(self, plan: Plan) -> Site:
        """The site of a plan, the same one for as long as anybody has it; `release` it once.

        Raises:
            ValueError: Offline, and the upstream has no emulator.
        """
        before = self._latest.get(plan.upstream.name)
        if before is not None and before.plan == plan:
            before.leases += 1
            return before
        site = Site(
            plan,
            clock=self._clock,
            random=self._random,
            quotas=self.quotas,
            cache=self.cache,
            stale_s=self._stale_s,
            far_end=self._far_end,
        )
        if before is not None and (slowing := before.pace.slowing) is not None:
            # The upstream has asked for it, however it is asked from now on.
            site.pace.heed(slowing)
        self._latest[plan.upstream.name] = site
        site.leases += 1
        return site

    async def release(self, site: Site) -> None:
        """Give a lease back; with the last one the client is closed, and requests under way fail."""
        site.leases -= 1
        if site.leases:
            return
        if self._latest.get(site.plan.upstream.name) is site:
            del self._latest[site.plan.upstream.name]
        await site.client.end()

    async def aclose(self) -> None:
        """Close the stores; every lease has been given back."""
        await self.quotas.aclose()
        if self.cache is not None:
            await self.cache.aclose()


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
