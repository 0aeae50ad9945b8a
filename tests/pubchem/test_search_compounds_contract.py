"""`pubchem_search_compounds` as it is served, against its contract."""

import json
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
import scigate_pubchem
from scigate.call import LOCAL
from scigate.host import Host
from scigate.settings import Settings

CONTRACT = Path(__file__).with_name("contracts") / "pubchem_search_compounds.json"
SHARED = Path(__file__).parents[3] / "shared"

Differences = Callable[[Any, Any], list[str]]


@pytest.fixture(scope="module")
async def tool() -> dict[str, Any]:
    async with Host.open(Settings(offline=True), plugins={"pubchem": scigate_pubchem}) as host:
        return next(found for found in host.catalogue.definitions if found["name"] == "pubchem_search_compounds")


@pytest.fixture
def contract() -> dict[str, Any]:
    return json.loads(CONTRACT.read_text(encoding="utf-8"))


async def test_the_contract_holds(tool: Any, contract: Any, contract_differences: Differences) -> None:
    """Names, types, enums, bounds, defaults, required fields, reasons and annotations are as agreed."""
    assert contract_differences(tool, contract) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda tool: tool["inputSchema"]["properties"].pop("aid"), "inputSchema.aid is absent"),
        (lambda tool: tool["inputSchema"]["properties"].update(extra={}), "inputSchema.extra is not in the contract"),
        (lambda tool: tool["inputSchema"].update(additionalProperties=True), "inputSchema is open to further"),
        (lambda tool: tool["inputSchema"].update(required=[]), "inputSchema requires [], not ['searchType']"),
        (lambda tool: tool["inputSchema"]["properties"]["aid"].update(maximum=7), "inputSchema.aid has maximum 7"),
        (lambda tool: tool["inputSchema"]["properties"]["aid"].update(type="number"), "aid has type 'number'"),
        (lambda tool: tool["inputSchema"]["properties"]["queryType"]["enum"].pop(), "queryType allows ['smiles']"),
        (
            lambda tool: tool["inputSchema"]["properties"].update(
                aid={"anyOf": [{"type": "null"}, tool["inputSchema"]["properties"]["aid"]]}
            ),
            "inputSchema.aid accepts null",
        ),
        (lambda tool: tool["outputSchema"]["anyOf"].pop(0), "outputSchema has no alternative that requires exactly"),
        (lambda tool: tool["outputSchema"]["anyOf"][0].pop("not"), "excludes None"),
        (lambda tool: reason_of(tool).update(examples=[]), "reason does not declare ['aid_not_found'"),
        (lambda tool: tool["annotations"].update(readOnlyHint=False), "annotations.readOnlyHint is False, not True"),
    ],
)
async def test_a_departure_from_the_contract_is_named(
    change: Callable[[Any], object], told: str, tool: Any, contract: Any, contract_differences: Differences
) -> None:
    """Each kind of agreement is compared: breaking one is one difference."""
    broken = deepcopy(tool)
    change(broken)
    (difference,) = contract_differences(broken, contract)
    assert told in difference


def reason_of(tool: Any) -> dict[str, Any]:
    return tool["outputSchema"]["properties"]["error"]["properties"]["data"]["properties"]["reason"]


async def test_an_independent_checker_agrees(tool: Any, tmp_path: Path) -> None:
    """A second comparison, written by others, finds no difference either, where it is at hand."""
    checker = SHARED / "check_contract.py"
    contract = SHARED / "contracts" / "pubchem_seed_contract" / "pubchem_search_compounds.json"
    if not checker.exists():
        pytest.skip("the contracts' own checker is not at hand")
    served = tmp_path / "tools.json"
    served.write_text(json.dumps({"tools": [tool]}), encoding="utf-8")
    done = await anyio.run_process([sys.executable, str(checker), str(served), str(contract)], check=False)
    assert (done.returncode, done.stdout.strip()) == (0, b"contract holds")


async def test_results_and_failures_are_valid_by_the_output_schema(tool: Any) -> None:
    """Both alternatives of the schema are what is really sent."""
    jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
    schema = jsonschema.Draft202012Validator(tool["outputSchema"])
    async with Host.open(Settings(offline=True), plugins={"pubchem": scigate_pubchem}) as host:
        found = await host.call(tool["name"], {"searchType": "formula", "formula": "C9H8O4"}, LOCAL)
        failed = await host.call(tool["name"], {"searchType": "formula"}, LOCAL)
    assert (found.is_error, failed.is_error) == (False, True)
    schema.validate(found.structured)
    schema.validate(failed.structured)
    assert not schema.is_valid({**found.structured, **failed.structured} | {"results": 1})
    assert not schema.is_valid({})
