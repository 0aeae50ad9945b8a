"""What goes wrong between this provider and Europe PMC: exceptions that carry facts, and what each means to a caller.

    EuropePmcError
      EuropePmcUnavailable   no answer on any attempt: no connection, a server error, a web page
      EuropePmcUnreadable    a body that is neither an answer nor a refusal
      EuropePmcRefused       Europe PMC does not take the request as it is

No message holds a URL or a body; what Europe PMC says of a refusal is quoted as plain text.
"""

from typing import Final

from scigate import CircuitOpen, Code, DeadlineExceeded, Failure, QuotaExhausted, Reason

SORT_FIELDS: Final = ("P_PDATE_D", "CITED", "AUTH_FIRST", "PUB_YEAR")
"""What Europe PMC sorts by; other fields are refused with an answer that says nothing."""


class EuropePmcError(Exception):
    """An answer of Europe PMC that is not the one asked for."""


class EuropePmcUnavailable(EuropePmcError):
    """Europe PMC could not answer; `status` is the HTTP status, None where there was no answer at all."""

    def __init__(self, what: str, *, status: int | None = None) -> None:
        super().__init__(what)
        self.status = status


class EuropePmcUnreadable(EuropePmcError):
    """The body is damaged, or not of its known shape."""


class EuropePmcRefused(EuropePmcError):
    """The request is wrong in Europe PMC's eyes; `said` is its explanation, empty when it gives none."""

    def __init__(self, said: str = "", *, sort: str | None = None) -> None:
        super().__init__(f"Europe PMC refused the request: {said}" if said else "Europe PMC refused the request")
        self.said = said
        self.sort = sort


EUROPEPMC_UNREACHABLE: Final = Reason(
    "europepmc_unreachable",
    Code.SERVICE_UNAVAILABLE,
    "Europe PMC failed on every attempt",
    "Wait a little, then send the same call again; pubmed_search_articles and PMC do not depend on Europe PMC.",
    retryable=True,
)
EUROPEPMC_INVALID_RESPONSE: Final = Reason(
    "europepmc_invalid_response",
    Code.SERIALIZATION_ERROR,
    "the body that arrived is damaged or not of its known shape",
    "Send the same call again; a damaged answer is rarely damaged twice.",
    retryable=True,
)
EUROPEPMC_INVALID_INPUT: Final = Reason(
    "europepmc_invalid_input",
    Code.VALIDATION_ERROR,
    "Europe PMC does not take the query, the sort or the cursor",
    "Correct query, sort or cursorMark; the same input is refused again.",
)
EUROPEPMC_DISABLED: Final = Reason(
    "europepmc_disabled",
    Code.SERVICE_UNAVAILABLE,
    "Europe PMC is switched off; its tools are then not listed",
    "Use pubmed_search_articles, or tell the gateway's operator of SCIGATE_PROVIDERS__PUBMED__EUROPEPMC.",
)

EUROPEPMC_REASONS: Final = (EUROPEPMC_UNREACHABLE, EUROPEPMC_INVALID_RESPONSE, EUROPEPMC_INVALID_INPUT)
"""What any tool that asks Europe PMC can meet."""


def europepmc_failure(error: Exception) -> Failure | None:
    """The failure that an exception of the Europe PMC client means; None for any other."""
    match error:
        case EuropePmcUnavailable():
            return EUROPEPMC_UNREACHABLE.failure(_sentence(error))
        case EuropePmcUnreadable():
            return EUROPEPMC_INVALID_RESPONSE.failure(_sentence(error))
        case EuropePmcRefused(sort=None):
            return EUROPEPMC_INVALID_INPUT.failure(_sentence(error))
        case EuropePmcRefused():
            return EUROPEPMC_INVALID_INPUT.failure(
                f"{_sentence(error)} with sort {error.sort!r}"[:300],
                hint=f"Use `<field> asc` or `<field> desc` as sort, the field one of {', '.join(SORT_FIELDS)}; "
                "or leave sort out for order by relevance.",
            )
        case CircuitOpen(upstream="europepmc"):
            return EUROPEPMC_UNREACHABLE.failure(
                "Europe PMC failed repeatedly and is not asked for a while",
                retry_after_ms=round(error.retry_after_s * 1000),
            )
        case QuotaExhausted(upstream="europepmc"):
            return EUROPEPMC_UNREACHABLE.failure(
                "No turn at Europe PMC is free before this call's deadline",
                retry_after_ms=round(error.retry_after_s * 1000),
            )
        case DeadlineExceeded(upstream="europepmc"):
            return EUROPEPMC_UNREACHABLE.failure("Europe PMC had not answered when the call's time was up")
        case _:
            return None


def _sentence(error: EuropePmcError) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]
