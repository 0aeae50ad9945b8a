"""A PubMed record in full, as the tools show it and as citations are made from it."""

from pydantic import Field
from scigate import Record


class Author(Record):
    """A person (`last_name`, ...) or a group (`collective_name`) in the order of the record."""

    last_name: str | None = None
    first_name: str | None = None
    initials: str | None = None
    suffix: str | None = None
    collective_name: str | None = None
    affiliation_indices: list[int] | None = None
    """Positions in the article's affiliations, from 0."""
    orcid: str | None = None


class PublicationDate(Record):
    """A journal issue's date, its parts as MEDLINE prints them."""

    year: str | None = None
    month: str | None = None
    day: str | None = None
    medline_date: str | None = None
    """A date without month and day, such as 2000 Spring."""


class Journal(Record):
    """The journal and the place in it."""

    title: str | None = None
    iso_abbreviation: str | None = None
    issn: str | None = None
    """Of the printed issue."""
    e_issn: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    publication_date: PublicationDate | None = None


class Book(Record):
    """The book of a Bookshelf record."""

    title: str | None = None
    publisher: str | None = None
    accession: str | None = None
    """Bookshelf's NBK number."""
    editors: list[Author] | None = None
    publication_date: PublicationDate | None = None


class Qualifier(Record):
    """A subheading of a MeSH heading."""

    qualifier_name: str
    qualifier_ui: str | None = None
    is_major_topic: bool


class MeshTerm(Record):
    """A MeSH heading of a record; it is a major topic when it or one of its qualifiers is starred."""

    descriptor_name: str | None = None
    descriptor_ui: str | None = None
    is_major_topic: bool
    qualifiers: list[Qualifier] | None = None


class Grant(Record):
    """A grant that paid for the work."""

    grant_id: str | None = None
    acronym: str | None = None
    agency: str | None = None
    country: str | None = None


class ArticleDate(Record):
    """A date of the article itself, beside that of the journal issue."""

    date_type: str | None = None
    year: str | None = None
    month: str | None = None
    day: str | None = None


class Correction(Record):
    """Another record that retracts, corrects, questions, replaces or updates this one, or is so treated by it."""

    kind: str = Field(description="Such as RetractionIn.")
    pmid: str | None = None
    reference: str | None = None


class Article(Record):
    """One PubMed record; what it does not have is None, never an empty list."""

    pmid: str = ""
    title: str | None = None
    vernacular_title: str | None = None
    """In the article's own language; `title` is then English, in brackets."""
    abstract_text: str | None = None
    authors: list[Author] | None = None
    affiliations: list[str] | None = None
    journal_info: Journal | None = None
    book: Book | None = None
    doi: str | None = None
    pmc_id: str | None = None
    pubmed_url: str | None = None
    pmc_url: str | None = None
    publication_types: list[str] | None = None
    keywords: list[str] | None = None
    mesh_terms: list[MeshTerm] | None = None
    grant_list: list[Grant] | None = None
    article_dates: list[ArticleDate] | None = None
    corrections: list[Correction] | None = None
