"""What went wrong, as data: codes, reasons and failures.

Above are the policies and providers that produce failures, and the envelopes that show them. This module
knows neither the wire nor any upstream.

=========================  ======  ==========================================================================
core's reason              code    when
=========================  ======  ==========================================================================
invalid_arguments          -32602  an argument is missing, unknown, of the wrong type or out of bounds
quota_exhausted            -32003  the upstream's quota does not let the call start before its deadline
caller_rate_limited        -32003  the caller has too many calls in flight, or is over its own rate
deadline_exceeded          -32004  the call's own time ran out
upstream_unavailable       -32000  no connection, a server error, or the circuit breaker is open
upstream_timeout           -32004  the upstream did not answer in time
upstream_rate_limited      -32003  the upstream refused for its own rate limit, on every attempt
upstream_invalid_response  -32070  the upstream's answer is cut off, of another type, or not of its known shape
upstream_rejected          -32007  the upstream refused the request as wrong
provider_unavailable       -32000  the tool's provider is quarantined, or the gateway is shutting down
forbidden                  -32005  a rule does not let this caller make this call
input_unavailable          -32007  the call has to ask its client something, and the client cannot be asked
input_too_large            -32070  what the client has answered is more than it can carry to the next round
result_too_large           -32070  the result is over the gateway's size limit
internal_error             -32603  a fault of the gateway or of the provider's code
=========================  ======  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Final

__all__ = ["CORE_REASONS", "Code", "Failure", "FailureError", "Reason"]

_NO_DATA: Final[Mapping[str, object]] = MappingProxyType({})


class Code(IntEnum):
    """The number of a failure's kind, in `error.code` of the structured content (not a JSON-RPC error's)."""

    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    SERVICE_UNAVAILABLE = -32000
    NOT_FOUND = -32001
    RATE_LIMITED = -32003
    TIMEOUT = -32004
    FORBIDDEN = -32005
    UNAUTHORIZED = -32006
    VALIDATION_ERROR = -32007
    SERIALIZATION_ERROR = -32070


@dataclass(frozen=True, slots=True)
class Failure:
    """A call's outcome when it did not succeed.

    Attributes:
        code: Kind of the failure.
        reason: Stable machine name in snake_case; part of the API.
        message: What happened, with the value at fault. No URL, path, secret or upstream markup.
        hint: What to do next, in the imperative, naming a parameter or a tool.
        retryable: Whether the same call can succeed later.
        retry_after_ms: Milliseconds until it can, where that is known.
        data: Further facts of the failure, JSON values only; shown beside the reason.
    """

    code: Code
    reason: str
    message: str
    hint: str
    retryable: bool = False
    retry_after_ms: int | None = None
    data: Mapping[str, object] = field(default_factory=lambda: _NO_DATA)


class FailureError(Exception):
    """Carries a `Failure` out of a handler or a client; core turns it into the call's outcome."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.reason}: {failure.message}")
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Reason:
    """A kind of failure that a tool declares once and raises where it happens.

    Attributes:
        name: Stable machine name in snake_case.
        code: Kind of the failure.
        when: In which case it happens; for documentation and the output schema.
        hint: The default recovery hint.
        retryable: Whether the same call can succeed later.

    Example:
        >>> MISSING_AID = Reason("missing_aid", Code.VALIDATION_ERROR, "assay search without aid", "Give aid.")
        >>> raise MISSING_AID.error("searchType is assay, but aid is missing")
        Traceback (most recent call last):
        scigate.failure.FailureError: missing_aid: searchType is assay, but aid is missing
    """

    name: str
    code: Code
    when: str
    hint: str
    retryable: bool = False

    def failure(
        self, message: str, *, hint: str | None = None, retry_after_ms: int | None = None, **data: object
    ) -> Failure:
        """This reason's failure with its message; `data` are further facts, JSON values only."""
        return Failure(self.code, self.name, message, hint or self.hint, self.retryable, retry_after_ms, data)

    def error(
        self, message: str, *, hint: str | None = None, retry_after_ms: int | None = None, **data: object
    ) -> FailureError:
        """The exception to raise, with the same arguments as `failure`."""
        return FailureError(self.failure(message, hint=hint, retry_after_ms=retry_after_ms, **data))


