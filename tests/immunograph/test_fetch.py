"""`fetch_compound` through the host: sources, policies, what may stand in and how it is told."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
import scigate_immunograph
from scigate import hookimpl
from scigate.emulator import serving
from scigate.host import Host, Reply
from scigate.settings import Settings
from scigate_pubchem.emulator import create_app

Fetch = Callable[..., Awaitable[Reply]]
Differences = Callable[[Mapping[str, Any], Mapping[str, Any]], list[str]]

CONTRACT = Path(__file__).with_name("contracts") / "fetch_compound.json"


@asynccontextmanager
async def asking(base_url: str, **settings: Any) -> AsyncIterator[Host]:
    """A host whose PubChem is at another address."""
    upstreams = {"pubchem": {"base_url": base_url, "retries": 0}}
    providers = {"immunograph": {"record": False}}
    given = Settings.model_validate({"upstreams": upstreams, "providers": providers, **settings})
    async with Host.open(given, plugins={"immunograph": scigate_immunograph}) as host:
        yield host


def error_of(reply: Reply) -> dict[str, Any]:
    assert reply.is_error
    assert reply.structured["ok"] is False
    assert "data" not in reply.structured
    return reply.structured["error"]


def provenance_of(reply: Reply) -> dict[str, Any]:
    assert not reply.is_error, reply.structured
    return reply.structured["data"]["provenance"]


async def test_the_definition_keeps_the_contract(host: Host, contract_differences: Differences) -> None:
    """The four inputs, the envelope and the closed error are the contract's."""
    definition = next(tool for tool in host.catalogue.definitions if tool["name"] == "fetch_compound")
    assert contract_differences(definition, json.loads(CONTRACT.read_text())) == []
    assert definition["title"] == "fetch_compound"


async def test_every_property_of_the_definition_is_described(host: Host) -> None:
    """A model reads nothing else about them."""
    definition = next(tool for tool in host.catalogue.definitions if tool["name"] == "fetch_compound")
    envelope = definition["outputSchema"]["properties"]
    for schema in (definition["inputSchema"], definition["outputSchema"], *envelope.values()):
        assert all(part.get("description") or "$ref" in part for part in schema.get("properties", {}).values())


async def test_a_compound_comes_with_identity_and_provenance(host: Host, fetch: Fetch) -> None:
    """Facts are PubChem's; nothing is computed; sample data is marked."""
    reply = await fetch(host)
    found = reply.structured["data"]
    assert (found["cid"], found["title"], found["molecularFormula"]) == (2244, "Aspirin", "C9H8O4")
    assert found["inchiKey"] == "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"
    assert found["molecularWeight"] == 180.16
    provenance = provenance_of(reply)
    assert (provenance["source"], provenance["mode"], provenance["sampleData"]) == ("pubchem", "live", True)
    assert provenance["url"].startswith("https://pubchem.ncbi.nlm.nih.gov/rest/pug/compound/cid/2244/property/")
    assert "skipped" not in provenance


async def test_a_fixture_is_the_same_byte_for_byte(host: Host, fetch: Fetch) -> None:
    """Data and its hash are equal in every run; no request is made."""
    first = await fetch(host, source="fixture", compoundRef="aspirin", fallbackPolicy="FIXTURE_ONLY")
    second = await fetch(host, runId="b", source="fixture", compoundRef="aspirin", fallbackPolicy="FIXTURE_ONLY")
    assert json.dumps(first.structured["data"]) == json.dumps(second.structured["data"])
    assert first.structured["meta"]["outputHash"] == second.structured["meta"]["outputHash"]
    assert first.structured["meta"]["inputHash"] == second.structured["meta"]["inputHash"]
    assert first.meta["scigate/usage"]["attempts"] == 0
    assert provenance_of(first)["fixtureKey"] == "aspirin"


