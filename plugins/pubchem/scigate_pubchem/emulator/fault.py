"""PubChem's faults, as the service words them: `{"Fault": {"Code": ..., "Message": ..., "Details": [...]}}`.

Wordings are those of recorded answers where one is known (2025 and 2026); the others follow the table of status codes
in PubChem's documentation (https://pubchem.ncbi.nlm.nih.gov/docs/pug-rest, read 2026-08).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from scigate.emulator import Body

__all__ = [
    "GREEN",
    "SLOW_DOWN",
    "PugError",
    "bad_request",
    "not_found",
    "not_standardized",
    "unsearchable",
    "wording",
]

# The header `X-Throttling-Control`; a refused caller sees green and the remark behind it.
GREEN: Final = "Request Count status: Green (0%), Request Time status: Green (0%), Service status: Green (20%)"
SLOW_DOWN: Final = "Request Count status: Black (102%), Request Time status: Yellow (57%), Service status: Red (81%)"
_REFUSED: Final = f"{GREEN}, too many requests per second or blacklisted"


@dataclass(frozen=True)
class PugError(Exception):
    """An answer that is a fault; raised by whatever finds it, rendered by the routes."""

    status: int
    code: str
    message: str
    details: tuple[str, ...] = ()

    def body(self) -> dict[str, Any]:
        """The fault as PUG REST writes it."""
        fault: dict[str, Any] = {"Code": f"PUGREST.{self.code}", "Message": self.message}
        if self.details:
            fault["Details"] = list(self.details)
        return {"Fault": fault}

    def lines(self) -> str:
        """The form for formats other than JSON."""
        lines = [f"Status: {self.status}", f"Code: PUGREST.{self.code}", f"Message: {self.message}"]
        return "\n".join([*lines, *(f"Detail: {detail}" for detail in self.details)]) + "\n"


def bad_request(message: str, *details: str) -> PugError:
    """400: the request, or the structure in it, cannot be read."""
    return PugError(400, "BadRequest", message, details)


def not_found(message: str, *details: str) -> PugError:
    """404: nothing matches."""
    return PugError(404, "NotFound", message, details)


def not_standardized() -> PugError:
    """A structure that cannot be read, in an identifier lookup."""
    return bad_request(
        "Unable to standardize the given structure - perhaps some special characters need to be escaped"
        " or data packed in a MIME form?",
        "error: ",
        "status: 400",
        "output: Caught ncbi::CException: Standardization failed",
        "Output Log:",
        "Record 1: Warning: Cactvs Ensemble cannot be created from input string",
        "Record 1: Error: Unable to convert input into a compound object",
        "",
        "",
    )


def unsearchable() -> PugError:
    """A query that a structure or formula search cannot use; the service fails the same way every time."""
    return PugError(500, "ServerError", "Search status indicates failure")


_INJECTED: Final = {
    "429": PugError(429, "ServerBusy", "Too many requests or server too busy"),
    "500": PugError(500, "Unknown", "Unknown error"),
    "503": PugError(503, "ServerBusy", "Too many requests or server too busy"),
    "504": PugError(504, "Timeout", "The request timed out, from server overload or too broad a request"),
    "busy": PugError(400, "ServerBusy", "Too many requests or server too busy"),
}


def wording(kind: str, status: int) -> Body:
    """How PubChem words a fault that the emulator injects; `busy` is a 4xx whose code says that the server is busy."""
    fault = _INJECTED[kind]
    throttled = _REFUSED if status in (429, 503) else GREEN
    content = json.dumps(fault.body(), indent=2).encode()
    return Body(status, "application/json", content, {"X-Throttling-Control": throttled})
