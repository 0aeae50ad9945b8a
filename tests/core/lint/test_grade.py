"""The grades of definitions, good and bad."""

from typing import Any

import pytest
from scigate.lint import Grade, grade

GOOD: dict[str, Any] = {
    "name": "lab_find_samples",
    "title": "Find Samples",
    "description": (
        "Find the lab's samples of one project, newest first. Use it before lab_get_sample, which has the measurements "
        "of one. Returns a page with the exact total; costs one request."
    ),
    "inputSchema": {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "project": {"type": "string", "description": "As the lab writes it, such as P-12."},
            "offset": {"type": "integer", "minimum": 0, "maximum": 1000},
        },
    },
    "outputSchema": {"type": "object", "properties": {"samples": {}, "error": {}}},
    "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": True},
}
SIBLING: dict[str, Any] = {**GOOD, "name": "lab_get_sample"}


def graded(**changes: Any) -> Grade:
    return grade([{**GOOD, **changes}, SIBLING])[0]


def with_parameters(**properties: Any) -> Grade:
    return graded(inputSchema={**GOOD["inputSchema"], "properties": properties})


def test_a_definition_that_says_all_has_the_best_grade() -> None:
    """Nothing is found in it, and it has five points in each of the six dimensions."""
    found = graded()
    assert found.findings == ()
    assert (found.overall, len(found.scores)) == (5.0, 6)


@pytest.mark.parametrize(
    ("description", "dimension", "words"),
    [
        ("", "purpose", "<no description>"),
        ("Find samples.", "purpose", "Find samples."),
        ("This tool allows you to search the archive for soil cores.", "purpose", "This tool allows"),
        ("Finds soil cores by depth. Use it before lab_get_sample; one request.", "purpose", "Finds soil cores"),
        ("Find various information on cores in the archive.", "purpose", "various"),
        ("Find soil cores by depth.", "usage guidance", "<not said when to use it>"),
        ("Find soil cores; use it when a depth is known.", "usage guidance", "<no sibling named>"),
        ("Find soil cores; lab_get_samples has the rest.", "usage guidance", "lab_get_samples"),
        ("Find soil cores by project.", "behaviour", "<no cost or limit>"),
        ("Find soil cores. IMPORTANT: one page.", "conciseness", "IMPORTANT"),
        ("Find soil cores in order to date them, one request.", "conciseness", "in order to"),
        (
            "Find soil cores by depth. " + "Cores are kept cold and dark. " * 2,
            "conciseness",
            "Cores are kept cold and dark.",
        ),
        ("Find soil cores by depth. " + " ".join(f"w{n}" for n in range(200)), "conciseness", "205 words"),
    ],
)
def test_a_finding_names_the_words_at_fault_and_a_better_form(description: str, dimension: str, words: str) -> None:
    """Whoever reads it can mend the sentence without knowing the rule."""
    found = {(finding.dimension, finding.words): finding for finding in graded(description=description).findings}
    assert found[dimension, words].instead


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "<no description>"),
        ({"description": "Depth of the core in metres."}, "<no type>"),
        ({"type": "number", "description": "Depth of the core in metres."}, "<no bounds>"),
        ({"type": "string", "description": "The core depth."}, "The core depth."),
    ],
)
def test_an_argument_that_has_to_be_guessed_costs_points(schema: dict[str, Any], words: str) -> None:
    """Missing description, type or bounds, and a description that repeats the name."""
    found = with_parameters(coreDepth=schema)
    assert [(finding.where, finding.words) for finding in found.findings if finding.dimension == "parameters"] == [
        ("inputSchema.coreDepth", words)
    ]


def test_an_argument_that_the_description_explains_needs_no_text_of_its_own() -> None:
    """Tokens are not spent twice; a page's offset is known everywhere."""
    assert with_parameters(projects={"type": "string"}, sampleOffset={"type": "string"}).findings == ()


@pytest.mark.parametrize(
    ("annotations", "words"),
    [
        ({}, ["<no readOnlyHint>", "<no openWorldHint>", "<no destructiveHint>", "<no idempotentHint>"]),
        (
            {"readOnlyHint": False, "openWorldHint": True, "destructiveHint": False, "idempotentHint": True},
            ["<not said what it changes>"],
        ),
    ],
)
def test_annotations_are_there_and_agree_with_the_description(annotations: dict[str, bool], words: list[str]) -> None:
    """A tool that is not read-only says what it changes."""
    found = graded(annotations=annotations).findings
    assert [finding.words for finding in found] == words


def test_a_read_only_tool_that_deletes_is_a_contradiction() -> None:
    """The annotation decides whether a client asks its user."""
    found = graded(description="Delete the samples of one project; costs one request. lab_get_sample reads one.")
    assert [finding.words for finding in found.findings if finding.dimension == "behaviour"] == [
        "readOnlyHint, and 'delete'"
    ]


def test_what_comes_back_is_said_by_the_schema_or_the_description() -> None:
    """A definition without either leaves a model to guess the result."""
    silent = graded(outputSchema=None, description="Find soil cores by depth, one request; see lab_get_sample.")
    told = graded(outputSchema=None)
    assert silent.scores["completeness"] < told.scores["completeness"] < 5


def test_what_no_server_should_send_is_graded_all_the_same() -> None:
    """Definitions of other servers may lack anything; none has less than the worst grade."""
    [found] = grade([{"name": "x", "inputSchema": {"properties": {"a": True, "b": {}}}, "annotations": None}])
    assert 1 <= found.overall < 3
