"""What changed in pubchem_search_compounds between July and October 2026, as catalogues of MCP servers list it.

The old values are those of the open-source release of 30 July 2026, the new ones what is served here.
"""

import copy
from datetime import UTC, datetime
from typing import Any

import pytest
import scigate_pubchem
from scigate.host import Host
from scigate.settings import Settings
from scigate.snapshot import Lock

TOOL = "pubchem_search_compounds"


@pytest.fixture
async def october() -> dict[str, Any]:
    """The definition as it is served."""
    async with Host.open(Settings(offline=True), plugins={"pubchem": scigate_pubchem}) as host:
        return next(each for each in host.catalogue.definitions if each["name"] == TOOL)


@pytest.fixture
def july(october: dict[str, Any]) -> dict[str, Any]:
    """The same with the values of July: limits that refused instead of capping, and no word of what was capped."""
    old = copy.deepcopy(october)
    arguments, result = old["inputSchema"]["properties"], old["outputSchema"]["properties"]
    arguments["maxResults"]["maximum"] = 200
    arguments["identifiers"]["maxItems"] = 25
    arguments["offset"]["maximum"] = 10_000
    arguments["aid"]["maximum"] = 9_007_199_254_740_991
    del result["cappedInputs"], result["unprocessed"]
    return old


async def test_the_changelog_is_the_published_one(july: dict[str, Any], october: dict[str, Any]) -> None:
    """Five limits and fields became wider; only the bound of assay numbers became narrower."""
    lock = Lock.of([july], datetime(2026, 7, 30, tzinfo=UTC))
    log = lock.renewed([october], datetime(2026, 10, 24, tzinfo=UTC)).log
    assert {(entry.on, entry.tool) for entry in log} == {("2026-10-24", TOOL)}
    told = {entry.change.words: entry.change.kind for entry in log if not entry.change.words.startswith("added ")}
    assert told == {
        "changed inputSchema / properties / maxResults / maximum: 200 -> 1000": "compatible",
        "changed inputSchema / properties / identifiers / maxItems: 25 -> 1000": "compatible",
        "changed inputSchema / properties / offset / maximum: 10000 -> 9007199254740991": "compatible",
        "changed inputSchema / properties / aid / maximum: 9007199254740991 -> 2147483647": "breaking",
    }
    added = [entry.change for entry in log if entry.change.words.startswith("added ")]
    assert {change.path[-1] for change in added} == {"cappedInputs", "unprocessed"}
    assert {change.kind for change in added} == {"compatible"}
