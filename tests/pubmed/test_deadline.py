"""What a call is told whose time runs out while it waits for NCBI."""

import pytest
import scigate_pubmed
from scigate.call import LOCAL
from scigate.emulator import serving
from scigate.host import Host
from scigate.settings import Settings
from scigate_pubmed.emulator import create_app

CALLS = {
    "pubmed_search_articles": {"query": "cancer"},
    "pubmed_fetch_articles": {"pmids": ["1"]},
    "pubmed_find_related": {"pmid": "1"},
    "pubmed_spell_check": {"query": "cancer"},
    "pubmed_lookup_mesh": {"query": "cancer"},
    "pubmed_lookup_citation": {"citations": [{"journal": "Nature"}]},
}


@pytest.mark.parametrize("tool", CALLS)
async def test_ncbis_silence_is_ncbis_deadline(tool: str) -> None:
    """The upstream's time is up a little before the call's, so the provider's own reason is told; and nothing hangs."""
    async with serving(create_app(["hang;times=all"])) as url:
        settings = {"deadline_s": 1.0, "upstreams": {"ncbi": {"base_url": f"{url}/entrez/eutils/"}}}
        async with Host.open(Settings.model_validate(settings), plugins={"pubmed": scigate_pubmed}) as host:
            reply = await host.call(tool, CALLS[tool], LOCAL)
    assert reply.structured["error"]["data"]["reason"] == "ncbi_deadline_exceeded"
    assert reply.structured["error"]["code"] == -32004
    assert reply.structured["error"]["data"]["retryable"] is True


async def test_a_wait_beyond_the_deadline_is_refused_at_once() -> None:
    """A turn that comes too late is of no use; the failure says when to ask again."""
    async with serving(create_app()) as url:
        upstream = {"base_url": f"{url}/entrez/eutils/", "quotas": ["1/hour"]}
        settings = {"deadline_s": 30, "upstreams": {"ncbi": upstream}}
        async with Host.open(Settings.model_validate(settings), plugins={"pubmed": scigate_pubmed}) as host:
            assert not (await host.call("pubmed_spell_check", {"query": "first"}, LOCAL)).is_error
            reply = await host.call("pubmed_spell_check", {"query": "second"}, LOCAL)
    data = reply.structured["error"]["data"]
    assert data["reason"] == "queue_full"
    assert data["retryAfterMs"] > 3_000_000