INVALID_ARGUMENTS: Final = Reason(
    "invalid_arguments",
    Code.INVALID_PARAMS,
    "an argument is missing, unknown, of the wrong type or out of bounds",
    "Correct the named arguments and call again; the tool's inputSchema lists what is accepted.",
)
QUOTA_EXHAUSTED: Final = Reason(
    "quota_exhausted",
    Code.RATE_LIMITED,
    "the upstream's quota does not let the call start before its deadline",
    "Wait retryAfterMs, then send the same call again.",
    retryable=True,
)
CALLER_RATE_LIMITED: Final = Reason(
    "caller_rate_limited",
    Code.RATE_LIMITED,
    "the caller has too many calls in flight, or is over its own rate",
    "Let calls in flight finish, then send this one again.",
    retryable=True,
)
DEADLINE_EXCEEDED: Final = Reason(
    "deadline_exceeded",
    Code.TIMEOUT,
    "the call's own time ran out",
    "Ask for less in one call (a smaller page or batch), or send the same call again.",
    retryable=True,
)
UPSTREAM_UNAVAILABLE: Final = Reason(
    "upstream_unavailable",
    Code.SERVICE_UNAVAILABLE,
    "no connection, a server error, or the circuit breaker is open",
    "Wait a little, then send the same call again.",
    retryable=True,
)
UPSTREAM_TIMEOUT: Final = Reason(
    "upstream_timeout",
    Code.TIMEOUT,
    "the upstream did not answer in time",
    "Send the call again, or narrow the question so that it costs the upstream less.",
    retryable=True,
)
UPSTREAM_RATE_LIMITED: Final = Reason(
    "upstream_rate_limited",
    Code.RATE_LIMITED,
    "the upstream refused for its own rate limit, on every attempt",
    "Wait retryAfterMs (or a few seconds), then send the same call again.",
    retryable=True,
)
UPSTREAM_INVALID_RESPONSE: Final = Reason(
    "upstream_invalid_response",
    Code.SERIALIZATION_ERROR,
    "the upstream's answer is cut off, of another type, or not of its known shape",
    "Send the call again once; if it fails alike, the upstream is disturbed or has changed.",
    retryable=True,
)
UPSTREAM_REJECTED: Final = Reason(
    "upstream_rejected",
    Code.VALIDATION_ERROR,
    "the upstream refused the request as wrong",
    "Check the arguments against the upstream's rules; the same call fails the same way.",
)
PROVIDER_UNAVAILABLE: Final = Reason(
    "provider_unavailable",
    Code.SERVICE_UNAVAILABLE,
    "the tool's provider is quarantined, or the gateway is shutting down",
    "Use another tool, or ask the gateway's operator to run `scigate providers`.",
)
FORBIDDEN: Final = Reason(
    "forbidden",
    Code.FORBIDDEN,
    "a rule does not let this caller make this call",
    "Use another tool, or ask the gateway's operator for access.",
)
INPUT_UNAVAILABLE: Final = Reason(
    "input_unavailable",
    Code.VALIDATION_ERROR,
    "the call has to ask its client something, and the client cannot be asked",
    "Use a tool that asks nothing, or tell the user to call from a client that can be asked "
    "(MCP 2026-07-28, or over stdio, with elicitation).",
)
INPUT_TOO_LARGE: Final = Reason(
    "input_too_large",
    Code.SERIALIZATION_ERROR,
    "what the client has answered is more than it can carry to the next round",
    "Send the call again and answer more briefly.",
)
RESULT_TOO_LARGE: Final = Reason(
    "result_too_large",
    Code.SERIALIZATION_ERROR,
    "the result is over the gateway's size limit",
    "Ask for a smaller page or batch, or for fewer fields.",
)
INTERNAL_ERROR: Final = Reason(
    "internal_error",
    Code.INTERNAL_ERROR,
    "a fault of the gateway or of the provider's code",
    "Nothing in the arguments mends this; tell the gateway's operator the call id.",
)

CORE_REASONS: Final = (
    INVALID_ARGUMENTS,
    QUOTA_EXHAUSTED,
    CALLER_RATE_LIMITED,
    DEADLINE_EXCEEDED,
    UPSTREAM_UNAVAILABLE,
    UPSTREAM_TIMEOUT,
    UPSTREAM_RATE_LIMITED,
    UPSTREAM_INVALID_RESPONSE,
    UPSTREAM_REJECTED,
    PROVIDER_UNAVAILABLE,
    FORBIDDEN,
    INPUT_UNAVAILABLE,
    INPUT_TOO_LARGE,
    RESULT_TOO_LARGE,
    INTERNAL_ERROR,
)
