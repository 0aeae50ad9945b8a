"""What stands beside a structured result or in a prompt, and what completes a prompt's arguments."""

import base64
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any, Literal

import pytest
from mcp import Client, MCPError
from mcp_types import PromptReference, ResourceTemplateReference
from scigate import Audio, Call, Embedded, Image, Input, Output, Success, prompt, tool
from scigate.endpoint.http import running
from scigate.host import Host


class Nothing(Input):
    pass


class Plan(Input):
    sample: str
    kind: Literal["short", "shallow", "long"] = "short"


class Said(Output):
    text: str


@tool("lab_record", title="Record")
async def record(args: Nothing, client: object, call: Call) -> Annotated[Success, Said]:
    """A recording, a picture and a page."""
    page = Embedded("lab://page", "{}", "application/json")
    return Success(Said(text="hum"), images=(Image(b"png", "a dot"),), attachments=(Audio(b"wav", "audio/wav"), page))


@prompt("lab_plan", title="Plan")
def plan(args: Plan) -> list[str | Image | Embedded]:
    """A page, a picture and what to do with them."""
    return [Embedded("lab://page", args.sample), Image(b"png", "a dot"), f"Make it {args.kind}."]


Opened = Callable[..., AbstractAsyncContextManager[Host]]


async def asked(hosting: Opened, question: Callable[[Client], Any]) -> Any:
    lab = hosting(record, register_prompts=lambda: [plan])
    async with lab as host, running(host) as url, Client(url) as client:
        return await question(client)


async def test_attachments_follow_the_text_and_the_images(hosting: Opened) -> None:
    """A recording and an embedded resource are blocks of their own, as the protocol has them."""
    result = await asked(hosting, lambda client: client.call_tool("lab_record", {}))
    _, image, audio, page = result.content
    assert (image.type, image.mime_type) == ("image", "image/png")
    assert (audio.type, audio.mime_type, base64.b64decode(audio.data)) == ("audio", "audio/wav", b"wav")
    assert (page.type, str(page.resource.uri), page.resource.text) == ("resource", "lab://page", "{}")


async def test_each_part_of_a_prompt_is_a_message(hosting: Opened) -> None:
    """In the order in which the provider gives them, all of them the user's."""
    result = await asked(hosting, lambda client: client.get_prompt("lab_plan", {"sample": "beer"}))
    assert [(message.role, message.content.type) for message in result.messages] == [
        ("user", "resource"),
        ("user", "image"),
        ("user", "text"),
    ]


@pytest.mark.parametrize(
    ("argument", "begun", "values"),
    [("kind", "SH", ["short", "shallow"]), ("kind", "x", []), ("sample", "b", []), ("other", "", [])],
)
async def test_an_argument_is_completed_where_its_values_are_known(
    hosting: Opened, argument: str, begun: str, values: list[str]
) -> None:
    """Those that begin so, whatever the case; nothing for an argument that may be anything, or that is not there."""
    result = await asked(
        hosting,
        lambda client: client.complete(
            PromptReference(type="ref/prompt", name="lab_plan"), {"name": argument, "value": begun}
        ),
    )
    assert result.completion.values == values


async def test_completing_for_an_unknown_prompt_is_a_protocol_error(hosting: Opened) -> None:
    """Only the client's author can mend it."""

    async def misspelt(client: Client) -> None:
        with pytest.raises(MCPError, match="did you mean lab_plan"):
            await client.complete(PromptReference(type="ref/prompt", name="lab_plam"), {"name": "kind", "value": ""})

    await asked(hosting, misspelt)


async def test_a_resources_variables_are_not_completed(hosting: Opened) -> None:
    """They are identifiers of an upstream, which is not asked for it."""
    reference = ResourceTemplateReference(type="ref/resource", uri="lab://{sample}")
    result = await asked(hosting, lambda client: client.complete(reference, {"name": "sample", "value": ""}))
    assert result.completion.values == []
