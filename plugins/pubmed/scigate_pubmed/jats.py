"""JATS, the XML of PMC and Europe PMC, as an article with readable sections.

Text is read in document order with everything in it. What plain text cannot hold is marked where it stood: a table and
a figure by label and caption, a formula by its TeX where the article has that.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from scigate_pubmed.document import Element, is_named
from scigate_pubmed.errors import NcbiUnreadable
from scigate_pubmed.markup import lowered, raised

_BLOCKS: Final = frozenset(
    {
        "p", "list", "def-list", "disp-quote", "boxed-text", "verse-group", "preformat", "code", "statement",
        "fig", "fig-group", "table-wrap", "table-wrap-group", "disp-formula", "disp-formula-group",
        "supplementary-material", "speech", "attrib", "media", "array", "ref-list", "fn-group", "glossary", "notes",
    }
)  # fmt: skip
# What belongs to the printed page or to machines, not to the text.
_SILENT: Final = frozenset(
    {
        "graphic", "inline-graphic", "alternatives", "object-id", "institution-id", "index-term", "alt-text",
        "permissions", "long-desc", "processing-meta", "label", "title",
    }
)  # fmt: skip
_PMCID = re.compile(r"(?:PMC)?(\d+)", re.IGNORECASE)
_TEX = re.compile(r"\\begin\{document\}(.*)\\end\{document\}", re.DOTALL)
_NAMES_AN_ID = re.compile(r"(?:doi|pmid|pmcid)(?:\.org/)?[:\s]*$", re.IGNORECASE)
_LABELS: Final = {"pmid": "PMID", "doi": "DOI", "pmc": "PMCID", "pmcid": "PMCID"}


@dataclass(frozen=True)
class Writer:
    """One author: a person's names, or the name of a group."""

    family: str = ""
    given: str = ""
    group: str = ""


@dataclass(frozen=True)
class Section:
    """A section of the body.

    `text` holds its own paragraphs, an empty line between them; a subsection's text also holds whatever is nested
    deeper, each deeper heading as a paragraph of its own. Loose paragraphs are a section without title.
    """

    title: str
    label: str
    text: str
    subsections: tuple[Section, ...] = ()


@dataclass(frozen=True)
class Reference:
    """One entry of the reference list, made readable."""

    id: str
    label: str
    citation: str


@dataclass(frozen=True)
class JatsArticle:
    """An article; a text that it does not give is empty."""

    pmcid: str
    """`PMC` and digits."""
    pmid: str
    doi: str
    title: str
    abstract: str
    authors: tuple[Writer, ...]
    affiliations: tuple[str, ...]
    journal: str
    issn: str
    volume: str
    issue: str
    pages: str
    keywords: tuple[str, ...]
    article_type: str
    date: tuple[str, str, str]
    """Year, month and day as they are written; empty from the first that is missing."""
    sections: tuple[Section, ...]
    """Empty where the publisher allows only the front matter."""
    references: tuple[Reference, ...]


def articles(root: Element) -> list[JatsArticle]:
    """The articles of a document whose root is an `article` or a `pmc-articleset`, in its order.

    Raises:
        NcbiUnreadable: Markup is nested deeper than any text needs.
    """
    _forget_namespaces(root)
    found = [root] if root.tag == "article" else root.findall("article")
    try:
        return [_article(element) for element in found]
    except RecursionError as error:
        raise NcbiUnreadable("efetch", "is nested too deep to be read") from error


def pmcid(text: str) -> str:
    """`PMC` and digits, whatever of the two was given; empty for anything else."""
    match = _PMCID.fullmatch(text.strip())
    return f"PMC{match[1]}" if match else ""