@pytest.mark.parametrize("key", ["Aspirin", "aspirin.json", " aspirin", "../fixtures/aspirin", "2244"])
async def test_a_fixture_key_is_exact(host: Host, fetch: Fetch, key: str) -> None:
    """No case folding, no nearest name, no path."""
    reply = await fetch(host, source="fixture", compoundRef=key, fallbackPolicy="FIXTURE_ONLY")
    assert error_of(reply)["code"] == "FIXTURE_NOT_FOUND"


@pytest.mark.parametrize(
    ("arguments", "code", "category"),
    [
        ({"source": "fixture", "compoundRef": "aspirin"}, "POLICY_CONFLICT", "policy"),
        (
            {"source": "fixture", "compoundRef": "aspirin", "fallbackPolicy": "CACHE_THEN_LIVE"},
            "POLICY_CONFLICT",
            "policy",
        ),
        ({"compoundRef": "aspirin"}, "INVALID_COMPOUND_REF", "validation"),
        ({"compoundRef": "0"}, "INVALID_COMPOUND_REF", "validation"),
        ({"compoundRef": "02244"}, "INVALID_COMPOUND_REF", "validation"),
        ({"compoundRef": "2147483648"}, "INVALID_COMPOUND_REF", "validation"),
        ({"compoundRef": "999999999"}, "COMPOUND_NOT_FOUND", "not_found"),
        ({"compoundRef": "999999999", "fallbackPolicy": "FIXTURE_ONLY"}, "FIXTURE_NOT_FOUND", "not_found"),
        ({"fallbackPolicy": "ANYTHING"}, "INVALID_ARGUMENTS", "validation"),
        ({"runId": "a\nb"}, "INVALID_ARGUMENTS", "validation"),
        ({"runId": ""}, "INVALID_ARGUMENTS", "validation"),
    ],
)
async def test_what_cannot_be_served_is_a_typed_failure(
    host: Host, fetch: Fetch, arguments: dict[str, Any], code: str, category: str
) -> None:
    """Each has its code, its category and a hint, and is not worth a retry."""
    error = error_of(await fetch(host, **arguments))
    assert (error["code"], error["category"], error["retryable"]) == (code, category, False)
    assert error["details"]["recovery"]["hint"]


async def test_a_cid_may_be_a_number(host: Host, fetch: Fetch) -> None:
    """The schema says text; a whole number means the same, also to the hash."""
    number, text = await fetch(host, compoundRef=2244), await fetch(host, compoundRef="2244")
    assert number.structured["meta"]["inputHash"] == text.structured["meta"]["inputHash"]


