"""What the gateway measures of itself: the instruments, and the policy that feeds them.

Readers and exporters are `exporters.py`. A label is a name from the configuration or from code, never a text that a
caller chose: such texts have no end, and each would be a series of its own.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import structlog
from opentelemetry.metrics import CallbackOptions, Histogram, MeterProvider, Observation

from scigate.call import Call
from scigate.clock import Clock
from scigate.output import Success
from scigate.sampling import Traces
from scigate.upstream import UpstreamStatus

if TYPE_CHECKING:
    from scigate.policy import Outcome

__all__ = ["PROMETHEUS_TYPE", "Metrics", "Standing", "Telemetry"]

_log: Final = structlog.get_logger("scigate.metrics")

T = TypeVar("T")

BUCKETS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Seconds, as the MCP semantic conventions ask
(https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/, read 2026-08)."""

_MOST_HELD: Final = 256
"""Durations that wait to be counted, for a second at most."""

BEAT_S: Final = 1.0
"""Seconds between two looks at the event loop and at the upstreams."""

BLOCKED_S: Final = 0.1
"""Seconds without giving way from which a tool is named in the log: every other call has waited for it."""

PROMETHEUS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""Media type of the text format (https://prometheus.io/docs/instrumenting/exposition_formats/, read 2026-08)."""

_BREAKER: Final = {"closed": 0, "half-open": 1, "open": 2}


@dataclass(frozen=True)
class Standing:
    """What is read, not counted.

    Attributes:
        upstreams: How each stands.
        serving: The providers by name, and whether they serve.
        audit_lost: Audit lines that could not be written; None where no audit log is kept.
    """

    upstreams: Sequence[UpstreamStatus]
    serving: Mapping[str, bool]
    audit_lost: int | None = None


class Metrics:
    """The instruments of one gateway.

    Args:
        provider: Where the measurements go.
        clock: The clock of durations.
        traces: What is traced; None where nothing is.
    """

    def __init__(self, provider: MeterProvider, clock: Clock, traces: Traces | None = None) -> None:
        self._clock = clock
        self._traces = traces
        self._in_flight: Counter[str] = Counter()
        self._lag_s = 0.0
        self._standing: Callable[[], Standing] | None = None
        self._figures: dict[str, list[Observation]] = {}
        self._held: list[tuple[Histogram, float, dict[str, str]]] = []
        meter = provider.get_meter("scigate")

        def histogram(name: str, description: str) -> Any:
            return meter.create_histogram(
                name, unit="s", description=description, explicit_bucket_boundaries_advisory=BUCKETS
            )

        self._operations = histogram("mcp.server.operation.duration", "MCP requests, as the server sees them")
        self._calls = histogram("scigate.call.duration", "Calls by tool and outcome")
        self._waits = histogram("scigate.quota.wait", "Time that a call's requests have waited for their turn")
        self._blocks = histogram("scigate.loop.block", "Longest stretch of a call without giving way, by tool")
        for kind, names in _OBSERVED.items():
            create = meter.create_observable_counter if kind == "counter" else meter.create_observable_gauge
            for name, description in names.items():
                create(name, [partial(self._observed, name)], description=description)

    def operation(self, method: str, seconds: float, attributes: dict[str, str]) -> None:
        """Count one MCP request."""
        self._record(self._operations, seconds, {"mcp.method.name": method, **attributes})

    @property
    def clock(self) -> Clock:
        """The clock of durations."""
        return self._clock

    async def measure(self, call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
        """The policy: how long the call takes, how it ends, and whether it holds the event loop up."""
        tool = {"gen_ai.tool.name": call.operation.name}
        self._in_flight[call.caller.id] += 1
        steps = _Steps(proceed(call), self._clock)
        outcome = "cancelled"
        try:
            result = await steps
            outcome = "ok" if isinstance(result, Success) else result.reason
            return result
        except Exception:
            outcome = "internal_error"
            raise
        finally:
            self._in_flight[call.caller.id] -= 1
            if not self._in_flight[call.caller.id]:
                del self._in_flight[call.caller.id]
            self._record(self._calls, self._clock.monotonic() - call.started, {**tool, "scigate.outcome": outcome})
            if steps.longest_s >= BUCKETS[0]:
                # Shorter stretches hold nobody up, and the lowest bucket could not tell them apart.
                self._record(self._blocks, steps.longest_s, tool)
            if call.usage.attempts:
                self._record(self._waits, call.usage.waited_s, tool)
            if steps.longest_s >= BLOCKED_S:
                _log.warning("loop blocked", tool=call.operation.name, duration_ms=round(1000 * steps.longest_s, 1))

    @asynccontextmanager
    async def watching(self) -> AsyncGenerator[None]:
        """Look at the event loop and at how things stand from time to time, for as long as the block runs."""
        watch = asyncio.create_task(self._watch(), name="metrics")
        try:
            yield
        finally:
            self._count_held()
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch

    def read_from(self, standing: Callable[[], Standing]) -> None:
        """Read from this how things stand, from now on."""
        self._standing = standing
        self.look()

    def look(self) -> None:
        """Take the figures that are read, not counted, down as they stand now.

        An exporter asks from a thread of its own, in which nothing that they are read from may be touched.
        """
        self._count_held()
        if self._standing is None:
            return
        standing = self._standing()
        figures: dict[str, list[Observation]] = {name: [] for names in _OBSERVED.values() for name in names}
        for upstream in standing.upstreams:
            label = {"scigate.upstream": upstream.name}
            for name, value in {
                "scigate.upstream.requests": upstream.requests,
                "scigate.upstream.failures": upstream.failures,
                "scigate.upstream.waiting": upstream.waiting,
                "scigate.upstream.in_flight": upstream.in_flight,
                "scigate.upstream.breaker": _BREAKER[upstream.breaker],
                "scigate.cache.hits": upstream.cache_hits,
                "scigate.cache.misses": upstream.cache_misses,
                "scigate.cache.stale": upstream.cache_stale,
                "scigate.cache.bytes": upstream.cache_bytes,
            }.items():
                figures[name].append(Observation(value, label))
            figures["scigate.quota.used"] += [
                Observation(used, {**label, "scigate.quota": quota})
                for quota, used in zip(upstream.quotas, upstream.used, strict=False)
            ]
        for name, serves in standing.serving.items():
            figures["scigate.provider.serving"].append(Observation(int(serves), {"scigate.provider": name}))
        if standing.audit_lost is not None:
            figures["scigate.audit.lost"].append(Observation(standing.audit_lost))
        if self._traces is not None:
            figures["scigate.traces.left_out"].append(Observation(self._traces.left_out))
        figures["scigate.calls.in_flight"].append(Observation(self._in_flight.total()))
        figures["scigate.callers"].append(Observation(len(self._in_flight)))
        figures["scigate.loop.lag"].append(Observation(self._lag_s))
        self._figures = figures

    def _record(self, histogram: Histogram, seconds: float, attributes: dict[str, str]) -> None:
        # Many at once are counted in half the time: one by one, what counts them is in no cache of the processor.
        self._held.append((histogram, seconds, attributes))
        if len(self._held) >= _MOST_HELD:
            self._count_held()

    def _count_held(self) -> None:
        held, self._held = self._held, []
        for histogram, seconds, attributes in held:
            histogram.record(seconds, attributes)

    async def _watch(self) -> None:
        while True:
            since = self._clock.monotonic()
            await self._clock.sleep(BEAT_S)
            self._lag_s = max(0.0, self._clock.monotonic() - since - BEAT_S)
            self.look()

    def _observed(self, name: str, options: CallbackOptions) -> Iterable[Observation]:
        observations: Sequence[Observation] = self._figures.get(name, ())
        return observations


@dataclass(frozen=True)
class Telemetry:
    """What is measured, and how it is asked for.

    Attributes:
        metrics: The instruments.
        page: Writes them in Prometheus' text format; None where nobody may ask.
        traces: How many traces are begun; None for every one.
    """

    metrics: Metrics
    page: Callable[[], bytes] | None = None
    traces: Traces | None = None


_OBSERVED: Final = {
    "counter": {
        "scigate.upstream.requests": "Requests put on the wire",
        "scigate.upstream.failures": "Attempts that ended in a transport error or a transient 5xx",
        "scigate.cache.hits": "Answers served from the cache",
        "scigate.cache.misses": "Answers put into the cache",
        "scigate.cache.stale": "Answers served past their lifetime, because the upstream failed",
        "scigate.audit.lost": "Audit lines that could not be written",
        "scigate.traces.left_out": "Traces that were not begun, as there were too many in that second",
    },
    "gauge": {
        "scigate.upstream.waiting": "Requests that wait for a slot",
        "scigate.upstream.in_flight": "Requests that have a slot",
        "scigate.upstream.breaker": "0 closed, 1 half-open, 2 open",
        "scigate.cache.bytes": "What the cache holds",
        "scigate.quota.used": "How much of a quota's window is taken up",
        "scigate.provider.serving": "1 where the provider serves, 0 where it is turned off or quarantined",
        "scigate.calls.in_flight": "Calls under way",
        "scigate.callers": "Callers with a call under way",
        "scigate.loop.lag": "Seconds by which the event loop was late when last looked at",
    },
}


class _Steps(Awaitable[T]):
    """Awaits something and notes the longest time between two of its pauses.

    Attributes:
        longest_s: That time, in seconds, so far.
    """

    def __init__(self, work: Awaitable[T], clock: Clock) -> None:
        self._work = work
        self._clock = clock
        self.longest_s = 0.0

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self._work.__await__()
        resume: Callable[[], Any] = partial(next, steps)
        while True:
            began = self._clock.monotonic()
            try:
                awaited = resume()
            except StopIteration as end:
                return end.value
            finally:
                self.longest_s = max(self.longest_s, self._clock.monotonic() - began)
            try:
                sent = yield awaited
                resume = partial(next, steps) if sent is None else partial(steps.send, sent)
            except BaseException as error:  # noqa: BLE001  # into the work, a cancellation too
                resume = partial(steps.throw, error)
