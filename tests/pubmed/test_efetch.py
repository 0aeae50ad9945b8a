"""EFetch's records, element by element."""

import pytest
from scigate_pubmed.articles import Article
from scigate_pubmed.efetch import parse_articles
from scigate_pubmed.errors import NcbiOtherDocument, NcbiUnreadable


def record(article: str = "", citation: str = "", data: str = "", journal: str = "") -> Article:
    """The one record of a set with the given parts."""
    body = (
        '<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">7</PMID>'
        f"<Article><Journal><JournalIssue>{journal}</JournalIssue></Journal>{article}</Article>{citation}"
        f"</MedlineCitation><PubmedData>{data}</PubmedData></PubmedArticle></PubmedArticleSet>"
    )
    (found,) = parse_articles(body.encode()).articles
    return found


def book(content: str) -> Article:
    body = f"<PubmedArticleSet><PubmedBookArticle><BookDocument><PMID>8</PMID>{content}</BookDocument>"
    (found,) = parse_articles(f"{body}</PubmedBookArticle></PubmedArticleSet>".encode()).articles
    return found


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("CO<sub>2</sub> in <i>E. coli</i>.", "CO₂ in E. coli."),
        ("per 1.73 m<sup>2</sup> of body surface", "per 1.73 m² of body surface"),
        ("s<sup>-1</sup> and s<sup>−1</sup>", "s⁻¹ and s⁻¹"),
        ("Nf1<sup>+/+</sup> mice", "Nf1^+/+ mice"),
        ("<b>A <i>very <u>deep</u></i></b> title", "A very deep title"),
        ("IC<sub><i>50</i></sub>", "IC₅₀"),
        ("Ménière &amp; P&lt;0.05 &#8211; x", "Ménière & P<0.05 – x"),
        ("two\n\t lines", "two lines"),
        ("[A translated title].", "[A translated title]."),
        ("1984", "1984"),
    ],
)
def test_a_title_is_read_whole(marked: str, plain: str) -> None:
    """Text behind an inline element is as much of it as text in front; references are decoded once."""
    assert record(f"<ArticleTitle>{marked}</ArticleTitle>").title == plain


def test_a_translated_article_has_its_own_title_too() -> None:
    """A Latin title in brackets is PubMed's translation."""
    found = record("<ArticleTitle>[Of mice].</ArticleTitle><VernacularTitle>Von Mäusen.</VernacularTitle>")
    assert (found.title, found.vernacular_title) == ("[Of mice].", "Von Mäusen.")


def test_a_structured_abstract_keeps_its_labels() -> None:
    """Parts are apart by an empty line; the copyright line and other abstracts are no part of it."""
    found = record(
        '<Abstract><AbstractText Label="METHODS">We <i>did</i> x.</AbstractText>'
        '<AbstractText Label="UNLABELLED">More.</AbstractText><AbstractText>Plain.</AbstractText>'
        "<AbstractText/><CopyrightInformation>(c) somebody</CopyrightInformation></Abstract>",
        citation='<OtherAbstract Type="plain"><AbstractText>Other.</AbstractText></OtherAbstract>',
    )
    assert found.abstract_text == "METHODS: We did x.\n\nMore.\n\nPlain."
    assert record().abstract_text is None


def test_authors_are_persons_and_groups_in_the_records_order() -> None:
    """A group stands where it stands, with its own affiliation; a name marked as misspelt is left out."""
    found = record(
        "<AuthorList><Author><LastName>Berg</LastName><ForeName>Anna K</ForeName><Initials>AK</Initials>"
        "<Suffix>Jr</Suffix>"
        "<AffiliationInfo><Affiliation>Dept X.</Affiliation></AffiliationInfo>"
        "<AffiliationInfo><Affiliation>Dept Y.</Affiliation></AffiliationInfo></Author>"
        '<Author ValidYN="N"><LastName>Burg</LastName></Author>'
        "<Author><CollectiveName>XYZ <i>Group</i></CollectiveName>"
        "<AffiliationInfo><Affiliation>Dept Y.</Affiliation></AffiliationInfo></Author>"
        '<Author ValidYN="Y"><LastName>Öz</LastName></Author></AuthorList>',
        citation="<InvestigatorList><Investigator><LastName>Not</LastName></Investigator></InvestigatorList>",
    )
    assert found.affiliations == ["Dept X.", "Dept Y."]
    assert found.authors is not None
    first, group, last = found.authors
    assert (first.last_name, first.first_name, first.initials, first.suffix) == ("Berg", "Anna K", "AK", "Jr")
    assert first.affiliation_indices == [0, 1]
    assert (group.collective_name, group.affiliation_indices, group.last_name) == ("XYZ Group", [1], None)
    assert (last.last_name, last.affiliation_indices) == ("Öz", None)


