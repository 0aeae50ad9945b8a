"""Recorded true answers of NCBI that the tools beside search would meet; they lie beside the repository, or nowhere."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from scigate_pubmed.ecitmatch import parse_matches
from scigate_pubmed.efetch import parse_articles
from scigate_pubmed.einfo import parse_database
from scigate_pubmed.elink import parse_links
from scigate_pubmed.errors import ConverterRefused, NcbiOtherDocument, NcbiUnavailable
from scigate_pubmed.espell import parse_spelling
from scigate_pubmed.faults import fault, is_answer
from scigate_pubmed.idconv import IdConverter, IdType
from scigate_pubmed.upstream import Identity

FOLDER = Path(__file__).parents[3] / "shared" / "recordings" / "ncbi"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="no recordings beside the repository")


def body(name: str) -> bytes:
    """A recording; single records of a set, as some are kept, get the set around them again."""
    content = (FOLDER / name).read_bytes()
    if content.lstrip().startswith(b"<PubmedArticle>"):
        return b"<PubmedArticleSet>" + content + b"</PubmedArticleSet>"
    return content


ARTICLE_SETS = {
    "bp_pubmed1.xml": ["12091962", "9997"],
    "bp_pubmed4.xml": ["27797938"],
    "bp_pubmed7.xml": ["29963580"],
    "efetch_29768149.xml": ["29768149"],
    "efetch_empty_set.xml": [],
    "efetch_pubmed_20412080.xml": ["20412080"],
    "efetch_pubmed_22528466.xml": ["22528466"],
    "factoid_151222.xml": ["151222"],
    "factoid_30115697.xml": ["30115697"],
    "fatcat_pubmed_19129924.xml": ["19129924"],
    "jabref_MedlineImporterTestArticleID.xml": ["26711635"],
    "jabref_MedlineImporterTestNbib.xml": ["23633646", "21413195"],
    "ke_efetch.pubmedbook.xml": ["20301295"],
    "metapub_11618220.xml": ["11618220"],
    "metapub_24084238.xml": ["24084238"],
    "metapub_32160763.xml": ["32160763"],
    "metapub_37909814.xml": [],
    "metapub_38801034.xml": ["38801034"],
    "pubchunks_pubmed_brief_1.xml": ["25612652"],
    "pubmed_record_10000166.xml": ["10000166"],
    "pubmed_record_29279863.xml": ["29279863"],
    "pubtrends_update_delete.xml": ["29391692"],
    "reciter_28356292.xml": ["28356292"],
    "reciter_31482638.xml": ["31482638"],
    "reciter_equalcontrib.xml": ["99999999"],
    "tipplerow_31408116.xml": ["31408116"],
    "tipplerow_32048627.xml": ["32048627"],
}

LINKS = {
    "bioperl_elink_acheck.xml": 0,
    "bioperl_elink_lcheck.xml": 0,
    "bioperl_elink_llinks.xml": 0,
    "bioperl_elink_multidb_corr.xml": 0,
    "bioperl_elink_neighbor.xml": 0,
    "bioperl_elink_nhist.xml": 0,
    "bioperl_elink_scores.xml": 0,
    "bp_elink1.xml": 100,
    "bp_elink2.xml": 0,
    "bp_elink4.xml": 155,
    "bp_elink6.xml": 0,
    "bp_elink8.xml": 0,
    "elink_neighbor_2024.xml": 93,
    "elink_sample_0.xml": 0,
    "elink_sample_2.xml": 0,
    "elink_sample_4.xml": 0,
    "elink_sample_6.xml": 0,
    "elink_sample_8.xml": 0,
}
"""How many similar articles each has: most are of other commands, databases or link names, and have none."""

DATABASE_LISTS = ("bioperl_einfo_dbs.xml", "bp_einfo1.xml", "einfo_list_2024.xml")

NOT_MET = {
    "bioperl_egquery.xml": "EGQuery, which no tool asks",
    "bioperl_esearch2.xml": "ESearch in XML; it is asked in JSON",
    "bp_efetch_pmc.xml": "full text, read by the tests of JATS",
    "bp_epost1.xml": "EPost, which no tool asks",
    "bp_epost3.xml": "EPost, which no tool asks",
    "bp_esearch1.xml": "ESearch in XML; read for faults by the tests of search",
    "bp_esearch3.xml": "ESearch in XML",
    "bp_esearch5.xml": "ESearch in XML",
    "bp_esearch8.xml": "ESearch in XML",
    "bp_esummary1.xml": "ESummary in XML; it is asked in JSON",
    "bp_esummary5.xml": "ESummary in XML of another database",
    "bp_pubmed3.html": "a page of PubMed's website",
    "efetch_400_bad_id.txt": "a refusal of the sequence databases",
    "efetch_pmc_3040717.xml": "full text, read by the tests of JATS",
    "efetch_pmc_3299399.xml": "full text, read by the tests of JATS",
    "esearch_author_reldate.xml": "ESearch in XML",
    "esearch_medgen_2024.xml": "ESearch in XML of another database",
    "index.json": "the list of the recordings",
    "jabref_NbibImporterTest.nbib": "MEDLINE's text format, which is not asked for",
    "jats_aiid_4275071.nxml": "full text, read by the tests of JATS",
    "ke_esearch.error.xml": "ESearch in XML; read for faults by the tests of search",
    "ke_esummary.books.xml": "ESummary in XML of another database",
    "ke_esummary.nlmcatalog.xml": "ESummary in XML of another database",
    "ke_esummary.pccompound.xml": "ESummary in XML of another database",
    "ke_esummary.pmcerror.xml": "ESummary in XML; read for faults by the tests of search",
    "ke_esummary.pubmed.xml": "ESummary in XML; read for faults by the tests of search",
    "medline_pubmed_result1.txt": "MEDLINE's text format",
    "medline_pubmed_result3.txt": "MEDLINE's text format",
    "nodencbi_elink.json": "ELink in JSON; it is asked in XML",
    "nodencbi_pmc_not_oa.xml": "full text, read by the tests of JATS",
    "oz_esearch_empty.xml": "ESearch in XML",
    "pmc_nbib_PMC3352855.nbib": "PMC's text format, which is not asked for",
    "pmc_oa_not_open.xml": "PMC's service for open access; read for faults by the tests of search",
    "pmc_oa_s3_meta.json": "PMC's cloud service, which no tool asks",
    "pmc_oai_PMC65048.xml": "PMC's OAI service, which no tool asks",
    "pubchunks_pubmed_full_2.xml": "full text in JATS, read by the tests of JATS",
}
"""Recordings that no tool but search or full text would meet, each with its reason."""

MET = {
    *ARTICLE_SETS,
    *("pubmedpy_efetch.xml", "efetch_error_no_id.xml", "bp_esummary8.xml", "ke_einfo.error.xml", "esummary_414.html"),
    *("rate_limit_429.json", "esearch_json_2018.json", "esearch_json_2026_a.json", "nodencbi_search.json"),
    *("nodencbi_summary_single.json", "esummary_pmc_json.json"),
    *LINKS,
    *DATABASE_LISTS,
    *("bp_espell.xml", "ecitmatch_mixed.txt"),
    *("idconv_404_type_mismatch_2022.json", "idconv_new_host_2026.json", "idconv_ok_2022.json"),
    *("idconv_partial_doi_2016.json", "idconv_pmcid_2016.json"),
}


def test_every_recording_is_read_or_has_its_reason() -> None:
    """A new one has to be put in its place."""
    assert {path.name for path in FOLDER.iterdir()} == MET | set(NOT_MET)


@pytest.mark.parametrize("name", ARTICLE_SETS)
def test_recorded_articles_are_read(name: str) -> None:
    """Each record with title, and authors, abstract and date as far as the record has them."""
    content = body(name)
    assert fault(httpx.Response(200, content=content)) is None
    articles = parse_articles(content).articles
    assert [article.pmid for article in articles] == ARTICLE_SETS[name]
    for article in articles:
        assert article.title or article.vernacular_title
        assert (content.count(b"<AbstractText") > 0) >= bool(article.abstract_text)
        if article.journal_info and article.journal_info.publication_date:
            assert article.journal_info.publication_date.year


def test_six_recorded_articles_are_read_to_their_last_author() -> None:
    """As many authors as the file has valid ones, and no affiliation is lost."""
    content = body("pubmedpy_efetch.xml")
    articles = parse_articles(content).articles
    assert len(articles) == 6
    assert sum(len(article.authors or ()) for article in articles) == content.count(b'<Author ValidYN="Y"')
    for article in articles:
        used = {index for author in article.authors or () for index in author.affiliation_indices or ()}
        assert used == set(range(len(article.affiliations or ())))


def test_recorded_facts_are_told_as_they_are() -> None:
    """A season, a range of months, a book's editors, a correction."""
    spring, plain = parse_articles(body("bp_pubmed1.xml")).articles
    assert spring.journal_info is not None
    assert spring.journal_info.publication_date is not None
    assert spring.journal_info.publication_date.medline_date == "1990 Spring"
    assert plain.doi == "10.1016/0005-2795(76)90109-4"
    (quarter,) = parse_articles(body("factoid_151222.xml")).articles
    assert quarter.journal_info is not None
    assert quarter.journal_info.publication_date is not None
    assert quarter.journal_info.publication_date.model_dump(exclude_none=True) == {
        "year": "1978",
        "medline_date": "1978 Jul-Sep",
    }
    (book,) = parse_articles(body("ke_efetch.pubmedbook.xml")).articles
    assert book.book is not None
    assert [editor.last_name for editor in book.book.editors or ()] == ["Pagon", "Bird", "Dolan", "Stephens", "Adam"]
    names = [name for name in [*ARTICLE_SETS, "pubmedpy_efetch.xml"] if b'"ErratumIn"' in body(name)]
    (corrected,) = [one for name in names for one in parse_articles(body(name)).articles if one.corrections]
    assert [one.kind for one in corrected.corrections or ()] == ["ErratumIn"]


