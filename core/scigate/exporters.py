"""Where spans and measurements go: an OTLP collector, or whoever scrapes `/metrics`.

Both are extras, imported only where the settings ask for them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version

from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from scigate.clock import Clock
from scigate.metrics import Metrics, Telemetry
from scigate.settings import SettingsError, TelemetrySettings

__all__ = ["exporting"]


@contextmanager
def exporting(settings: TelemetrySettings, clock: Clock) -> Generator[Telemetry]:
    """Export what the settings want for as long as the block runs.

    The tracer provider is the process's, and can be set once only: the first gateway of a process decides.

    Raises:
        SettingsError: An extra is missing; the text names it.
    """
    resource = Resource.create({"service.name": "scigate", "service.version": version("scigate")})
    readers: list[MetricReader] = []
    page: Callable[[], bytes] | None = None
    with ExitStack() as stack:
        if settings.prometheus:
            reader, page = _prometheus()
            readers.append(reader)
        if settings.otlp_endpoint is not None:
            tracer, reader = _otlp(settings.otlp_endpoint.rstrip("/"), settings.sampled, resource)
            readers.append(reader)
            trace.set_tracer_provider(tracer)
            stack.callback(tracer.shutdown)
        meter = MeterProvider(readers, resource, shutdown_on_exit=False)
        stack.callback(meter.shutdown)
        yield Telemetry(Metrics(meter, clock), page)


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
