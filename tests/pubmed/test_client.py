"""The client of E-utilities: what it asks, and what it makes of the answers."""

import json
from collections.abc import Callable
from urllib.parse import parse_qs

import httpx
import pytest
from scigate_pubmed.client import Entrez
from scigate_pubmed.ecitmatch import Reference
from scigate_pubmed.emulator import create_app
from scigate_pubmed.errors import NcbiError, NcbiRateLimited, NcbiUnavailable, NcbiUnreadable
from scigate_pubmed.upstream import IDENTITY, Identity

BASE = "https://ncbi.example/entrez/eutils/"
ME = Identity("lab")
FOUND = {"esearchresult": {"count": "1", "idlist": ["1"]}}


class Recorder:
    """Answers every request with one body, and keeps the requests."""

    def __init__(self, body: object, status: int = 200) -> None:
        self.requests: list[httpx.Request] = []
        self._content = body if isinstance(body, str) else json.dumps(body)
        self._status = status

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(self._status, text=self._content)

    @property
    def asked(self) -> dict[str, str]:
        request = self.requests[-1]
        query = request.content if request.method == "POST" else request.url.query
        return {name: values[0] for name, values in parse_qs(query.decode()).items()}


def entrez(handler: Callable[[httpx.Request], httpx.Response]) -> Entrez:
    return Entrez(httpx.AsyncClient(base_url=BASE, transport=httpx.MockTransport(handler)), ME)


@pytest.mark.parametrize(
    ("sort", "sent"),
    [("relevance", "relevance"), ("pub_date", "pub_date"), ("author", "Author"), ("journal", "JournalName")],
)
async def test_the_order_is_sent_in_pubmeds_own_words(sort: str, sent: str) -> None:
    """PubMed ignores an order that it does not know, without a word."""
    server = Recorder(FOUND)
    await entrez(server).search("x", offset=0, count=1, sort=sort)  # type: ignore[arg-type]  # parametrized
    assert server.asked["sort"] == sent


@pytest.mark.parametrize(("offset", "count", "asked"), [(0, 20, "20"), (9990, 20, "9"), (9998, 1000, "1")])
async def test_a_page_is_not_asked_beyond_pubmeds_window(offset: int, count: int, asked: str) -> None:
    """A page over the end of the 9,999 records would be cut silently."""
    server = Recorder({"esearchresult": {"count": "20000", "idlist": ["1"]}})
    await entrez(server).search("x", offset=offset, count=count)
    assert (server.asked["retstart"], server.asked["retmax"]) == (str(offset), asked)


async def test_a_short_query_goes_by_get_and_a_long_one_in_the_body() -> None:
    """Over 2,000 characters a URL is refused with 414; a POST that only reads says so to the transports."""
    server = Recorder(FOUND)
    client = entrez(server)
    await client.search("a & b <c>", offset=0, count=1)
    await client.search("x" * 2500, offset=0, count=1)
    short, long = server.requests
    assert (short.method, long.method) == ("GET", "POST")
    assert parse_qs(short.url.query.decode())["term"] == ["a & b <c>"]
    assert long.url.query == b""
    assert long.extensions["scigate.safe"] is True
    assert [request.extensions[IDENTITY] for request in server.requests] == [ME, ME]


async def test_summaries_are_asked_by_id() -> None:
    """A list of ids is always the page's own, which a history set need not be."""
    server = Recorder({"result": {"uids": ["2", "1"], "2": {"uid": "2"}, "1": {"uid": "1"}}})
    records = await entrez(server).summaries(["2", "1"])
    assert server.asked == {"db": "pubmed", "version": "2.0", "id": "2,1", "retmode": "json"}
    assert [record.pmid for record in records] == ["2", "1"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ('{"esearchresult":{"count":"1","idl', NcbiUnreadable),
        ("plain text", NcbiUnreadable),
        ("[" * 100_000, NcbiUnreadable),
        ('{"error":"API rate limit exceeded"}', NcbiRateLimited),
        ("<html></html>", NcbiUnavailable),
        ('{"esearchresult":{"ERROR":"Search Backend failed"}}', NcbiUnavailable),
    ],
)
async def test_what_is_no_answer_is_an_error(body: str, error: type[NcbiError]) -> None:
    """None of them reads as a search without hits."""
    with pytest.raises(error) as caught:
        await entrez(Recorder(body)).search("x", offset=0, count=1)
    assert "Backend" not in str(caught.value)


async def test_a_refusal_is_httpxs_own() -> None:
    """A status that explains itself is core's to name."""
    with pytest.raises(httpx.HTTPStatusError):
        await entrez(Recorder("<html>too long</html>", 414)).search("x", offset=0, count=1)


