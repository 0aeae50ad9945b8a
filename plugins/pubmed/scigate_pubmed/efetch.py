"""The answer of EFetch for PubMed, articles and books, as records.

Elements are read by their own place in the record and never by a search below it: the reference list at its end
holds the DOIs and PMCIDs of other papers.
"""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from scigate_pubmed.articles import (
    Article,
    ArticleDate,
    Author,
    Book,
    Correction,
    Grant,
    Journal,
    MeshTerm,
    PublicationDate,
    Qualifier,
)
from scigate_pubmed.document import Element, children, records, text_of
from scigate_pubmed.markup import readable

_ROOTS: Final = frozenset({"PubmedArticleSet", "PubmedBookArticleSet"})
_RECORDS: Final = frozenset({"PubmedArticle", "PubmedBookArticle", "DeleteCitation", "DeleteDocument"})
_PMCID: Final = re.compile(r"PMC\d+", re.IGNORECASE)
_ORCID: Final = re.compile(r"(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dXx])")
_YEAR: Final = re.compile(r"\d{4}")
# Comments, cited papers and data sets have a RefType too; these change what the record says.
_CORRECTION: Final = re.compile(r"(Partial)?Retract|Erratum|ExpressionOfConcern|Correctedand|Republished|Update")


@dataclass(frozen=True)
class ArticleSet:
    """What EFetch knows of the PMIDs asked for, in its own order."""

    articles: tuple[Article, ...]
    deleted: tuple[str, ...] = ()
    """PMIDs that PubMed has taken out."""


def parse_articles(body: bytes) -> ArticleSet:
    """The records of a body; PMIDs that PubMed does not have are simply not in it.

    Raises:
        NcbiOtherDocument: The root is not a set of articles.
        NcbiUnreadable: The body is damaged.
    """
    found: list[Article] = []
    deleted: list[str] = []
    for element in records("efetch", body, _ROOTS, _RECORDS):
        match element.tag:
            case "PubmedArticle":
                found.append(_article(element))
            case "PubmedBookArticle":
                found.append(_book_article(element))
            case _:
                deleted += [text_of(pmid) for pmid in children(element, "PMID")]
    return ArticleSet(tuple(article for article in found if article.pmid), tuple(deleted))


def _article(record: Element) -> Article:
    citation = record.find("MedlineCitation")
    article = record.find("MedlineCitation/Article")
    ids = [*children(article, "ArticleIdList/ArticleId"), *children(record, "PubmedData/ArticleIdList/ArticleId")]
    affiliations = _Affiliations()
    authors = _authors(children(article, "AuthorList/Author"), affiliations)
    # Records up to 2014 may name one affiliation beside the list of authors: the first author's.
    if article is not None and (place := text_of(article, "Affiliation")) and authors:
        authors[0].affiliation_indices = affiliations.indices([place])
    pmcid = _id(ids, "pmc", _PMCID)
    pmid = text_of(citation, "PMID")
    return Article(
        pmid=pmid,
        title=readable(_first(article, "ArticleTitle")) or None,
        vernacular_title=readable(_first(article, "VernacularTitle")) or None,
        abstract_text=_abstract(article),
        authors=authors or None,
        affiliations=affiliations.texts or None,
        journal_info=_journal(article),
        doi=_doi(children(article, "ELocationID")) or _id(ids, "doi") or None,
        pmc_id=pmcid or None,
        pubmed_url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
        pmc_url=_pmc_url(pmcid),
        publication_types=_texts(children(article, "PublicationTypeList/PublicationType")),
        keywords=_texts(children(citation, "KeywordList/Keyword")),
        mesh_terms=[_heading(one) for one in children(citation, "MeshHeadingList/MeshHeading")] or None,
        grant_list=[_grant(one) for one in children(article, "GrantList/Grant")] or None,
        article_dates=[_date(one, one.get("DateType")) for one in children(article, "ArticleDate")] or None,
        corrections=_corrections(children(citation, "CommentsCorrectionsList/CommentsCorrections")),
    )


