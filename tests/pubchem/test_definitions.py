"""The provider's tools as clients see them: contracts, a snapshot of every definition, and what they cost in tokens.

A change of a definition fails here until the snapshot is written anew, on purpose:
`SCIGATE_WRITE_DEFINITIONS=1 pytest tests/pubchem/test_definitions.py`.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
import scigate_pubchem
from scigate.host import Host
from scigate.settings import Settings

CONTRACTS = Path(__file__).with_name("contracts")
SNAPSHOT = CONTRACTS / "definitions.json"
SHARED = Path(__file__).parents[3] / "shared"

FIXED = ["pubchem_search_assays", "pubchem_get_bioactivity"]

Differences = Callable[[Any, Any], list[str]]


@pytest.fixture(scope="module")
async def tools() -> dict[str, Any]:
    async with Host.open(Settings(offline=True), plugins={"pubchem": scigate_pubchem}) as host:
        return {tool["name"]: tool for tool in host.catalogue.definitions}


@pytest.mark.parametrize("name", FIXED)
async def test_the_contract_holds(name: str, tools: dict[str, Any], contract_differences: Differences) -> None:
    """Names, types, enums, bounds, defaults, required fields, reasons and annotations are as agreed."""
    contract = json.loads((CONTRACTS / f"{name}.json").read_text(encoding="utf-8"))
    assert contract_differences(tools[name], contract) == []


@pytest.mark.parametrize("name", FIXED)
async def test_an_independent_checker_agrees(name: str, tools: dict[str, Any], tmp_path: Path) -> None:
    """A second comparison, written by others, finds no difference either, where it is at hand."""
    checker = SHARED / "check_contract.py"
    if not checker.exists():
        pytest.skip("the contracts' own checker is not at hand")
    served = tmp_path / "tools.json"
    served.write_text(json.dumps({"tools": [tools[name]]}), encoding="utf-8")
    contract = SHARED / "contracts" / "pubchem_seed_contract" / f"{name}.json"
    done = await anyio.run_process([sys.executable, str(checker), str(served), str(contract)], check=False)
    assert (done.returncode, done.stdout.strip()) == (0, b"contract holds")


async def test_definitions_are_those_of_the_snapshot(tools: dict[str, Any]) -> None:
    """What clients rely on changes on purpose only; this module's docstring says how."""
    if os.environ.get("SCIGATE_WRITE_DEFINITIONS"):
        SNAPSHOT.write_text(json.dumps(tools, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    kept = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    assert sorted(tools) == sorted(kept)
    assert [name for name in tools if tools[name] != kept[name]] == []


async def test_descriptions_are_short(tools: dict[str, Any]) -> None:
    """A model reads all of them before its first call."""
    assert {name: len(tool["description"]) for name, tool in tools.items() if len(tool["description"]) > 700} == {}


async def test_definitions_are_cheap(tools: dict[str, Any]) -> None:
    """At four characters a token: all of tools/list, and what a model usually sees of it."""
    seen = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools.values()]
    assert tokens(list(tools.values())) < 8_500
    assert tokens(seen) < 3_800


def tokens(value: Any) -> float:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False)) / 4


async def test_schemas_are_valid_by_their_dialect(tools: dict[str, Any]) -> None:
    """Draft 2020-12, as each of them says."""
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])
