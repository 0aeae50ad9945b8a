"""The host: its tables, its calls, resources and prompts."""

import base64
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field
from scigate import (
    Call,
    Code,
    Contents,
    Example,
    Image,
    Input,
    Offset,
    Output,
    Page,
    PageSize,
    Reason,
    Success,
    prompt,
    resource,
    tool,
)
from scigate.call import LOCAL
from scigate.catalogue import UnknownPrompt, UnknownResource, UnknownTool
from scigate.host import Host, ReadFailed
from scigate.reply import MAX_TEXT

UNKNOWN = Reason("unknown_sample", Code.NOT_FOUND, "no sample has the id", "Check sample_id.")


class Ask(Input):
    size: Annotated[int, PageSize(cap=3)] = 2
    start: Annotated[int, Offset()] = 0


class Rows(Page):
    rows: list[int]


class Length(Input):
    length: int


class Text(Output):
    text: str


class SampleId(Input):
    sample_id: str


class Sample(Output):
    sample_id: str
    seen_by: list[str]


class Plan(Input):
    sample: str = Field(description="What is assayed.")
    kind: Literal["short", "long"] = "short"


@tool("lab_rows", title="Rows")
async def rows(args: Ask, client: object, call: Call) -> Rows:
    """Five rows, page by page."""
    return Rows(rows=call.page.whole(range(5)))


@tool("lab_text", title="Text", read_only=False, destructive=True, idempotent=False, open_world=False)
async def text(args: Length, client: object, call: Call) -> Text:
    """Text of a length."""
    return Text(text="x" * args.length)


@tool("lab_image", title="Image")
async def image(args: Ask, client: object, call: Call) -> Annotated[Success, Text]:
    """A picture and its caption."""
    return Success(Text(text="a dot"), images=(Image(b"\x89PNG", alt="a dot"),))


@resource("lab://sample/{sample_id}", name="lab-sample", title="Sample", errors=[UNKNOWN])
async def sample(args: SampleId, client: object, call: Call) -> Sample:
    """One sample."""
    if args.sample_id == "none":
        raise UNKNOWN.error("No sample 'none'.")
    return Sample(sample_id=args.sample_id, seen_by=[call.caller.id])


@resource("lab://sample/readme", name="lab-readme", title="Read me", mime_type="text/plain")
async def readme(args: Input, client: object, call: Call) -> Contents:
    """About samples."""
    return Contents(text="Samples are kept cold.")


@resource("lab://logo", name="lab-logo", title="Logo", mime_type="image/png")
async def logo(args: Input, client: object, call: Call) -> Contents:
    """The sign on the door."""
    return Contents(blob=b"\x89PNG")


@prompt("lab_plan", title="Plan an assay")
def plan(args: Plan) -> str:
    """A plan for one assay."""
    return f"Write a {args.kind} plan for {args.sample}."


@pytest.fixture
async def host(hosting: Callable[..., Any]) -> AsyncIterator[Host]:
    examples = [
        Example(title="Rows", tool="lab_rows", arguments={}, pages=2),
        Example(title="No such tool", tool="lab_none", arguments={}),
    ]
    async with hosting(
        rows,
        text,
        image,
        register_resources=lambda: [sample, readme, logo],
        register_prompts=lambda: [plan],
        register_examples=lambda: examples,
    ) as host:
        yield host


