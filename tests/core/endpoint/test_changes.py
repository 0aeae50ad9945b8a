"""How clients of both eras learn that a list has changed."""

from collections.abc import Callable
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client
from mcp.shared.subscriptions import ToolsListChanged
from scigate import Input, Output, prompt, tool
from scigate.call import Call
from scigate.endpoint.changes import Changes
from scigate.endpoint.http import running
from scigate.gateway import Gateway
from scigate.host import Host
from scigate.keys import KeyRing
from scigate.settings import ServerSettings, Settings

BOUND_S = 20
WITHOUT_SHOP = {"providers": {"shop": {"enabled": False}}}
STREAM = {"Accept": "text/event-stream"}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "lab_ask", "arguments": {}},
}
POSTED = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


class Nothing(Input):
    pass


class Done(Output):
    done: bool = True


@tool("lab_ask", title="Ask")
async def ask(args: Nothing, client: object, call: Call) -> Done:
    """Ask."""
    return Done()


@tool("shop_look", title="Look")
async def look(args: Nothing, client: object, call: Call) -> Done:
    """Look."""
    return Done()


@prompt("shop_plan", title="Plan")
def plan(args: Nothing) -> str:
    """Plan."""
    return "Plan it."


@pytest.fixture
def plugins(provider: Callable[..., ModuleType]) -> dict[str, object]:
    return {"lab": provider(ask), "shop": provider(look, register_prompts=lambda: [plan])}


def settings(**given: Any) -> Settings:
    return Settings.model_validate(given)


async def test_a_client_that_listens_is_told_of_real_changes_only(plugins: dict[str, object]) -> None:
    """Settings that change no list tell nobody; a list that has changed is told once, and is the new one."""
    with anyio.fail_after(BOUND_S):
        async with Gateway.open(settings(), plugins=plugins) as gateway, running(gateway) as url, Client(url) as client:
            assert len((await client.list_tools()).tools) == 2
            async with client.listen(tools_list_changed=True) as changes:
                await gateway.replace(settings(deadline_s=5))
                await gateway.replace(settings(**WITHOUT_SHOP))
                event = await anext(aiter(changes))
                assert isinstance(event, ToolsListChanged)
                assert [tool.name for tool in (await client.list_tools()).tools] == ["lab_ask"]


async def test_a_client_of_the_handshake_is_told_over_http(plugins: dict[str, object]) -> None:
    """On the stream that it opens by GET, when it likes after the handshake."""
    heard: set[str] = set()

    async def hear(message: Any) -> None:
        heard.add(message.method)

    with anyio.fail_after(BOUND_S):
        async with (
            Gateway.open(settings(), plugins=plugins) as gateway,
            running(gateway) as url,
            Client(url, mode="legacy", message_handler=hear) as client,
        ):
            assert client.server_capabilities.tools is not None
            assert client.server_capabilities.tools.list_changed
            await client.list_tools()
            while len(heard) < 2:
                await gateway.replace(settings())
                await gateway.replace(settings(**WITHOUT_SHOP))
            assert [tool.name for tool in (await client.list_tools()).tools] == ["lab_ask"]
    assert heard == {"notifications/prompts/list_changed", "notifications/tools/list_changed"}


async def test_other_rules_are_other_lists(plugins: dict[str, object]) -> None:
    """Which tools a caller sees changes with them, so their readers are told, and what they keep is theirs alone."""
    with anyio.fail_after(BOUND_S):
        async with Gateway.open(settings(), plugins=plugins) as gateway, running(gateway) as url, Client(url) as client:
            assert (await client.list_tools()).cache_scope == "public"
            async with client.listen(tools_list_changed=True) as changes:
                await gateway.replace(settings(rules=[{"tool": "shop_*", "effect": "deny"}]))
                await anext(aiter(changes))
                listed = await client.list_tools()
    assert [tool.name for tool in listed.tools] == ["lab_ask"]
    assert listed.cache_scope == "private"


async def test_streams_take_nobodys_place(plugins: dict[str, object]) -> None:
    """Clients that only listen, of either era, are not among the requests that are served at once."""
    with anyio.fail_after(BOUND_S):
        async with (
            Gateway.open(settings(), plugins=plugins) as gateway,
            running(gateway, settings=ServerSettings(concurrency=1)) as url,
            httpx.AsyncClient() as http,
            Client(url) as client,
            client.listen(tools_list_changed=True),
            http.stream("GET", url, headers=STREAM) as stream,
        ):
            assert stream.status_code == 200
            assert (await http.post(url, json=CALL, headers=POSTED)).status_code == 200


