"""The served definitions against the contracts, and against the definitions that clients have seen before."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from scigate.host import Host

CONTRACTS = Path(__file__).with_name("contracts")
SNAPSHOT = CONTRACTS / "definitions.json"
WHOLE_CONTRACT = Path(__file__).parents[3] / "shared" / "contracts" / "pubmed.tools.json"
UPDATE = "UPDATE_SNAPSHOTS"

# The gateway fetches no address that an answer names: a copy that Unpaywall knows is shown as a link, so its text is
# neither fetched, parsed nor cut.
DEPARTURES = (
    "pubmed_fetch_fulltext: outputSchema.unavailable[].reason allows",
    "pubmed_fetch_fulltext: outputSchema.unavailable[].triedTiers[].outcome allows",
    "pubmed_fetch_fulltext: outputSchema.truncation.articles[].source allows",
)

Json = Mapping[str, Any]
Differences = Callable[[Json, Json], list[str]]

NCBI = {
    *("queue_full", "ncbi_unreachable", "ncbi_deadline_exceeded", "ncbi_invalid_response"),
    *("ncbi_resource_not_found", "ncbi_key_refused"),
}


def definitions(host: Host) -> dict[str, Json]:
    return {definition["name"]: definition for definition in host.catalogue.definitions}


async def test_the_search_tool_keeps_its_contract(offline: Host, contract_differences: Differences) -> None:
    """Names, types, bounds, defaults and reasons are the contract's; the output may say more, such as nextOffset."""
    contract = json.loads((CONTRACTS / "pubmed_search_articles.json").read_text())
    definition = definitions(offline)[contract["tool"]]
    assert contract_differences(definition, contract) == []
    assert definition["title"] == contract["title"]


async def test_the_definitions_are_those_that_clients_know(offline: Host) -> None:
    """A client keeps them; a change is meant or it is a fault."""
    served = json.dumps(offline.catalogue.definitions, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get(UPDATE):
        SNAPSHOT.write_text(served, encoding="utf-8")
    if json.loads(SNAPSHOT.read_text(encoding="utf-8")) != json.loads(served):
        pytest.fail(
            f"tools/list differs from {SNAPSHOT.name}. Where the change is meant, write it anew with "
            f"`{UPDATE}=1 pytest tests/pubmed/test_contract.py`, and look at the difference before you commit it."
        )


async def test_what_a_model_reads_is_short(offline: Host) -> None:
    """At four characters a token: what clients show of it, and descriptions that say what a tool is for and costs."""
    shown = [{key: one[key] for key in ("name", "description", "inputSchema")} for one in offline.catalogue.definitions]
    assert tokens(shown) < 2500
    assert tokens(offline.catalogue.definitions) < 8050
    for definition in offline.catalogue.definitions:
        assert len(definition["description"]) <= 700
        assert "request" in definition["description"] or definition["name"] == "pubmed_search_articles"


def tokens(value: object) -> float:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) / 4


async def test_the_declared_reasons_are_all_that_ncbi_can_cause(offline: Host) -> None:
    """A reason that is not in the schema would surprise its reader."""
    assert reasons(definitions(offline)["pubmed_search_articles"]) == {*NCBI, "blank_query"}
    assert reasons(definitions(offline)["pubmed_fetch_articles"]) == {*NCBI, "invalid_efetch_response"}


def reasons(definition: Json) -> set[str]:
    data = definition["outputSchema"]["properties"]["error"]["properties"]["data"]
    return set(data["properties"]["reason"]["examples"])


@pytest.mark.skipif(not WHOLE_CONTRACT.is_file(), reason="no contract beside the repository")
async def test_every_tool_keeps_to_the_whole_contract(offline: Host, contract_differences: Differences) -> None:
    """Arguments with their bounds and defaults, results with what they always have, and the declared reasons."""
    contract: dict[str, Any] = json.loads(WHOLE_CONTRACT.read_text()) if WHOLE_CONTRACT.is_file() else {}
    served = definitions(offline)
    assert set(served) == set(contract)
    differences = [
        f"{name}: {one}"
        for name, stated in contract.items()
        for one in contract_differences(served[name], skeleton(name, stated))
    ]
    assert [one for one in differences if not one.startswith(DEPARTURES)] == []


def skeleton(name: str, stated: Json) -> Json:
    """A tool of the contract file in the form of a skeleton: what is required stands in a list, notes are left out."""
    given = {key: dict(value) for key, value in stated["input"]["properties"].items()}
    required = [key for key, value in given.items() if value.pop("required", None) is True]
    output = stated["output"]
    reason = {"examples": [one["reason"] for one in stated["errors"]]}
    error = {"properties": {"data": {"properties": {"reason": reason}}}}
    return {
        "tool": name,
        "annotations": stated["annotations"],
        "inputSchema": {
            "type": "object",
            "additionalProperties": False,
            "required": required,
            "properties": {key: plain(value) for key, value in given.items()},
        },
        "outputSchema": {
            "properties": {**{key: plain(value) for key, value in output["properties"].items()}, "error": error},
            "anyOf": [
                {"not": {"required": ["error"]}, "required": output["requiredOnSuccess"]},
                {"required": ["error"]},
            ],
        },
    }


def plain(node: Json) -> Json:
    """A node without the notes; keys that an object requires stand under `requiredKeys` in arguments."""
    notes = {"perCallCap", "means", "required", "requiredKeys"}
    if "patternFlags" in node:
        # JSON Schema has no flags: a pattern without regard to case is written another way.
        notes |= {"pattern", "patternFlags"}
    schema = {key: value for key, value in node.items() if key not in notes}
    if isinstance(node.get("required"), list):
        schema["required"] = node["required"]
    if "requiredKeys" in node:
        schema["required"] = node["requiredKeys"]
    if "properties" in schema:
        schema["properties"] = {key: plain(value) for key, value in schema["properties"].items()}
    if "items" in schema:
        schema["items"] = plain(schema["items"])
    return schema
