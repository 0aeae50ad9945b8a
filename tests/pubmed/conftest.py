"""A host that has this provider alone, on sample data, and a short way to call its tools."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import scigate_pubmed
from scigate.call import LOCAL
from scigate.host import Host
from scigate.settings import Settings

UNHURRIED = {name: {"quotas": ["1000/second"]} for name in ("ncbi", "pmc", "openalex")}
"""Emulators need no sparing; what the quotas do is tested where they are the matter."""

Ask = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
async def offline() -> AsyncIterator[Host]:
    """A host that opens no connection."""
    settings = Settings.model_validate({"offline": True, "upstreams": UNHURRIED})
    async with Host.open(settings, plugins={"pubmed": scigate_pubmed}) as host:
        yield host


@pytest.fixture
def ask(offline: Host) -> Ask:
    """Calls a tool and gives the structured result, which must not be a failure."""

    async def ask(tool: str, **arguments: Any) -> dict[str, Any]:
        reply = await offline.call(tool, arguments, LOCAL)
        assert not reply.is_error, reply.structured
        return reply.structured

    return ask


@pytest.fixture
def refused(offline: Host) -> Ask:
    """Calls a tool that must fail, and gives the error."""

    async def refused(tool: str, **arguments: Any) -> dict[str, Any]:
        reply = await offline.call(tool, arguments, LOCAL)
        assert reply.is_error
        return reply.structured["error"]

    return refused