def test_an_affiliation_of_old_records_is_the_first_authors() -> None:
    """Up to 2014 it stood beside the list of authors, or in an author without an element around it."""
    found = record(
        "<Affiliation>Town.</Affiliation><AuthorList><Author><LastName>A</LastName></Author>"
        "<Author><LastName>B</LastName><Affiliation>City.</Affiliation></Author></AuthorList>"
    )
    assert found.affiliations == ["City.", "Town."]
    assert [author.affiliation_indices for author in found.authors or ()] == [[1], [0]]


@pytest.mark.parametrize(
    "written", ["0000-0001-2345-678X", "000000012345678x", "https://orcid.org/0000-0001-2345-678X"]
)
def test_an_orcid_is_told_in_one_form(written: str) -> None:
    """It comes bare, without hyphens and as a URL; an identifier of another kind is none."""
    found = record(
        "<AuthorList><Author><LastName>A</LastName><Identifier Source='GRID'>1</Identifier>"
        f"<Identifier Source='ORCID'>{written}</Identifier></Author></AuthorList>"
    )
    assert [author.orcid for author in found.authors or ()] == ["0000-0001-2345-678X"]


@pytest.mark.parametrize(
    ("printed", "date"),
    [
        ("<Year>2024</Year><Month>Jan</Month><Day>15</Day>", {"year": "2024", "month": "Jan", "day": "15"}),
        ("<Year>2024</Year><Month>01</Month>", {"year": "2024", "month": "01"}),
        ("<Year>2024</Year>", {"year": "2024"}),
        ("<Year>1990</Year><Season>Spring</Season>", {"year": "1990", "medline_date": "1990 Spring"}),
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", {"year": "1998", "medline_date": "1998 Dec-1999 Jan"}),
        ("<MedlineDate>Winter 1975-1976</MedlineDate>", {"year": "1975", "medline_date": "Winter 1975-1976"}),
        ("<MedlineDate>undated</MedlineDate>", {"medline_date": "undated"}),
    ],
)
def test_a_date_is_told_as_printed(printed: str, date: dict[str, str]) -> None:
    """No month or day is made up, a season or a range stays what it is, and its first year is the year."""
    journal = record(journal=f"<PubDate>{printed}</PubDate>").journal_info
    assert journal is not None
    assert journal.publication_date is not None
    assert journal.publication_date.model_dump(exclude_none=True) == date


def test_the_dates_of_issue_and_article_are_kept_apart() -> None:
    """An article is online months before its issue: neither date stands for the other."""
    found = record(
        '<ArticleDate DateType="Electronic"><Year>2023</Year><Month>12</Month><Day>20</Day></ArticleDate>',
        citation="<DateRevised><Year>2030</Year></DateRevised>",
        journal="<PubDate><Year>2024</Year></PubDate>",
    )
    assert found.journal_info is not None
    assert found.journal_info.publication_date is not None
    assert found.journal_info.publication_date.year == "2024"
    assert [date.model_dump() for date in found.article_dates or ()] == [
        {"date_type": "Electronic", "year": "2023", "month": "12", "day": "20"}
    ]


@pytest.mark.parametrize(
    ("pagination", "pages"),
    [
        ("<MedlinePgn>737-8</MedlinePgn><StartPage>737</StartPage><EndPage>738</EndPage>", "737-8"),
        ("<StartPage>737</StartPage><EndPage>738</EndPage>", "737-738"),
        ("<StartPage>5</StartPage><EndPage>5</EndPage>", "5"),
        ("<MedlinePgn>4002.e26</MedlinePgn>", "4002.e26"),
        ("<MedlinePgn>0123</MedlinePgn>", "0123"),
        ("<MedlinePgn/>", None),
    ],
)
def test_pages_are_text(pagination: str, pages: str | None) -> None:
    """As MEDLINE writes them; a number would lose zeros and letters."""
    journal = record(f"<Pagination>{pagination}</Pagination>").journal_info
    assert (journal.pages if journal else None) == pages


