"""A PUG REST request, taken apart: `/compound/<namespace>/<identifiers>/<operation>/<format>?<options>`.

Segments are split before they are percent-decoded, so an identifier may hold `%2F`. Identifiers may stand in the path,
in a POSTed form or among the options, under the namespace's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, unquote

from .fault import bad_request

__all__ = ["FAST", "POLLED", "PugRequest"]

# Searches that answer at once, and the deprecated ones that answer with a ticket first.
FAST: Final = {
    "fastsubstructure": "substructure",
    "fastsuperstructure": "superstructure",
    "fastsimilarity_2d": "similarity",
    "fastsimilarity": "similarity",
    "fastidentity": "identity",
}
POLLED: Final = {
    "substructure": "substructure",
    "superstructure": "superstructure",
    "similarity": "similarity",
    "similarity_2d": "similarity",
    "identity": "identity",
}

_OPERATIONS: Final = frozenset((
    "record", "property", "synonyms", "cids", "sids", "aids", "xrefs", "description", "conformers", "assaysummary",
    "summary", "classification", "dates", "concise", "doseresponse", "targets",
))  # fmt: skip
_FORMATS: Final = {"json": "JSON", "txt": "TXT", "csv": "CSV", "png": "PNG", "sdf": "SDF"}


@dataclass(frozen=True, slots=True)
class PugRequest:
    """One request.

    Attributes:
        domain: `compound`, `assay`, ...
        search: The search's segment (`fastsubstructure`), or None for a plain lookup.
        namespace: `cid`, `name`, `smiles`, `listkey`, `fastformula`, ...
        identifiers: As given, decoded; None when there are none.
        operation: `record` where none is named.
        arguments: What follows the operation, as the property names.
        format: `JSON`, `TXT` or `CSV`; `PNG` or `SDF` of a record.
        options: The query string's.
    """

    domain: str
    search: str | None
    namespace: str
    identifiers: str | None
    operation: str
    arguments: str
    format: str
    options: dict[str, str]

    @classmethod
    def parse(cls, path: str, query: str, form: str) -> PugRequest:
        """Takes apart what follows `/rest/pug/`.

        Args:
            path: Still percent-encoded.
            query: Without the question mark.
            form: The body of a POSTed form, or nothing.

        Raises:
            PugError: 400 for what has no such shape.
        """
        segments = [unquote(segment) for segment in path.strip("/").split("/")]
        options = dict(parse_qsl(query, keep_blank_values=True))
        posted = dict(parse_qsl(form, keep_blank_values=True))
        if segments and segments[-1].lower() not in _FORMATS:
            raise bad_request("Invalid output format", f"The sample answers in {', '.join(_FORMATS.values())}")
        *segments, format_ = segments
        domain, *segments = segments or [""]
        search = segments.pop(0) if segments and segments[0] in FAST | POLLED else None
        if not segments:
            raise bad_request("Invalid input specification", "No namespace is given")
        namespace = segments.pop(0)
        if namespace == "target" and segments:
            namespace = f"target/{segments.pop(0)}"
        given = posted.get(namespace, options.get(namespace))
        if given is None and segments and not _is_operation(segments):
            given = segments.pop(0)
        operation = segments.pop(0) if segments else "record"
        if operation not in _OPERATIONS:
            raise bad_request("Invalid operation", f"There is no operation {operation}")
        return cls(domain, search, namespace, given, operation, "/".join(segments), _FORMATS[format_.lower()], options)

    def number(self, option: str, default: int | None = None) -> int | None:
        """An option that is a whole number from 0.

        Raises:
            PugError: 400, it is something else.
        """
        text = self.options.get(option)
        if text is None:
            return default
        if not text.isdecimal():
            raise bad_request(f"Invalid {option}", f"{option} must be a whole number")
        return int(text)

    def flag(self, option: str) -> bool:
        return self.options.get(option, "").lower() == "true"

    def numbers(self, what: str) -> list[int]:
        """The identifiers as a list of positive integers; `what` is `CID` or `AID`.

        Raises:
            PugError: 400, there are none, or one is no such number.
        """
        if not (self.identifiers or "").strip():
            raise bad_request(f"Missing {what} list", f"Expected a comma-separated list of {what}s via URL or POST")
        parts = [part.strip() for part in (self.identifiers or "").split(",")]
        if not all(part.isdecimal() and int(part) for part in parts):
            raise bad_request("Invalid ID, must be positive integer")
        return [int(part) for part in parts]


def _is_operation(segments: list[str]) -> bool:
    """Whether what follows the namespace is the operation, so that no identifier stands in the path."""
    return segments[0] in _OPERATIONS and (len(segments) == 1 or segments[0] in ("property", "xrefs"))
