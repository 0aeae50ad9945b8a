"""`pubmed_fetch_fulltext`, called through the host on services that say what a test wants them to say."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import scigate_pubmed
from scigate.call import LOCAL
from scigate.emulator import serving
from scigate.host import Host, Reply
from scigate.settings import Settings
from scigate_pubmed.emulator.corpus import load
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

TOOL = "pubmed_fetch_fulltext"
SAMPLE = load()


def jats(pmcid: str, *bodies: str, pmid: str = "", doi: str = "", back: str = "") -> str:
    """An article whose sections have one paragraph each; without bodies it is front matter alone."""
    ids = [("pmc", pmcid.removeprefix("PMC")), ("pmid", pmid), ("doi", doi)]
    meta = "".join(f'<article-id pub-id-type="{kind}">{value}</article-id>' for kind, value in ids if value)
    sections = "".join(f"<sec><title>Part {at}</title><p>{text}</p></sec>" for at, text in enumerate(bodies, start=1))
    body = f"<body>{sections}</body>" if bodies else "<!-- The publisher of this article does not allow XML. -->"
    return f"<article><front><article-meta>{meta}</article-meta></front>{body}<back>{back}</back></article>"


def hit(name: str, source: str = "MED", **facts: str) -> dict[str, str]:
    return {"id": name, "source": source, **facts}


@dataclass
class World:
    """Four services in one app.

    Attributes:
        pmc: EFetch of PMC, article by PMCID; an int is a status for the whole request.
        converter: PMCID, PMID and DOI by the id asked for, or a status.
        europe: Record of Europe PMC by the query asked for, or a status.
        texts: Its full texts by PMCID, or statuses.
        places: Unpaywall's answers by DOI, or statuses.
        dois: DOIs in PubMed by PMID.
        hangs: Whether EFetch answers only when nobody waits any more.
        asked: Every request as `service what`.
    """

    pmc: dict[str, str] | int = field(default_factory=dict[str, str])
    converter: dict[str, dict[str, str]] | int = field(default_factory=dict[str, dict[str, str]])
    europe: dict[str, dict[str, str]] | int = field(default_factory=dict[str, dict[str, str]])
    texts: dict[str, str | int] = field(default_factory=dict[str, str | int])
    places: dict[str, dict[str, Any] | int] = field(default_factory=dict[str, dict[str, Any] | int])
    dois: dict[str, str] = field(default_factory=dict[str, str])
    hangs: bool = False
    asked: list[str] = field(default_factory=list[str])

    async def efetch(self, request: Request) -> Response:
        parameters = dict(request.query_params)
        if request.method == "POST":
            parameters |= dict(await request.form())
        ids = parameters["id"].split(",")
        self.asked.append(f"{parameters['db']} {request.method} {','.join(ids)}")
        if parameters["db"] == "pubmed":
            records = "".join(
                f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article>"
                f'<ELocationID EIdType="doi">{self.dois[pmid]}</ELocationID>'
                "</Article></MedlineCitation></PubmedArticle>"
                for pmid in ids
                if pmid in self.dois
            )
            return xml(f"<PubmedArticleSet>{records}</PubmedArticleSet>")
        while self.hangs and (await request.receive())["type"] != "http.disconnect":
            pass
        if isinstance(self.pmc, int):
            return Response("oops", self.pmc)
        found = (self.pmc.get(f"PMC{one}", f'<error id="{one}">not available</error>') for one in ids)
        return xml(f"<pmc-articleset>{''.join(found)}</pmc-articleset>")

    async def convert(self, request: Request) -> Response:
        ids = request.query_params["ids"].split(",")
        self.asked.append(f"converter {','.join(ids)}")
        if isinstance(self.converter, int):
            return Response("oops", self.converter)
        missing = {"status": "error", "errmsg": "Identifier not found in PMC"}
        return JSONResponse({"records": [{"requested-id": one, **self.converter.get(one, missing)} for one in ids]})

    async def search(self, request: Request) -> Response:
        query = request.query_params["query"]
        self.asked.append(f"europe {query}")
        if isinstance(self.europe, int):
            return Response("oops", self.europe)
        found = [self.europe[query]] if query in self.europe else []
        return JSONResponse({"hitCount": len(found), "resultList": {"result": found}})

    async def text(self, request: Request) -> Response:
        found = self.texts.get(request.path_params["pmcid"], 404)
        self.asked.append(f"text {request.path_params['pmcid']}")
        return Response("", found) if isinstance(found, int) else xml(found)

    async def place(self, request: Request) -> Response:
        found = self.places.get(request.path_params["doi"], 404)
        self.asked.append(f"unpaywall {request.path_params['doi']}")
        return Response("{}", found) if isinstance(found, int) else JSONResponse(found)

    @asynccontextmanager
    async def hosted(self, *, deadline_s: float = 60, **provider: Any) -> AsyncIterator[Host]:
        """A host on these services, all of them switched on."""
        app = Starlette(
            routes=[
                Route("/eutils/efetch.fcgi", self.efetch, methods=["GET", "POST"]),
                Route("/idconv/articles/", self.convert),
                Route("/europe/search", self.search),
                Route("/europe/{pmcid}/fullTextXML", self.text),
                Route("/unpaywall/{doi:path}", self.place),
            ]
        )
        paths = {"ncbi": "eutils", "pmc": "idconv", "europepmc": "europe", "unpaywall": "unpaywall"}
        async with serving(app) as url:
            settings: dict[str, Any] = {
                "deadline_s": deadline_s,
                "upstreams": {
                    name: {"base_url": f"{url}/{path}/", "retries": 0, "quotas": ["1000/second"]}
                    for name, path in paths.items()
                },
                "providers": {"pubmed": {"unpaywall_email": "me@example.org", **provider}},
            }
            async with Host.open(Settings.model_validate(settings), plugins={"pubmed": scigate_pubmed}) as host:
                yield host

    async def reply(self, provider: dict[str, Any] | None = None, **arguments: Any) -> Reply:
        async with self.hosted(**(provider or {})) as host:
            return await host.call(TOOL, arguments, LOCAL)

    async def told(self, provider: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
        reply = await self.reply(provider, **arguments)
        assert not reply.is_error, reply.structured
        return reply.structured


def xml(text: str) -> Response:
    return Response(f'<?xml version="1.0"?>{text}', media_type="text/xml")


def tiers(entry: dict[str, Any]) -> list[str]:
    return [f"{one['tier']} {one['outcome']}" for one in entry["triedTiers"]]


OPEN = {
    "is_oa": True,
    "best_oa_location": {"url": "https://repo.example/1", "license": "cc-by", "host_type": "repository"},
}


async def test_pmcids_are_asked_of_pmc_in_one_request() -> None:
    """With or without prefix, each once, in the order asked."""
    world = World(pmc={"PMC2": jats("PMC2", "two", pmid="22", doi="10.1/Two"), "PMC1": jats("PMC1", "one")})
    found = await world.told(pmcids=["pmc1", "2", "PMC1"])
    assert world.asked == ["pmc GET 1,2"]
    assert [article["pmcId"] for article in found["articles"]] == ["PMC1", "PMC2"]
    assert (found["totalReturned"], "unavailable" in found, "notice" in found) == (2, False, False)
    two = found["articles"][1]
    assert (two["source"], two["viaSource"], two["pmid"], two["doi"]) == ("pmc", "pmc", "22", "10.1/Two")
    assert two["pmcUrl"] == "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC2/"
    assert two["sections"] == [{"title": "Part 1", "text": "two"}]
    assert "references" not in two


async def test_more_than_five_pmcids_go_into_the_body_of_a_request() -> None:
    """As the other long lists of ids do."""
    world = World(pmc={f"PMC{number}": jats(f"PMC{number}", "text") for number in range(1, 7)})
    assert (await world.told(pmcids=[str(number) for number in range(1, 7)]))["totalReturned"] == 6
    assert world.asked == ["pmc POST 1,2,3,4,5,6"]


async def test_pmids_become_pmcids_by_the_converter() -> None:
    """ELink, the other way, has outages of its own."""
    world = World(converter={"11": {"pmcid": "PMC1", "pmid": "11"}}, pmc={"PMC1": jats("PMC1", "one")})
    found = await world.told(pmids=["0011"])
    assert world.asked == ["converter 11", "pmc GET 1"]
    assert found["articles"][0]["pmid"] == "11"


async def test_dois_are_looked_for_in_pmc_too() -> None:
    """In whatever letter case the converter answers."""
    world = World(converter={"10.1000/Xy": {"pmcid": "PMC1", "doi": "10.1000/xy"}}, pmc={"PMC1": jats("PMC1", "one")})
    found = await world.told(dois=["https://doi.org/10.1000/Xy"])
    assert found["articles"][0]["doi"] == "10.1000/Xy"
    assert "unavailable" not in found


async def test_what_pmc_lacks_comes_from_europe_pmc() -> None:
    """The record's ids come with it, and an id with an article is not among the unavailable."""
    world = World(
        europe={"PMCID:PMC1": hit("11", pmid="11", pmcid="PMC1", doi="10.1000/x")}, texts={"PMC1": jats("PMC1", "one")}
    )
    (article,) = (await world.told(pmcids=["1"]))["articles"]
    assert (article["viaSource"], article["epmcId"], article["epmcSource"]) == ("europepmc", "11", "MED")
    assert (article["pmid"], article["doi"]) == ("11", "10.1000/x")


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"pmids": ["11"]}, "EXT_ID:11 AND SRC:MED"),
        ({"pmcids": ["PMC1"]}, "PMCID:PMC1"),
        ({"dois": ['10.1000/a"b\\c']}, 'DOI:"10.1000/abc"'),
    ],
)
async def test_europe_pmc_is_asked_in_the_form_that_it_matches(arguments: dict[str, list[str]], query: str) -> None:
    """Numbers in quotes match nothing, and a DOI cannot leave its own."""
    world = World()
    await world.reply(**arguments)
    assert f"europe {query}" in world.asked


