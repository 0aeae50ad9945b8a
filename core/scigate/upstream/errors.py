"""What the stack itself raises; everything else is httpx's own exception or a response with its status.

    httpx.TransportError
      x RefusedError          not sent: nothing reached the wire
        + QuotaExhausted
        + CircuitOpen
      + DeadlineExceeded      the call's time ran out
      + ResponseTooLarge      the answer was cut off at the upstream's bound
      + ForeignUrl            the request was not for this upstream

Each is an `httpx.TransportError`, so a client that handles httpx's errors handles these.
"""

import httpx


class RefusedError(httpx.TransportError):
    """The request was not sent; it may be repeated after `retry_after_s` seconds."""

    def __init__(self, message: str, *, upstream: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.upstream = upstream
        self.retry_after_s = retry_after_s


class QuotaExhausted(RefusedError):
    """The upstream's budget leaves no slot before the deadline, or too many requests wait already."""


class CircuitOpen(RefusedError):
    """The upstream failed several times in a row and is left alone for `retry_after_s` seconds."""


class DeadlineExceeded(httpx.TransportError):
    """The call's deadline passed before there was an answer."""

    def __init__(self, message: str, *, upstream: str) -> None:
        super().__init__(message)
        self.upstream = upstream


class ResponseTooLarge(httpx.TransportError):
    """The answer's body is longer than `limit` bytes, decoded."""

    def __init__(self, message: str, *, upstream: str, limit: int) -> None:
        super().__init__(message)
        self.upstream = upstream
        self.limit = limit


class ForeignUrl(httpx.TransportError):
    """The request's scheme, host or port is not the upstream's: its key and its quota must not be spent there."""

    def __init__(self, message: str, *, upstream: str) -> None:
        super().__init__(message)
        self.upstream = upstream