async def test_fixture_only_makes_no_request(fetch: Fetch) -> None:
    """With an upstream that fails on any request the stand-in serves, and says that it stands in."""

    class Untouchable(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            raise AssertionError(f"{request.url} was asked for")

    def build_client(settings: Any) -> object:
        client = httpx.AsyncClient(transport=Untouchable(), base_url="https://pubchem.ncbi.nlm.nih.gov/")
        return scigate_immunograph.build_client({"pubchem": client}, settings)

    plugin = ModuleType("untouchable")
    vars(plugin).update(vars(scigate_immunograph) | {"build_client": hookimpl(build_client)})
    settings = Settings.model_validate({"providers": {"immunograph": {"record": False}}})
    async with Host.open(settings, plugins={"immunograph": plugin}) as host:
        reply = await fetch(host, fallbackPolicy="FIXTURE_ONLY")
    provenance = provenance_of(reply)
    assert (provenance["source"], provenance["mode"], provenance["fixtureKey"]) == ("pubchem", "fixture", "aspirin")


async def test_live_only_neither_reads_nor_writes_the_cache(host: Host, fetch: Fetch) -> None:
    """Every call is a request; a later cache-first call finds nothing of it."""
    for _ in range(2):
        reply = await fetch(host)
        assert (reply.meta["scigate/usage"]["requests"], reply.meta["scigate/usage"]["cached"]) == (1, 0)
    assert provenance_of(await fetch(host, fallbackPolicy="CACHE_THEN_LIVE"))["mode"] == "live"
    assert (await fetch(host)).meta["scigate/usage"]["cached"] == 0


async def test_cache_first_serves_what_a_live_call_left(host: Host, fetch: Fetch) -> None:
    """The policies that know the cache leave their live answer there; the content's hash stays the same."""
    live = provenance_of(await fetch(host, fallbackPolicy="LIVE_THEN_CACHE"))
    cached = provenance_of(await fetch(host, fallbackPolicy="CACHE_THEN_LIVE"))
    assert (live["mode"], cached["mode"]) == ("live", "cache")
    assert live["contentHash"] == cached["contentHash"]
    assert cached["sampleData"] is True


async def test_a_failing_upstream_is_replaced_in_order_and_told(fetch: Fetch) -> None:
    """First the cache, then the fixture; each skipped source is named with its reason."""
    emulator = create_app()
    async with serving(emulator) as url, asking(url) as host:
        await fetch(host, fallbackPolicy="LIVE_THEN_CACHE", compoundRef="2519")
        emulator.faults.add("500;times=all")
        cached = provenance_of(await fetch(host, fallbackPolicy="LIVE_THEN_CACHE", compoundRef="2519"))
        fixture = provenance_of(await fetch(host, fallbackPolicy="LIVE_THEN_CACHE_THEN_FIXTURE"))
        nothing = error_of(await fetch(host, fallbackPolicy="LIVE_THEN_CACHE"))
    assert (cached["mode"], [part["source"] for part in cached["skipped"]]) == ("cache", ["live"])
    assert fixture["mode"] == "fixture"
    assert [(part["source"], part["reason"]) for part in fixture["skipped"]] == [
        ("live", "upstream_unavailable"),
        ("cache", "not_cached"),
    ]
    assert (nothing["code"], nothing["category"], nothing["retryable"]) == ("SOURCE_UNAVAILABLE", "upstream", True)
    assert [part["source"] for part in nothing["details"]["skipped"]] == ["live", "cache"]


async def test_a_compound_that_pubchem_denies_is_not_replaced(host: Host, fetch: Fetch) -> None:
    """That there is none is an answer, not trouble."""
    reply = await fetch(host, compoundRef="999999999", fallbackPolicy="LIVE_THEN_CACHE_THEN_FIXTURE")
    assert error_of(reply)["code"] == "COMPOUND_NOT_FOUND"


@pytest.mark.parametrize(
    ("fault", "code", "category"),
    [
        ("429", "RATE_LIMITED", "rate_limit"),
        ("busy", "RATE_LIMITED", "rate_limit"),
        ("503", "RATE_LIMITED", "rate_limit"),
        ("500", "SOURCE_UNAVAILABLE", "upstream"),
        ("504", "TIMEOUT", "timeout"),
        ("truncated", "MALFORMED_UPSTREAM", "upstream"),
        ("html", "MALFORMED_UPSTREAM", "upstream"),
        ("wrong-type", "MALFORMED_UPSTREAM", "upstream"),
        ("reset", "SOURCE_UNAVAILABLE", "upstream"),
    ],
)
async def test_each_upstream_fault_has_its_code(fetch: Fetch, fault: str, code: str, category: str) -> None:
    """All of them are worth a retry, and none is an empty result."""
    async with serving(create_app([fault])) as url, asking(url) as host:
        error = error_of(await fetch(host))
    assert (error["code"], error["category"], error["retryable"]) == (code, category, True)


async def test_a_hanging_upstream_leaves_time_for_the_next_source(fetch: Fetch) -> None:
    """The live source gets a share of the call's time where another one may follow."""
    async with serving(create_app(["hang"])) as url, asking(url, deadline_s=0.5) as host:
        provenance = provenance_of(await fetch(host, fallbackPolicy="LIVE_THEN_CACHE_THEN_FIXTURE"))
    assert provenance["mode"] == "fixture"
    assert provenance["skipped"][0]["reason"] == "upstream_timeout"