async def test_an_open_copy_elsewhere_is_told_and_not_fetched() -> None:
    """Its address comes from a third party; the reader decides."""
    world = World(places={"10.1000/x": OPEN})
    found = await world.told(dois=["10.1000/x"])
    (entry,) = found["unavailable"]
    assert (entry["id"], entry["idType"], entry["reason"]) == ("10.1000/x", "doi", "link-only")
    assert entry["openCopy"] == {"url": "https://repo.example/1", "license": "cc-by", "hostType": "repository"}
    assert tiers(entry) == ["pmc not-attempted", "europepmc miss", "unpaywall link-only"]
    assert (found["articles"], found["totalReturned"]) == ([], 0)
    assert "openCopy" in found["notice"]


async def test_a_pmid_outside_pmc_takes_its_doi_from_pubmed() -> None:
    """The converter knows articles of PMC alone."""
    world = World(dois={"11": "10.1000/x"}, places={"10.1000/x": OPEN})
    (entry,) = (await world.told(pmids=["11"]))["unavailable"]
    assert entry["reason"] == "link-only"
    assert "pubmed GET 11" in world.asked


async def test_a_pmcid_reaches_unpaywall_by_the_doi_that_europe_pmc_knows() -> None:
    """Its text may be nowhere, and a copy still be somewhere."""
    world = World(europe={"PMCID:PMC1": hit("11", doi="10.1000/x")}, places={"10.1000/x": OPEN})
    (entry,) = (await world.told(pmcids=["1"]))["unavailable"]
    assert (entry["id"], tiers(entry)[2]) == ("PMC1", "unpaywall link-only")


