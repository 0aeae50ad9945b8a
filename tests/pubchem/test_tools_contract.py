"""The compound tools against the contract of all tools, where it is at hand; `definitions.json` pins them always."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import scigate_pubchem
from scigate.call import LOCAL
from scigate.host import Host
from scigate.settings import Settings

CONTRACT = Path(__file__).parents[3] / "shared" / "contracts" / "pubchem.tools.json"
NAMES = [
    f"pubchem_get_compound_{name}" for name in ("details", "image", "3d_structure", "xrefs", "safety", "interactions")
]
BOUNDS = ("minimum", "maximum", "minItems", "maxItems", "default", "enum")


@pytest.fixture(scope="module")
async def tools() -> dict[str, Any]:
    async with Host.open(Settings(offline=True), plugins={"pubchem": scigate_pubchem}) as host:
        return {tool["name"]: tool for tool in host.catalogue.definitions}


@pytest.fixture(scope="module")
def contract() -> dict[str, Any]:
    if not CONTRACT.exists():
        pytest.skip("the contract is not at hand")
    return json.loads(CONTRACT.read_text(encoding="utf-8"))


def resolved(node: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        node = {**root["$defs"][node["$ref"].rsplit("/", 1)[1]], **{k: v for k, v in node.items() if k != "$ref"}}
    return node


def types(node: dict[str, Any]) -> set[str]:
    """The types that a schema allows; a whole number is a number."""
    found = node.get("type") or [one["type"] for one in node.get("anyOf", [])]
    listed = found if isinstance(found, list) else [found]
    return {"number" if one == "integer" else one for one in listed}


def differences(want: dict[str, Any], have: dict[str, Any], root: dict[str, Any], path: str) -> Iterator[str]:
    have = resolved(have, root)
    if types(want) != types(have):
        yield f"{path} has type {types(have)}, not {types(want)}"
    if want.get("type") == "object" and "properties" in want:
        yield from members(want["properties"], have.get("properties", {}), root, path)
        if set(want["requiredFields"]) != set(have.get("required", ())):
            yield f"{path} requires {have.get('required')}, not {want['requiredFields']}"
        if want.get("additionalProperties") is False and have.get("additionalProperties") is not False:
            yield f"{path} is open"
    if isinstance(want.get("items"), dict):
        yield from differences(want["items"], have.get("items", {}), root, f"{path}[]")
    yield from (
        f"{path} has {bound} {have.get(bound)!r}, not {want[bound]!r}"
        for bound in BOUNDS
        if bound in want and have.get(bound) != want[bound]
    )


def members(want: dict[str, Any], have: dict[str, Any], root: dict[str, Any], path: str) -> Iterator[str]:
    yield from (f"{path}.{name} differs" for name in want.keys() ^ have.keys())
    for name in want.keys() & have.keys():
        yield from differences(want[name], have[name], root, f"{path}.{name}")


@pytest.mark.parametrize("name", NAMES)
async def test_the_contract_holds(name: str, tools: dict[str, Any], contract: dict[str, Any]) -> None:
    """Names, types, bounds, defaults, enums and required fields of both schemas, and the reasons declared."""
    want, have = contract[name], tools[name]
    taken, given = have["inputSchema"], have["outputSchema"]
    found = list(members(want["input"], taken["properties"], taken, "input"))
    required = {name for name, node in want["input"].items() if node["required"]}
    assert (set(taken["required"]), taken["additionalProperties"]) == (required, False)
    outputs = {name: node for name, node in want["output"].items() if name != "error"}
    properties = {name: node for name, node in given["properties"].items() if name != "error"}
    # Core's own fields may stand where the contract has none.
    found += members(outputs, {n: v for n, v in properties.items() if n in outputs or n != "notice"}, given, "output")
    assert found == []
    assert set(given["anyOf"][0]["required"]) == set(want["successRequires"])
    reasons = given["properties"]["error"]["properties"]["data"]["properties"]["reason"]["examples"]
    assert {one["reason"] for one in want["errors"]} <= set(reasons)


@pytest.mark.parametrize("name", NAMES)
async def test_results_are_valid_by_the_output_schema(name: str, tools: dict[str, Any]) -> None:
    """Nulls of drug-likeness included; a failure is the other alternative."""
    schema = jsonschema.Draft202012Validator(tools[name]["outputSchema"])
    several = "cids" in tools[name]["inputSchema"]["properties"]
    arguments: dict[str, Any] = {"cids": [2244, 5288826, 999999999, 180]} if several else {"cid": 2244}
    for flag in ("Description", "Synonyms", "DrugLikeness", "Classification", "AlternateConformerIds"):
        if f"include{flag}" in tools[name]["inputSchema"]["properties"]:
            arguments[f"include{flag}"] = True
    if name.endswith("xrefs"):
        arguments["xrefTypes"] = ["RN", "PubMedID"]
    if name.endswith("interactions"):
        arguments["kinds"] = ["drug-drug", "drug-food", "target"]
    section = {"offline": True, "upstreams": {"pubchem": {"quotas": ["1000/second"]}}}
    async with Host.open(Settings.model_validate(section), plugins={"pubchem": scigate_pubchem}) as host:
        good = await host.call(name, arguments, LOCAL)
        bad = await host.call(name, {}, LOCAL)
    assert (good.is_error, bad.is_error) == (False, True)
    schema.validate(good.structured)
    schema.validate(bad.structured)
