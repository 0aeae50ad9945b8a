"""What goes wrong between this provider and PubChem, and what it means to a caller."""

from __future__ import annotations

from typing import Final

import httpx
from scigate import CircuitOpen, Code, DeadlineExceeded, Failure, QuotaExhausted, Reason

from scigate_immunograph.upstream import PUBCHEM

__all__ = ["NoSuchCompound", "NotCached", "SourceFailed", "SourceUnreadable", "failure_of"]

_RATE_LIMITED: Final = Reason(
    "upstream_rate_limited",
    Code.RATE_LIMITED,
    "PubChem is busy or over its request limit, on every attempt",
    "Wait a few seconds, then send the same call again.",
    retryable=True,
)
_QUOTA: Final = Reason(
    "quota_exhausted",
    Code.RATE_LIMITED,
    "PubChem's quota does not let the call start before its deadline",
    "Wait retryAfterMs, then send the same call again.",
    retryable=True,
)
_TIMEOUT: Final = Reason(
    "upstream_timeout",
    Code.TIMEOUT,
    "PubChem did not answer in time",
    "Send the same call again later, or choose a fallbackPolicy with another source.",
    retryable=True,
)
_UNAVAILABLE: Final = Reason(
    "upstream_unavailable",
    Code.SERVICE_UNAVAILABLE,
    "PubChem cannot be reached or fails, on every attempt",
    "Wait a little and send the same call again, or choose a fallbackPolicy with another source.",
    retryable=True,
)
_REJECTED: Final = Reason(
    "upstream_rejected",
    Code.VALIDATION_ERROR,
    "PubChem refused the request",
    "Check compoundRef; the same call fails the same way.",
)
_INVALID: Final = Reason(
    "upstream_invalid_response",
    Code.SERIALIZATION_ERROR,
    "PubChem's answer is not of its known shape",
    "Send the call again once; if it fails alike, PubChem is disturbed or has changed.",
    retryable=True,
)


class NoSuchCompound(Exception):
    """PubChem answered that it has no compound of this CID."""

    def __init__(self, cid: int) -> None:
        super().__init__(f"PubChem has no compound of CID {cid}")
        self.cid = cid


class NotCached(Exception):
    """The cache holds no fresh answer."""


class SourceFailed(Exception):
    """PubChem answered with a fault.

    Attributes:
        status: The HTTP status.
        fault: `Fault.Code` of the answer, such as PUGREST.ServerBusy, or "".
    """

    def __init__(self, status: int, fault: str) -> None:
        super().__init__(f"HTTP {status} {fault}".rstrip())
        self.status = status
        self.fault = fault


class SourceUnreadable(Exception):
    """PubChem's answer is not of the shape that it documents; the text names what was missing."""


def failure_of(error: Exception) -> Failure | None:
    """What an exception of this provider's PubChem client means to a caller; None for any other."""
    match error:
        case DeadlineExceeded() if error.upstream != PUBCHEM.name:
            return None
        case QuotaExhausted():
            return _QUOTA.failure(
                "PubChem's quota has no turn for this call before its deadline.",
                retry_after_ms=round(error.retry_after_s * 1000),
            )
        case CircuitOpen():
            return _UNAVAILABLE.failure(
                "PubChem has been failing and is left alone for the moment.",
                retry_after_ms=round(error.retry_after_s * 1000),
            )
        case DeadlineExceeded() | TimeoutError() | httpx.TimeoutException():
            return _TIMEOUT.failure("PubChem did not answer in time.")
        case SourceUnreadable() | httpx.RemoteProtocolError() | httpx.DecodingError():
            return _INVALID.failure(f"PubChem's answer could not be read: {error}.")
        case httpx.TransportError():
            return _UNAVAILABLE.failure("PubChem could not be reached.")
        case SourceFailed():
            return _fault_failure(error)
        case _:
            return None


def _fault_failure(error: SourceFailed) -> Failure:
    busy = error.fault.endswith("ServerBusy") or error.status in (429, 503)
    if busy:
        reason, message = _RATE_LIMITED, "PubChem is too busy to answer."
    elif error.fault.endswith("Timeout") or error.status in (408, 504):
        reason, message = _TIMEOUT, "PubChem did not finish in time."
    elif error.status < 500:
        reason, message = _REJECTED, f"PubChem refused the request ({error})."
    else:
        reason, message = _UNAVAILABLE, f"PubChem failed on every attempt ({error})."
    return reason.failure(message, status=error.status)
