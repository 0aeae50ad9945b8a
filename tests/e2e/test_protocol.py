"""What any MCP client sees of the gateway, over both transports and in both eras of the protocol."""

import json
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import anyio
import pytest
from mcp import MCPError

INVALID_PARAMS = -32602


async def test_names_itself_and_its_version(connect: Any) -> None:
    """The server is scigate with a version of its own, not the SDK's."""
    async with connect() as client:
        assert client.server_info.name == "scigate"
        assert client.server_info.version == version("scigate")
        assert client.instructions


async def test_a_call_gives_the_structured_result_and_its_text(connect: Any) -> None:
    """Both halves of a result arrive, and the client's schema check accepts the structured one."""
    async with connect() as client:
        result = await client.call_tool("lab_echo", {"text": "caffeine"})
    assert result.is_error is False
    assert result.structured_content == {"text": "caffeine", "length": 8}
    assert "caffeine" in result.content[0].text


async def test_a_failure_is_a_result_with_reason_and_hint(connect: Any) -> None:
    """A failure reaches the client as an error result; its structured content is not taken for broken output."""
    async with connect() as client:
        result = await client.call_tool("lab_break", {})
    assert result.is_error is True
    error = result.structured_content["error"]
    assert error["code"] == -32000
    assert error["data"]["reason"] == "lab_broken"
    assert error["data"]["recovery"]["hint"] == "Call lab_echo instead."


async def test_a_wrong_argument_is_a_failure_that_names_it(connect: Any) -> None:
    """Arguments are the model's to mend, so a wrong one is a result and no protocol error."""
    async with connect() as client:
        result = await client.call_tool("lab_echo", {"txet": "x"})
    assert result.is_error is True
    assert result.structured_content["error"]["data"]["reason"] == "invalid_arguments"
    assert "txet" in result.structured_content["error"]["message"]


ASKS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "tool": (lambda client: client.call_tool("lab_ehco", {}), "lab_ehco"),
    "resource": (lambda client: client.read_resource("lab://nothing/1"), "lab://nothing/1"),
    "prompt": (lambda client: client.get_prompt("lab_paln"), "lab_paln"),
    "tools cursor": (lambda client: client.list_tools(cursor="bogus"), "bogus"),
    "resources cursor": (lambda client: client.list_resources(cursor="bogus"), "bogus"),
    "templates cursor": (lambda client: client.list_resource_templates(cursor="bogus"), "bogus"),
    "prompts cursor": (lambda client: client.list_prompts(cursor="bogus"), "bogus"),
}


@pytest.mark.parametrize("unknown", ASKS)
async def test_an_unknown_name_is_a_protocol_error_that_repeats_it(connect: Any, unknown: str) -> None:
    """Only the client's author can mend a name that was never listed: -32602, as the protocol has it."""
    ask, name = ASKS[unknown]
    async with connect() as client:
        with pytest.raises(MCPError) as raised:
            await ask(client)
    assert raised.value.error.code == INVALID_PARAMS
    assert name in raised.value.error.message


async def test_an_unknown_tool_is_answered_with_the_nearest_name(connect: Any) -> None:
    """A slip of the pen is mended from the error alone."""
    async with connect() as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("lab_ehco", {})
    assert "lab_echo" in raised.value.error.message
    assert "lab_echo" in raised.value.error.data["nearest"]


async def test_the_list_of_tools_is_the_same_each_time(connect: Any) -> None:
    """Order and text of the list never change, not by a call either: clients cache it in their prompts."""
    async with connect(cache=None) as client:
        first = await client.list_tools()
        await client.call_tool("lab_echo", {})
        second = await client.list_tools()
    assert first.model_dump_json(exclude={"meta"}) == second.model_dump_json(exclude={"meta"})
    names = [tool.name for tool in first.tools if tool.name.startswith("lab_")]
    assert names == ["lab_echo", "lab_wait", "lab_was_cancelled", "lab_count", "lab_shout", "lab_break", "lab_odd"]


async def test_resources_and_prompts_are_served(connect: Any) -> None:
    """What a provider registers beside tools is listed, read and rendered."""
    async with connect() as client:
        templates = await client.list_resource_templates()
        contents = (await client.read_resource("lab://sample/7")).contents
        prompts = await client.list_prompts()
        rendered = await client.get_prompt("lab_plan", {"sample": "7"})
    assert "lab://sample/{sample}" in [template.uri_template for template in templates.resource_templates]
    assert json.loads(contents[0].text) == {"text": "7", "length": 1}
    assert "lab_plan" in [prompt.name for prompt in prompts.prompts]
    assert rendered.messages[0].content.text == "Plan for 7."


async def test_progress_reaches_a_client_that_asked_for_it(connect: Any) -> None:
    """Each report arrives in order, before the result, half of a surrogate pair in its text replaced."""
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(done: float, total: float | None, message: str | None) -> None:
        seen.append((done, total, message))

    async with connect() as client:
        await client.call_tool("lab_count", {"to": 3}, progress_callback=note)
    assert seen == [(1, 3, "step \ufffd1"), (2, 3, "step \ufffd2"), (3, 3, "step \ufffd3")]


@pytest.mark.parametrize(("era", "connect"), [("auto", "http"), ("legacy", "stdio"), ("auto", "stdio")], indirect=True)
async def test_a_call_that_the_client_gives_up_is_cancelled_in_the_provider(connect: Any) -> None:
    """Giving a call up frees what it holds, and the connection serves on.

    Over HTTP a client of the handshake era says so in another request, which without sessions can't be told from
    another client's; there the deadline ends the call, or the client's going away.
    """
    async with connect() as client:
        with anyio.CancelScope() as call:

            async def started(done: float, total: float | None, message: str | None) -> None:
                call.cancel()

            await client.call_tool("lab_wait", {}, progress_callback=started)
        assert call.cancelled_caught
        result = await client.call_tool("lab_was_cancelled", {})
    assert result.structured_content["text"] == "cancelled"


async def test_a_result_that_utf8_cannot_carry_arrives_mended(connect: Any) -> None:
    """Half of a surrogate pair becomes U+FFFD and not-a-number null, so that the client's parser does not choke."""
    async with connect() as client:
        result = await client.call_tool("lab_odd", {})
    assert result.structured_content["values"] == ["half \ufffd pair", None, None]


async def test_capabilities_are_those_that_are_served(connect: Any) -> None:
    """Nothing is announced that is not there: no list changes, no subscriptions, no logging."""
    async with connect() as client:
        capabilities = client.server_capabilities
    assert capabilities.tools.list_changed is not True
    assert capabilities.prompts.list_changed is not True
    assert capabilities.resources.list_changed is not True
    assert capabilities.resources.subscribe is not True
    assert capabilities.completions is not None
    assert capabilities.logging is None
