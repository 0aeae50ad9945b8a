"""What PubChem says when it fails: the fault in its answers, the client's exceptions, and their meaning.

A fault is JSON (`{"Fault": {"Code", "Message", "Details"}}`), text of lines such as `Status: 400`, or an HTML page
from a proxy before the service; the last is never repeated to a caller.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from json import JSONDecodeError
from typing import Final, Self

import httpx
from scigate import Code, Failure, Reason

__all__ = [
    "SEARCH_FAILED",
    "SEARCH_QUERY_REJECTED",
    "BadRequest",
    "Fault",
    "NotFound",
    "PubChemError",
    "QueryRefused",
    "SearchRejected",
    "UnexpectedAnswer",
    "map_error",
    "raise_for_fault",
]

SEARCH_FAILED: Final = "Search status indicates failure"
"""Message of the 500 that means: this query cannot be searched, and fails the same way each time."""

_LONGEST_TEXT: Final = 300
_LINE: Final = re.compile(r"^(Status|Code|Message|Detail):[ \t]*(.*)$", re.MULTILINE)

SEARCH_QUERY_REJECTED: Final = Reason(
    "search_query_rejected",
    Code.VALIDATION_ERROR,
    "PubChem could not search the query: malformed SMILES or formula, a * atom, or a CID without a record",
    "Correct the query.",
)
_RATE_LIMITED: Final = Reason(
    "upstream_rate_limited",
    Code.RATE_LIMITED,
    "PubChem is busy or over its request limit, on every attempt",
    "Wait a few seconds, then send the same call again.",
    retryable=True,
)
_TIMEOUT: Final = Reason(
    "upstream_timeout",
    Code.TIMEOUT,
    "PubChem gave up after 30 s: too broad, or overloaded",
    "Narrow the search (a larger query structure, a higher threshold, exact elements), or try again later.",
    retryable=True,
)
_UNAVAILABLE: Final = Reason(
    "upstream_unavailable",
    Code.SERVICE_UNAVAILABLE,
    "PubChem failed, on every attempt",
    "Wait a little, then send the same call again.",
    retryable=True,
)
_NOT_FOUND: Final = Reason(
    "not_found",
    Code.NOT_FOUND,
    "PubChem has no record of what was asked for",
    "Check the identifier: pubchem_search_compounds finds CIDs, pubchem_search_assays finds AIDs.",
)
_REJECTED: Final = Reason(
    "upstream_rejected",
    Code.VALIDATION_ERROR,
    "PubChem refused the request",
    "Check the arguments against the fault's text, and find identifiers with pubchem_search_compounds; the same call "
    "fails the same way.",
)
_NOT_OFFERED: Final = Reason(
    "upstream_rejected",
    Code.SERVICE_UNAVAILABLE,
    "PubChem does not offer the operation, at present or at all",
    "Do not repeat the call: use another search type or another pubchem_ tool.",
)
_INVALID: Final = Reason(
    "upstream_invalid_response",
    Code.SERIALIZATION_ERROR,
    "PubChem's answer is not of its known shape",
    "Send the call again once; if it fails alike, PubChem is disturbed or has changed.",
    retryable=True,
)


@dataclass(frozen=True, slots=True)
class Fault:
    """The fault in an answer; each part is "" where the answer does not have it.

    Attributes:
        status: HTTP status.
        code: PubChem's word for it, such as `PUGREST.ServerBusy`.
        message: PubChem's sentence.
        details: Further lines.
        retry_after_s: Seconds that a busy service asks to wait; None where it does not say.
    """

    status: int
    code: str
    message: str
    details: tuple[str, ...] = ()
    retry_after_s: int | None = None

    @classmethod
    def of(cls, response: httpx.Response) -> Self:
        """Read the fault of an answer whose body is there."""
        try:
            fault = response.json()["Fault"]
            details = tuple(str(detail) for detail in fault.get("Details", ()) if detail)
            return cls(response.status_code, str(fault["Code"]), str(fault["Message"]), details, _wait(response))
        except (JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError):
            lines = dict(_LINE.findall(response.text)) if "html" not in response.text[:200].lower() else {}
            code, message = (lines.get(name, "").strip() for name in ("Code", "Message"))
            return cls(response.status_code, code, message, retry_after_s=_wait(response))

    @property
    def text(self) -> str:
        """The fault in one line of at most 300 characters; the bare status where the answer says nothing."""
        text = ": ".join(part for part in (self.code, self.message) if part) or f"HTTP {self.status}"
        return text[:_LONGEST_TEXT]


class PubChemError(Exception):
    """PubChem refused or failed.

    Attributes:
        fault: What it said.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        self.fault = fault


