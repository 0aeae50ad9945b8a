"""EFetch: the sample's records in full, as NCBI's XML.

Facts are the records' own. Abstracts are not in the sample: where a record has one, a text written for this emulator
stands in its place and says so.
"""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from scigate_pubmed.emulator.corpus import Heading, Record

_DOCTYPE = (
    '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">'
)
_SAMPLE_ABSTRACT = (
    ("BACKGROUND", "This is sample text of scigate's emulator and not the abstract of the article."),
    ("METHODS", "The title, authors, journal, date, identifiers and headings of this record are facts of PubMed."),
    ("CONCLUSIONS", "Ask the live service for what the authors of this article wrote."),
)


def set_xml(records: Iterable[Record]) -> str:
    """EFetch, `retmode=xml`, for PubMed; a PMID that is not in the sample has no record, and no error."""
    articles = "\n".join(_book_article(one) if one.book else _article(one) for one in records)
    return f'<?xml version="1.0" ?>\n{_DOCTYPE}\n<PubmedArticleSet>\n{articles}\n</PubmedArticleSet>\n'


def error_xml(text: str) -> str:
    """EFetch's refusal of a request without ids."""
    return f'<?xml version="1.0" encoding="UTF-8" ?>\n<eFetchResult>\n\t{_element("ERROR", text)}\n</eFetchResult>\n'


def _article(record: Record) -> str:
    doi = f'<ELocationID EIdType="doi" ValidYN="Y">{escape(record.doi)}</ELocationID>' if record.doi else ""
    issue = (
        _optional("Volume", record.volume)
        + _optional("Issue", record.issue)
        + f"<PubDate>{_date(record.date_parts)}</PubDate>"
    )
    article = (
        f'<Journal><JournalIssue CitedMedium="Print">{issue}</JournalIssue>'
        + _element("Title", record.journal)
        + _element("ISOAbbreviation", record.abbreviation)
        + "</Journal>"
        + _element("ArticleTitle", record.title)
        + f"<Pagination>{_element('MedlinePgn', record.pages)}</Pagination>{doi}"
        + _abstract(record)
        + _authors(record)
        + "".join(_element("Language", code) for code in record.languages)
        + "<PublicationTypeList>"
        + "".join(f'<PublicationType UI="">{escape(name)}</PublicationType>' for name in record.publication_types)
        + "</PublicationTypeList>"
    )
    headings = "".join(_heading(one) for one in record.headings)
    citation = (
        f'<MedlineCitation Status={quoteattr(record.status or "MEDLINE")} Owner="NLM">'
        f'<PMID Version="1">{record.pmid}</PMID>'
        f'<Article PubModel="Print">{article}</Article>'
        f"<MedlineJournalInfo>{_element('MedlineTA', record.abbreviation)}</MedlineJournalInfo>"
        + (f"<MeshHeadingList>{headings}</MeshHeadingList>" if headings else "")
        + "</MedlineCitation>"
    )
    return (
        f"<PubmedArticle>{citation}<PubmedData><PublicationStatus>ppublish</PublicationStatus>"
        f"{_ids(record)}</PubmedData></PubmedArticle>"
    )


def _book_article(record: Record) -> str:
    """A chapter has its authors beside the book's editors; the record of the book itself has editors alone."""
    editors = _people("editors", [_person(*_split(name)) for name in record.editors])
    chapter = _people("authors", _written_by(record)) if record.doc_type == "chapter" else ""
    title = _element("ArticleTitle", record.title) if record.doc_type == "chapter" else ""
    accession = f'<ArticleIdList><ArticleId IdType="bookaccession">{record.accession}</ArticleId></ArticleIdList>'
    return (
        f'<PubmedBookArticle><BookDocument><PMID Version="1">{record.pmid}</PMID>{accession}'
        f"<Book><Publisher>{_element('PublisherName', record.publisher)}</Publisher>"
        f'<BookTitle book="sample">{escape(record.book)}</BookTitle>'
        f"<PubDate>{_date(record.date_parts)}</PubDate>{editors}</Book>{title}"
        + "".join(_element("Language", code) for code in record.languages)
        + chapter
        + "".join(f'<PublicationType UI="">{escape(name)}</PublicationType>' for name in record.publication_types)
        + _abstract(record)
        + f"</BookDocument><PubmedBookData><PublicationStatus>ppublish</PublicationStatus>{_ids(record)}"
        "</PubmedBookData></PubmedBookArticle>"
    )


def _abstract(record: Record) -> str:
    if not record.has_abstract:
        return ""
    parts = "".join(
        f'<AbstractText Label="{label}" NlmCategory="{label}">{escape(text)}</AbstractText>'
        for label, text in _SAMPLE_ABSTRACT
    )
    return f"<Abstract>{parts}</Abstract>"


def _authors(record: Record) -> str:
    people = _written_by(record)
    return f'<AuthorList CompleteYN="Y">{"".join(people)}</AuthorList>' if people else ""


def _written_by(record: Record) -> list[str]:
    return [
        _group(surname) if kind == "CollectiveName" else _person(surname, name[len(surname) :].strip())
        for (name, kind), surname in zip(record.authors, record.surnames, strict=True)
    ]


def _people(kind: str, people: Sequence[str]) -> str:
    return f'<AuthorList Type="{kind}" CompleteYN="Y">{"".join(people)}</AuthorList>' if people else ""


def _person(surname: str, initials: str) -> str:
    return f'<Author ValidYN="Y">{_element("LastName", surname)}{_optional("Initials", initials)}</Author>'


def _group(name: str) -> str:
    return f'<Author ValidYN="Y">{_element("CollectiveName", name)}</Author>'


def _split(name: str) -> tuple[str, str]:
    surname, _, initials = name.rpartition(" ")
    return surname, initials


def _heading(heading: Heading) -> str:
    descriptor, *qualifiers = heading.starred
    return (
        f"<MeshHeading><DescriptorName UI={quoteattr(heading.ui)} MajorTopicYN={_yes(descriptor)}>"
        f"{escape(heading.name)}</DescriptorName>"
        + "".join(
            f'<QualifierName UI="" MajorTopicYN={_yes(starred)}>{escape(name)}</QualifierName>'
            for name, starred in zip(heading.qualifiers, qualifiers, strict=True)
        )
        + "</MeshHeading>"
    )


def _ids(record: Record) -> str:
    ids = [("pubmed", record.pmid), ("doi", record.doi), ("pmc", record.pmcid), ("bookaccession", record.accession)]
    listed = "".join(f'<ArticleId IdType="{kind}">{escape(value)}</ArticleId>' for kind, value in ids if value)
    return f"<ArticleIdList>{listed}</ArticleIdList>"


def _date(parts: Iterable[tuple[str, str]]) -> str:
    return "".join(_element(name, text) for name, text in parts)


def _yes(value: bool) -> str:
    return '"Y"' if value else '"N"'


def _optional(name: str, text: str) -> str:
    return _element(name, text) if text else ""


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>"
