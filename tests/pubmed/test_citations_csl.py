"""Citations in APA 7, MLA 9 and Vancouver against the rules of the manuals."""

from typing import Any

import pytest
from scigate_pubmed.articles import Article, Author, Book, Journal, PublicationDate
from scigate_pubmed.citations_csl import CslStyle, rendered
from scigate_pubmed.citations_item import item

BERG = Author(last_name="Berg", first_name="Anna K", initials="AK")
VAN = Author(last_name="van der Berg", first_name="Jan-Peter", initials="JP", suffix="Jr")
GROUP = Author(collective_name="XYZ Study Group")


def article(**changes: Any) -> Article:
    """An article with everything a citation shows, but for what a test changes or takes away."""
    journal = {
        "title": "Journal of tests",
        "iso_abbreviation": "J. Test",
        "volume": "3",
        "issue": "1",
        "pages": "737-8",
        "publication_date": PublicationDate(year="2024"),
    }
    journal |= {name: changes.pop(name) for name in list(changes) if name in journal and name != "title"}
    facts = {"pmid": "1", "title": "A title of c-fos.", "authors": [BERG], "doi": "10.1000/Xy"}
    return Article(**{**facts, **changes, "journal_info": Journal(**journal)})


def people(count: int) -> list[Author]:
    return [Author(last_name=f"N{number}", first_name="Ann B", initials="AB") for number in range(1, count + 1)]


def cited(style: CslStyle, **changes: Any) -> str:
    return rendered(item(article(**changes)), style)


REST = "(2024). A title of c-fos. *Journal of Tests*, *3*(1), 737–738. https://doi.org/10.1000/Xy"


@pytest.mark.parametrize(
    ("authors", "shown"),
    [
        ([BERG], "Berg, A. K."),
        ([BERG, VAN], "Berg, A. K., & van der Berg, J.-P., Jr."),
        ([GROUP], "XYZ Study Group."),
        ([BERG, GROUP], "Berg, A. K., & XYZ Study Group."),
        ([Author(last_name="Makar", initials="AB")], "Makar, A. B."),
        ([Author(last_name="Makar", first_name="AB", initials="AB")], "Makar, A. B."),
        ([Author(last_name="Ng", first_name="Émile  Åke", initials="ÉÅ")], "Ng, É. Å."),
        ([Author(last_name="Beethoven", first_name="Ludwig van", initials="Lv")], "Beethoven, L. van"),
        ([Author(last_name="Plato")], "Plato."),
        ([Author(last_name="King", first_name="M", suffix="3rd")], "King, M., 3rd."),
        (people(20), ", ".join(f"N{n}, A. B." for n in range(1, 20)) + ", & N20, A. B."),
        (people(21), ", ".join(f"N{n}, A. B." for n in range(1, 20)) + ", . . . N21, A. B."),
    ],
)
def test_apa_names_authors(authors: list[Author], shown: str) -> None:
    """Up to twenty are all named; of more, the first nineteen and the last (Publication Manual, 9.8)."""
    assert cited("apa", authors=authors) == f"{shown} {REST}"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"authors": None},
         "A title of c-fos. (2024). *Journal of Tests*, *3*(1), 737–738. https://doi.org/10.1000/Xy"),
        ({"publication_date": None, "doi": None},
         "Berg, A. K. (n.d.). A title of c-fos. *Journal of Tests*, *3*(1), 737–738."),
        ({"title": "Why p<.05?", "doi": None}, "Berg, A. K. (2024). Why p<.05? *Journal of Tests*, *3*(1), 737–738."),
        ({"pages": "e123", "doi": None},
         "Berg, A. K. (2024). A title of c-fos. *Journal of Tests*, *3*(1), Article e123."),
        ({"pages": "5", "issue": None, "doi": None},
         "Berg, A. K. (2024). A title of c-fos. *Journal of Tests*, *3*, 5."),
        ({"volume": None, "doi": None}, "Berg, A. K. (2024). A title of c-fos. *Journal of Tests*, (1), 737–738."),
        ({"title": "On eLife", "doi": None}, "Berg, A. K. (2024). On eLife. *Journal of Tests*, *3*(1), 737–738."),
        ({"title": "It ends...", "doi": None}, "Berg, A. K. (2024). It ends... *Journal of Tests*, *3*(1), 737–738."),
    ],
)  # fmt: skip
def test_apa_shows_what_there_is(changes: dict[str, Any], text: str) -> None:
    """Without author the title moves to the front; without date it is n.d.; an article number is named as one."""
    assert cited("apa", **changes) == text