def _book_article(record: Element) -> Article:
    """A book of Bookshelf, or a chapter, which has a title and authors of its own."""
    chapter = record.find("BookDocument")
    book = record.find("BookDocument/Book")
    ids = [*children(chapter, "ArticleIdList/ArticleId"), *children(record, "PubmedBookData/ArticleIdList/ArticleId")]
    affiliations = _Affiliations()
    lists = [*children(chapter, "AuthorList"), *children(book, "AuthorList")]
    # The chapter's list stands first; a book's own is that of the record only where there is no chapter's.
    writers = next((one for one in lists if one.get("Type") != "editors"), None)
    editors = [one for editors in lists if editors.get("Type") == "editors" for one in children(editors, "Author")]
    authors = _authors(children(writers, "Author"), affiliations)
    pmcid = _id(ids, "pmc", _PMCID)
    pmid = text_of(chapter, "PMID")
    dates = (("Contribution", "ContributionDate"), ("Revised", "DateRevised"))
    return Article(
        pmid=pmid,
        title=readable(_first(chapter, "ArticleTitle")) or readable(_first(book, "BookTitle")) or None,
        vernacular_title=readable(_first(chapter, "VernacularTitle")) or None,
        abstract_text=_abstract(chapter),
        authors=authors or None,
        affiliations=affiliations.texts or None,
        book=Book(
            title=readable(_first(book, "BookTitle")) or None,
            publisher=text_of(book, "Publisher/PublisherName") or None,
            accession=_id(ids, "bookaccession") or None,
            editors=_authors(editors, _Affiliations()) or None,
            publication_date=_publication_date(_first(book, "PubDate")),
        ),
        doi=_doi(children(chapter, "ELocationID")) or _doi(children(book, "ELocationID")) or _id(ids, "doi") or None,
        pmc_id=pmcid or None,
        pubmed_url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
        pmc_url=_pmc_url(pmcid),
        publication_types=_texts(children(chapter, "PublicationType")),
        keywords=_texts(children(chapter, "KeywordList/Keyword")),
        grant_list=[_grant(one) for one in children(chapter, "GrantList/Grant")] or None,
        article_dates=[_date(one, kind) for kind, name in dates for one in children(chapter, name)] or None,
    )


class _Affiliations:
    """The distinct affiliations of a record in the order in which they come up."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    @property
    def texts(self) -> list[str]:
        return list(self._places)

    def indices(self, texts: Iterable[str]) -> list[int] | None:
        distinct = dict.fromkeys(filter(None, texts))
        return [self._places.setdefault(text, len(self._places)) for text in distinct] or None


def _authors(elements: Iterable[Element], affiliations: _Affiliations) -> list[Author]:
    """Persons and groups in the record's order, without the misspelt names that ValidYN="N" keeps for searches."""
    found: list[Author] = []
    for element in elements:
        if element.get("ValidYN") == "N":
            continue
        places = [*children(element, "AffiliationInfo/Affiliation"), *children(element, "Affiliation")]
        author = Author(
            last_name=text_of(element, "LastName") or None,
            # Records before 2002 have FirstName and MiddleName in place of ForeName.
            first_name=text_of(element, "ForeName")
            or " ".join(filter(None, (text_of(element, "FirstName"), text_of(element, "MiddleName"))))
            or None,
            initials=text_of(element, "Initials") or None,
            suffix=text_of(element, "Suffix") or None,
            collective_name=readable(_first(element, "CollectiveName")) or None,
            orcid=_orcid(children(element, "Identifier")),
        )
        if author.last_name or author.first_name or author.collective_name:
            author.affiliation_indices = affiliations.indices(readable(place) for place in places)
            found.append(author)
    return found


def _orcid(identifiers: Iterable[Element]) -> str | None:
    """The bare form of an ORCID, which comes bare, without hyphens or as a URL."""
    for identifier in identifiers:
        if identifier.get("Source", "").upper() == "ORCID" and (match := _ORCID.search(text_of(identifier))):
            return "-".join(match.groups()).upper()
    return None


def _abstract(parent: Element | None) -> str | None:
    """The parts of the abstract, each with its label, separated by an empty line."""
    parts: list[str] = []
    for element in children(parent, "Abstract/AbstractText"):
        text, label = readable(element), (element.get("Label") or "").strip()
        if text:
            parts.append(f"{label}: {text}" if label and label.upper() != "UNLABELLED" else text)
    return "\n\n".join(parts) or None


