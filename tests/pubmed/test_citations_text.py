"""RIS and BibTeX, read back by the readers that come with their writers."""

from typing import Any

import bibtexparser
import pytest
import rispy
from hypothesis import given
from hypothesis import strategies as st
from scigate_pubmed.articles import Article, Author, Book, Journal, PublicationDate
from scigate_pubmed.citations_item import item
from scigate_pubmed.citations_text import bibtex, ris

BERG = Author(last_name="van der Berg", first_name="Anna K", initials="AK", suffix="Jr")
GROUP = Author(collective_name="XYZ & Co. Group")


def article(**changes: Any) -> Article:
    facts: dict[str, Any] = {
        "pmid": "11111111",
        "title": "A title.",
        "authors": [BERG, GROUP],
        "doi": "10.1000/X_y%1",
        "pmc_id": "PMC123",
        "keywords": ["asthma", "Models, Molecular"],
        "abstract_text": "AIM: a.\n\n\nRESULT: b.",
        "journal_info": Journal(
            title="Journal of tests",
            iso_abbreviation="J Test",
            issn="1234-5678",
            e_issn="8765-4321",
            volume="3",
            issue="1",
            pages="737-8",
            publication_date=PublicationDate(year="2024"),
        ),
    }
    return Article(**(facts | changes))


def test_a_ris_record_has_its_tags_in_order() -> None:
    """TY first, ER last, two spaces before the dash, complete pages, the bare DOI."""
    assert ris(item(article())).split("\n") == [
        "TY  - JOUR",
        "AU  - van der Berg, Anna K, Jr",
        "AU  - XYZ & Co. Group",
        "TI  - A title",
        "JF  - Journal of tests",
        "JO  - J Test",
        "PY  - 2024",
        "VL  - 3",
        "IS  - 1",
        "SP  - 737",
        "EP  - 738",
        "SN  - 1234-5678",
        "DO  - 10.1000/X_y%1",
        "AN  - 11111111",
        "UR  - https://pubmed.ncbi.nlm.nih.gov/11111111/",
        "UR  - https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/",
        "KW  - asthma",
        "KW  - Models, Molecular",
        "AB  - AIM: a. RESULT: b.",
        "ER  - ",
    ]


@pytest.mark.parametrize(
    ("changes", "kind", "entry"),
    [
        ({}, "JOUR", "article"),
        ({"publication_types": ["Preprint"]}, "GEN", "misc"),
        ({"book": Book(title="A title.")}, "BOOK", "book"),
        ({"book": Book(title="The book", publisher="NCBI")}, "CHAP", "inbook"),
        ({"book": Book(title="The book", editors=[BERG])}, "CHAP", "incollection"),
        ({"book": Book(title="The book", editors=[BERG, GROUP])}, "CHAP", "inbook"),
    ],
)
def test_kinds_have_their_types(changes: dict[str, Any], kind: str, entry: str) -> None:
    """Every item was once a journal article; a chapter by others than the editors is part of a collection."""
    work = item(article(**changes))
    assert ris(work).startswith(f"TY  - {kind}\n")
    text = bibtex(work)
    assert text.startswith(f"@{entry}{{pmid11111111,")
    assert ("journal = " in text) is (entry == "article")
    if kind == "CHAP":
        assert "T2  - The book" in ris(work)
        assert "booktitle = {The book}" in text


@pytest.mark.parametrize("pages", ["5", "e100", "5-5"])
def test_a_single_page_has_no_end(pages: str) -> None:
    """`EP  - 8` was once the end of 737-8."""
    journal = Journal(pages=pages)
    assert "EP  - " not in ris(item(article(journal_info=journal)))
    assert "--" not in bibtex(item(article(journal_info=journal)))


def test_a_bibtex_entry_has_its_fields() -> None:
    """Names in braces, the title in a second pair, pages with two dashes, the DOI as it stands."""
    assert bibtex(item(article())) == "\n".join(
        [
            "@article{pmid11111111,",
            "  author = {{van der Berg}, Jr, Anna K and {{XYZ \\& Co. Group}}},",
            "  title = {{A title}},",
            "  journal = {Journal of tests},",
            "  year = {2024},",
            "  volume = {3},",
            "  number = {1},",
            "  pages = {737--738},",
            "  issn = {1234-5678},",
            "  doi = {10.1000/X_y%1},",
            "  pmid = {11111111},",
            "  pmcid = {PMC123},",
            "  keywords = {{asthma}, {Models, Molecular}}",
            "}",
        ]
    )


@pytest.mark.parametrize(
    ("title", "escaped"),
    [
        ("a & b % c $ d # e _ f", r"a \& b \% c \$ d \# e \_ f"),
        ("{x}", r"\{x\}"),
        ("a\\b", r"a\textbackslash{}b"),
        (r"\{", r"\textbackslash{}\textbraceleft{}"),
        ("}{", r"\textbraceright{}\textbraceleft{}"),
        ("~10^3", r"\textasciitilde{}10\textasciicircum{}3"),
        ("É. coli: α–β", "É. coli: α–β"),
        ("Why?", "Why?"),
    ],
)
def test_every_sign_that_tex_would_read_is_escaped_once(title: str, escaped: str) -> None:
    """A second pass would escape the escapes; a single brace would end the entry."""
    assert f"  title = {{{{{escaped}}}}},\n" in bibtex(item(article(title=title)))


def test_the_electronic_issn_serves_where_there_is_no_other() -> None:
    """Print first."""
    work = item(article(journal_info=Journal(e_issn="8765-4321")))
    assert "issn = {8765-4321}" in bibtex(work)
    assert "SN  - 8765-4321" in ris(work)


def test_nothing_is_written_of_what_is_not_known() -> None:
    """An empty field is none."""
    assert ris(item(Article(pmid="1"))).split("\n") == [
        "TY  - JOUR",
        "AN  - 1",
        "UR  - https://pubmed.ncbi.nlm.nih.gov/1/",
        "ER  - ",
    ]
    assert bibtex(item(Article(pmid="1"))) == "@article{pmid1,\n  pmid = {1}\n}"


texts = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=40)


@given(texts, texts, texts)
def test_what_is_written_is_read_back(title: str, name: str, keyword: str) -> None:
    """Whatever stands in a record, its citation stays one record."""
    work = item(article(title=title, authors=[Author(last_name=name)], keywords=[keyword], abstract_text=title))
    (record,) = rispy.loads(ris(work))
    assert record["type_of_reference"] == "JOUR"
    assert record.get("title", "") == " ".join(work.title.split())
    library = bibtexparser.parse_string(bibtex(work))
    assert not library.failed_blocks
    (entry,) = library.entries
    assert entry.key == "pmid11111111"
    assert entry["pmid"] == "11111111"
