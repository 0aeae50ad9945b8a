"""What a citation is made of: the facts of a PubMed record, brought into the one form that all styles start from."""

import re
from dataclasses import dataclass
from typing import Literal

from scigate_pubmed.articles import Article, Author

Kind = Literal["article", "book", "chapter", "preprint"]

_RANGE = re.compile(r"([A-Za-z]*)(\d+)\s*[-–—]\s*([A-Za-z]*)(\d+)")
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True)
class Item:
    """One work to cite; a text that its record does not give is empty."""

    pmid: str
    kind: Kind
    title: str
    """Without the full stop at its end; a question or exclamation mark stays."""
    authors: tuple[Author, ...]
    editors: tuple[Author, ...]
    container: str
    """The journal, or the book of a chapter."""
    abbreviation: str
    volume: str
    issue: str
    first_page: str
    last_page: str
    """Complete (`738` of `737-8`); empty for a single page or article number."""
    pages: str
    """As PubMed prints them."""
    year: str
    issn: str
    publisher: str
    doi: str
    pmcid: str
    keywords: tuple[str, ...]
    """The authors' keywords, then MeSH headings, none twice."""
    abstract: str

    @property
    def is_article_number(self) -> bool:
        """Whether the place in the journal is an article's number (`e123`), not a page."""
        return not self.last_page and re.fullmatch(r"[Ee]\d+", self.first_page) is not None


def item(article: Article) -> Item:
    """The item of a record."""
    journal, book = article.journal_info, article.book
    types = {kind.casefold() for kind in article.publication_types or ()}
    title = (article.title or "").strip()
    book_title = (book.title or "").strip() if book else ""
    if book:
        kind: Kind = "chapter" if title and book_title and title != book_title else "book"
    elif "preprint" in types:
        kind = "preprint"
    else:
        kind = "book" if "book" in types else "chapter" if "book chapter" in types else "article"
    pages = (journal.pages or "").strip() if journal else ""
    first, last = page_range(pages)
    words: dict[str, str] = {}
    for word in (*(article.keywords or ()), *(term.descriptor_name or "" for term in article.mesh_terms or ())):
        words.setdefault(" ".join(word.casefold().split()), " ".join(word.split()))
    words.pop("", None)
    return Item(
        pmid=article.pmid,
        kind=kind,
        title=without_stop(title or book_title),
        authors=tuple(article.authors or ()),
        editors=tuple((book.editors or ()) if book else ()),
        container=_tight(without_stop(book_title if kind == "chapter" else (journal.title or "") if journal else "")),
        abbreviation=(journal.iso_abbreviation or "") if journal else "",
        volume=(journal.volume or "") if journal else "",
        issue=(journal.issue or "") if journal else "",
        first_page=first,
        last_page=last,
        pages=pages,
        year=_year(article),
        issn=(journal.issn or journal.e_issn or "") if journal else "",
        publisher=(book.publisher or "") if book else "",
        doi=article.doi or "",
        pmcid=article.pmc_id or "",
        keywords=tuple(words.values()),
        abstract=" ".join((article.abstract_text or "").split()),
    )


def page_range(pages: str) -> tuple[str, str]:
    """First and last page, the last one completed: `737-8` is 737 to 738.

    Only a range of numbers with at most one prefix is completed; anything else (`100; discussion 101`) is one text.
    """
    match = _RANGE.fullmatch(pages.strip())
    if match is None:
        return pages.strip(), ""
    before, first, other, last = match.groups()
    if other not in ("", before):
        return pages.strip(), ""
    if len(last) < len(first):
        last = first[: len(first) - len(last)] + last
    return before + first, before + last if last != first else ""


def elided(first: str, last: str, *, digits: int) -> str:
    """The last page without the digits that it shares with the first, at least `digits` of it kept: 8 for 737-738.

    Only a range of plain numbers of one length is shortened.
    """
    if not (first.isdigit() and last.isdigit() and len(first) == len(last)):
        return last
    shared = next(at for at in range(len(first) + 1) if first[:at] != last[:at] or at == len(first)) - 1
    return last[min(shared, max(len(last) - digits, 0)) :]


def without_stop(title: str) -> str:
    """The title without the one full stop that PubMed sets at its end; an ellipsis stays."""
    return title[:-1].rstrip() if title.endswith(".") and not title.endswith("..") else title


def _tight(title: str) -> str:
    """A journal's title without the spaces that cataloguers set before a colon."""
    return re.sub(r"\s+:\s", ": ", title)


def _year(article: Article) -> str:
    """The year of the journal issue or book, else the first of the article's own dates."""
    issues = [article.journal_info.publication_date if article.journal_info else None]
    issues.append(article.book.publication_date if article.book else None)
    for date in issues:
        if date and (found := _YEAR.search(date.year or date.medline_date or "")):
            return found[0]
    return next((date.year for date in article.article_dates or () if date.year), "")
