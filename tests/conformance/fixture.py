"""The provider `conformance`: the fixtures that the official MCP conformance suite asks for, through our hooks.

The names, texts and behaviour are the suite's own (npm @modelcontextprotocol/conformance, read 2026-08).
"""

from __future__ import annotations

import base64
from typing import Annotated

from pydantic import BaseModel, Field
from scigate import (
    Audio,
    Call,
    Code,
    Contents,
    Embedded,
    Image,
    Input,
    InputRequest,
    Output,
    Reason,
    Success,
    hookimpl,
    prompt,
    resource,
    tool,
)

scigate_api = ">=1,<2"

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
WAV = base64.b64decode("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=")
RED_DOT = Image(PNG, "a red dot")
INTENDED = Reason("test_error", Code.INTERNAL_ERROR, "always", "Expect it: this tool is there to fail.")


class Nothing(Input):
    pass


class Said(Output):
    text: str


class Identified(Input):
    id: str


@tool("test_simple_text", title="Simple text")
async def simple_text(args: Nothing, client: object, call: Call) -> Said:
    """Give a text."""
    return Said(text="This is a simple text response for testing.")


@tool("test_image_content", title="Image")
async def image_content(args: Nothing, client: object, call: Call) -> Annotated[Success, Said]:
    """Give an image."""
    return Success(Said(text="A red dot."), images=(RED_DOT,))


@tool("test_audio_content", title="Audio")
async def audio_content(args: Nothing, client: object, call: Call) -> Annotated[Success, Said]:
    """Give a recording."""
    return Success(Said(text="Silence."), attachments=(Audio(WAV, "audio/wav"),))


@tool("test_embedded_resource", title="Embedded resource")
async def embedded_resource(args: Nothing, client: object, call: Call) -> Annotated[Success, Said]:
    """Give a resource that needs no reading."""
    embedded = Embedded("test://embedded-resource", "This is an embedded resource content.")
    return Success(Said(text="A resource."), attachments=(embedded,))


@tool("test_multiple_content_types", title="Several kinds of content")
async def multiple_content_types(args: Nothing, client: object, call: Call) -> Annotated[Success, Said]:
    """Give a text, an image and a resource."""
    embedded = Embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return Success(Said(text="Multiple content types test:"), images=(RED_DOT,), attachments=(embedded,))


@tool("test_error_handling", title="Error", errors=[INTENDED])
async def error_handling(args: Nothing, client: object, call: Call) -> Said:
    """Fail."""
    raise INTENDED.error("This tool intentionally returns an error for testing")


@tool("test_tool_with_progress", title="Progress")
async def with_progress(args: Nothing, client: object, call: Call) -> Said:
    """Report progress three times."""
    for done in (0, 50, 100):
        await call.progress(done, 100)
    return Said(text="Progress reported.")


@tool("test_streaming_elicitation", title="Stream")
async def streaming(args: Nothing, client: object, call: Call) -> Said:
    """Report progress on the response's stream; a stateless server sends no request there."""
    await call.progress(1, 1)
    return Said(text="Streamed.")


@tool("test_logging_tool", title="Log")
async def logging_tool(args: Nothing, client: object, call: Call) -> Said:
    """Answer; no log line goes to the client."""
    return Said(text="Not logged to the client.")


class Named(BaseModel):
    name: str


class Coloured(BaseModel):
    color: str


class Confirmed(BaseModel):
    ok: bool


class InContext(BaseModel):
    context: str


NAME = InputRequest.form("What is your name?", Named)
ROOTS = InputRequest("roots/list")


def sampling(text: str, max_tokens: int) -> InputRequest:
    messages = [{"role": "user", "content": {"type": "text", "text": text}}]
    return InputRequest("sampling/createMessage", {"messages": messages, "maxTokens": max_tokens})


@tool("test_input_required_result_elicitation", title="Form")
async def asks_by_form(args: Nothing, client: object, call: Call) -> Said:
    """Greet by name."""
    answer = await call.elicit("user_name", "What is your name?", Named)
    return Said(text=f"Hello, {answer.values.name}!" if answer.values else "Hello!")


@tool("test_input_required_result_sampling", title="Sampling")
async def asks_the_model(args: Nothing, client: object, call: Call) -> Said:
    """Have the client's model answer."""
    answers = await call.ask({"capital_question": sampling("What is the capital of France?", 100)})
    return Said(text=answers["capital_question"]["content"]["text"])


@tool("test_input_required_result_list_roots", title="Roots")
async def asks_for_roots(args: Nothing, client: object, call: Call) -> Said:
    """Name the client's roots."""
    answers = await call.ask({"client_roots": ROOTS})
    return Said(text=", ".join(root["uri"] for root in answers["client_roots"]["roots"]))


@tool("test_input_required_result_request_state", title="State")
async def asks_with_state(args: Nothing, client: object, call: Call) -> Said:
    """Say that the state came back."""
    await call.elicit("confirm", "Please confirm", Confirmed)
    return Said(text="state-ok")


