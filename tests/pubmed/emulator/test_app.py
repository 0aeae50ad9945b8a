"""The emulator's answers, limits and faults."""

import dataclasses
import json
from collections.abc import Sequence

import httpx
import pytest
from scigate_pubmed.emulator import create_app
from scigate_pubmed.emulator.corpus import Record, load

SAMPLE = load()


def client(records: Sequence[Record] | None = None, **options: object) -> httpx.AsyncClient:
    app = create_app(records=records, **options)  # type: ignore[arg-type]  # the options of create_app
    return httpx.AsyncClient(base_url="http://ncbi.example/entrez/eutils/", transport=httpx.ASGITransport(app))


async def search(http: httpx.AsyncClient, **parameters: str | int) -> dict[str, object]:
    answer = await http.get("esearch.fcgi", params={"db": "pubmed", "retmode": "json", **parameters})
    return json.loads(answer.content, strict=False)["esearchresult"]


async def test_defaults_are_the_first_twenty_in_xml() -> None:
    """As documented for ESearch, with the document type of the real service."""
    answer = await client().get("esearch.fcgi", params={"term": "humans[mh]"})
    assert answer.headers["content-type"].startswith("text/xml")
    assert "//NLM//DTD esearch 20060628//EN" in answer.text
    assert answer.text.count("<Id>") == 20
    assert answer.headers["X-Sample-Data"] == "ncbi"


async def test_start_and_most_cut_the_set() -> None:
    """Counts are text."""
    http = client()
    whole = await search(http, term="humans[mh]", retmax=1000)
    part = await search(http, term="humans[mh]", retstart=5, retmax=3)
    assert part["idlist"] == whole["idlist"][5:8]  # type: ignore[index]  # JSON
    assert (part["count"], part["retmax"], part["retstart"]) == (whole["count"], "3", "5")


async def test_an_unknown_order_is_the_default_order() -> None:
    """Without a word, as PubMed does: `author` is not `Author`."""
    http = client()
    default = await search(http, term="cancer")
    assert (await search(http, term="cancer", sort="author"))["idlist"] == default["idlist"]
    assert (await search(http, term="cancer", sort="Author"))["idlist"] != default["idlist"]


async def test_the_window_ends_at_9999() -> None:
    """A page across the end is cut with a message; a start beyond it is an error, whose JSON has a raw line break."""
    many = [dataclasses.replace(SAMPLE[0], pmid=str(number)) for number in range(1, 10_101)]
    http = client(many)
    last = await search(http, term="formate", retstart=9998, retmax=10)
    assert (last["count"], len(last["idlist"])) == ("10100", 1)  # type: ignore[arg-type]  # JSON
    assert last["warninglist"]["outputmessages"] == ["Restrictions achieved. start and count adjusted to 9998, 1"]  # type: ignore[index]  # JSON
    beyond = await http.get("esearch.fcgi", params={"term": "formate", "retstart": "9999", "retmode": "json"})
    assert beyond.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        json.loads(beyond.content)
    assert "'retstart' cannot be larger than 9998" in (await search(http, term="formate", retstart=9999))["ERROR"]  # type: ignore[operator]  # JSON


@pytest.mark.parametrize(
    ("parameters", "text"), [({"term": ""}, "Empty term"), ({"term": "x", "db": "fleegle"}, "Invalid db")]
)
async def test_a_wrong_request_is_an_error_with_status_200(parameters: dict[str, str], text: str) -> None:
    """In either form."""
    http = client()
    assert text in str((await search(http, **parameters))["ERROR"])
    assert f"<ERROR>{text}" in (await http.get("esearch.fcgi", params=parameters)).text


async def test_a_kept_set_can_be_summarised() -> None:
    """The history server: the set's name and the query's key, then a window of it."""
    http = client()
    kept = await search(http, term="cancer", usehistory="y")
    parameters = {"WebEnv": str(kept["webenv"]), "query_key": str(kept["querykey"]), "retstart": "2", "retmax": "2"}
    answer = await http.get("esummary.fcgi", params={**parameters, "retmode": "json"})
    assert answer.json()["result"]["uids"] == kept["idlist"][2:4]  # type: ignore[index]  # JSON
    stale = await http.get("esummary.fcgi", params={"WebEnv": "MCID_x", "query_key": "1"})
    assert "<ERROR>" in stale.text


async def test_an_unknown_record_is_one_records_error() -> None:
    """In both versions and both forms."""
    http = client()
    parameters = {"id": "20301577,99999999", "version": "2.0"}
    result = (await http.get("esummary.fcgi", params={**parameters, "retmode": "json"})).json()["result"]
    assert result["99999999"]["error"] == "cannot get document summary"
    assert [person["authtype"] for person in result["20301577"]["authors"]][:1] == ["Editor"]
    xml = (await http.get("esummary.fcgi", params=parameters)).text
    assert '<DocumentSummary uid="99999999"><error>cannot get document summary</error>' in xml


async def test_a_form_is_read_like_a_query() -> None:
    """E-utilities take parameters by POST as well."""
    http = client()
    answer = await http.post("esearch.fcgi", data={"term": "cancer", "retmode": "json"})
    assert answer.json()["esearchresult"] == await search(http, term="cancer")


async def test_more_than_three_in_a_second_are_refused_and_ten_with_a_key() -> None:
    """With NCBI's own body, once the limit is enforced."""
    now = 0.0
    http = client(enforce_quota=True, monotonic=lambda: now)

    async def statuses(count: int, **key: str) -> list[int]:
        return [(await http.get("einfo.fcgi", params=key)).status_code for _ in range(count)]

    assert await statuses(4) == [200, 200, 200, 429]
    assert await statuses(11, api_key="k") == [200] * 10 + [429]
    refused = await http.get("einfo.fcgi")
    assert refused.json()["error"] == "API rate limit exceeded"
    now = 1.0
    assert await statuses(1) == [200]


async def test_misspelt_words_are_corrected_from_the_sample() -> None:
    """A right query has no correction."""
    http = client()
    wrong = await http.get("espell.fcgi", params={"term": "hypertensoin"})
    assert "<CorrectedQuery>hypertension</CorrectedQuery>" in wrong.text
    right = await http.get("espell.fcgi", params={"term": "hypertension"})
    assert "<CorrectedQuery></CorrectedQuery>" in right.text
