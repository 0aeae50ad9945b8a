"""The facts of a citation, taken from a PubMed record."""

import pytest
from scigate_pubmed.articles import Article, ArticleDate, Author, Book, Journal, MeshTerm, PublicationDate
from scigate_pubmed.citations_item import Kind, elided, item, page_range, without_stop


@pytest.mark.parametrize(
    ("pages", "first", "last"),
    [
        ("737-8", "737", "738"),
        ("1639-41", "1639", "1641"),
        ("1639\u201341", "1639", "1641"),
        ("117 \u2014 26", "117", "126"),
        ("1-9", "1", "9"),
        ("99-101", "99", "101"),
        ("S12-S15", "S12", "S15"),
        ("S12-5", "S12", "S15"),
        ("e100-e9", "e100", "e109"),
        ("5-5", "5", ""),
        ("5", "5", ""),
        ("e100", "e100", ""),
        ("100; discussion 101", "100; discussion 101", ""),
        ("1-3, 7-9", "1-3, 7-9", ""),
        ("A1-B2", "A1-B2", ""),
        ("4002.e26", "4002.e26", ""),
        ("", "", ""),
    ],
)
def test_a_range_of_pages_is_completed(pages: str, first: str, last: str) -> None:
    """737-8 ends at 738; what is no range of numbers stays as it is printed."""
    assert page_range(pages) == (first, last)


@pytest.mark.parametrize(
    ("first", "last", "one", "two"),
    [
        ("737", "738", "8", "38"),
        ("1", "191", "191", "191"),
        ("99", "101", "101", "101"),
        ("1639", "1641", "41", "41"),
        ("1003", "1105", "105", "105"),
        ("12", "15", "5", "15"),
        ("1", "9", "9", "9"),
        ("103", "104", "4", "04"),
        ("S12", "S15", "S15", "S15"),
    ],
)
def test_a_range_is_shortened_only_where_both_ends_are_of_one_length(first: str, last: str, one: str, two: str) -> None:
    """1-191 does not end at 91."""
    assert (elided(first, last, digits=1), elided(first, last, digits=2)) == (one, two)


@pytest.mark.parametrize(
    ("title", "bare"), [("A title.", "A title"), ("Why?", "Why?"), ("And then...", "And then..."), ("", "")]
)
def test_the_full_stop_of_a_title_is_the_styles_business(title: str, bare: str) -> None:
    """PubMed sets one at its end; every style sets its own."""
    assert without_stop(title) == bare


@pytest.mark.parametrize(
    ("article", "kind"),
    [
        (Article(publication_types=["Journal Article", "Review"]), "article"),
        (Article(publication_types=["Preprint", "Journal Article"]), "preprint"),
        (Article(title="Chapter", book=Book(title="Book")), "chapter"),
        (Article(title="Book", book=Book(title="Book")), "book"),
        (Article(publication_types=["Book Chapter"]), "chapter"),
        (Article(), "article"),
    ],
)
def test_a_record_is_an_article_a_book_a_chapter_or_a_preprint(article: Article, kind: Kind) -> None:
    """By its book and its publication types."""
    assert item(article).kind == kind


@pytest.mark.parametrize(
    ("article", "year"),
    [
        (Article(journal_info=Journal(publication_date=PublicationDate(year="2024"))), "2024"),
        (Article(journal_info=Journal(publication_date=PublicationDate(medline_date="1998 Dec-1999 Jan"))), "1998"),
        (Article(article_dates=[ArticleDate(date_type="Electronic", year="2023")]), "2023"),
        (Article(book=Book(publication_date=PublicationDate(year="2001"))), "2001"),
        (Article(), ""),
    ],
)
def test_the_year_is_the_issues_or_else_the_articles_own(article: Article, year: str) -> None:
    """An article that is only online yet has a date all the same."""
    assert item(article).year == year


def test_keywords_and_headings_are_told_once() -> None:
    """In any letter case, the authors' form kept."""
    headings = [MeshTerm(descriptor_name=name, is_major_topic=False) for name in ("ASTHMA", "Models, Molecular")]
    assert item(Article(keywords=["Asthma", "lung"], mesh_terms=headings)).keywords == (
        "Asthma",
        "lung",
        "Models, Molecular",
    )


def test_a_journals_title_has_no_space_before_a_colon() -> None:
    """Cataloguers set one."""
    assert (
        item(Article(journal_info=Journal(title="Toxicon : official journal"))).container == "Toxicon: official journal"
    )


def test_an_abstract_has_no_line_breaks() -> None:
    """An empty line ends a record for some readers of RIS."""
    assert item(Article(abstract_text="AIM: a.\n\nRESULT: b.")).abstract == "AIM: a. RESULT: b."


def test_groups_stand_among_persons() -> None:
    """In the record's order."""
    authors = [Author(last_name="Berg"), Author(collective_name="XYZ Group"), Author(last_name="Li")]
    assert [author.collective_name or author.last_name for author in item(Article(authors=authors)).authors] == [
        "Berg",
        "XYZ Group",
        "Li",
    ]