def test_issns_go_by_their_kind() -> None:
    """Print and electronic."""
    body = (
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><Journal>"
        '<ISSN IssnType="Electronic">1234-5678</ISSN><Title>T</Title></Journal></Article></MedlineCitation>'
        "</PubmedArticle></PubmedArticleSet>"
    )
    (found,) = parse_articles(body.encode()).articles
    assert found.journal_info is not None
    assert (found.journal_info.issn, found.journal_info.e_issn) == (None, "1234-5678")


OTHER_PAPERS = (
    "<ReferenceList><Reference><ArticleIdList><ArticleId IdType='doi'>10.9/cited</ArticleId>"
    "<ArticleId IdType='pmc'>PMC9</ArticleId></ArticleIdList></Reference></ReferenceList>"
)


@pytest.mark.parametrize(
    ("article", "ids", "doi"),
    [
        (
            "<ELocationID EIdType='doi' ValidYN='N'>10.1/no</ELocationID>"
            "<ELocationID EIdType='pii'>S1</ELocationID><ELocationID EIdType='doi' ValidYN='Y'>10.1/Xy</ELocationID>",
            "<ArticleId IdType='doi'>10.1/other</ArticleId>",
            "10.1/Xy",
        ),
        ("<ELocationID EIdType='doi' ValidYN='N'>10.1/no</ELocationID>", "", "10.1/no"),
        ("", "<ArticleId IdType='doi'>10.1/data</ArticleId>", "10.1/data"),
        ("", "", None),
    ],
)
def test_the_doi_is_the_articles_own(article: str, ids: str, doi: str | None) -> None:
    """In its own letter case, the valid one first, and never one from the reference list."""
    found = record(article, data=f"<ArticleIdList>{ids}</ArticleIdList>{OTHER_PAPERS}")
    assert found.doi == doi
    assert found.pmc_id is None


def test_the_pmcid_has_its_prefix_in_capitals() -> None:
    """And gives the page's address."""
    found = record(data=f"<ArticleIdList><ArticleId IdType='pmc'>pmc123</ArticleId></ArticleIdList>{OTHER_PAPERS}")
    assert found.pmc_id == "PMC123"
    assert found.pmc_url == "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/"
    assert found.pubmed_url == "https://pubmed.ncbi.nlm.nih.gov/7/"


def test_every_qualifier_of_a_heading_is_told() -> None:
    """A heading is a major topic when one of its qualifiers is."""
    found = record(
        citation="<MeshHeadingList><MeshHeading><DescriptorName UI='D1' MajorTopicYN='N'>Asthma</DescriptorName>"
        "<QualifierName UI='Q1' MajorTopicYN='N'>diagnosis</QualifierName>"
        "<QualifierName UI='Q2' MajorTopicYN='Y'>drug therapy</QualifierName></MeshHeading>"
        "<MeshHeading><DescriptorName UI='D2' MajorTopicYN='Y'>Humans</DescriptorName></MeshHeading></MeshHeadingList>"
    )
    asthma, humans = found.mesh_terms or []
    assert asthma.is_major_topic
    assert [(one.qualifier_name, one.is_major_topic) for one in asthma.qualifiers or ()] == [
        ("diagnosis", False),
        ("drug therapy", True),
    ]
    assert (humans.descriptor_ui, humans.is_major_topic, humans.qualifiers) == ("D2", True, None)


def test_keywords_of_all_lists_are_joined() -> None:
    """A record may have the authors' and NLM's."""
    found = record(
        citation="<KeywordList Owner='NOTNLM'><Keyword>a <i>b</i></Keyword><Keyword/></KeywordList>"
        "<KeywordList Owner='NLM'><Keyword>c</Keyword><Keyword>a b</Keyword></KeywordList>"
    )
    assert found.keywords == ["a b", "c"]


def test_the_text_of_grants_is_decoded_twice() -> None:
    """NCBI sends it encoded twice; nothing else is decoded again."""
    found = record(
        "<ArticleTitle>&amp;amp;</ArticleTitle>"
        "<GrantList><Grant><GrantID>I1</GrantID><Acronym>CSR&amp;amp;D</Acronym><Agency/></Grant></GrantList>"
    )
    (grant,) = found.grant_list or []
    assert grant.model_dump(exclude_none=True) == {"grant_id": "I1", "acronym": "CSR&D"}
    assert found.title == "&amp;"