async def test_definitions_are_what_a_client_lists(host: Host) -> None:
    """In the provider's order; annotations say what a tool may do."""
    assert [definition["name"] for definition in host.catalogue.definitions] == ["lab_rows", "lab_text", "lab_image"]
    first, second, _ = host.catalogue.definitions
    assert set(first) == {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
    assert first["description"] == "Five rows, page by page."
    assert first["annotations"] == {
        "readOnlyHint": True,
        "idempotentHint": True,
        "openWorldHint": True,
    }
    assert second["annotations"] == {
        "readOnlyHint": False,
        "idempotentHint": False,
        "openWorldHint": False,
        "destructiveHint": True,
    }
    assert json.dumps(host.catalogue.definitions)


async def test_a_prefix_changes_names_alone(hosting: Callable[..., Any]) -> None:
    """Of tools and of the examples that call them."""
    settings = {"providers": {"lab": {"tool_prefix": "my_"}}}
    examples = [Example(title="Rows", tool="lab_rows", arguments={})]
    async with hosting(rows, settings=settings, register_examples=lambda: examples) as host:
        assert [definition["name"] for definition in host.catalogue.definitions] == ["my_lab_rows"]
        assert [example.tool for example in host.catalogue.examples] == ["my_lab_rows"]
        assert (await host.call("my_lab_rows", {}, LOCAL)).structured["rows"] == [0, 1]


async def test_examples_are_of_tools_that_serve(host: Host) -> None:
    """One of a tool that is not there is left out."""
    assert [(example.tool, example.pages) for example in host.catalogue.examples] == [("lab_rows", 2)]


async def test_a_call_answers_with_structure_text_and_cost(host: Host) -> None:
    """The text says the same; `_meta` names the call, another one each time."""
    reply = await host.call("lab_rows", {"size": 2}, LOCAL)
    assert reply.structured["rows"] == [0, 1]
    (block,) = reply.content
    assert block["type"] == "text"
    assert "rows: 0; 1" in block["text"]
    assert not reply.is_error
    assert reply.meta["scigate/usage"] == {"requests": 0, "attempts": 0, "cached": 0, "waitedMs": 0}
    again = await host.call("lab_rows", None, LOCAL)
    assert again.meta["scigate/call"] != reply.meta["scigate/call"]
    assert again.structured == reply.structured


async def test_an_image_stands_beside_the_text(host: Host) -> None:
    """As a block of its own, in base64."""
    reply = await host.call("lab_image", {}, LOCAL)
    assert [block["type"] for block in reply.content] == ["text", "image"]
    assert base64.b64decode(reply.content[1]["data"]) == b"\x89PNG"
    assert reply.content[1]["mimeType"] == "image/png"
    assert reply.structured == {"text": "a dot"}


async def test_a_result_over_the_size_of_any_context_is_refused(host: Host) -> None:
    """With the reason and both sizes, not cut silently."""
    fits = await host.call("lab_text", {"length": 1000}, LOCAL)
    assert not fits.is_error
    reply = await host.call("lab_text", {"length": MAX_TEXT + 1}, LOCAL)
    error = reply.structured["error"]
    assert (error["code"], error["data"]["reason"]) == (-32070, "result_too_large")
    assert error["message"].endswith("the most is 1,000,000.")


async def test_a_result_that_is_not_sent_is_in_the_audit_log(hosting: Any, tmp_path: Path) -> None:
    """After the line of its call, which went well."""
    audit = tmp_path / "audit.jsonl"

    class Length(Input):
        length: int

    @tool("lab_text", title="Text")
    async def text(args: Length, client: object, call: Call) -> Contents:
        """A text of some length."""
        return Contents(text="x" * args.length)

    async with hosting(text, settings={"audit": {"path": str(audit)}}) as host:
        await host.call("lab_text", {"length": MAX_TEXT + 1}, LOCAL)
    lines = [json.loads(line) for line in audit.read_text(encoding="utf-8").splitlines()]
    calls = [(line["event"], line["outcome"], line["reason"]) for line in lines if line.get("tool") == "lab_text"]
    assert calls == [("call", "ok", None), ("reply", "failure", "result_too_large")]


@pytest.mark.parametrize(
    ("name", "suggestions"),
    [("lab_row", ["lab_rows"]), ("lab-rows", ["lab_rows"]), ("zzz", []), ("x" * 1_000_000, [])],
)
async def test_an_unknown_tool_is_no_failure_but_an_error_of_the_client(
    host: Host, name: str, suggestions: list[str]
) -> None:
    """It names the nearest that there are, and is short whatever was asked."""
    with pytest.raises(UnknownTool) as caught:
        await host.call(name, {}, LOCAL)
    assert caught.value.suggestions[:1] == suggestions
    assert len(str(caught.value)) < 400


async def test_resources_are_listed_by_uri_or_template(host: Host) -> None:
    """As MCP tells them apart."""
    assert host.catalogue.resource_templates == [
        {
            "name": "lab-sample",
            "title": "Sample",
            "description": "One sample.",
            "mimeType": "application/json",
            "uriTemplate": "lab://sample/{sample_id}",
        }
    ]
    assert [listed["uri"] for listed in host.catalogue.resources] == ["lab://sample/readme", "lab://logo"]


async def test_a_resource_is_read_as_json_text_or_bytes(host: Host) -> None:
    """Variables are decoded; a fixed URI goes before a template that it fits."""
    reading = await host.read("lab://sample/A%201%2F2", LOCAL)
    assert reading.mime_type == "application/json"
    assert json.loads(reading.text or "") == {"sampleId": "A 1/2", "seenBy": ["local"]}
    plain = await host.read("lab://sample/readme", LOCAL)
    assert (plain.mime_type, plain.text, plain.blob) == ("text/plain", "Samples are kept cold.", None)
    assert (await host.read("lab://logo", LOCAL)).blob == b"\x89PNG"


async def test_a_resource_that_cannot_be_read_says_why(host: Host) -> None:
    """The failure is the handler's, as in a call; a URI that nothing serves is the client's error."""
    with pytest.raises(ReadFailed) as failed:
        await host.read("lab://sample/none", LOCAL)
    assert failed.value.failure.reason == "unknown_sample"
    for uri in ("lab://sample/a/b", "lab://sample/", "lab://other", "LAB://logo", "lab://logo/"):
        with pytest.raises(UnknownResource):
            await host.read(uri, LOCAL)


async def test_a_prompt_is_listed_and_made(host: Host) -> None:
    """Arguments by name, with what each is for."""
    (listed,) = host.catalogue.prompts
    assert listed == {
        "name": "lab_plan",
        "title": "Plan an assay",
        "description": "A plan for one assay.",
        "arguments": [
            {"name": "sample", "description": "What is assayed.", "required": True},
            {"name": "kind", "description": "", "required": False},
        ],
    }
    made, text = await host.prompt("lab_plan", {"sample": "A-1"}, LOCAL)
    assert (made.name, text) == ("lab_plan", "Write a short plan for A-1.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (None, "sample is required."),
        ({"sample": "a", "kind": "odd"}, "kind: input should be 'short' or 'long', 'odd' was given."),
        ({"sample": "a", "sampel": "b"}, "sampel is not an argument (did you mean sample?)."),
    ],
)
async def test_a_prompt_with_wrong_arguments_says_which(host: Host, arguments: Any, said: str) -> None:
    """In the same words as a call."""
    with pytest.raises(ReadFailed) as caught:
        await host.prompt("lab_plan", arguments, LOCAL)
    assert (caught.value.failure.reason, caught.value.failure.message) == ("invalid_arguments", said)


async def test_an_unknown_prompt_names_the_nearest(host: Host) -> None:
    """As an unknown tool does."""
    with pytest.raises(UnknownPrompt) as caught:
        await host.prompt("lab_plans", {}, LOCAL)
    assert caught.value.suggestions == ["lab_plan"]


async def test_instructions_name_providers_and_their_tools(host: Host) -> None:
    """And how to page and to recover, once for all of them."""
    assert "- lab: lab_rows, lab_text, lab_image" in host.instructions
    for word in ("nextOffset", "cappedInputs", "unprocessed", "recovery.hint", "retryAfterMs"):
        assert word in host.instructions


async def test_a_prompt_or_resource_of_one_name_is_served_once(hosting: Callable[..., Any]) -> None:
    """The second is refused, by a sentence in the provider's status."""
    async with hosting(rows, register_resources=lambda: [logo, logo], register_prompts=lambda: [plan, plan]) as host:
        assert (len(host.catalogue.resources), len(host.catalogue.prompts)) == (1, 1)
        assert host.providers[0].refused == (
            "resource lab://logo is served by another provider already",
            "prompt lab_plan is served by another provider already",
        )