async def test_a_raw_line_break_in_a_string_is_read() -> None:
    """PubMed's own error text has one, which strict JSON forbids."""
    body = '{"esearchresult":{"count":"1","idlist":["1"],"querytranslation":"a\nb"}}'
    assert (await entrez(Recorder(body)).search("x", offset=0, count=1)).count == 1


async def test_it_reads_the_emulators_answers() -> None:
    """Both sides agree on shapes that neither takes from the other."""
    http = httpx.AsyncClient(base_url=BASE, transport=httpx.ASGITransport(create_app()))
    client = Entrez(http, ME)
    answer = await client.search('hypertension fleegle[foo] "zzqq qqzz"', offset=0, count=3)
    assert answer.count > 3
    assert answer.unknown_fields == ("foo",)
    assert "fleegle" in answer.unmatched
    assert [record.pmid for record in await client.summaries(answer.ids)] == list(answer.ids)


@pytest.mark.parametrize(("ids", "method"), [(99, "GET"), (100, "POST")], ids=["few", "many"])
async def test_many_articles_are_asked_for_in_the_body(ids: int, method: str) -> None:
    """NCBI asks for it above a hundred or two; a caller may set the number lower."""
    server = Recorder("<PubmedArticleSet></PubmedArticleSet>")
    await entrez(server).articles([str(number) for number in range(ids)])
    assert server.requests[-1].method == method
    assert server.asked == {"db": "pubmed", "id": ",".join(map(str, range(ids))), "retmode": "xml"}
    await entrez(server).articles(["1"] * 26, most_by_get=24)
    assert server.requests[-1].method == "POST"


async def test_full_texts_are_asked_for_without_their_prefix() -> None:
    """PMC's own database has bare numbers; more than five go into the body."""
    server = Recorder("<pmc-articleset/>")
    assert await entrez(server).full_texts(["PMC1", "pmc2", "3"]) == b"<pmc-articleset/>"
    assert (server.asked, server.requests[-1].method) == ({"db": "pmc", "id": "1,2,3", "retmode": "xml"}, "GET")
    await entrez(server).full_texts(["1"] * 6)
    assert server.requests[-1].method == "POST"


async def test_links_are_asked_by_name_and_without_scores() -> None:
    """The scored form breaks on popular papers."""
    server = Recorder("<eLinkResult/>")
    assert await entrez(server).links("1", "pubmed_pubmed_refs") == ()
    assert server.asked == {
        "dbfrom": "pubmed", "db": "pubmed", "id": "1",
        "cmd": "neighbor", "linkname": "pubmed_pubmed_refs", "retmode": "xml",
    }  # fmt: skip


async def test_the_citation_matchers_name_has_its_own_suffix() -> None:
    """Every other script ends in `.fcgi`; lines are joined by a carriage return."""
    server = Recorder("a|||||1|7\nb|||||2|NOT_FOUND\n")
    found = await entrez(server).matches([Reference("a"), Reference("b")])
    assert [match.pmid for match in found] == ["7", ""]
    assert server.requests[-1].url.path.endswith("/ecitmatch.cgi")
    assert server.asked["bdata"] == "a|||||1|\rb|||||2|"


async def test_mesh_is_searched_beyond_pubmeds_window() -> None:
    """The 9,999 records are PubMed's limit; an empty page before the count is still no answer."""
    server = Recorder({"esearchresult": {"count": "20001", "idlist": ["68000001"]}})
    found = await entrez(server).find_headings("x", offset=20_000, count=5)
    assert found.ids == ("68000001",)
    assert (server.asked["db"], server.asked["retstart"]) == ("mesh", "20000")
    with pytest.raises(NcbiUnreadable):
        await entrez(Recorder({"esearchresult": {"count": "20001", "idlist": []}})).find_headings(
            "x", offset=20_000, count=5
        )


@pytest.mark.parametrize(
    "body",
    [
        "<eFetchResult><ERROR>Supplied id parameter is empty.</ERROR></eFetchResult>",
        '<?xml version="1.0"?><!DOCTYPE PubmedArticleSet>',
        "<!DOCTYPE html><html></html>",
        "NCBI C++ Exception: Error: TXCLIENT(CException::eUnknown)",
    ],
)
async def test_an_answer_in_xml_that_is_none_is_an_error(body: str) -> None:
    """Of any endpoint: it would read as no record."""
    client = entrez(Recorder(body))
    for request in (
        client.articles(["1"]),
        client.links("1", "pubmed_pubmed"),
        client.spelling("x"),
        client.database(),
    ):
        with pytest.raises(NcbiUnavailable) as caught:
            await request
        assert "CException" not in str(caught.value)
