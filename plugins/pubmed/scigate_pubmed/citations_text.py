"""Citations as files for reference managers: RIS through rispy, BibTeX through bibtexparser."""

import re
from typing import Final

from scigate_pubmed.articles import Author
from scigate_pubmed.citations_item import Item

_RIS_TYPES: Final = {"article": "JOUR", "book": "BOOK", "chapter": "CHAP", "preprint": "GEN"}
_BIBTEX_TYPES: Final = {"article": "article", "book": "book", "chapter": "inbook", "preprint": "misc"}

_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)
# BibTeX counts braces before TeX reads them, escaped or not, so a single one must not be written as a brace.
_LATEX_UNPAIRED: Final = _LATEX | str.maketrans({"{": r"\textbraceleft{}", "}": r"\textbraceright{}"})


def ris(item: Item) -> str:
    """The item as one RIS record, which ends with its `ER  - ` line."""
    # Start-up: the writers are imported when something is cited for the first time.
    import rispy
    from rispy.writer import RisWriter

    class Single(RisWriter):
        """A record without a number of its own."""

        def set_header(self, count: int) -> str:
            return ""

    chapter = item.kind == "chapter"
    record: dict[str, str | list[str]] = {
        "type_of_reference": _RIS_TYPES[item.kind],
        "authors": [_inverted(author) for author in item.authors],
        "secondary_authors": [_inverted(editor) for editor in item.editors],
        "title": item.title,
        "secondary_title": item.container if chapter else "",
        "alternate_title3": "" if chapter else item.container,
        "journal_name": item.abbreviation,
        "year": item.year,
        "volume": item.volume,
        "number": item.issue,
        "start_page": item.first_page,
        "end_page": item.last_page,
        "publisher": item.publisher,
        "issn": item.issn,
        "doi": item.doi,
        "accession_number": item.pmid,
        "urls": [f"https://pubmed.ncbi.nlm.nih.gov/{item.pmid}/"]
        + ([f"https://www.ncbi.nlm.nih.gov/pmc/articles/{item.pmcid}/"] if item.pmcid else []),
        "keywords": list(item.keywords),
        "abstract": item.abstract,
    }
    return rispy.dumps([_one_line(record)], implementation=Single).rstrip("\n")


def _one_line(record: dict[str, str | list[str]]) -> dict[str, str | list[str]]:
    """The record without empty values and without line breaks: a line of its own would end or break a RIS record."""
    flat = {
        name: [" ".join(one.split()) for one in value] if isinstance(value, list) else " ".join(value.split())
        for name, value in record.items()
    }
    return {name: value for name, value in flat.items() if value}


def _inverted(author: Author) -> str:
    """`Last, First, Suffix`, or a group's name."""
    given = author.first_name or author.initials or ""
    parts = (author.last_name or "", given, author.suffix or "")
    return author.collective_name or ", ".join(filter(None, parts))


def bibtex(item: Item) -> str:
    """The item as one BibTeX entry with the key `pmid` and its PMID."""
    # Start-up: as above.
    from bibtexparser.entrypoint import write_string
    from bibtexparser.library import Library
    from bibtexparser.model import Entry, Field
    from bibtexparser.writer import BibtexFormat

    kind = _BIBTEX_TYPES[item.kind]
    if item.kind == "chapter" and item.editors and item.editors != item.authors:
        # A chapter by others than the book's editors.
        kind = "incollection"
    places = {"article": "journal", "chapter": "booktitle", "preprint": "howpublished"}
    fields = {
        "author": _names(item.authors),
        "title": f"{{{_escaped(item.title)}}}" if item.title else "",
        places.get(item.kind, ""): _escaped(item.container),
        "editor": _names(item.editors),
        "publisher": _escaped(item.publisher),
        "year": item.year,
        "volume": _escaped(item.volume),
        "number": _escaped(item.issue),
        "pages": f"{item.first_page}--{item.last_page}" if item.last_page else _escaped(item.first_page),
        "issn": item.issn,
        # A DOI is looked up as it stands.
        "doi": item.doi,
        "pmid": item.pmid,
        "pmcid": item.pmcid,
        "keywords": ", ".join(f"{{{_escaped(word)}}}" for word in item.keywords),
    }
    entry = Entry(kind, f"pmid{item.pmid}", [Field(name, text) for name, text in fields.items() if name and text])
    form = BibtexFormat()
    form.indent = "  "
    return write_string(Library([entry]), bibtex_format=form).strip()


def _names(authors: tuple[Author, ...]) -> str:
    """Names joined by `and`; braces keep a family name of several words, and a group's name, in one piece."""
    return " and ".join(filter(None, map(_name, authors)))


def _name(author: Author) -> str:
    if author.collective_name:
        return f"{{{{{_escaped(author.collective_name)}}}}}"
    given = _escaped(author.first_name or author.initials or "")
    family = f"{{{_escaped(author.last_name)}}}" if author.last_name else ""
    return ", ".join(filter(None, (family, _escaped(author.suffix or ""), given)))


def _escaped(text: str) -> str:
    """Text in which no sign means anything to TeX, each escaped once."""
    text = re.sub(r"\s+", " ", text)
    return text.translate(_LATEX if _paired(text) else _LATEX_UNPAIRED)


def _paired(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            return False
    return depth == 0
