"""Biopython's Bio.Entrez, whose parser reads by the documents' DTDs, against the emulator on a socket."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio.to_thread
import pytest
from Bio import Entrez
from scigate.emulator import serving
from scigate_pubmed.emulator import create_app

HOST = "https://eutils.ncbi.nlm.nih.gov"


@pytest.fixture
async def read(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable[..., Any]]:
    """Calls a function of Bio.Entrez, which blocks, in a thread, and parses what it gives."""
    build = Entrez._build_request
    async with serving(create_app()) as url:
        # The addresses are written into its functions; this is the one place that they all go through.
        monkeypatch.setattr(
            Entrez, "_build_request", lambda cgi, *args, **kw: build(cgi.replace(HOST, url), *args, **kw)
        )
        monkeypatch.setattr(Entrez, "email", "tests@scigate.example")
        # With a key it leaves 0.1 s between requests in place of 0.37 s.
        monkeypatch.setattr(Entrez, "api_key", "test")
        monkeypatch.setattr(Entrez, "max_tries", 1)

        def ask(function: str, parameters: dict[str, str]) -> Any:
            with getattr(Entrez, function)(**parameters) as answer:
                return Entrez.read(answer)

        async def read(function: str, **parameters: str) -> Any:
            return await anyio.to_thread.run_sync(ask, function, parameters)

        yield read


async def test_esearch(read: Callable[..., Any]) -> None:
    """Counts, ids and the lists of what was not found."""
    result = await read("esearch", db="pubmed", term="hypertension[foo] AND zzqq", retmax="3", usehistory="y")
    assert int(result["Count"]) > 3
    assert len(result["IdList"]) == 3
    assert result["ErrorList"]["PhraseNotFound"] == ["zzqq"]
    assert result["ErrorList"]["FieldNotFound"] == ["foo"]
    assert result["WebEnv"].startswith("MCID_")


async def test_esearch_without_hits(read: Callable[..., Any]) -> None:
    """An empty list, and the message that goes with it."""
    result = await read("esearch", db="pubmed", term="cancer AND 1700[dp]")
    assert (result["Count"], result["IdList"]) == ("0", [])
    assert result["WarningList"]["OutputMessage"] == ["No items found."]


async def test_esearch_error(read: Callable[..., Any]) -> None:
    """An ERROR text is an exception to Biopython, too."""
    with pytest.raises(RuntimeError, match="Invalid db name"):
        await read("esearch", db="fleegle", term="x")


async def test_esummary(read: Callable[..., Any]) -> None:
    """Records with authors, title and identifiers in the order of the ids."""
    first, second = await read("esummary", db="pubmed", id="3,20301577")
    assert (first["Id"], second["Id"]) == ("3", "20301577")
    assert first["AuthorList"] == ["Smith RJ", "Bryant RG"]
    assert first["Title"].startswith("Metal substitutions")
    assert first["Source"] == "Biochem Biophys Res Commun"
    assert first["DOI"] == first["ArticleIds"]["doi"]
    assert first["PubDate"] == "1975 Oct 27"


async def test_espell(read: Callable[..., Any]) -> None:
    """The corrected query."""
    assert (await read("espell", db="pubmed", term="hypertensoin"))["CorrectedQuery"] == "hypertension"


async def test_einfo(read: Callable[..., Any]) -> None:
    """The list of databases, and PubMed's fields."""
    assert "pubmed" in (await read("einfo"))["DbList"]
    (info,) = (await read("einfo", db="pubmed"))["DbInfo"]
    assert info["Count"] == "486"
    assert {"TIAB", "MH", "AU"} <= {field["Name"] for field in info["FieldList"]}


async def test_efetch(read: Callable[..., Any]) -> None:
    """Articles and books, with the parts that its parser knows from the DTD."""
    result = await read("efetch", db="pubmed", id="3,20301577,999999999", retmode="xml")
    (article,) = result["PubmedArticle"]
    citation = article["MedlineCitation"]
    assert str(citation["PMID"]) == "3"
    assert citation["Article"]["ArticleTitle"].startswith("Metal substitutions")
    assert [author["LastName"] for author in citation["Article"]["AuthorList"]] == ["Smith", "Bryant"]
    assert citation["MeshHeadingList"][0]["DescriptorName"].attributes["UI"] == "D000818"
    (book,) = result["PubmedBookArticle"]
    assert book["BookDocument"]["Book"]["BookTitle"] == "GeneReviews®"
    assert "sample text" in book["BookDocument"]["Abstract"]["AbstractText"][0]


async def test_elink(read: Callable[..., Any]) -> None:
    """The set of links that was asked for; none for an article that is not there."""
    (result,) = await read("elink", dbfrom="pubmed", db="pubmed", id="3", cmd="neighbor", linkname="pubmed_pubmed")
    (links,) = result["LinkSetDb"]
    assert links["LinkName"] == "pubmed_pubmed"
    assert links["Link"][0]["Id"] == "3"
    assert len(links["Link"]) > 5
    (none,) = await read("elink", dbfrom="pubmed", db="pubmed", id="999999999", linkname="pubmed_pubmed")
    assert none["LinkSetDb"] == []