class NotFound(PubChemError):
    """Nothing was found: often no failure but an empty answer, which the caller decides."""


class BadRequest(PubChemError):
    """The request, or the structure in it, could not be read."""


class SearchRejected(PubChemError):
    """The query cannot be searched.

    Attributes:
        form: What was sent: `smiles`, `cid` or `formula`.
        query: The text that was sent.
    """

    def __init__(self, fault: Fault, form: str, query: str) -> None:
        super().__init__(fault)
        self.form = form
        self.query = query


class QueryRefused(Exception):
    """SDQ refused a query, which it says inside a successful answer.

    Attributes:
        collection: The table that was asked.
        said: SDQ's own words, such as `eSphinxSearchBusy`.
    """

    def __init__(self, collection: str, said: str) -> None:
        super().__init__(f"{collection}: {said}")
        self.collection = collection
        self.said = said[:_LONGEST_TEXT]


class UnexpectedAnswer(Exception):
    """A successful answer that is not of the shape that PubChem documents; the text names what was missing."""


def raise_for_fault(response: httpx.Response) -> None:
    """Do nothing for a successful answer.

    Raises:
        NotFound, BadRequest, PubChemError: The answer is a fault.
    """
    if response.status_code < 300:
        return
    fault = Fault.of(response)
    if response.status_code == HTTPStatus.NOT_FOUND and not fault.code.endswith("ServerBusy"):
        raise NotFound(fault)
    if response.status_code == HTTPStatus.BAD_REQUEST and not fault.code.endswith("ServerBusy"):
        raise BadRequest(fault)
    raise PubChemError(fault)


_FORM_HINTS: Final = {
    "smiles": "Correct the SMILES in query: ring closures, brackets, element symbols, no * atoms.",
    "cid": "Confirm that the CID in query exists, for example by an identifier search, or send its SMILES.",
    "formula": "Write the formula in Hill order, such as C6H12O6, without charges or dots.",
}


def map_error(error: Exception) -> Failure | None:
    """What an exception of the PubChem client means to a caller."""
    match error:
        case SearchRejected():
            return SEARCH_QUERY_REJECTED.failure(
                f"PubChem cannot search the {error.form} {error.query[:200]!r}.",
                hint=_FORM_HINTS[error.form],
                fault=error.fault.text,
            )
        case QueryRefused():
            return _UNAVAILABLE.failure(f"PubChem refused to read its table {error.collection}.", fault=error.said)
        case UnexpectedAnswer():
            return _INVALID.failure(f"PubChem's answer could not be read: {error}.")
        case PubChemError():
            return _fault_failure(error.fault)
        case _:
            return None


def _fault_failure(fault: Fault) -> Failure:
    reason, message = _meaning(fault)
    wait_ms = None if fault.retry_after_s is None or not reason.retryable else fault.retry_after_s * 1000
    return reason.failure(message, retry_after_ms=wait_ms, fault=fault.text, status=fault.status)


def _meaning(fault: Fault) -> tuple[Reason, str]:
    """The reason of a fault: its code decides before its status does, which varies under load."""
    if fault.code.endswith("ServerBusy") or fault.status in (429, 503):
        return _RATE_LIMITED, "PubChem is too busy to answer."
    if fault.code.endswith("Timeout") or fault.status == 504:
        return _TIMEOUT, "PubChem did not finish in its own 30 s."
    if fault.status in (405, 501):
        return _NOT_OFFERED, f"PubChem does not offer this: {fault.text}."
    if fault.status == 404:
        return _NOT_FOUND, f"PubChem has no such record: {fault.text}."
    if fault.status < 500:
        return _REJECTED, f"PubChem refused the request: {fault.text}."
    return _UNAVAILABLE, "PubChem failed on every attempt."


def _wait(response: httpx.Response) -> int | None:
    seconds = response.headers.get("retry-after", "").strip()
    return int(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 7 else None