@pytest.mark.parametrize(
    ("authors", "shown"),
    [
        ([BERG], "Berg, Anna K."),
        ([BERG, VAN], "Berg, Anna K., and Jan-Peter van der Berg Jr."),
        ([VAN], "van der Berg, Jan-Peter, Jr."),
        ([GROUP], "XYZ Study Group."),
        ([BERG, GROUP], "Berg, Anna K., and XYZ Study Group."),
        (people(3), "N1, Ann B., et al."),
    ],
)
def test_mla_names_authors(authors: list[Author], shown: str) -> None:
    """One or two are named in full, the second in reading order; of three or more the first (MLA Handbook, 5.6-5.8)."""
    rest = "“A title of c-fos.” *Journal of Tests*, vol. 3, no. 1, 2024, pp. 737–38, https://doi.org/10.1000/Xy."
    assert cited("mla", authors=authors) == f"{shown} {rest}"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"authors": None},
         "“A title of c-fos.” *Journal of Tests*, vol. 3, no. 1, 2024, pp. 737–38, https://doi.org/10.1000/Xy."),
        ({"publication_date": None, "doi": None},
         "Berg, Anna K. “A title of c-fos.” *Journal of Tests*, vol. 3, no. 1, pp. 737–38."),
        ({"title": "Why?", "pages": "5", "doi": None},
         "Berg, Anna K. “Why?” *Journal of Tests*, vol. 3, no. 1, 2024, p. 5."),
        ({"pages": "1-191", "doi": None},
         "Berg, Anna K. “A title of c-fos.” *Journal of Tests*, vol. 3, no. 1, 2024, pp. 1–191."),
        ({"title": "So!", "pages": "e9", "doi": None},
         "Berg, Anna K. “So!” *Journal of Tests*, vol. 3, no. 1, 2024, p. e9."),
    ],
)  # fmt: skip
def test_mla_shows_what_there_is(changes: dict[str, Any], text: str) -> None:
    """A question mark stays inside the quotation marks without a stop; one page is p."""
    assert cited("mla", **changes) == text


@pytest.mark.parametrize(
    ("authors", "shown"),
    [
        ([BERG], "Berg AK."),
        ([VAN, BERG], "van der Berg JP Jr, Berg AK."),
        ([GROUP, BERG], "XYZ Study Group, Berg AK."),
        ([Author(last_name="Ng", first_name="Émile Åke")], "Ng ÉÅ."),
        (people(6), "N1 AB, N2 AB, N3 AB, N4 AB, N5 AB, N6 AB."),
        (people(7), "N1 AB, N2 AB, N3 AB, N4 AB, N5 AB, N6 AB, et al."),
    ],
)
def test_vancouver_names_authors(authors: list[Author], shown: str) -> None:
    """Six are named, then et al.; initials without stops, in capitals (ICMJE, sample references, 1)."""
    rest = "A title of c-fos. J Test. 2024;3(1):737-8. doi: 10.1000/Xy"
    assert cited("vancouver", authors=authors) == f"{shown} {rest}"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"authors": None, "doi": None}, "A title of c-fos. J Test. 2024;3(1):737-8."),
        ({"volume": None, "issue": None, "doi": None}, "Berg AK. A title of c-fos. J Test. 2024:737-8."),
        ({"title": "Why?", "doi": None}, "Berg AK. Why? J Test. 2024;3(1):737-8."),
        ({"pages": "e123", "doi": None}, "Berg AK. A title of c-fos. J Test. 2024;3(1):e123."),
        ({"pages": "1-191", "doi": None}, "Berg AK. A title of c-fos. J Test. 2024;3(1):1-191."),
        ({"iso_abbreviation": None, "doi": None}, "Berg AK. A title of c-fos. Journal of tests. 2024;3(1):737-8."),
        ({"iso_abbreviation": "J Test", "pages": None, "doi": None}, "Berg AK. A title of c-fos. J Test. 2024;3(1)."),
    ],
)  # fmt: skip
def test_vancouver_shows_what_there_is(changes: dict[str, Any], text: str) -> None:
    """The abbreviated journal, or its whole name, and one stop behind it."""
    assert cited("vancouver", **changes) == text


