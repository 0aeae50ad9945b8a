"""Reading ESummary."""

import pytest
from scigate_pubmed.errors import NcbiUnreadable
from scigate_pubmed.esummary import ArticleSummary, parse_summaries
from scigate_pubmed.summaries import brief


def summary(**record: object) -> ArticleSummary:
    return parse_summaries({"result": {"uids": ["1"], "1": {"uid": "1", **record}}}, ("1",))[0]


def people(*names: str, kind: str = "Author") -> list[dict[str, str]]:
    return [{"name": name, "authtype": kind, "clusterid": ""} for name in names]


def test_a_journal_article_has_its_journal_and_identifiers() -> None:
    """DOI and PMCID come from the list of article ids, the DOI in NCBI's letter case."""
    record = summary(
        title="CO&lt;sub&gt;2&lt;/sub&gt; in Test.",
        source="J Test",
        pubdate="2024 Jan 15",
        doctype="citation",
        authors=people("Berg A", "Roe B"),
        articleids=[
            {"idtype": "pubmed", "idtypen": 1, "value": "1"},
            {"idtype": "doi", "idtypen": 3, "value": "10.1000/Xy"},
            {"idtype": "pmcid", "idtypen": 5, "value": "pmc-id: PMC123;manuscript-id: X;"},
            {"idtype": "pmc", "idtypen": 8, "value": "PMC123"},
        ],
    )
    assert brief(record).model_dump(by_alias=True, exclude_none=True) == {
        "pmid": "1",
        "title": "CO₂ in Test.",
        "authors": "Berg A, Roe B",
        "source": "J Test",
        "docType": "citation",
        "pubDate": "2024-01-15",
        "doi": "10.1000/Xy",
        "pmcId": "PMC123",
        "pmcUrl": "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/",
        "pubmedUrl": "https://pubmed.ncbi.nlm.nih.gov/1/",
    }


def test_a_bookshelf_chapter_shows_its_own_authors_and_the_books_editors() -> None:
    """Editors come first in NCBI's list, and would push the writers out of the three that are shown."""
    record = summary(
        doctype="chapter",
        source="",
        booktitle="GeneReviews(&reg;)",
        publishername="University of Washington, Seattle",
        authors=[*people("Adam MP", "Feldman J", "Mirzaa GM", kind="Editor"), *people("Napolitano C", "Priori SG")],
    )
    shown = brief(record)
    assert shown.authors == "Napolitano C, Priori SG"
    assert shown.editors == ["Adam MP", "Feldman J", "Mirzaa GM"]
    assert (shown.book_title, shown.publisher_name) == ("GeneReviews(®)", "University of Washington, Seattle")
    assert shown.source is None


def test_a_journal_article_never_has_book_fields() -> None:
    """NCBI sends the keys for every record, empty for most."""
    shown = brief(summary(doctype="citation", source="J Test", booktitle="x", authors=people("Roe B", kind="Editor")))
    assert (shown.book_title, shown.editors, shown.authors, shown.source) == (None, None, None, "J Test")


def test_groups_count_as_authors_and_a_longer_list_is_cut() -> None:
    """Collective authors stand in their place among persons."""
    authors = [*people("Roe B"), *people("The Test Group", kind="CollectiveName"), *people("Berg A", "Doe C")]
    assert brief(summary(authors=authors)).authors == "Roe B, The Test Group, Berg A, et al."


def test_a_record_without_facts_is_its_pmid_alone() -> None:
    """No field is an empty text."""
    assert brief(summary()).model_dump(by_alias=True, exclude_none=True) == {
        "pmid": "1",
        "pubmedUrl": "https://pubmed.ncbi.nlm.nih.gov/1/",
    }


def test_summaries_follow_the_pmids_and_missing_ones_are_left_out() -> None:
    """An error for one record is that record's, not the call's."""
    result = {"uids": ["1", "2"], "1": {"uid": "1"}, "2": {"uid": "2", "error": "cannot get document summary"}}
    assert [record.pmid for record in parse_summaries({"result": result}, ("3", "2", "1"))] == ["1"]


def test_an_answer_without_a_result_is_not_an_empty_one() -> None:
    """A body of another shape is a fault."""
    with pytest.raises(NcbiUnreadable):
        parse_summaries({"header": {}}, ("1",))