@pytest.mark.parametrize("name", LINKS)
def test_recorded_links_are_read(name: str) -> None:
    """The set of that name without the source, each once; sets of other names are not taken for it."""
    content = body(name)
    source = (re.findall(rb"<Id[^>]*>(\d+)</Id>", content) or [b""])[0].decode()
    found = parse_links(content, source=source, name="pubmed_pubmed")
    assert len(found) == len(set(found)) == LINKS[name]
    assert source not in found


@pytest.mark.parametrize("name", DATABASE_LISTS)
def test_a_recorded_list_of_databases_is_not_about_one(name: str) -> None:
    """EInfo gives it when it is asked for none; no answer about PubMed itself is recorded."""
    with pytest.raises(NcbiOtherDocument):
        parse_database(body(name))


def test_the_recorded_correction_is_read() -> None:
    """With its empty ERROR element."""
    spelling = parse_spelling(body("bp_espell.xml"))
    assert (spelling.query, spelling.corrected) == ("biopythooon", "biopython")


def test_recorded_matches_keep_key_and_pmid_apart() -> None:
    """Their keys are Art1, ref2 and Art4: the sixth column is the key and the seventh the outcome."""
    lines = body("ecitmatch_mixed.txt").decode().replace("|Art1|", "|1|").replace("|ref2|", "|2|")
    first, second, third = parse_matches(lines.replace("|Art4|", "|3|"), 3)
    assert (first.pmid, third.pmid) == ("2014248", "31978945")
    assert (second.pmid, second.said) == ("", "NOT_FOUND;INVALID_JOURNAL")


