"""Hashes as another program would make them."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from scigate.host import Host, Reply
from scigate_immunograph.digest import canonical, digest

Fetch = Callable[..., Awaitable[Reply]]


def recomputed(value: Any) -> str:
    """The standard library's JSON writes the same bytes for what the tests hash: short decimals, ASCII names."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_canonical_json_is_that_of_rfc_8785() -> None:
    """The example of RFC 8785, section 3.2.2 and 3.2.3."""
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "€$\u000f\u000aA'\u0042\u0022\u005c\\\"\u002f",
        "literals": [None, True, False],
    }
    assert canonical(value) == (
        b'{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        b'"string":"\xe2\x82\xac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


@pytest.mark.parametrize("value", [float("nan"), 2**53, "\ud800"])
def test_what_json_does_not_keep_has_no_hash(value: object) -> None:
    """NaN, whole numbers that readers round, and half a surrogate pair."""
    with pytest.raises(ValueError):
        digest(value)


async def test_output_hash_is_of_data_alone(host: Host, fetch: Fetch) -> None:
    """A second implementation finds the hash in `data` as it came."""
    reply = await fetch(host)
    assert reply.structured["meta"]["outputHash"] == recomputed(reply.structured["data"])


async def test_input_hash_is_of_the_arguments_without_the_run(host: Host, fetch: Fetch) -> None:
    """The run's label does not change the question."""
    reply = await fetch(host, runId="another", source="PUBCHEM")
    question = {"source": "pubchem", "compoundRef": "2244", "fallbackPolicy": "LIVE_ONLY"}
    assert reply.structured["meta"]["inputHash"] == recomputed(question)


async def test_content_hash_is_of_the_facts(host: Host, fetch: Fetch) -> None:
    """It is the same whether PubChem or a fixture states them."""
    live = (await fetch(host)).structured["data"]
    fixture = (await fetch(host, fallbackPolicy="FIXTURE_ONLY")).structured["data"]
    facts = {name: live[name] for name in live if name not in ("provenance", "source", "compoundRef")}
    assert live["provenance"]["contentHash"] == fixture["provenance"]["contentHash"] == recomputed(facts)


async def test_refused_arguments_are_hashed_as_they_came(host: Host, fetch: Fetch) -> None:
    """Without the run; what has no canonical JSON is hashed as null."""
    refused = (await fetch(host, compoundRef=[])).structured["meta"]
    question = {"source": "pubchem", "compoundRef": [], "fallbackPolicy": "LIVE_ONLY"}
    assert (refused["inputHash"], refused["runId"]) == (recomputed(question), "run-1")
    assert (await fetch(host, source=float("nan"))).structured["meta"]["inputHash"] == recomputed(None)