@pytest.mark.parametrize(
    ("style", "chapter", "preprint"),
    [
        ("apa", "Berg, A. K. (2020). The chapter. In I. Ed (Ed.), *The book of IgG*. NCBI.",
         "Berg, A. K. (2020). *A finding* [Preprint]. medRxiv. https://doi.org/10.1101/1"),
        ("mla", "Berg, Anna K. “The chapter.” *The book of IgG*, edited by Ita Ed, NCBI, 2020.",
         "Berg, Anna K. “A finding.” Preprint. medRxiv, 2020, https://doi.org/10.1101/1."),
        ("vancouver", "Berg AK. The chapter. In: Ed I, editor. The book of IgG. NCBI; 2020.",
         "Berg AK. A finding [Preprint]. medRxiv; 2020. doi: 10.1101/1"),
    ],
)  # fmt: skip
def test_chapters_and_preprints_are_cited_as_such(style: CslStyle, chapter: str, preprint: str) -> None:
    """Every item was once an article."""
    book = Book(
        title="The book of IgG",
        publisher="NCBI",
        editors=[Author(last_name="Ed", first_name="Ita")],
        publication_date=PublicationDate(year="2020"),
    )
    assert rendered(item(Article(title="The chapter.", authors=[BERG], book=book)), style) == chapter
    journal = Journal(title="medRxiv", publication_date=PublicationDate(year="2020"))
    finding = Article(
        title="A finding.", authors=[BERG], journal_info=journal, publication_types=["Preprint"], doi="10.1101/1"
    )
    assert rendered(item(finding), style) == preprint


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("apa", "Ed, I., & Berg, A. K. (Eds.). (2020). *The book of IgG*. NCBI."),
        ("mla", "Ed, Ita, and Anna K. Berg, editors. *The book of IgG*. NCBI, 2020."),
        ("vancouver", "Ed I, Berg AK, editors. The book of IgG. NCBI; 2020."),
    ],
)
def test_editors_stand_in_the_place_of_authors_once(style: CslStyle, text: str) -> None:
    """A book of Bookshelf often has editors alone."""
    editors = [Author(last_name="Ed", first_name="Ita"), BERG]
    book = Book(
        title="The book of IgG", publisher="NCBI", editors=editors, publication_date=PublicationDate(year="2020")
    )
    assert rendered(item(Article(title="The book of IgG", book=book)), style) == text


@pytest.mark.parametrize("style", ["apa", "mla", "vancouver"])
def test_a_record_of_nothing_but_a_number_is_no_crash(style: CslStyle) -> None:
    """PubMed has records without title, author and journal."""
    assert rendered(item(Article(pmid="1")), style) in ("", "(n.d.).")


@pytest.mark.parametrize("style", ["apa", "mla", "vancouver"])
@pytest.mark.parametrize(
    "title",
    [
        "c-fos and p<0.05 in mRNA", "A & B <sup>2</sup>", "“quoted” …", "x" * 2000, "</span>", "a - b ? c . d",
        "*stars* and ``ticks``", "x²−y₂ ^+/+", "\u5c0f\u660e",
    ],
)  # fmt: skip
def test_a_title_is_never_changed(style: CslStyle, title: str) -> None:
    """Neither its capitals nor its signs: a gene in other letters is another gene."""
    assert title in cited(style, title=title)
