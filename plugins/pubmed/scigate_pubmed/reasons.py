"""The provider's reasons, and what each exception means to a caller."""

from typing import Final

import httpx
from scigate import CircuitOpen, Code, DeadlineExceeded, Failure, QuotaExhausted, Reason

from scigate_pubmed.errors import (
    ConverterRefused,
    NcbiError,
    NcbiKeyRefused,
    NcbiNotFound,
    NcbiOtherDocument,
    NcbiRateLimited,
    NcbiUnavailable,
    NcbiUnreadable,
)

QUEUE_FULL: Final = Reason(
    "queue_full",
    Code.RATE_LIMITED,
    "the queue before NCBI cannot start the call before its deadline, or NCBI refused it for its rate on every attempt",
    "Wait retryAfterMs, or a second or two, then send the same call again.",
    retryable=True,
)
NCBI_UNREACHABLE: Final = Reason(
    "ncbi_unreachable",
    Code.SERVICE_UNAVAILABLE,
    "every attempt failed: no connection, a server error, a web page or an error text in place of an answer",
    "Wait a little, then send the same call again; NCBI itself is disturbed.",
    retryable=True,
)
NCBI_DEADLINE_EXCEEDED: Final = Reason(
    "ncbi_deadline_exceeded",
    Code.TIMEOUT,
    "the call's time ran out, waiting and retries included, before NCBI answered",
    "Ask for less in one call (a smaller maxResults or summaryCount), or send it again when NCBI is less busy.",
    retryable=True,
)
NCBI_INVALID_RESPONSE: Final = Reason(
    "ncbi_invalid_response",
    Code.SERIALIZATION_ERROR,
    "the body that arrived is damaged or not of its known shape",
    "Send the same call again; a damaged answer is rarely damaged twice.",
    retryable=True,
)
NCBI_RESOURCE_NOT_FOUND: Final = Reason(
    "ncbi_resource_not_found",
    Code.NOT_FOUND,
    "NCBI states that the identifiers asked for do not exist",
    "Check the identifiers with pubmed_search_articles; the same call fails the same way.",
)
BLANK_QUERY: Final = Reason(
    "blank_query",
    Code.VALIDATION_ERROR,
    "nothing is left of query once markup, bracketed field tags, parentheses and punctuation are put aside",
    "Put at least one search word into query; filters narrow a search but are none.",
)
NCBI_KEY_REFUSED: Final = Reason(
    "ncbi_key_refused",
    Code.UNAUTHORIZED,
    "NCBI does not accept the gateway's API key",
    "Tell the gateway's operator to correct or remove SCIGATE_PROVIDERS__PUBMED__API_KEY.",
)

INVALID_EFETCH_RESPONSE: Final = Reason(
    "invalid_efetch_response",
    Code.SERIALIZATION_ERROR,
    "EFetch answered with another document than a set of articles",
    "Send the same call once more; if that fails alike, split pmids into smaller batches.",
    retryable=True,
)
INVALID_IDS: Final = Reason(
    "invalid_ids",
    Code.VALIDATION_ERROR,
    "no id has the form that idType says, or the ID converter refuses them as wrong",
    "Give ids of one kind and name it in idType: pmid digits; pmcid PMC and digits; doi begins with 10.",
)
OPENALEX_UNREACHABLE: Final = Reason(
    "openalex_unreachable",
    Code.SERVICE_UNAVAILABLE,
    "OpenAlex failed on every attempt; told in the notice, since other services may answer",
    "Wait a little, then send the same call again.",
    retryable=True,
)
OPENALEX_INVALID_RESPONSE: Final = Reason(
    "openalex_invalid_response",
    Code.SERIALIZATION_ERROR,
    "OpenAlex sent a damaged body; told in the notice, since other services may answer",
    "Send the same call again.",
    retryable=True,
)

PAGES_WOULD_MIX: Final = Reason(
    "pages_would_mix",
    Code.SERVICE_UNAVAILABLE,
    "a service that the page before may have come from could not be asked, and another orders its articles otherwise",
    "Send the same call again, or start again at offset 0, where another service stands in.",
    retryable=True,
)

NCBI_REASONS: Final = (
    QUEUE_FULL,
    NCBI_UNREACHABLE,
    NCBI_DEADLINE_EXCEEDED,
    NCBI_INVALID_RESPONSE,
    NCBI_RESOURCE_NOT_FOUND,
    NCBI_KEY_REFUSED,
)
"""What any tool that asks NCBI can meet."""


def failure(error: Exception) -> Failure | None:
    """The failure that an exception means; None for what is not NCBI's, such as a timeout of one request."""
    match error:
        case QuotaExhausted():
            return QUEUE_FULL.failure(
                "No turn at NCBI is free before this call's deadline", retry_after_ms=_ms(error.retry_after_s)
            )
        case NcbiRateLimited():
            return QUEUE_FULL.failure(_sentence(error), retry_after_ms=_ms(error.retry_after_s))
        case DeadlineExceeded():
            return NCBI_DEADLINE_EXCEEDED.failure("The call's time ran out before NCBI had answered")
        case CircuitOpen():
            return NCBI_UNREACHABLE.failure(
                "NCBI failed repeatedly and is not asked for a while", retry_after_ms=_ms(error.retry_after_s)
            )
        case NcbiUnavailable():
            return NCBI_UNREACHABLE.failure(_sentence(error))
        case NcbiNotFound():
            return NCBI_RESOURCE_NOT_FOUND.failure(_sentence(error))
        case NcbiOtherDocument() if error.endpoint == "efetch":
            return INVALID_EFETCH_RESPONSE.failure(_sentence(error))
        case ConverterRefused():
            return INVALID_IDS.failure("The ID converter cannot read one of the ids")
        case NcbiUnreadable():
            return NCBI_INVALID_RESPONSE.failure(_sentence(error))
        case NcbiKeyRefused():
            return NCBI_KEY_REFUSED.failure(_sentence(error))
        case httpx.DecodingError():
            return NCBI_INVALID_RESPONSE.failure("The body of NCBI's answer cannot be decompressed")
        # httpx has one class for a body that ends early and for a connection closed before any answer.
        case httpx.RemoteProtocolError() if "complete" in str(error):
            return NCBI_INVALID_RESPONSE.failure("NCBI's answer was cut off on every attempt")
        case httpx.NetworkError() | httpx.ProtocolError():
            return NCBI_UNREACHABLE.failure("The connection to NCBI failed on every attempt")
        case _:
            return None


def _sentence(error: NcbiError) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)