def _article(article: Element) -> JatsArticle:
    meta, journal = article.find("front/article-meta"), article.find("front/journal-meta")
    ids = {element.get("pub-id-type", ""): _text(element) for element in _all(meta, "article-id")}
    body = article.find("body")
    sections = list(_sections(body)) if body is not None else []
    # Where PMC sets figures and tables apart from the text, their captions follow it.
    apart = _all(article, "floats-group") + _all(article, "back/sec[@sec-type='display-objects']")
    if sections and (captions := "\n\n".join(block for group in apart for block in _blocks(group))):
        sections.append(Section("Figures and tables", "", captions))
    return JatsArticle(
        pmcid=next(filter(None, (pmcid(ids.get(kind, "")) for kind in ("pmcid", "pmc", "pmcaid", "pmc-uid"))), ""),
        pmid=ids.get("pmid", ""),
        doi=ids.get("doi", ""),
        title=_first(meta, "title-group/article-title"),
        abstract=_abstract(meta),
        authors=tuple(_authors(meta)),
        affiliations=tuple(_affiliations(meta)),
        journal=_first(journal, "journal-title-group/journal-title") or _first(journal, "journal-title"),
        issn=_first(journal, "issn"),
        volume=_first(meta, "volume"),
        issue=_first(meta, "issue"),
        pages=_pages(meta),
        keywords=tuple(dict.fromkeys(filter(None, (_text(kwd) for kwd in _all(meta, "kwd-group//kwd"))))),
        article_type=article.get("article-type", ""),
        date=_date(_all(meta, "pub-date")),
        sections=tuple(sections),
        references=tuple(_references(article.find("back"))),
    )


def _forget_namespaces(root: Element) -> None:
    """Local names alone: OAI puts JATS into a namespace, MathML always is in one."""
    for element in root.iter("*"):
        _, brace, local = str(element.tag).rpartition("}")
        if brace:
            element.tag = local


def _all(parent: Element | None, path: str) -> list[Element]:
    return [] if parent is None else parent.findall(path)


def _first(parent: Element | None, path: str) -> str:
    found = None if parent is None else parent.find(path)
    return "" if found is None else _text(found)


def _abstract(meta: Element | None) -> str:
    """The article's own abstract; a graphical one, a teaser or a plain-language summary names its type."""
    for abstract in _all(meta, "abstract"):
        if abstract.get("abstract-type"):
            continue
        parts = [": ".join(filter(None, (_title(sec), " ".join(_blocks(sec))))) for sec in abstract.findall("sec")]
        loose = " ".join(_blocks(abstract, nested=False))
        return "\n\n".join(filter(None, (loose, *parts)))
    return ""


def _authors(meta: Element | None) -> Iterator[Writer]:
    for contributor in _all(meta, "contrib-group/contrib"):
        if contributor.get("contrib-type", "author") != "author":
            continue
        name = contributor.find("name")
        if name is None:
            name = contributor.find("name-alternatives/*")
        if name is None:
            name = contributor.find("string-name")
        group = contributor.find("collab")
        if group is None:
            group = contributor.find("collab-alternatives/collab")
        if name is not None:
            family, given = _first(name, "surname"), _first(name, "given-names")
            suffix = _first(name, "suffix")
            written = Writer(family=" ".join(filter(None, (family, suffix))), given=given)
            yield written if family or given else Writer(family=_text(name))
        elif group is not None and (text := _text(group, without=("contrib-group", "xref"))):
            yield Writer(group=text)


def _affiliations(meta: Element | None) -> list[str]:
    """Each distinct text once, in document order."""
    found: dict[str, None] = {}
    for parent in ("aff", "aff-alternatives/aff", "contrib-group//aff"):
        for affiliation in _all(meta, parent):
            marker = affiliation.find("sup")
            if marker is not None and not (affiliation.text or "").strip() and affiliation[0] is marker:
                marker.text = ""
            text = _joined(affiliation, separator=", ").strip(" ,;")
            found.setdefault(text)
    found.pop("", None)
    return list(found)


def _pages(meta: Element | None) -> str:
    first, last = _first(meta, "fpage"), _first(meta, "lpage")
    if first and last and first != last:
        return f"{first}-{last}"
    return first or _first(meta, "elocation-id")


def _date(dates: list[Element]) -> tuple[str, str, str]:
    """The date of electronic publication, else of print, else the one called `pub`, else the first with a year."""
    dated = [date for date in dates if _first(date, "year")]

    def rank(date: Element) -> int:
        kind = date.get("pub-type")
        return 0 if kind == "epub" else 1 if kind == "ppub" else 2 if date.get("date-type") == "pub" else 3

    if not dated:
        return "", "", ""
    best = min(dated, key=rank)
    month = _first(best, "month") or _first(best, "season")
    return _first(best, "year"), month, _first(best, "day") if month else ""


