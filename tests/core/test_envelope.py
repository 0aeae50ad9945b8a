"""How outcomes look on the wire, in core's envelope and in a provider's own."""

import base64
from collections.abc import Callable
from typing import Annotated, Any

import jsonschema
import pytest
from scigate import Call, Code, Failure, Image, Input, Output, Reason, Record, Rendered, Success, Tool, tool
from scigate.call import LOCAL

UNKNOWN = Reason("unknown_sample", Code.NOT_FOUND, "no sample has the name", "Check name.", retryable=True)


class Ask(Input):
    how: str


class Part(Record):
    part_name: str
    weight_mg: float | None = None


class Found(Output):
    found_parts: list[Part]
    remark: str | None = None


@tool("lab_find", title="Find", errors=[UNKNOWN])
async def find(args: Ask, client: object, call: Call) -> Found:
    """Find parts."""
    if args.how == "fail":
        raise UNKNOWN.error("No *sample* 'A|1'.", retry_after_ms=1500, asked="A|1", near=["A-1"], seen=3)
    if args.how == "hint":
        raise UNKNOWN.error("None.", hint="Ask for A-2.")
    return Found(found_parts=[Part(part_name="a", weight_mg=1.5), Part(part_name="b")])


async def test_a_success_is_the_output_itself(hosting: Callable[..., Any]) -> None:
    """camelCase, and what is None is absent at every depth."""
    async with hosting(find) as host:
        reply = await host.call("lab_find", {"how": "well"}, LOCAL)
    assert reply.structured == {"foundParts": [{"partName": "a", "weightMg": 1.5}, {"partName": "b"}]}


async def test_a_failure_is_an_error_with_reason_and_recovery(hosting: Callable[..., Any]) -> None:
    """Further facts of the case stand beside the reason; the text says the message, the hint, and when to retry."""
    async with hosting(find) as host:
        reply = await host.call("lab_find", {"how": "fail"}, LOCAL)
        schema = host.catalogue.definitions[0]["outputSchema"]
    assert reply.is_error
    assert reply.structured == {
        "error": {
            "code": -32001,
            "message": "No *sample* 'A|1'.",
            "data": {
                "reason": "unknown_sample",
                "recovery": {"hint": "Check name."},
                "retryable": True,
                "retryAfterMs": 1500,
                "asked": "A|1",
                "near": ["A-1"],
                "seen": 3,
            },
        }
    }
    jsonschema.Draft202012Validator(schema).validate(reply.structured)
    assert reply.content[0]["text"].split("\n") == [
        "Error (unknown_sample): No \\*sample\\* 'A\\|1'.",
        "Recovery: Check name.",
        "Retry after 1500 ms.",
        "asked: A\\|1",
        "seen: 3",
    ]


async def test_a_case_s_own_hint_is_the_recovery(hosting: Callable[..., Any]) -> None:
    """It may know more than the reason; without a known time there is no `retryAfterMs`."""
    async with hosting(find) as host:
        reply = await host.call("lab_find", {"how": "hint"}, LOCAL)
    data = reply.structured["error"]["data"]
    assert data["recovery"] == {"hint": "Ask for A-2."}
    assert "retryAfterMs" not in data


class RunEnvelope:
    """A lab's own contract: `{"ok", "data" | "problem", "notes"}`."""

    def output_schema(self, tool: Tool) -> dict[str, Any]:
        return {"type": "object", "required": ["ok"], "title": tool.name}

    def success(self, call: Call, success: Success) -> Rendered:
        data = success.output.model_dump(mode="json")
        return Rendered({"ok": True, "data": data, "notes": call.notices}, "it went well")

    def failure(self, call: Call, failure: Failure) -> Rendered:
        known = call.arguments is not None
        return Rendered({"ok": False, "problem": failure.reason, "understood": known}, f"it failed: {failure.message}")


async def test_a_provider_s_own_envelope_renders_its_outcomes(hosting: Callable[..., Any]) -> None:
    """Results, its failures and core's; the policies around it are the same."""
    async with hosting(find, register_envelope=lambda: RunEnvelope()) as host:
        assert host.catalogue.definitions[0]["outputSchema"]["title"] == "lab_find"
        good = await host.call("lab_find", {"how": "well"}, LOCAL)
        bad = await host.call("lab_find", {"how": "fail"}, LOCAL)
        wrong = await host.call("lab_find", {"hwo": "well"}, LOCAL)
    assert (good.is_error, good.structured["ok"], good.content[0]["text"]) == (False, True, "it went well")
    assert (bad.is_error, bad.structured) == (
        True,
        {"ok": False, "problem": "unknown_sample", "understood": True},
    )
    assert (wrong.is_error, wrong.structured) == (
        True,
        {"ok": False, "problem": "invalid_arguments", "understood": False},
    )
    assert "scigate/call" in good.meta


async def test_an_envelope_that_cannot_render_a_result_renders_a_fault(hosting: Callable[..., Any]) -> None:
    """Its own form of the failure is kept."""

    class Broken(RunEnvelope):
        def success(self, call: Call, success: Success) -> Rendered:
            raise KeyError("secret")

    async with hosting(find, register_envelope=lambda: Broken()) as host:
        reply = await host.call("lab_find", {"how": "well"}, LOCAL)
    assert (reply.is_error, reply.structured["problem"]) == (True, "internal_error")
    assert "secret" not in str(reply)


@pytest.mark.parametrize("how", ["well", "fail", "hint"])
async def test_text_and_structure_never_disagree_on_success(hosting: Callable[..., Any], how: str) -> None:
    """`isError`, the error in the structure and the first word of the text say the same."""
    async with hosting(find) as host:
        reply = await host.call("lab_find", {"how": how}, LOCAL)
    assert reply.is_error == ("error" in reply.structured) == reply.content[0]["text"].startswith("Error (")


class Drawn(Output):
    cid: int
    png: str


@tool("lab_draw", title="Draw")
async def draw(args: Ask, client: object, call: Call) -> Annotated[Success, Drawn]:
    """Draw a part."""
    png = b"\x89PNG"
    told = base64.b64encode(png).decode() if args.how == "both" else "beside"
    return Success(Drawn(cid=1, png=told), images=(Image(png, "A *dot*"),))


@pytest.mark.parametrize(
    ("how", "text"), [("both", "cid: 1 | png: A \\*dot\\*"), ("beside", "cid: 1 | png: beside | images: A \\*dot\\*")]
)
async def test_an_image_is_told_in_words(hosting: Callable[..., Any], how: str, text: str) -> None:
    """A reader of the text learns what it shows, and no bytes of it are spelt out there."""
    async with hosting(draw) as host:
        reply = await host.call("lab_draw", {"how": how}, LOCAL)
    assert reply.content[0]["text"] == text
    assert reply.content[1] == {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}
    assert reply.structured["png"] == ("iVBORw==" if how == "both" else "beside")