async def test_front_matter_alone_is_no_hit() -> None:
    """The next place is asked, and in the end the reader is told where the abstract is."""
    world = World(pmc={"PMC1": jats("PMC1"), "PMC2": jats("PMC2")}, texts={"PMC2": jats("PMC2", "two")})
    world.europe = {"PMCID:PMC2": hit("22", pmcid="PMC2"), "PMCID:PMC1": hit("11", pmcid="PMC1", doi="10.1000/x")}
    found = await world.told(pmcids=["1", "2"])
    assert [article["pmcId"] for article in found["articles"]] == ["PMC2"]
    (entry,) = found["unavailable"]
    assert tiers(entry) == ["pmc no-body", "europepmc no-fulltext", "unpaywall no-oa"]
    assert "Of PMC1 only front matter" in found["notice"]
    assert "pubmed_fetch_articles" in found["notice"]


async def test_a_failing_pmc_sinks_no_batch() -> None:
    """It is noted for each id, and the others are asked."""
    world = World(pmc=503, europe={"PMCID:PMC1": hit("11", pmcid="PMC1")}, texts={"PMC1": jats("PMC1", "one")})
    found = await world.told(pmcids=["1", "2"])
    assert [article["viaSource"] for article in found["articles"]] == ["europepmc"]
    assert tiers(found["unavailable"][0])[:2] == ["pmc service-error", "europepmc miss"]