def _journal(article: Element | None) -> Journal | None:
    issns = {one.get("IssnType"): text_of(one) for one in children(article, "Journal/ISSN")}
    pages = text_of(article, "Pagination/MedlinePgn")
    if not pages:
        ends = (text_of(article, "Pagination/StartPage"), text_of(article, "Pagination/EndPage"))
        pages = "-".join(filter(None, dict.fromkeys(ends)))
    journal = Journal(
        title=text_of(article, "Journal/Title") or None,
        iso_abbreviation=text_of(article, "Journal/ISOAbbreviation") or None,
        issn=issns.get("Print") or issns.get(None) or None,
        e_issn=issns.get("Electronic") or None,
        volume=text_of(article, "Journal/JournalIssue/Volume") or None,
        issue=text_of(article, "Journal/JournalIssue/Issue") or None,
        pages=pages or None,
        publication_date=_publication_date(_first(article, "Journal/JournalIssue/PubDate")),
    )
    return journal if journal.model_dump(exclude_none=True) else None


def _publication_date(element: Element | None) -> PublicationDate | None:
    """A date's parts as printed; a season joins the free form, and a free form gives its first year."""
    if element is None:
        return None
    year, season, free = (text_of(element, name) for name in ("Year", "Season", "MedlineDate"))
    free = free or (f"{year} {season}".strip() if season else "")
    first = _YEAR.search(free)
    date = PublicationDate(
        year=year or (first[0] if first else "") or None,
        month=text_of(element, "Month") or None,
        day=text_of(element, "Day") or None,
        medline_date=free or None,
    )
    return date if date.year or date.medline_date else None


def _date(element: Element, kind: str | None) -> ArticleDate:
    year, month, day = (text_of(element, name) or None for name in ("Year", "Month", "Day"))
    return ArticleDate(date_type=kind, year=year, month=month, day=day)


def _doi(locations: Iterable[Element]) -> str:
    dois = [(one.get("ValidYN", "Y"), text_of(one)) for one in locations if one.get("EIdType") == "doi"]
    return next((doi for valid, doi in dois if valid == "Y" and doi), dois[0][1] if dois else "")


def _id(ids: Iterable[Element], kind: str, form: re.Pattern[str] | None = None) -> str:
    """The first id of a kind; with a form, the part that has it, in capitals."""
    for element in ids:
        text = text_of(element)
        if element.get("IdType") == kind and text:
            if form is None:
                return text
            if match := form.search(text):
                return match[0].upper()
    return ""


def _pmc_url(pmcid: str) -> str | None:
    return f"https://www.ncbi.nlm.nih.gov/pmc/articles/{pmcid}/" if pmcid else None


def _heading(element: Element) -> MeshTerm:
    descriptor = _first(element, "DescriptorName")
    qualifiers = [
        Qualifier(qualifier_name=text_of(one), qualifier_ui=one.get("UI") or None, is_major_topic=_starred(one))
        for one in children(element, "QualifierName")
    ]
    return MeshTerm(
        descriptor_name=text_of(descriptor) or None,
        descriptor_ui=None if descriptor is None else descriptor.get("UI") or None,
        is_major_topic=_starred(descriptor) or any(one.is_major_topic for one in qualifiers),
        qualifiers=qualifiers or None,
    )


def _starred(element: Element | None) -> bool:
    return element is not None and element.get("MajorTopicYN") == "Y"


def _grant(element: Element) -> Grant:
    # NCBI encodes the text of grants twice: `CSR&amp;amp;D`.
    number, acronym, agency, country = (
        html.unescape(text_of(element, name)) or None for name in ("GrantID", "Acronym", "Agency", "Country")
    )
    return Grant(grant_id=number, acronym=acronym, agency=agency, country=country)


def _corrections(elements: Iterable[Element]) -> list[Correction] | None:
    return [
        Correction(kind=kind, pmid=text_of(one, "PMID") or None, reference=text_of(one, "RefSource") or None)
        for one in elements
        if _CORRECTION.match(kind := one.get("RefType", ""))
    ] or None


def _texts(elements: Iterable[Element]) -> list[str] | None:
    return list(dict.fromkeys(filter(None, (readable(one) for one in elements)))) or None


def _first(parent: Element | None, path: str) -> Element | None:
    return None if parent is None else parent.find(path)
