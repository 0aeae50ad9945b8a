"""Whether a response of E-utilities is an answer: its status, and what a body with status 200 may really be.

The upstream asks this to decide on a retry, the client to decide what to raise; it reads the first bytes and looks for
marks of trouble, and leaves the parsing of true answers to the client.
"""

import json
import re
from typing import cast

import httpx

from scigate_pubmed.errors import (
    NcbiError,
    NcbiKeyRefused,
    NcbiNotFound,
    NcbiRateLimited,
    NcbiUnavailable,
)

_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})

_PROLOG = re.compile(rb"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!DOCTYPE[^>\[]*(?:\[[^\]]*\]\s*)?>\s*)?", re.IGNORECASE)
_HTML = re.compile(rb"\s*(?:<\?xml[^>]*\?>\s*)?<(?:!DOCTYPE\s+html|html)\b", re.IGNORECASE)
# Capitals only: <error> in lower case belongs to one record, not to the answer.
_XML_ERROR = re.compile(rb"<ERROR\b[^>]*>([^<]+)</ERROR>")
_TRACE = re.compile(r"NCBI C\+\+ Exception|\bC\w*Exception\b|CTxRawClient|TXCLIENT|readAll EOF")
_NOT_FOUND = re.compile(r"cannot get document summary|UID=\S+: not found|empty id list", re.IGNORECASE)
# Refusals of the request itself, which come back the same however often it is sent.
_LASTING = re.compile(
    r"'retstart' cannot be larger|invalid db name|can ?not retrieve dbinfo|neither query_key nor id"
    r"|id parameter is empty|empty term",
    re.IGNORECASE,
)


def fault(response: httpx.Response) -> NcbiError | None:
    """What is wrong with a response whose body has been read, or None if it looks like an answer.

    A refusal that its status alone explains (404, 414, ...) is left to `httpx.Response.raise_for_status`.
    """
    body, status = response.content, response.status_code
    if status == 429:
        return NcbiRateLimited(_retry_after(response))
    text = error_text(body) if body else None
    if text is not None and (status < 400 or status == 400):
        return _named(text, status, response)
    if status in _TRANSIENT:
        return NcbiUnavailable(f"NCBI answered with HTTP status {status}", status=status)
    if status >= 500:
        return NcbiUnavailable(f"NCBI answered with HTTP status {status}", status=status, transient=False)
    return None if status >= 300 else _disguised(body)


def is_transient(response: httpx.Response) -> bool:
    """Whether the same request may well succeed a little later."""
    found = fault(response)
    return found is not None and found.transient


def is_answer(response: httpx.Response) -> bool:
    """Whether a response with status 200 can be served again: no fault, and not a damaged body."""
    if fault(response) is not None:
        return False
    body = response.content.strip()
    if body[:1] == b"{":
        try:
            json.loads(body, strict=False)
        except (ValueError, RecursionError):
            return False
        return True
    return not body.startswith(b"<") or body.endswith(b">")


def is_refusal(response: httpx.Response) -> bool:
    """Whether the ID converter cannot read an id that it was given: always 400, and 404 on its former host."""
    if response.status_code == 400:
        return True
    if response.status_code != 404:
        return False
    try:
        answer: object = json.loads(response.content)
    except (ValueError, RecursionError):
        return False
    return isinstance(answer, dict) and cast("dict[str, object]", answer).get("status") == "error"


def error_text(body: bytes) -> str | None:
    """The error that stands in a body in place of an answer, or None.

    Looked for in XML as `<ERROR>` at any depth, in JSON as `error` at the top and as `ERROR` one level below it.
    """
    if body.lstrip()[:1] != b"{":
        texts = [found.decode(errors="replace") for found in _XML_ERROR.findall(body)] if b"<ERROR" in body else []
    elif b'"error"' in body or b'"ERROR"' in body:
        texts = _json_errors(body)
    else:
        return None
    said = "; ".join(filter(None, (" ".join(text.split()) for text in texts)))
    return said or None


def _json_errors(body: bytes) -> list[str]:
    try:
        # PubMed breaks lines inside the text of its retstart error, which strict JSON forbids.
        answer: object = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return []
    if not isinstance(answer, dict):
        return []
    top = cast("dict[str, object]", answer)
    below = [cast("dict[str, object]", value).get("ERROR") for value in top.values() if isinstance(value, dict)]
    return [part for value in (top.get("error"), *below) for part in scalars(value)]


def scalars(value: object) -> list[str]:
    """What may come as nothing, one value or a list of values, as a list of text."""
    if value is None or isinstance(value, dict):
        return []
    if isinstance(value, list):
        return [part for item in cast("list[object]", value) for part in scalars(item)]
    return [str(value)]


def _named(text: str, status: int, response: httpx.Response) -> NcbiError:
    if "rate limit" in text.lower():
        return NcbiRateLimited(_retry_after(response))
    if "api key invalid" in text.lower():
        return NcbiKeyRefused()
    if _NOT_FOUND.search(text):
        return NcbiNotFound()
    if _TRACE.search(text):
        return NcbiUnavailable("a service behind NCBI's front end crashed", status=status)
    return NcbiUnavailable(
        "NCBI reported an error in place of an answer", status=status, transient=not _LASTING.search(text)
    )


def _disguised(body: bytes) -> NcbiError | None:
    if _HTML.match(body):
        return NcbiUnavailable("NCBI sent a web page in place of an answer")
    prolog = _PROLOG.match(body)
    if not body[prolog.end() if prolog else 0 :].strip():
        return NcbiUnavailable("NCBI sent the beginning of a document and nothing else")
    if body.lstrip()[:1] not in b"{[<" and _TRACE.search(body[:4096].decode(errors="replace")):
        return NcbiUnavailable("a service behind NCBI's front end crashed")
    return None


def _retry_after(response: httpx.Response) -> float | None:
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isdigit() else None
