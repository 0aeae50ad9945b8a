"""ImmunoGraph for scigate: the hooks of the provider `immunograph`, research runs with provenance."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import httpx
from pydantic import BaseModel
from scigate import Example, Failure, Policy, Tool, Upstream, hookimpl

from scigate_immunograph import faults
from scigate_immunograph.chemistry import ChemistryError
from scigate_immunograph.describe import calculate_molecular_descriptors
from scigate_immunograph.envelope import RunEnvelope
from scigate_immunograph.faults import NoSuchCompound
from scigate_immunograph.fetch import fetch_compound
from scigate_immunograph.fixtures import Fixtures
from scigate_immunograph.ledger import Ledger, LedgerError, usual_path
from scigate_immunograph.prepare import prepare_ligand
from scigate_immunograph.pubchem import PubChem
from scigate_immunograph.reasons import CHEMISTRY, COMPOUND_NOT_FOUND, LEDGER_UNREADABLE
from scigate_immunograph.recording import recording
from scigate_immunograph.retrieval import Retrieval
from scigate_immunograph.runs import get_run, list_runs
from scigate_immunograph.settings import ImmunoGraphSettings
from scigate_immunograph.upstream import PUBCHEM
from scigate_immunograph.validate import validate_compound
from scigate_immunograph.workbench import Workbench
from scigate_immunograph.workers import Workers

if TYPE_CHECKING:
    import typer

scigate_api: Final = ">=1.0,<2"


@hookimpl
def settings_model() -> type[BaseModel]:
    """The keys of `[providers.immunograph]`."""
    return ImmunoGraphSettings


@hookimpl
def register_upstreams() -> list[Upstream]:
    """PubChem, shared with whoever else declares it."""
    return [PUBCHEM]


@hookimpl
def build_client(upstreams: Mapping[str, httpx.AsyncClient], settings: ImmunoGraphSettings) -> Workbench:
    """The workbench of one host."""
    return Workbench(
        retrieval=Retrieval(PubChem(upstreams["pubchem"]), Fixtures(settings.fixtures)),
        workers=Workers(settings.workers),
        ledger=Ledger(settings.ledger or usual_path()) if settings.record else None,
    )


@hookimpl
def register_envelope() -> RunEnvelope:
    """The run envelope, for all tools of this provider."""
    return RunEnvelope()


@hookimpl
def register_policies() -> list[Policy]:
    """Recording, which passes over other providers' calls."""
    return [Policy("immunograph-recording", recording, inside="trace")]


@hookimpl
def register_tools() -> list[Tool]:
    """The provider's tools, in the order of a run."""
    return [
        fetch_compound,
        validate_compound,
        calculate_molecular_descriptors,
        prepare_ligand,
        list_runs,
        get_run,
    ]


@hookimpl
def register_commands() -> list[typer.Typer]:
    """`scigate runs`."""
    from scigate_immunograph.commands import app  # for start-up time

    return [app]


@hookimpl
def map_error(error: Exception) -> Failure | None:
    """What this provider's exceptions mean to a caller."""
    match error:
        case NoSuchCompound():
            return COMPOUND_NOT_FOUND.failure(f"PubChem has no compound of CID {error.cid}.")
        case ChemistryError():
            return CHEMISTRY[error.reason].failure(error.message)
        case LedgerError():
            return LEDGER_UNREADABLE.failure("The run ledger cannot be read.")
        case _:
            return faults.failure_of(error)


@hookimpl
def register_examples() -> list[Example]:
    """A run on sample data, step by step; a label of its own keeps it apart from the runs of earlier demos."""
    run = f"demo-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    aspirin = "CC(=O)OC1=CC=CC=C1C(=O)O"
    return [
        Example(
            title="A run: fetch a compound, with its provenance",
            tool="fetch_compound",
            arguments={
                "runId": run,
                "source": "pubchem",
                "compoundRef": "2244",
                "fallbackPolicy": "LIVE_THEN_CACHE_THEN_FIXTURE",
            },
        ),
        Example(
            title="A run: validate it",
            tool="validate_compound",
            arguments={"runId": run, "smiles": aspirin, "inchiKey": "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"},
        ),
        Example(
            title="A run: its descriptors",
            tool="calculate_molecular_descriptors",
            arguments={"runId": run, "smiles": [aspirin]},
        ),
        Example(
            title="A run: a docking-ready ligand",
            tool="prepare_ligand",
            arguments={"runId": run, "smiles": aspirin, "name": "aspirin"},
        ),
        Example(title="What the run did", tool="get_run", arguments={"runId": run}),
    ]
