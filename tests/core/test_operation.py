"""Tools, resources and prompts made of plain functions; what is wrong with one is said where it is written."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from scigate import Call, Code, Input, Output, Page, Reason, Success, prompt, resource, tool

UNKNOWN = Reason("unknown_sample", Code.NOT_FOUND, "no sample has the name", "Check name.")


class Ask(Input):
    sample_id: str = ""


class Done(Output):
    said: str = "done"


async def good(args: Ask, client: object, call: Call) -> Done:
    """Find a sample
    by its name.

    Costs one
    request.
    """
    return Done()


async def undocumented(args: Ask, client: object, call: Call) -> Done:
    return Done()


async def two(args: Ask, call: Call) -> Done:
    """Two parameters."""
    return Done()


async def untyped(args, client: object, call: Call) -> Done:
    """No input model."""
    return Done()


async def no_result(args: Ask, client: object, call: Call) -> None:
    """No output model."""


def plain(args: Ask, client: object, call: Call) -> Done:
    """No coroutine."""
    return Done()


async def pictured(args: Ask, client: object, call: Call) -> Annotated[Success, Done]:
    """With a picture."""
    return Success(Done())


def test_a_tool_follows_from_its_function() -> None:
    """Models from the annotations, description from the docstring, a paragraph a line."""
    made = tool("lab_find", title="Find", errors=[UNKNOWN], deadline_s=5)(good)
    assert (made.name, made.title, made.input_model, made.output_model) == ("lab_find", "Find", Ask, Done)
    assert made.description == "Find a sample by its name.\n\nCosts one request."
    assert (made.errors, made.deadline_s, made.handler) == ((UNKNOWN,), 5, good)


def test_a_success_names_its_output_beside_it() -> None:
    """For handlers that give images."""
    assert tool("lab_find", title="Find")(pictured).output_model is Done


@pytest.mark.parametrize("name", ["", "Find", "lab-find", "lab.find", "1find", "_find", "lab find", "läb"])
def test_a_tool_s_name_is_lower_case_words(name: str) -> None:
    """It reads the same in every client."""
    with pytest.raises(ValueError, match="is not lower-case words joined by underscores"):
        tool(name, title="Find")(good)


@pytest.mark.parametrize(
    ("function", "error", "said"),
    [
        (undocumented, ValueError, "undocumented has no docstring"),
        (two, TypeError, r"two takes 2 parameters, not the three \(arguments, client, call\)"),
        (untyped, TypeError, "the first parameter is annotated with None, not with an Input model"),
        (no_result, TypeError, "the return annotation is .*, not a model"),
        (plain, TypeError, "plain is not an async function"),
    ],
)
def test_a_function_of_another_form_is_refused(function: Callable[..., Any], error: type[Exception], said: str) -> None:
    """When its module is imported, by name; for tools and for resources alike."""
    with pytest.raises(error, match=said):
        tool("lab_find", title="Find")(function)
    with pytest.raises(error, match=said):
        resource("lab://find", name="find", title="Find")(function)


async def paged(args: Ask, client: object, call: Call) -> Page:
    """Pages of no size."""
    return Page()


def test_a_tool_that_gives_pages_takes_a_page_size() -> None:
    """Without one every page would be empty."""
    with pytest.raises(TypeError, match="lab_find gives pages, but Ask has no PageSize"):
        tool("lab_find", title="Find")(paged)


@pytest.mark.parametrize(
    ("uri", "found"),
    [
        ("lab://sample/A-1/history", {"sampleId": "A-1"}),
        ("lab://sample/A%2F1/history", {"sampleId": "A%2F1"}),
        ("lab://sample//history", None),
        ("lab://sample/a/b/history", None),
        ("lab://sample/A-1/history/", None),
        ("labX//sample/A-1/history", None),
    ],
)
def test_a_template_takes_one_segment_for_a_variable(uri: str, found: dict[str, str] | None) -> None:
    """Under its name on the wire, still encoded."""
    made = resource("lab://sample/{sample_id}/history", name="history", title="History")(good)
    assert made.is_template
    assert made.match(uri) == found


def test_a_template_s_variables_are_fields() -> None:
    """Else nothing could be read by it."""
    with pytest.raises(TypeError, match=r"lab://\{sample\} has sample, no field of Ask"):
        resource("lab://{sample}", name="sample", title="Sample")(good)


def test_signs_in_a_uri_stand_for_themselves() -> None:
    """A dot is a dot."""
    made = resource("lab://a.b?x=1", name="odd", title="Odd")(good)
    assert not made.is_template
    assert made.match("lab://a.b?x=1") == {}
    assert made.match("lab://aXb?x=1") is None


def test_a_prompt_takes_one_input_model() -> None:
    """And is described by its docstring, as a tool is."""

    def plan(args: Ask) -> str:
        """Plan an assay."""
        return args.sample_id

    def wrong(sample: str) -> str:
        """Take text."""
        return sample

    assert prompt("lab_plan", title="Plan")(plan).description == "Plan an assay."
    with pytest.raises(TypeError, match="wrong takes one argument, annotated with an Input model"):
        prompt("lab_plan", title="Plan")(wrong)
