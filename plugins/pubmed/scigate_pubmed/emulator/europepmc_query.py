"""Europe PMC's search language, as much as a sample needs: words, phrases, fields, ranges, AND, OR, NOT, groups."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from scigate_pubmed.emulator.corpus import Record, plain

_TOKEN = re.compile(
    r"""(?P<bracket>[()])
      | (?P<field>[A-Za-z_]+):(?:\[(?P<range>[^\]]*)\]|"(?P<quoted>[^"]*)"|(?P<bare>[^\s()"\[]+))
      | "(?P<phrase>[^"]*)"
      | (?P<word>[^\s()"]+)""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Work:
    """A record of one corpus; what is in PubMed has the source MED and its PMID as id, also where PMC has it."""

    source: str
    id: str
    record: Record
    server: str = ""

    @property
    def open_access(self) -> bool:
        """Whether it is open access; here every record that PMC has."""
        return bool(self.record.pmcid)


Test = Callable[[Work], bool]

_DEEPEST = 60
"""Groups within each other; each takes several frames of Python's stack."""


class QueryRefused(Exception):
    """The query cannot be read; the text is Europe PMC's kind of explanation."""


def compiled(query: str) -> Test:
    """The test that a query puts to each work.

    Raises:
        QueryRefused: It is empty, or a group in it is not closed.
    """
    tokens = list(_TOKEN.finditer(query))
    if not tokens:
        raise QueryRefused("The query cannot be empty")
    reader = _Reader(tokens)
    test = reader.either()
    if reader.at < len(tokens):
        raise QueryRefused("The query has an unmatched parenthesis")
    return test


class _Reader:
    """Reads tokens from left to right; OR binds weaker than AND, and words side by side are joined by AND."""

    def __init__(self, tokens: list[re.Match[str]]) -> None:
        self._tokens = tokens
        self._depth = 0
        self.at = 0

    def either(self) -> Test:
        tests = [self._both()]
        while self._next("OR"):
            self.at += 1
            tests.append(self._both())
        return tests[0] if len(tests) == 1 else lambda work: any(test(work) for test in tests)

    def _both(self) -> Test:
        tests = [self._one()]
        while self.at < len(self._tokens) and not self._next("OR") and not self._next(")"):
            if self._next("AND"):
                self.at += 1
            tests.append(self._one())
        return tests[0] if len(tests) == 1 else lambda work: all(test(work) for test in tests)

    def _one(self) -> Test:
        if self.at >= len(self._tokens):
            raise QueryRefused("The query ends with an operator")
        token = self._tokens[self.at]
        self.at += 1
        if token[0] in ("NOT", "("):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise QueryRefused("The query is nested too deeply")
        if token[0] == "NOT":
            denied = self._one()
            self._depth -= 1
            return lambda work: not denied(work)
        if token[0] == "(":
            inner = self.either()
            self._depth -= 1
            if not self._next(")"):
                raise QueryRefused("The query has an unmatched parenthesis")
            self.at += 1
            return inner
        if token["field"]:
            return _field(token)
        words = plain(token["phrase"] if token["phrase"] is not None else token[0])
        return lambda work: f" {words} " in work.record.texts["all"]

    def _next(self, text: str) -> bool:
        return self.at < len(self._tokens) and self._tokens[self.at][0] == text


def _field(token: re.Match[str]) -> Test:
    name, quoted, bare = token["field"].upper(), token["quoted"], token["bare"]
    value = (quoted if quoted is not None else bare) or ""
    if token["range"] is not None:
        low, _, high = token["range"].partition(" TO ")
        return lambda work: low.strip() <= str(work.record.date[0]) <= high.strip()
    match name:
        case "SRC":
            return lambda work: work.source == value.upper()
        case "EXT_ID":
            # In quotes the real service finds nothing by it.
            return lambda work: quoted is None and work.id.upper() == value.upper()
        case "PMCID":
            return lambda work: bool(value) and work.record.pmcid == value.upper()
        case "DOI":
            return lambda work: bool(value) and work.record.doi.casefold() == value.casefold()
        case "PUB_YEAR":
            return lambda work: str(work.record.date[0]) == value
        case "OPEN_ACCESS":
            return lambda work: work.open_access is (value.upper() == "Y")
        case "TITLE" | "AUTH" | "JOURNAL":
            text = {"TITLE": "title", "AUTH": "author", "JOURNAL": "journal"}[name]
            return lambda work: f" {plain(value)} " in work.record.texts[text]
        case _:
            # A field that the service does not know has no value anywhere.
            return lambda work: False