@pytest.mark.parametrize(
    ("name", "asked", "kind", "pmid", "error"),
    [
        ("idconv_ok_2022.json", "10.1038/ng.590", "doi", "20495566", ""),
        ("idconv_pmcid_2016.json", "PMC3292175", "pmcid", "22389645", ""),
        ("idconv_partial_doi_2016.json", "10.1371/journal.pone.000002", "doi", "", "invalid article id"),
        ("idconv_new_host_2026.json", "22663011", "pmid", "22663011", "Identifier not found in PMC"),
    ],
)
async def test_recorded_conversions_are_read(name: str, asked: str, kind: IdType, pmid: str, error: str) -> None:
    """Of the former host and the present one, which gives a PMID as a number."""
    assert is_answer(httpx.Response(200, content=body(name)))
    found = (await converter(200, body(name)).convert([asked], kind))[asked]
    assert (found.pmid, found.error) == (pmid, error)


async def test_the_recorded_mismatch_refuses_the_ids() -> None:
    """Status 404 and a message in percent signs, which nobody is shown."""
    with pytest.raises(ConverterRefused) as caught:
        await converter(404, body("idconv_404_type_mismatch_2022.json")).convert(["1"], "doi")
    assert "%20" not in str(caught.value)


def converter(status: int, content: bytes) -> IdConverter:
    transport = httpx.MockTransport(lambda _: httpx.Response(status, content=content))
    return IdConverter(httpx.AsyncClient(base_url="https://pmc.example/", transport=transport), Identity("lab"))


def test_the_recorded_refusal_of_no_ids_is_an_error() -> None:
    """It comes with status 200."""
    assert isinstance(fault(httpx.Response(200, content=body("efetch_error_no_id.xml"))), NcbiUnavailable)


def test_the_index_tells_of_every_recording() -> None:
    """Origins are beside the bodies."""
    index: Any = json.loads(body("index.json"))
    assert len(index) > 0