async def test_a_failing_europe_pmc_is_noted_for_its_ids_alone() -> None:
    """What PMC has is given."""
    world = World(pmc={"PMC1": jats("PMC1", "one")}, europe=500)
    found = await world.told(pmcids=["1", "2"])
    assert found["totalReturned"] == 1
    (entry,) = found["unavailable"]
    assert tiers(entry) == ["pmc miss", "europepmc service-error", "unpaywall no-doi"]


async def test_where_a_service_could_not_answer_no_lack_is_certain() -> None:
    """The text may be where nobody could look; a copy that was found is a result all the same."""
    for world in (World(pmc=503), World(europe=500)):
        (entry,) = (await world.told(pmcids=["1"]))["unavailable"]
        assert entry["reason"] == "service-error"
    world = World(pmc=503, europe={"PMCID:PMC1": hit("11", doi="10.1000/x")}, places={"10.1000/x": OPEN})
    (entry,) = (await world.told(pmcids=["1"]))["unavailable"]
    assert entry["reason"] == "link-only"


async def test_an_ncbi_that_does_not_answer_leaves_time_for_the_others() -> None:
    """Its retries can take longer than the call has."""
    world = World(europe={"PMCID:PMC1": hit("11", pmcid="PMC1")}, texts={"PMC1": jats("PMC1", "one")}, hangs=True)
    async with world.hosted(deadline_s=2) as host:
        reply = await host.call(TOOL, {"pmcids": ["1"]}, LOCAL)
    (article,) = reply.structured["articles"]
    assert article["viaSource"] == "europepmc"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({"pmcids": ["1"]}, "ncbi_unreachable"), ({"pmids": ["11"]}, "ncbi_unreachable")],
)
async def test_when_nobody_can_answer_the_call_fails(arguments: dict[str, list[str]], expected: str) -> None:
    """A fault of every service is not an empty result."""
    world = World(pmc=503, converter=503, europe=503)
    reply = await world.reply({"unpaywall_email": None}, **arguments)
    assert reply.is_error
    assert reply.structured["error"]["data"]["reason"] == expected


async def test_a_failing_converter_leaves_europe_pmc_to_ask() -> None:
    """It finds the article by its PMID."""
    world = World(
        converter=500, europe={"EXT_ID:11 AND SRC:MED": hit("11", pmcid="PMC1")}, texts={"PMC1": jats("PMC1", "one")}
    )
    assert (await world.told(pmids=["11"]))["articles"][0]["pmcId"] == "PMC1"


