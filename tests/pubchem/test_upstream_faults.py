"""Each fault of the PubChem service, over a real socket: the reason told, the hint, and the attempts made."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import scigate_pubchem
from scigate.call import LOCAL
from scigate.clock import SystemClock
from scigate.emulator import Emulator, serving
from scigate.host import Host, Reply
from scigate.settings import Settings, UpstreamSettings
from scigate_pubchem.emulator import create_app

ASPIRIN = {"searchType": "identifier", "identifierType": "name", "identifiers": ["aspirin"]}


class SkippingClock(SystemClock):
    """The system's clock, but whoever sleeps on it is woken at once, with the time passed."""

    def __init__(self) -> None:
        self._skipped = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self._skipped

    async def sleep(self, seconds: float) -> None:
        self._skipped += max(0.0, seconds)
        await asyncio.sleep(0)


@pytest.fixture
async def pubchem() -> AsyncIterator[tuple[Host, Emulator]]:
    """A host whose PubChem is the emulator on a socket, with half a second for an attempt."""
    emulator = create_app()
    async with serving(emulator) as url:
        base = url.removesuffix("rest/pug").removesuffix("/rest/pug/")
        settings = Settings(upstreams={"pubchem": UpstreamSettings(base_url=base, timeout_s=0.5)})
        plugins = {"pubchem": scigate_pubchem}
        async with Host.open(settings, plugins=plugins, clock=SkippingClock()) as host:
            yield host, emulator


async def search(host: Host, arguments: dict[str, Any] = ASPIRIN) -> Reply:
    return await host.call("pubchem_search_compounds", arguments, LOCAL)


@pytest.mark.parametrize(
    ("fault", "reason", "attempts", "retryable"),
    [
        ("429", "upstream_rate_limited", 2, True),
        ("503", "upstream_rate_limited", 2, True),
        ("503;retry-after=2", "upstream_rate_limited", 2, True),
        ("busy", "upstream_rate_limited", 2, True),
        ("500", "upstream_unavailable", 2, True),
        ("504", "upstream_timeout", 2, True),
        ("truncated", "upstream_invalid_response", 2, True),
        ("html", "upstream_invalid_response", 1, True),
        ("wrong-type", "upstream_invalid_response", 1, True),
        ("hang", "upstream_timeout", 2, True),
        ("reset", "upstream_unavailable", 2, True),
    ],
)
async def test_a_lasting_fault_has_its_reason(
    pubchem: tuple[Host, Emulator], fault: str, reason: str, attempts: int, retryable: bool
) -> None:
    """One retry for what may pass, none for what will not; never an empty result, and the next call is served."""
    host, emulator = pubchem
    emulator.faults.add(f"{fault};times={attempts}")
    failed = await search(host)
    error = failed.structured["error"]
    assert (error["data"]["reason"], error["data"]["retryable"]) == (reason, retryable)
    assert error["data"]["recovery"]["hint"] in failed.content[0]["text"]
    assert len(emulator.requests) == attempts == failed.meta["scigate/usage"]["requests"]
    served = await search(host)
    assert served.structured["results"] == [{"cid": 2244, "identifier": "aspirin"}]


@pytest.mark.parametrize("fault", ["429", "503", "503;retry-after=2", "busy", "500", "504", "truncated", "reset"])
async def test_a_passing_fault_is_not_noticed(pubchem: tuple[Host, Emulator], fault: str) -> None:
    """What passes within the one retry costs a second request and nothing else."""
    host, emulator = pubchem
    emulator.faults.add(fault)
    reply = await search(host)
    assert reply.structured["results"] == [{"cid": 2244, "identifier": "aspirin"}]
    assert len(emulator.requests) == 2


async def test_an_unsearchable_query_is_asked_once(pubchem: tuple[Host, Emulator]) -> None:
    """A 500 whose text says that the search failed fails the same way each time: it is not retried."""
    host, emulator = pubchem
    reply = await search(host, {"searchType": "substructure", "query": "C*", "queryType": "smiles"})
    data = reply.structured["error"]["data"]
    assert data["reason"] == "search_query_rejected"
    assert "Search status indicates failure" in data["fault"]
    assert len(emulator.requests) == 1


async def test_cid_zero_is_no_compound(pubchem: tuple[Host, Emulator]) -> None:
    """A structure that PubChem understands but does not have is answered with 0, which is nobody's number."""
    host, _ = pubchem
    unknown = "CCCCCCCCCCCCCCCCCCCCCCCCCCCCC(Cl)(Br)I"
    reply = await search(host, {"searchType": "identifier", "identifierType": "smiles", "identifiers": [unknown]})
    assert (reply.structured["results"], reply.structured["totalFound"]) == ([], 0)
    assert reply.structured["unresolvedIdentifiers"] == [unknown]


async def test_the_slow_down_header_spaces_requests_out(pubchem: tuple[Host, Emulator]) -> None:
    """X-Throttling-Control in black leaves five seconds between requests, and the status says what asked for it."""
    host, emulator = pubchem
    emulator.faults.add("throttle")
    await search(host)
    (status,) = host.upstreams
    assert (status.slowed_by, status.spacing_s) == ("throttle", 5.0)
