"""Where spans and measurements go: an OTLP collector, or whoever scrapes `/metrics`.

Both are extras, imported only where the settings ask for them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from threading import Thread
from typing import Final

import structlog
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from scigate.clock import Clock
from scigate.metrics import Metrics, Telemetry
from scigate.sampling import Traces
from scigate.settings import SettingsError, TelemetrySettings

__all__ = ["PATIENCE_S", "exporting"]

_log: Final = structlog.get_logger("scigate.telemetry")

PATIENCE_S: Final = 2.0
"""Seconds that a gateway that stops waits for a collector: whoever stops it waits with it."""


@contextmanager
def exporting(settings: TelemetrySettings, clock: Clock, *, patience_s: float = PATIENCE_S) -> Generator[Telemetry]:
    """Export what the settings want for as long as the block runs.

    The tracer provider is the process's, and can be set once only: the first gateway of a process decides.

    Args:
        settings: What is wanted.
        clock: The clock of durations.
        patience_s: The longest that leaving the block waits for a collector to take what is left.

    Raises:
        SettingsError: An extra is missing; the text names it.
    """
    resource = Resource.create({"service.name": "scigate", "service.version": version("scigate")})
    readers: list[MetricReader] = []
    page: Callable[[], bytes] | None = None
    ends: list[Callable[[], None]] = []
    if settings.prometheus:
        reader, page = _prometheus()
        readers.append(reader)
    if settings.otlp_endpoint is not None:
        tracer, reader = _otlp(settings.otlp_endpoint.rstrip("/"), settings.sampled, resource)
        readers.append(reader)
        trace.set_tracer_provider(tracer)
        ends.append(tracer.shutdown)
    meter = MeterProvider(readers, resource, shutdown_on_exit=False)
    ends.append(meter.shutdown)
    traces = Traces(settings.traces_per_s, clock)
    try:
        yield Telemetry(Metrics(meter, clock, traces), page, traces)
    finally:
        _end(ends, patience_s)


def _end(steps: Sequence[Callable[[], None]], patience_s: float) -> None:
    """Take the steps side by side and leave those behind that have not ended in time.

    The SDK waits for ten seconds and more for a collector that does not answer, one signal after the other, and some of
    its steps take no timeout.
    """
    threads = [Thread(target=step, name="telemetry end", daemon=True) for step in steps]
    for thread in threads:
        thread.start()
    until = time.monotonic() + patience_s
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        _log.warning("telemetry lost", reason="the collector does not take what is left", waited_s=patience_s)


def _prometheus() -> tuple[MetricReader, Callable[[], bytes]]:
    try:
        from opentelemetry.exporter.prometheus import PrometheusMetricReader
        from prometheus_client import CollectorRegistry, generate_latest
    except ModuleNotFoundError as error:
        raise SettingsError([_missing("telemetry.prometheus", "prometheus")]) from error
    # Not the process's registry, which tells of every other gateway in the process too.
    registry = CollectorRegistry()
    reader = PrometheusMetricReader(scope_info_enabled=False, registry=registry)
    return reader, lambda: generate_latest(registry)


def _otlp(endpoint: str, sampled: float, resource: Resource) -> tuple[TracerProvider, MetricReader]:
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ModuleNotFoundError as error:
        raise SettingsError([_missing("telemetry.otlp_endpoint", "otlp")]) from error
    tracer = TracerProvider(ParentBased(TraceIdRatioBased(sampled)), resource, shutdown_on_exit=False)
    tracer.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint}/v1/traces")))
    return tracer, PeriodicExportingMetricReader(OTLPMetricExporter(f"{endpoint}/v1/metrics"))


def _missing(setting: str, extra: str) -> str:
    return f'{setting} needs an extra: pip install "scigate[{extra}]"'