@pytest.mark.parametrize(
    ("provider", "arguments", "why", "tried"),
    [
        ({"europepmc": False, "unpaywall_email": None}, {"pmids": ["11"]}, "no-pmc-fallback-disabled",
         ["pmc not-attempted", "europepmc not-attempted", "unpaywall not-attempted"]),
        ({"europepmc": False, "unpaywall_email": None}, {"pmcids": ["1"]}, "not-found",
         ["pmc miss", "europepmc not-attempted", "unpaywall not-attempted"]),
        ({"unpaywall_email": None}, {"pmids": ["11"]}, "not-found",
         ["pmc not-attempted", "europepmc miss", "unpaywall not-attempted"]),
        ({}, {"pmids": ["11"]}, "no-doi", ["pmc not-attempted", "europepmc miss", "unpaywall no-doi"]),
        ({}, {"dois": ["10.1000/x"]}, "no-oa", ["pmc not-attempted", "europepmc miss", "unpaywall no-oa"]),
        ({}, {"dois": ["no doi"]}, "no-doi", ["pmc not-attempted", "europepmc not-attempted", "unpaywall no-doi"]),
    ],
)  # fmt: skip
async def test_every_place_is_told_with_what_became_of_it(
    provider: dict[str, Any], arguments: dict[str, list[str]], why: str, tried: list[str]
) -> None:
    """The reason is that of the last place asked; one that is switched off is not asked, and is told all the same."""
    (entry,) = (await World().told(provider, **arguments))["unavailable"]
    assert (entry["reason"], tiers(entry)) == (why, tried)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"pmcids": ["1"], "pmids": ["1"]},
        {"pmcids": []},
        {"pmcids": ["NOT-A-PMC-ID"]},
        {"pmids": ["PMC1"]},
        {"pmids": [str(number) for number in range(1, 12)]},
        {"dois": ["1"]},
        {"pmcids": ["1"], "maxSections": 0},
        {"pmcids": ["1"], "overflowMode": "cut"},
    ],
)
async def test_wrong_arguments_are_refused_before_anything_is_asked(arguments: dict[str, Any]) -> None:
    """One kind of id, up to ten, each of its form."""
    world = World()
    reply = await world.reply(**arguments)
    assert reply.structured["error"]["data"]["reason"] == "invalid_arguments"
    assert reply.structured["error"]["code"] == -32602
    assert world.asked == []


async def test_the_rule_of_one_kind_stands_in_the_refusal_and_the_description() -> None:
    """A schema's list of properties cannot show it."""
    world = World()
    reply = await world.reply(pmcids=["1"], dois=["10.1000/x"])
    assert "exactly one of pmcids, pmids and dois, not pmcids and dois" in reply.structured["error"]["message"]
    async with world.hosted() as host:
        (definition,) = [one for one in host.catalogue.definitions if one["name"] == TOOL]
    assert "exactly one of pmcids, pmids or dois" in definition["description"]


@pytest.mark.parametrize(
    ("provider", "named"),
    [
        ({}, {"Europe PMC", "Unpaywall"}),
        ({"unpaywall_email": None}, {"Europe PMC"}),
        ({"europepmc": False, "unpaywall_email": None}, set[str]()),
    ],
)
async def test_the_description_names_the_services_that_are_asked(provider: dict[str, Any], named: set[str]) -> None:
    """It once promised what was not configured."""
    async with World().hosted(**provider) as host:
        (definition,) = [one for one in host.catalogue.definitions if one["name"] == TOOL]
    text = definition["description"]
    assert {name for name in ("Europe PMC", "Unpaywall") if name in text} == named
    assert len(text) <= 700


async def test_references_come_when_asked_for() -> None:
    """They are long, and seldom read."""
    back = "<ref-list><ref id='R1'><label>1</label><mixed-citation>Berg A. T. 2020.</mixed-citation></ref></ref-list>"
    world = World(pmc={"PMC1": jats("PMC1", "one", back=back)})
    (article,) = (await world.told(pmcids=["1"], includeReferences=True))["articles"]
    assert article["references"] == [{"id": "R1", "label": "1", "citation": "Berg A. T. 2020."}]