async def test_streams_end_when_the_server_stops(plugins: dict[str, object]) -> None:
    """Whoever listens holds no stop up: the stream ends by itself, whole."""
    with anyio.fail_after(BOUND_S):
        async with Gateway.open(settings(), plugins=plugins) as gateway, httpx.AsyncClient() as http:
            async with running(gateway) as url:
                stream = await http.send(http.build_request("GET", url, headers=STREAM), stream=True)
            frames = (await stream.aread()).decode()
    assert frames == ": open\n\n"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Accept": "application/json"}, 406),
        (STREAM | {"MCP-Protocol-Version": "2026-07-28"}, 405),
        (STREAM | {"Host": "evil.example"}, 421),
        (STREAM | {"Origin": "http://evil.example"}, 403),
    ],
    ids=["no stream accepted", "no handshake", "other host", "other origin"],
)
async def test_a_stream_is_for_those_whom_it_is_meant_for(
    plugins: dict[str, object], headers: dict[str, str], status: int
) -> None:
    """The same hosts and origins are let in as to a call, and the newer era has its own way."""
    async with (
        Gateway.open(settings(), plugins=plugins) as gateway,
        running(gateway) as url,
        httpx.AsyncClient() as http,
    ):
        assert (await http.get(url, headers=headers)).status_code == status


async def test_a_stream_is_for_callers_who_sign_in(plugins: dict[str, object], tmp_path: Any) -> None:
    """Nobody listens unasked where nobody calls unasked."""
    keys = tmp_path / "keys.json"
    secret = KeyRing(keys).new("reader", datetime.now(UTC))
    given = settings(auth={"accept": ["keys"], "keys_file": str(keys)})
    async with (
        Gateway.open(given, plugins=plugins) as gateway,
        running(gateway) as url,
        httpx.AsyncClient() as http,
    ):
        assert (await http.get(url, headers=STREAM)).status_code == 401
        signed = STREAM | {"Authorization": f"Bearer {secret}"}
        async with http.stream("GET", url, headers=signed) as stream:
            assert stream.status_code == 200


async def test_a_gateway_that_cannot_change_offers_no_stream(plugins: dict[str, object]) -> None:
    """It says so in its capabilities, too."""
    async with Host.open(settings(), plugins=plugins) as host, running(host) as url, httpx.AsyncClient() as http:
        assert (await http.get(url, headers=STREAM)).status_code == 405
        async with Client(url) as client:
            assert client.server_capabilities.tools is not None
            assert not client.server_capabilities.tools.list_changed


async def test_a_stream_that_is_asked_for_by_head_is_not_opened(plugins: dict[str, object]) -> None:
    """What it would be is told, and the connection goes on."""
    with anyio.fail_after(BOUND_S):
        async with (
            Gateway.open(settings(), plugins=plugins) as gateway,
            running(gateway) as url,
            httpx.AsyncClient() as http,
        ):
            head = await http.head(url, headers=STREAM)
            assert (head.status_code, head.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
            assert (await http.post(url, json=CALL, headers=POSTED)).status_code == 200


async def test_what_is_opened_after_the_end_ends_at_once(plugins: dict[str, object]) -> None:
    """A client that opens its stream again and again holds no stop up."""
    async with Gateway.open(settings(), plugins=plugins) as gateway:
        changes = Changes(gateway)
        changes.close()
        with changes.notifications() as notifications:
            assert [each async for each in notifications] == []


async def test_streams_leave_room_for_calls(plugins: dict[str, object]) -> None:
    """They take half of the connections at most, so that nobody who only listens shuts the others out."""
    with anyio.fail_after(BOUND_S):
        async with (
            Gateway.open(settings(server={"connections": 2}), plugins=plugins) as gateway,
            running(gateway) as url,
            httpx.AsyncClient() as http,
            http.stream("GET", url, headers=STREAM) as first,
        ):
            assert first.status_code == 200
            assert (await http.get(url, headers=STREAM)).status_code == 503
            assert (await http.post(url, json=CALL, headers=POSTED)).status_code == 200
