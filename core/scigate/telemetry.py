"""Where log lines go: to standard error, in every command, since standard output is the answer or the protocol."""

import logging
import sys
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from scigate.settings import LogSettings

# At info, HTTP clients log addresses with their query, in which a key may stand; the servers tell their own life.
_TALKATIVE = ("httpx", "httpcore", "httpx2", "httpcore2", "mcp", "uvicorn")


def configure_logging(log: "LogSettings", *, brief: bool = False) -> None:
    """Set the process's log up.

    Args:
        log: Level and format.
        brief: For a command that answers and ends: only warnings and errors, each in one line, unless the level is
            debug.
    """
    brief = brief and log.level != "debug"
    level = logging.getLevelNamesMapping()[log.level.upper()]
    if brief:
        level = max(level, logging.WARNING)
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        _with_trace,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        *([_in_one_line] if brief else []),
    ]
    rendered = _renderers(log.format)
    structlog.configure(
        processors=[*shared, *rendered],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendered],
        )
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))


def _renderers(form: str) -> list[structlog.typing.Processor]:
    if form == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    # structlog's own choice of a traceback shows the values of local variables, keys among them.
    plain = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]


def _with_trace(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Name the trace and the span that a line belongs to, where there is one."""
    # Nobody can have begun a span through an API that nobody has imported; importing it costs start-up time.
    if trace := sys.modules.get("opentelemetry.trace"):
        span = trace.get_current_span().get_span_context()
        if span.is_valid:
            event["trace_id"] = trace.format_trace_id(span.trace_id)
            event["span_id"] = trace.format_span_id(span.span_id)
    return event


def _in_one_line(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Name an event's exception instead of showing where it came from."""
    error = event.pop("exc_info", None)
    if error is True:
        error = sys.exc_info()[1]
    if isinstance(error, BaseException) and "reason" not in event:
        event["error"] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return event