async def test_sections_that_no_title_matches_are_not_an_empty_article_without_a_word() -> None:
    """The notice names the words, the article and better words."""
    world = World(pmc={"PMC1": jats("PMC1", "one", "two")})
    found = await world.told(pmcids=["1"], sections=["PART 2"])
    assert [section["title"] for section in found["articles"][0]["sections"]] == ["Part 2"]
    none = await world.told(pmcids=["1"], sections=["methods"])
    assert none["articles"][0]["sections"] == []
    assert 'No section of PMC1 has "methods" in its title' in none["notice"]


async def test_a_budget_is_accounted_for() -> None:
    """Only for what it shortened, counted on what is returned."""
    world = World(pmc={"PMC1": jats("PMC1", "x" * 10, "y" * 10, "z" * 10), "PMC2": jats("PMC2", "short")})
    found = await world.told(pmcids=["1", "2"], maxCharacters=15)
    assert found["truncation"] == {
        "mode": "truncate", "maxCharacters": 15, "originalCharacters": 30, "returnedCharacters": 15,
        "omittedSections": 1,
        "articles": [
            {"id": "PMC1", "source": "pmc", "originalCharacters": 30, "returnedCharacters": 15, "sections": [
                {"title": "Part 1", "originalCharacters": 10, "returnedCharacters": 10, "truncated": False},
                {"title": "Part 2", "originalCharacters": 10, "returnedCharacters": 5, "truncated": True},
                {"title": "Part 3", "originalCharacters": 10, "returnedCharacters": 0, "truncated": True},
            ]},
        ],
    }  # fmt: skip
    assert "15 of 30 characters of 1 article are given (truncate mode, 1 section omitted" in found["notice"]
    assert "raise maxCharacters," in found["notice"]
    outline = await world.told(pmcids=["1"], maxCharacters=15, overflowMode="outline")
    assert [section["text"] for section in outline["articles"][0]["sections"]] == ["x" * 5, "y" * 5, "z" * 5]
    whole = await world.told(pmcids=["2"], maxCharacters=15)
    assert "truncation" not in whole


async def test_several_notices_are_joined() -> None:
    """None hides another."""
    world = World(pmc={"PMC1": jats("PMC1", "x" * 10), "PMC2": jats("PMC2")}, places={"10.1000/x": OPEN})
    world.europe = {"PMCID:PMC2": hit("22", doi="10.1000/x")}
    notice = (await world.told(pmcids=["1", "2"], maxCharacters=5))["notice"]
    assert all(part in notice for part in ("front matter", "openCopy", "5 of 10 characters"))


async def test_the_sample_data_are_marked_and_need_no_connection() -> None:
    """Offline, all services are emulators on the same sample."""
    article = next(record for record in SAMPLE if record.pmcid)
    settings = Settings.model_validate({"offline": True, "providers": {"pubmed": {"unpaywall_email": "a@b.example"}}})
    async with Host.open(settings, plugins={"pubmed": scigate_pubmed}) as host:
        reply = await host.call(TOOL, {"pmids": [article.pmid]}, LOCAL)
        (found,) = reply.structured["articles"]
        assert (found["pmcId"], found["title"]) == (article.pmcid, article.title)
        assert [section["title"] for section in found["sections"]] == [
            "Introduction",
            "Methods",
            "Results",
            "Discussion",
        ]
        assert "sample text" in json.dumps(found)
        assert "Sample data" in reply.structured["notice"]
        preprint = await host.call(TOOL, {"dois": ["10.1101/sample.1"]}, LOCAL)
        assert preprint.structured["unavailable"][0]["openCopy"]["url"] == "https://example.org/sample/PPR1.pdf"
