"""The provider on its emulator."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
import scigate_uniprot
from scigate import LOCAL, Host, Settings
from scigate_uniprot.emulator import ENTRIES, SEQUENCES


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """The gateway runs on asyncio."""
    return "asyncio"


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    """A gateway that has only this provider."""
    async with Host.open(Settings(offline=True), plugins={"uniprot": scigate_uniprot}) as opened:
        yield opened


@pytest.mark.parametrize("accession", SEQUENCES)
def test_a_sample_sequence_has_its_entrys_length(accession: str) -> None:
    """A letter lost in copying would be seen."""
    assert len(SEQUENCES[accession]) == ENTRIES[accession]["sequence"]["length"]


async def test_proteins_are_found_by_gene_and_organism(host: Host) -> None:
    """The exact total comes from a header of UniProt's, the licence from the policy."""
    reply = await host.call("uniprot_search_proteins", {"query": "gene:PTGS2 AND organism_id:9606"}, LOCAL)
    assert [each["accession"] for each in reply.structured["proteins"]] == ["P35354"]
    assert reply.structured["totalFound"] == 1
    assert "CC BY 4.0" in reply.structured["notice"]


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("search_proteins", {"query": '"open'}, "invalid_query"),
        ("get_protein", {"accession": "P99999"}, "unknown_accession"),
        ("get_protein", {"accession": "insulin"}, "invalid_arguments"),
    ],
)
async def test_refusals_have_their_reasons(host: Host, tool: str, arguments: dict[str, Any], reason: str) -> None:
    """Each with a hint that names the parameter or the other tool."""
    reply = await host.call(f"uniprot_{tool}", arguments, LOCAL)
    assert reply.structured["error"]["data"]["reason"] == reason


async def test_an_entry_is_a_resource(host: Host) -> None:
    """The same record as the tool's."""
    reading = await host.read("uniprot://entry/P69905", LOCAL)
    assert '"geneName"' not in (reading.text or "")
    assert '"gene": "HBA1"' in (reading.text or "")


def test_it_conforms(conformance: Callable[..., Any]) -> None:
    """What core promises of every provider holds for this one."""
    conformance("uniprot", scigate_uniprot).require()
