"""What the tests of the provider share: a host with it alone, on sample data, and two ways to call."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import scigate_immunograph
from scigate.call import LOCAL
from scigate.host import Host, Reply
from scigate.settings import Settings

Call = Callable[..., Awaitable[Reply]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Offline, with a ledger of the test's own."""
    section = {"ledger": str(tmp_path / "runs.sqlite3")}
    return Settings.model_validate({"offline": True, "providers": {"immunograph": section}})


@pytest.fixture
async def host(settings: Settings) -> AsyncIterator[Host]:
    """A host that has this provider alone and opens no connection."""
    async with Host.open(settings, plugins={"immunograph": scigate_immunograph}) as host:
        yield host


@pytest.fixture
def fetch() -> Call:
    """Calls fetch_compound on a host; what is not given is a live call for aspirin's CID."""

    async def call(host: Host, **arguments: Any) -> Reply:
        usual = {"runId": "run-1", "source": "pubchem", "compoundRef": "2244", "fallbackPolicy": "LIVE_ONLY"}
        return await host.call("fetch_compound", usual | arguments, LOCAL)

    return call


@pytest.fixture
def call(host: Host) -> Call:
    """Calls a tool of the host in run `run-1`."""

    async def call(tool: str, **arguments: Any) -> Reply:
        return await host.call(tool, {"runId": "run-1"} | arguments, LOCAL)

    return call
