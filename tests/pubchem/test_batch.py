"""A batch in which some entries fail."""

from typing import Any

import scigate_pubchem
from scigate.call import LOCAL
from scigate.emulator import serving
from scigate.host import Host
from scigate.settings import Settings
from scigate_pubchem.emulator import create_app


async def test_entries_that_starve_and_entries_that_fail_are_set_aside_in_input_order() -> None:
    """Three turns for five assays, one of which meets a fault: what was not served is in `unprocessed`."""
    app = create_app(["500;match=aid/910000002/"])
    aids: list[Any] = [910000001, "910000002", 910000003, 910000011, 910000012, *range(1, 7)]
    async with serving(app) as url:
        section = {"base_url": url, "quotas": ["3/hour"], "retries": 0}
        settings = Settings.model_validate({"upstreams": {"pubchem": section}})
        async with Host.open(settings, plugins={"pubchem": scigate_pubchem}) as host:
            arguments = {"entityType": "assay", "identifiers": aids}
            found = (await host.call("pubchem_get_summary", arguments, LOCAL)).structured
    served = [summary["identifier"] for summary in found["summaries"]]
    assert len(served) == 2
    assert found["unprocessed"] == [str(aid) for aid in aids if aid not in served]
    assert "910000002" in found["unprocessed"]
    assert "by a fault of the upstream (upstream_unavailable): 910000002." in found["notice"]
    assert "quota leaves no turn" in found["notice"]


async def test_an_unreachable_service_costs_one_entry_too(gateway: Any) -> None:
    """A connection that breaks is a fault like any other."""
    gateway.emulator.faults.add("reset;match=aid/910000002/")
    found = await gateway.good("pubchem_get_summary", entityType="assay", identifiers=[910000001, 910000002])
    assert (found["foundCount"], found["unprocessed"]) == (1, ["910000002"])
    assert "upstream_unavailable" in found["notice"]
