"""The innermost step: run the provider's handler, and turn whatever it raises into a failure or a question.

The only place where an exception becomes a `Failure`. The provider is asked first what its exception means;
core knows its own exceptions and httpx's.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from json import JSONDecodeError
from typing import TYPE_CHECKING, Final, cast

import httpx
import structlog
from pydantic import ValidationError

from scigate.call import Call
from scigate.dialogue import InputRequired
from scigate.failure import (
    DEADLINE_EXCEEDED,
    INTERNAL_ERROR,
    INVALID_ARGUMENTS,
    QUOTA_EXHAUSTED,
    RESULT_TOO_LARGE,
    UPSTREAM_INVALID_RESPONSE,
    UPSTREAM_RATE_LIMITED,
    UPSTREAM_REJECTED,
    UPSTREAM_TIMEOUT,
    UPSTREAM_UNAVAILABLE,
    Failure,
    FailureError,
)
from scigate.operation import Operation
from scigate.output import Success
from scigate.policy.asked import asked
from scigate.upstream.errors import CircuitOpen, DeadlineExceeded, ForeignUrl, QuotaExhausted, ResponseTooLarge
from scigate.upstream.pace import retry_after_s

if TYPE_CHECKING:
    from scigate.policy import Outcome, Proceed

__all__ = ["handler_step", "upstream_failure"]

_log: Final = structlog.get_logger("scigate.handler")

MapError = Callable[[Exception], Failure | None]


def handler_step(operation: Operation, client: object, map_error: MapError) -> Proceed:
    """The step that runs one operation.

    Args:
        operation: Whose handler runs.
        client: What the provider's `build_client` made.
        map_error: The provider's own reading of its exceptions.
    """

    async def run(call: Call) -> Outcome:
        call.meaning = partial(_meaning, call, map_error)
        try:
            result = await asked(operation.handler(call.arguments, client, call))
        except FailureError as error:
            return error.failure
        except Exception as error:  # noqa: BLE001  # the one boundary between provider code and outcomes
            return _failure(error, call)
        return result if isinstance(result, Success | InputRequired) else Success(result)

    return run


def _failure(error: Exception, call: Call) -> Failure:
    cause = _first(error)
    if (failure := call.meaning(cause)) is not None:
        return failure
    _log.error("fault", call_id=call.id, tool=call.operation.name, exc_info=cause)
    return INTERNAL_ERROR.failure(f"{call.operation.name} failed by a fault in its code.", callId=call.id)


def _meaning(call: Call, map_error: MapError, error: Exception) -> Failure | None:
    """What an exception means, by itself, by its provider or by core; None for a fault of code."""
    if isinstance(error, FailureError):
        return error.failure
    try:
        failure = map_error(error)
    except Exception:  # noqa: BLE001  # a provider's own fault must not hide the one it was asked about
        _log.exception("map_error raised", call_id=call.id, tool=call.operation.name)
        failure = None
    return failure or upstream_failure(error, call.clock.now())


def _first(error: Exception) -> Exception:
    """The first cause in a task group's exception: one call tells one cause."""
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    return error


def upstream_failure(error: Exception, now: datetime) -> Failure | None:
    """Core's reading of its upstreams' exceptions and of httpx's at the time `now`; None for any other."""
    match error:
        case QuotaExhausted():
            wait_ms = round(error.retry_after_s * 1000)
            return QUOTA_EXHAUSTED.failure(
                f"The quota of {error.upstream} has no turn for this call before its deadline.", retry_after_ms=wait_ms
            )
        case CircuitOpen():
            return UPSTREAM_UNAVAILABLE.failure(
                f"{error.upstream} has been failing and is left alone for the moment.",
                retry_after_ms=round(error.retry_after_s * 1000),
            )
        case DeadlineExceeded():
            return DEADLINE_EXCEEDED.failure(f"{error.upstream} had not answered when the call's time was up.")
        case httpx.TimeoutException():
            return UPSTREAM_TIMEOUT.failure(f"{_place(error)} did not answer in time.")
        case httpx.HTTPStatusError():
            return _status_failure(error.response, now)
        case (
            httpx.DecodingError()
            | httpx.RemoteProtocolError()
            | ValidationError()
            | JSONDecodeError()
            | UnicodeDecodeError()
        ):
            return UPSTREAM_INVALID_RESPONSE.failure("The upstream's answer could not be read.")
        case ResponseTooLarge():
            return RESULT_TOO_LARGE.failure(f"An answer of {error.upstream} is longer than {error.limit:,} bytes.")
        case httpx.InvalidURL():
            return INVALID_ARGUMENTS.failure(
                "An argument is too long for the upstream's address.",
                hint="Shorten the longest text among the arguments, then call again.",
            )
        case ForeignUrl():
            # The provider's client asked another host than its upstream's: a fault of its code.
            return None
        case httpx.TransportError():
            return UPSTREAM_UNAVAILABLE.failure(f"{_place(error)} could not be reached.")
        case _:
            return None


def _place(error: httpx.TransportError) -> str:
    """Who was asked: host and port, without what may hold a key."""
    try:
        return error.request.url.netloc.decode("ascii") or "The upstream"
    except RuntimeError:  # raised without its request
        return "The upstream"


def _status_failure(response: httpx.Response, now: datetime) -> Failure:
    status = response.status_code
    wait_s = retry_after_s(response.headers, now)
    wait_ms = None if wait_s is None else round(wait_s * 1000)
    if status == 429:
        return UPSTREAM_RATE_LIMITED.failure(
            "The upstream refused the call for its rate limit (HTTP 429).", retry_after_ms=wait_ms, status=status
        )
    if status in (408, 504):
        return UPSTREAM_TIMEOUT.failure(f"The upstream gave up on the call (HTTP {status}).", status=status)
    if status >= 500:
        return UPSTREAM_UNAVAILABLE.failure(
            f"The upstream failed (HTTP {status}).", retry_after_ms=wait_ms, status=status
        )
    return UPSTREAM_REJECTED.failure(f"The upstream refused the call (HTTP {status}).", status=status)
