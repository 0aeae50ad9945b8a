"""PubMed's query language over the sample.

AND, OR and NOT (in capitals) apply strictly from left to right, parentheses group, words side by side are joined by
AND, a tag in brackets names the field of the words or the phrase before it, `*` ends a stem, and two dates with a
colon between them are a range. What is found nowhere is dropped from the query and reported, as PubMed does:
`hypertension fleegle[mh]` finds what `hypertension` finds.

MeSH headings are matched by name; the tree below them is not in the sample, so only Animals explodes.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scigate_pubmed.emulator.corpus import Record, plain

_FIELDS: dict[str, tuple[str, ...]] = {
    "All Fields": ("all fields", "all"),
    "Title": ("title", "ti"),
    "Title/Abstract": ("title/abstract", "tiab"),
    "Text Word": ("text word", "text words", "tw"),
    "Author": ("author", "au", "author name", "auth"),
    "Author - First": ("author - first", "first author", "first author name", "1au"),
    "Author - Last": ("author - last", "last author", "last author name", "lastau"),
    "Editor": ("editor", "ed"),
    "Journal": ("journal", "ta", "jour", "journal title"),
    "Book": ("book", "bt", "btit"),
    "MeSH Terms": ("mesh terms", "mh", "mesh"),
    "MeSH Major Topic": ("mesh major topic", "majr"),
    "MeSH Subheading": ("mesh subheading", "sh", "subh"),
    "Publication Type": ("publication type", "pt", "ptyp"),
    "Language": ("language", "la", "lang"),
    "UID": ("uid", "pmid"),
    "Article Identifier": ("article identifier", "aid", "doi", "lid", "location id"),
    "Volume": ("volume", "vi", "vol"),
    "Issue": ("issue", "ip", "iss"),
    "Pagination": ("pagination", "pg", "page"),
    "Filter": ("filter", "sb", "subset"),
    "Date - Publication": ("date - publication", "dp", "pdat", "publication date"),
    "Date - Modification": ("date - modification", "mdat", "lr", "date - last revised"),
    "Date - Entrez": ("date - entrez", "edat", "date - entry", "date - create", "crdt"),
}
FIELD_NAMES = [(aliases[1].upper(), name) for name, aliases in _FIELDS.items()]
"""Short and full name of every field, as EInfo lists them."""

_BY_ALIAS = {alias: name for name, aliases in _FIELDS.items() for alias in aliases}
_DATES = frozenset(name for name in _FIELDS if name.startswith("Date"))
_WORDWISE = {"All Fields": "all", "Title": "title", "Title/Abstract": "title", "Text Word": "text"}
_WHOLE = {
    "Author": "author", "Author - First": "first author", "Author - Last": "last author", "Editor": "editor",
    "Journal": "journal", "Book": "book", "MeSH Terms": "mesh", "MeSH Major Topic": "major",
    "MeSH Subheading": "subheading", "Publication Type": "type", "Language": "language", "UID": "pmid",
    "Article Identifier": "doi", "Volume": "volume", "Issue": "issue", "Pagination": "pages",
}  # fmt: skip
_AUTHORS = frozenset({"Author", "Author - First", "Author - Last", "Editor"})
_ANIMALS = ("animals", "humans", "mice", "rats", "rabbits", "dogs", "cats", "cattle", "swine", "haplorhini", "chickens")
_STOPWORDS = frozenset(
    (
        "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "into", "is", "it", "no", "not", "of",
        "on", "or", "that", "the", "their", "this", "to", "was", "with",
    )
)  # fmt: skip

_TOKEN = re.compile(r'\s+|[()]|"(?P<phrase>[^"]*)"?|\[(?P<tag>[^\]]*)\]?|(?P<word>[^\s()"\[]+)')
# 2020/01/01[pdat] : 2024[pdat], which means the same as 2020/01/01:2024[pdat].
_RANGE = re.compile(r"""["']?([\d/-]+)["']?\s*\[([^\]]*)\]\s*:\s*["']?([\d/-]+)["']?\s*\[\2\]""")

Hits = frozenset[int]


