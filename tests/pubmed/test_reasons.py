"""What each exception means to a caller."""

import httpx
import pytest
from scigate import CircuitOpen, Code, DeadlineExceeded, QuotaExhausted
from scigate_pubmed.errors import (
    ConverterRefused,
    NcbiKeyRefused,
    NcbiNotFound,
    NcbiOtherDocument,
    NcbiRateLimited,
    NcbiUnavailable,
    NcbiUnreadable,
)
from scigate_pubmed.reasons import BLANK_QUERY, NCBI_REASONS, failure


@pytest.mark.parametrize(
    ("error", "reason", "code", "retry_after_ms"),
    [
        (QuotaExhausted("", upstream="ncbi", retry_after_s=1.5), "queue_full", Code.RATE_LIMITED, 1500),
        (NcbiRateLimited(2.0), "queue_full", Code.RATE_LIMITED, 2000),
        (NcbiRateLimited(), "queue_full", Code.RATE_LIMITED, None),
        (DeadlineExceeded("", upstream="ncbi"), "ncbi_deadline_exceeded", Code.TIMEOUT, None),
        (CircuitOpen("", upstream="ncbi", retry_after_s=3), "ncbi_unreachable", Code.SERVICE_UNAVAILABLE, 3000),
        (NcbiUnavailable("down"), "ncbi_unreachable", Code.SERVICE_UNAVAILABLE, None),
        (httpx.ConnectError("x"), "ncbi_unreachable", Code.SERVICE_UNAVAILABLE, None),
        (httpx.ReadError("x"), "ncbi_unreachable", Code.SERVICE_UNAVAILABLE, None),
        (
            httpx.RemoteProtocolError("Server disconnected without sending a response."),
            "ncbi_unreachable",
            Code.SERVICE_UNAVAILABLE,
            None,
        ),
        (
            httpx.RemoteProtocolError("peer closed connection without sending complete message body"),
            "ncbi_invalid_response",
            Code.SERIALIZATION_ERROR,
            None,
        ),
        (NcbiUnreadable("esearch", "is damaged"), "ncbi_invalid_response", Code.SERIALIZATION_ERROR, None),
        (NcbiOtherDocument("efetch", "is other"), "invalid_efetch_response", Code.SERIALIZATION_ERROR, None),
        (NcbiOtherDocument("elink", "is other"), "ncbi_invalid_response", Code.SERIALIZATION_ERROR, None),
        (ConverterRefused(), "invalid_ids", Code.VALIDATION_ERROR, None),
        (NcbiNotFound(), "ncbi_resource_not_found", Code.NOT_FOUND, None),
        (NcbiKeyRefused(), "ncbi_key_refused", Code.UNAUTHORIZED, None),
    ],
)
def test_an_exception_has_its_reason(error: Exception, reason: str, code: Code, retry_after_ms: int | None) -> None:
    """Reasons and codes are the contract's."""
    found = failure(error)
    assert found is not None
    assert (found.reason, found.code, found.retry_after_ms) == (reason, code, retry_after_ms)
    assert found.message != found.hint


@pytest.mark.parametrize("error", [httpx.ReadTimeout("x"), ValueError("x")])
def test_what_is_not_ncbis_is_left_to_core(error: Exception) -> None:
    """One slow request is a timeout of its own class."""
    assert failure(error) is None


def test_only_what_can_pass_is_retryable() -> None:
    """A blank query, an unknown record and a wrong key stay what they are."""
    lasting = {reason.name for reason in (*NCBI_REASONS, BLANK_QUERY) if not reason.retryable}
    assert lasting == {"ncbi_resource_not_found", "ncbi_key_refused", "blank_query"}
