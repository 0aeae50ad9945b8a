"""The definitions of all installed providers: how they read, and that none steers its reader."""

from collections.abc import AsyncGenerator

import pytest
from scigate.host import Host
from scigate.lint import grade, poison
from scigate.settings import Settings


@pytest.fixture(scope="module")
async def host() -> AsyncGenerator[Host]:
    """A gateway with every installed provider."""
    async with Host.open(Settings(offline=True)) as opened:
        yield opened


async def test_every_tool_grades_four_and_a_half_at_least(host: Host) -> None:
    """Of five, as catalogues grade."""
    assert {each.tool: each.overall for each in grade(host.catalogue.definitions) if each.overall < 4.5} == {}


async def test_no_definition_tries_to_steer_a_model(host: Host) -> None:
    """Nor names another provider's tool to replace it."""
    owners = {tool: status.name for status in host.providers for tool in status.tools}
    assert poison(host.catalogue.definitions, owners) == []