@tool("test_input_required_result_tampered_state", title="Tampered state")
async def refuses_tampering(args: Nothing, client: object, call: Call) -> Said:
    """Say that the state came back unchanged."""
    await call.elicit("confirm", "Please confirm", Confirmed)
    return Said(text="state-ok")


@tool("test_input_required_result_multiple_inputs", title="Several questions")
async def asks_at_once(args: Nothing, client: object, call: Call) -> Said:
    """Ask in three ways at once."""
    greeting = sampling("Generate a greeting", 50)
    answers = await call.ask({"user_name": NAME, "greeting": greeting, "client_roots": ROOTS})
    return Said(text=", ".join(sorted(answers)))


@tool("test_input_required_result_multi_round", title="Several rounds")
async def asks_twice(args: Nothing, client: object, call: Call) -> Said:
    """Ask, and ask again."""
    name = await call.elicit("step1", "Step 1: What is your name?", Named)
    colour = await call.elicit("step2", "Step 2: What is your favorite color?", Coloured)
    return Said(text=f"{name.values} {colour.values}")


@tool("test_input_required_result_capabilities", title="What the client can be asked")
async def asks_what_it_may(args: Nothing, client: object, call: Call) -> Said:
    """Ask only what the client declares."""
    questions = {"user_name": NAME, "greeting": sampling("Generate a greeting", 50)}
    answers = await call.ask({key: question for key, question in questions.items() if call.may_ask(question)})
    return Said(text=", ".join(sorted(answers)))


@tool("test_missing_capability", title="Missing capability")
async def needs_sampling(args: Nothing, client: object, call: Call) -> Said:
    """Ask whether the client can be asked or not."""
    await call.ask({"greeting": sampling("Generate a greeting", 50)})
    return Said(text="Sampled.")


@resource("test://static-text", name="static_text", title="Text", mime_type="text/plain")
async def static_text(args: Nothing, client: object, call: Call) -> Contents:
    """A text."""
    return Contents(text="This is the content of the static text resource.")


@resource("test://static-binary", name="static_binary", title="Image", mime_type="image/png")
async def static_binary(args: Nothing, client: object, call: Call) -> Contents:
    """An image."""
    return Contents(blob=PNG)


@resource("test://template/{id}/data", name="template_data", title="Data", mime_type="application/json")
async def template_data(args: Identified, client: object, call: Call) -> Contents:
    """Data by its id."""
    return Contents(text=f'{{"id":"{args.id}","templateTest":true,"data":"Data for ID: {args.id}"}}')


class TwoArguments(Input):
    arg1: str = Field(description="First test argument.")
    arg2: str = Field(description="Second test argument.")


class OneResource(Input):
    resource_uri: str = Field(description="URI of the resource to embed.")


@prompt("test_simple_prompt", title="Simple prompt")
def simple_prompt(args: Nothing) -> str:
    """A text."""
    return "This is a simple prompt for testing."


@prompt("test_prompt_with_arguments", title="Prompt with arguments")
def prompt_with_arguments(args: TwoArguments) -> str:
    """A text with its arguments."""
    return f"Prompt with arguments: arg1='{args.arg1}', arg2='{args.arg2}'"


@prompt("test_prompt_with_embedded_resource", title="Prompt with a resource")
def prompt_with_embedded_resource(args: OneResource) -> list[str | Image | Embedded]:
    """A resource and a text."""
    embedded = Embedded(args.resource_uri, "Embedded resource content for testing.")
    return [embedded, "Please process the embedded resource above."]


@prompt("test_prompt_with_image", title="Prompt with an image")
def prompt_with_image(args: Nothing) -> list[str | Image | Embedded]:
    """An image and a text."""
    return [RED_DOT, "Please analyze the image above."]


@prompt("test_input_required_result_prompt", title="Prompt that asks")
async def prompt_that_asks(args: Nothing, client: object, call: Call) -> str:
    """A text in a context that is asked for."""
    answer = await call.elicit("user_context", "What context should the prompt use?", InContext)
    return f"In the context of {answer.values.context if answer.values else 'nothing'}."


@hookimpl
def register_tools() -> list[object]:
    return [
        simple_text,
        image_content,
        audio_content,
        embedded_resource,
        multiple_content_types,
        error_handling,
        with_progress,
        streaming,
        logging_tool,
        asks_by_form,
        asks_the_model,
        asks_for_roots,
        asks_with_state,
        refuses_tampering,
        asks_at_once,
        asks_twice,
        asks_what_it_may,
        needs_sampling,
    ]


@hookimpl
def register_resources() -> list[object]:
    return [static_text, static_binary, template_data]


@hookimpl
def register_prompts() -> list[object]:
    return [simple_prompt, prompt_with_arguments, prompt_with_embedded_resource, prompt_with_image, prompt_that_asks]