def _sections(body: Element) -> Iterator[Section]:
    loose: list[str] = []
    for child in body.iterchildren("*"):
        if child.tag != "sec":
            loose += _block(child)
            continue
        if loose:
            yield Section("", "", "\n\n".join(loose))
            loose = []
        if (section := _section(child)) is not None:
            yield section
    if loose:
        yield Section("", "", "\n\n".join(loose))


def _section(sec: Element) -> Section | None:
    below = [
        Section(_title(inner), _label(inner), "\n\n".join(_blocks(inner)))
        for inner in sec.findall("sec")
        if _title(inner) or any(_blocks(inner))
    ]
    section = Section(_title(sec), _label(sec), "\n\n".join(_blocks(sec, nested=False)), tuple(below))
    return section if section.title or section.text or section.subsections else None


def _title(element: Element) -> str:
    return _first(element, "title")


def _label(element: Element) -> str:
    return _first(element, "label")


def _blocks(parent: Element, *, nested: bool = True) -> list[str]:
    """The paragraphs of an element in document order; with `nested`, those of its sections below their headings."""
    found: list[str] = []
    for child in parent.iterchildren("*"):
        if child.tag == "sec":
            if nested:
                heading = " ".join(filter(None, (_label(child), _title(child))))
                found += [*filter(None, [heading]), *_blocks(child)]
        elif child.tag not in _SILENT:
            found += _block(child)
    return found


def _block(element: Element) -> list[str]:
    """One block as paragraphs: several where blocks are nested in it."""
    match element.tag:
        case "list":
            return _list(element)
        case "def-list":
            return [
                ": ".join(filter(None, (_first(item, "term"), _first(item, "def"))))
                for item in _all(element, "def-item")
            ]
        case "table-wrap" | "array":
            return [_left_out("Table", element)]
        case "fig" | "media" | "supplementary-material":
            words = {"fig": "Figure", "media": "Media", "supplementary-material": "Supplement"}
            return [_left_out(words[element.tag], element)]
        case "disp-formula":
            label = _label(element)
            return [f"{_formula(element)} {label}".strip()]
        case "ref-list":
            return []
        case "fn-group" | "glossary" | "notes" | "boxed-text" | "statement" | "fig-group" | "table-wrap-group":
            heading = " ".join(filter(None, (_label(element), _title(element) or _first(element, "caption/title"))))
            inner = [block for child in element.iterchildren("*") if child.tag != "caption" for block in _inner(child)]
            return [*filter(None, [heading]), *inner]
        case "preformat" | "code":
            return list(filter(None, ["".join(map(str, element.itertext())).strip("\n")]))
        case _:
            return _paragraph(element)


def _inner(child: Element) -> list[str]:
    if child.tag == "sec":
        return [*filter(None, [_title(child)]), *_blocks(child)]
    return [] if child.tag in _SILENT else _block(child)


def _paragraph(element: Element) -> list[str]:
    """A paragraph; a block within it (a list, a table, a formula) divides it, and what follows it is kept."""
    if not any(str(child.tag) in _BLOCKS for child in element.iterchildren("*")):
        return list(filter(None, [_text(element, without=("label", "title"))]))
    found: list[str] = []
    run: list[str] = [element.text or ""]
    for child in element:
        if child.tag in ("label", "title"):
            run += [child.tail or ""]
        elif child.tag in _BLOCKS:
            found += [*filter(None, [_collapsed(run)]), *_block(child)]
            run = [child.tail or ""]
        else:
            run += [_piece(child), child.tail or ""]
    return [*found, *filter(None, [_collapsed(run)])]


def _list(element: Element) -> list[str]:
    ordered = element.get("list-type") in ("order", "arabic")
    lines: list[str] = []
    for number, item in enumerate(element.findall("list-item"), start=1):
        label = _label(item)
        marker = f"{label} " if label else f"{number}. " if ordered else "- "
        lines.append(marker + "\n".join(_paragraph(item)))
    return list(filter(None, ["\n".join(lines)]))


def _left_out(word: str, element: Element) -> str:
    """What marks the place of a table, figure or file: its label, title and caption, and that it is not shown."""
    caption = element.find("caption")
    said = [] if caption is None else [_title(caption), *_blocks(caption)]
    name = _label(element).rstrip(".:") or word
    text = " ".join(part if part.endswith((".", "?", "!", ":")) else f"{part}." for part in [name, *filter(None, said)])
    return f"[{text} {word} not shown.]"