def test_retractions_and_corrections_are_named_and_comments_are_not() -> None:
    """What changes the record's worth, with the other record where there is one."""
    found = record(
        "<PublicationTypeList><PublicationType>Journal Article</PublicationType>"
        "<PublicationType>Retracted Publication</PublicationType></PublicationTypeList>",
        citation="<CommentsCorrectionsList>"
        '<CommentsCorrections RefType="RetractionIn"><RefSource>J. 2020</RefSource><PMID>2</PMID></CommentsCorrections>'
        '<CommentsCorrections RefType="ErratumIn"><RefSource>J. 2019</RefSource></CommentsCorrections>'
        '<CommentsCorrections RefType="CommentIn"><PMID>3</PMID></CommentsCorrections>'
        '<CommentsCorrections RefType="Cites"><PMID>4</PMID></CommentsCorrections>'
        '<CommentsCorrections RefType="ExpressionOfConcernIn"><PMID>5</PMID></CommentsCorrections>'
        '<CommentsCorrections RefType="UpdateOf"><PMID>6</PMID></CommentsCorrections></CommentsCorrectionsList>',
    )
    assert [(one.kind, one.pmid, one.reference) for one in found.corrections or ()] == [
        ("RetractionIn", "2", "J. 2020"),
        ("ErratumIn", None, "J. 2019"),
        ("ExpressionOfConcernIn", "5", None),
        ("UpdateOf", "6", None),
    ]
    assert found.publication_types == ["Journal Article", "Retracted Publication"]


def test_a_chapter_has_its_own_authors_and_its_books_editors() -> None:
    """Editors come first in the record; they did not write the chapter."""
    found = book(
        "<ArticleIdList><ArticleId IdType='bookaccession'>NBK1</ArticleId></ArticleIdList>"
        "<Book><Publisher><PublisherName>Press</PublisherName></Publisher><BookTitle>The Book</BookTitle>"
        "<PubDate><Year>1993</Year></PubDate>"
        "<AuthorList Type='editors'><Author><LastName>Ed</LastName></Author></AuthorList></Book>"
        "<ArticleTitle>A chapter</ArticleTitle>"
        "<AuthorList Type='authors'><Author><LastName>Writer</LastName></Author></AuthorList>"
        "<PublicationType>Review</PublicationType><Abstract><AbstractText>Text.</AbstractText></Abstract>"
        "<ContributionDate><Year>2001</Year></ContributionDate>"
    )
    assert (found.pmid, found.title, found.abstract_text) == ("8", "A chapter", "Text.")
    assert [author.last_name for author in found.authors or ()] == ["Writer"]
    assert found.book is not None
    assert (found.book.title, found.book.publisher, found.book.accession) == ("The Book", "Press", "NBK1")
    assert [editor.last_name for editor in found.book.editors or ()] == ["Ed"]
    assert found.book.publication_date is not None
    assert found.book.publication_date.year == "1993"
    assert [(date.date_type, date.year) for date in found.article_dates or ()] == [("Contribution", "2001")]
    assert (found.journal_info, found.publication_types) == (None, ["Review"])


def test_a_whole_book_is_a_record_by_its_own_title() -> None:
    """Its authors are the book's."""
    found = book(
        "<Book><BookTitle>A <i>Guide</i></BookTitle>"
        "<AuthorList Type='authors'><Author><CollectiveName>Centre</CollectiveName></Author></AuthorList></Book>"
    )
    assert found.title == "A Guide"
    assert [author.collective_name for author in found.authors or ()] == ["Centre"]


def test_deleted_pmids_are_named() -> None:
    """PubMed took them out; they are not unknown."""
    found = parse_articles(
        b"<PubmedArticleSet><DeleteCitation><PMID>3</PMID><PMID>4</PMID></DeleteCitation></PubmedArticleSet>"
    )
    assert (found.articles, found.deleted) == ((), ("3", "4"))


def test_an_empty_set_has_no_articles() -> None:
    """All ids unknown."""
    assert parse_articles(b"<PubmedArticleSet></PubmedArticleSet>").articles == ()


def test_what_a_record_lacks_is_not_there() -> None:
    """No empty lists."""
    assert record().model_dump(exclude_none=True, by_alias=True) == {
        "pmid": "7",
        "pubmedUrl": "https://pubmed.ncbi.nlm.nih.gov/7/",
    }


def test_another_document_is_no_set_and_damage_is_damage() -> None:
    """Neither reads as an empty answer."""
    with pytest.raises(NcbiOtherDocument):
        parse_articles(b"<pmc-articleset/>")
    with pytest.raises(NcbiUnreadable):
        parse_articles(b"<PubmedArticleSet><PubmedArticle>")