@dataclass
class Matches:
    """What a term finds: positions in the sample, the term as it was understood, and what was left out of it."""

    hits: Hits = frozenset()
    translation: str = ""
    words: list[str] = field(default_factory=list[str])
    """Words that were looked for, which relevance is judged by."""
    unmatched: list[str] = field(default_factory=list[str])
    unknown_fields: list[str] = field(default_factory=list[str])
    unmatched_quotes: list[str] = field(default_factory=list[str])
    ignored: list[str] = field(default_factory=list[str])


@dataclass
class _Group:
    """What stands between two parentheses, read so far; `hits` is None while nothing in it counts."""

    hits: Hits | None = None
    translation: str = ""
    operator: str = ""

    def join(self, hits: Hits | None, translation: str) -> None:
        operator, self.operator = self.operator or "AND", ""
        if hits is None:
            return
        if self.hits is None:
            if operator != "NOT":
                self.hits, self.translation = hits, translation
            return
        match operator:
            case "OR":
                self.hits |= hits
            case "NOT":
                self.hits -= hits
            case _:
                self.hits &= hits
        self.translation += f" {operator} {translation}"


def search(term: str, sample: Sequence[Record]) -> Matches:
    """Evaluate a term over the sample."""
    return _Search(sample).run(term)


class _Search:
    def __init__(self, sample: Sequence[Record]) -> None:
        self._sample = sample
        self._found = Matches()
        # A stack and not recursion: a term may nest as deep as it likes.
        self._groups = [_Group()]
        self._pending: list[tuple[str, bool]] = []
        """Words and (True) quoted phrases that no tag or operator has closed yet."""

    def run(self, term: str) -> Matches:
        for token in _TOKEN.finditer(_RANGE.sub(r"\1:\3[\2]", term)):
            text = token[0]
            if token["phrase"] is not None:
                self._flush()
                self._pending.append((token["phrase"], True))
            elif token["tag"] is not None:
                self._tagged(token["tag"])
            elif text in ("AND", "OR", "NOT"):
                self._flush()
                self._groups[-1].operator = text
            elif text == "(":
                self._flush()
                self._groups.append(_Group())
            elif text == ")":
                self._flush()
                self._close()
            elif text.strip():
                if self._pending and self._pending[-1][1]:
                    self._flush()
                self._pending.append((text, False))
        self._flush()
        while len(self._groups) > 1:
            self._close()
        self._found.hits = self._groups[0].hits or frozenset()
        self._found.translation = self._groups[0].translation
        return self._found

    def _close(self) -> None:
        if len(self._groups) > 1:
            inner = self._groups.pop()
            self._groups[-1].join(inner.hits, f"({inner.translation})")

    def _flush(self) -> None:
        """Look for what no tag follows, in all fields."""
        pending, self._pending = self._pending, []
        if pending and pending[0][1]:
            self._phrase(pending[0][0], "All Fields")
        elif pending:
            self._words([text for text, _ in pending], "All Fields")

    def _tagged(self, tag: str) -> None:
        pending, self._pending = self._pending, []
        if not pending:
            return
        alias, _, option = tag.strip().lower().partition(":")
        name = _BY_ALIAS.get(alias.strip())
        words = [text for text, _ in pending]
        if name is None:
            self._found.unknown_fields.append(tag.strip())
            name = "All Fields"
        if name in _DATES:
            self._dates(" ".join(words), tag.strip())
        elif name == "Filter" or [word.lower() for word in words] == ["hasabstract"]:
            self._filter(" ".join(words), name)
        elif name in _WORDWISE:
            if pending[0][1]:
                self._phrase(words[0], name)
            else:
                self._words(words, name)
        else:
            self._whole(" ".join(words), name, exact=pending[0][1], explode=option != "noexp")

    def _words(self, words: list[str], name: str) -> None:
        parts = [(word, plain(word)) for word in words]
        if all(not text or text in _STOPWORDS for _, text in parts):
            self._found.ignored += [word for word, text in parts if text]
            self._groups[-1].operator = ""
            return
        inner = _Group()
        for word, text in parts:
            if word.lower() == "hasabstract":
                inner.join(self._where(lambda record: record.has_abstract), "hasabstract[All Fields]")
            elif text and text not in _STOPWORDS:
                shown = word if name == "All Fields" else f"{word}[{name}]"
                inner.join(self._text(text, _WORDWISE[name], shown, stem=word.endswith("*")), f'"{text}"[{name}]')
        several = " AND " in inner.translation
        self._groups[-1].join(inner.hits, f"({inner.translation})" if several else inner.translation)

    def _phrase(self, phrase: str, name: str) -> None:
        text = plain(phrase)
        if not text:
            self._groups[-1].operator = ""
            return
        pattern = f" {text}" if phrase.endswith("*") else f" {text} "
        hits = self._where(lambda record: pattern in record.texts[_WORDWISE[name]])
        if hits:
            self._found.words += text.split()
            self._groups[-1].join(hits, f'"{text}"[{name}]')
        else:
            self._found.unmatched_quotes.append(f'"{phrase}"')
            self._words(phrase.split(), name)

    def _text(self, text: str, column: str, shown: str, *, stem: bool) -> Hits | None:
        pattern = f" {text}" if stem else f" {text} "
        hits = self._where(lambda record: pattern in record.texts[column])
        self._found.words += text.split()
        return hits or self._missing(shown)

    def _whole(self, value: str, name: str, *, exact: bool, explode: bool) -> None:
        """A value of a field as a whole: a heading, a journal, an author (of whom further initials may follow)."""
        text, column = plain(value), _WHOLE[name]
        patterns = [f"| {text} |"]
        if value.endswith("*"):
            patterns = [f"| {text}"]
        elif name in _AUTHORS and not exact:
            # "Smith" finds every Smith, "Smith J" finds Smith J and Smith JA.
            patterns = [f"| {text} "] if " " not in text else [f"| {text}"]
        elif text == "animals" and explode and name == "MeSH Terms":
            patterns = [f"| {heading} |" for heading in _ANIMALS]
        hits = (
            self._where(lambda record: any(pattern in record.texts[column] for pattern in patterns)) if text else None
        )
        self._found.words += text.split()
        self._groups[-1].join(hits or self._missing(f"{value}[{name}]"), f'"{text}"[{name}]')

    def _filter(self, value: str, name: str) -> None:
        tests: dict[str, Callable[[Record], bool]] = {
            "hasabstract": lambda record: record.has_abstract,
            "free full text": lambda record: bool(record.pmcid),
            "pubmed pmc": lambda record: bool(record.pmcid),
            "medline": lambda record: record.status == "MEDLINE",
            "humans": lambda record: "| humans |" in record.texts["mesh"],
            "review": lambda record: "| review |" in record.texts["type"],
        }
        test = tests.get(plain(value))
        shown = f"{value.lower()}[{name}]"
        self._groups[-1].join(self._where(test) if test else self._missing(shown), shown)

    def _dates(self, value: str, tag: str) -> None:
        first, _, last = (part.strip() for part in value.partition(":"))
        low, high = date_bounds(first), date_bounds(last or first)
        if low is None or high is None:
            self._groups[-1].join(self._missing(f"{value}[{tag}]"), "")
            return
        shown = f"{first}[{tag}] : {last}[{tag}]" if last else f"{first}[{tag}]"
        self._groups[-1].join(self._where(lambda record: low[0] <= record.date <= high[1]), shown)

    def _where(self, test: Callable[[Record], bool]) -> Hits:
        return frozenset(position for position, record in enumerate(self._sample) if test(record))

    def _missing(self, shown: str) -> None:
        self._found.unmatched.append(shown)


def date_bounds(text: str) -> tuple[tuple[int, int, int], tuple[int, int, int]] | None:
    """The first and the last day of `YYYY`, `YYYY/MM` or `YYYY/MM/DD`; None for anything else."""
    match = re.fullmatch(r"(\d{4})(?:[/-](\d{1,2}))?(?:[/-](\d{1,2}))?", text.strip().strip('"'))
    if match is None:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    return (year or 0, month or 1, day or 1), (year or 0, month or 12, day or 31)