def _formula(element: Element) -> str:
    """A formula as its TeX, as its plain letters where it has no markup of its own, or as a mark."""
    tex = next(element.iter("tex-math"), None)
    if tex is not None and (source := "".join(map(str, tex.itertext()))):
        document = _TEX.search(source)
        return f"[formula: {' '.join((document[1] if document else source).split()).strip('$ ')}]"
    if any(True for _ in element.iter("math", "graphic", "inline-graphic")):
        return "[formula not shown]"
    return _text(element)


def _text(element: Element, *, without: tuple[str, ...] = ()) -> str:
    return _collapsed(_pieces(element, without))


def _collapsed(pieces: Iterable[str]) -> str:
    return " ".join("".join(pieces).replace("\u00ad", "").split())


def _pieces(element: Element, without: tuple[str, ...] = ()) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag not in without:
            yield _piece(child, without)
        yield child.tail or ""


def _piece(child: Element, without: tuple[str, ...] = ()) -> str:
    """An element inside a line, without what follows it."""
    if not is_named(child):
        # An entity that the parser left alone, such as &nbsp;; comments and instructions say nothing.
        text = child.text or ""
        return html.unescape(text) if text.startswith("&") else ""
    match child.tag:
        case "sup":
            return raised(_text(child))
        case "sub":
            return lowered(_text(child))
        case "inline-formula" | "disp-formula" | "chem-struct" | "math" | "tex-math":
            return _formula(child)
        case "break":
            return " "
        case "name" | "string-name":
            return _name(child)
        case "p" | "td" | "title" | "list-item" | "verse-line":
            return f" {_text(child, without=without)} "
        case tag if tag in _SILENT - {"title", "label", "alternatives"}:
            return ""
        case _:
            return "".join(_pieces(child, without))


def _name(name: Element) -> str:
    """`Surname Given`; a name in a citation often has no space between the two."""
    if (name.text or "").strip() or any((part.tail or "").strip() for part in name):
        return "".join(_pieces(name))
    return " ".join(filter(None, (_text(part) for part in name)))


def _references(back: Element | None) -> Iterator[Reference]:
    if back is None:
        return
    for ref in back.iter("ref"):
        cited = [citation for child in ref.iterchildren("*") for citation in _citations(child)]
        if text := "; ".join(filter(None, cited)):
            yield Reference(ref.get("id", ""), _label(ref), text)


def _citations(element: Element) -> list[str]:
    match element.tag:
        case "citation-alternatives":
            form = element.find("mixed-citation")
            return [_citation(element[0] if form is None else form)] if len(element) else []
        case "label":
            return []
        case _:
            return [_citation(element)]


def _citation(citation: Element) -> str:
    """A citation as one line; where fields stand side by side without punctuation, they are set apart."""
    return _joined(citation, separator=" ")


def _joined(element: Element, *, separator: str) -> str:
    """The text of an element, `separator` between fields that stand side by side with no text between them."""
    line = element.text or ""
    previous = ""
    for child in element:
        text = "" if child.tag in _SILENT else _field(child, line) if is_named(child) else _piece(child)
        if text and previous and line[-1:] not in "([":
            line = line.rstrip() + _between(line, previous, child, separator)
        line += text
        previous = str(child.tag) if text else previous
        line += child.tail or ""
        if (child.tail or "").strip():
            previous = ""
    return " ".join(line.replace("\u00ad", "").split())


def _field(child: Element, line: str) -> str:
    match child.tag:
        case "person-group" | "institution-wrap" if not (child.text or "").strip():
            return _joined(child, separator=", ") + _edge(child)
        case "etal":
            return _text(child) or "et al."
        case "pub-id" if not _NAMES_AN_ID.search(line):
            kind = child.get("pub-id-type", "")
            return f"{_LABELS.get(kind, kind)} {_text(child)}".strip()
        case _:
            return _collapsed([_piece(child)]) + _edge(child)


def _edge(child: Element) -> str:
    """The space with which some publishers end a field, before more text."""
    return " " if "".join(map(str, child.itertext()))[-1:].isspace() else ""


def _between(line: str, previous: str, child: Element, separator: str) -> str:
    if previous == "fpage" and child.tag == "lpage":
        return "-"
    return " " if line.rstrip()[-1:] in ",;" else separator


__all__ = ["JatsArticle", "Reference", "Section", "Writer", "articles", "pmcid"]
