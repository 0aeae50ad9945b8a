"""How the host is bound to the SDK, seen through the SDK's client in this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client, MCPError
from scigate import Code, Input, Output, Reason, hookimpl, prompt, resource, tool
from scigate.endpoint.server import build_server
from scigate.gateway import Gateway
from scigate.host import Host

GONE = Reason("shelf_gone", Code.SERVICE_UNAVAILABLE, "always", "Ask again later.", retryable=True)


class Shelf(Input):
    number: int


class Book(Output):
    title: str


@tool("shelf_take", title="Take")
async def take(args: Shelf, client: object, call: Any) -> Book:
    """Take a book."""
    return Book(title=f"book {args.number}")


@resource("shelf://{number}", name="shelf", title="Shelf", errors=[GONE])
async def shelf(args: Shelf, client: object, call: Any) -> Book:
    """A shelf that is gone."""
    raise GONE.error(f"shelf {args.number} is gone", retry_after_ms=5_000)


@prompt("shelf_sort", title="Sort")
def sort(args: Shelf) -> str:
    """How to sort a shelf."""
    return f"Sort shelf {args.number}."


class Tools:
    @hookimpl
    def register_tools(self) -> list[Any]:
        return [take]

    @hookimpl
    def build_client(self) -> object:
        return self


class Everything(Tools):
    @hookimpl
    def register_resources(self) -> list[Any]:
        return [shelf]

    @hookimpl
    def register_prompts(self) -> list[Any]:
        return [sort]


@pytest.fixture(params=["legacy", "auto"], ids=["handshake", "stateless"])
def era(request: pytest.FixtureRequest) -> str:
    return request.param


@asynccontextmanager
async def client_of(provider: object, era: str) -> AsyncIterator[Client]:
    async with Host.open(plugins={"shelf": provider}) as host, Client(build_server(Gateway(host)), mode=era) as client:
        yield client


async def test_announces_tools_alone_where_there_is_nothing_else(era: str) -> None:
    """Resources and prompts that no provider has are not announced, and their methods do not exist."""
    async with client_of(Tools(), era) as client:
        capabilities = client.server_capabilities
        assert capabilities.tools is not None
        assert capabilities.resources is None
        assert capabilities.prompts is None
        with pytest.raises(MCPError) as raised:
            await client.list_prompts()
    assert raised.value.error.code == -32601


async def test_a_failed_read_is_an_error_that_says_what_to_do(era: str) -> None:
    """A read has no error result, so reason and hint travel in the protocol error's data."""
    async with client_of(Everything(), era) as client:
        with pytest.raises(MCPError, match="shelf 3 is gone") as raised:
            await client.read_resource("shelf://3")
    assert raised.value.error.code == -32603
    assert raised.value.error.data == {
        "reason": "shelf_gone",
        "recovery": {"hint": "Ask again later."},
        "retryable": True,
        "retryAfterMs": 5_000,
    }


async def test_a_prompt_with_a_wrong_argument_is_the_clients_fault(era: str) -> None:
    """A prompt's arguments are filled in by the client, so a wrong one is -32602 with its name."""
    async with client_of(Everything(), era) as client:
        with pytest.raises(MCPError, match="number") as raised:
            await client.get_prompt("shelf_sort", {"number": "many"})
    assert raised.value.error.code == -32602


async def test_the_calls_cost_travels_in_meta(era: str) -> None:
    """What the host says of a call beside its result reaches the client in `_meta`."""
    async with client_of(Tools(), era) as client:
        result = await client.call_tool("shelf_take", {"number": 1})
    assert result.meta["scigate/usage"]["requests"] == 0


async def test_an_unforeseen_fault_keeps_its_text_to_the_log(era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an exception says may hold paths or secrets: the client is told that there was one, no more."""

    async def fail(self: Host, *arguments: object, **options: object) -> None:
        raise RuntimeError("secret /path")

    monkeypatch.setattr(Host, "call", fail)
    async with client_of(Tools(), era) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("shelf_take", {"number": 1})
    assert raised.value.error.code == -32603
    assert "secret" not in str(raised.value.error)
