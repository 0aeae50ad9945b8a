"""Schemas derived from models: closed, without null, without noise."""

from enum import StrEnum
from typing import Any, Literal

import jsonschema
import pytest
from pydantic import Field
from scigate import Code, Input, Output, Page, Reason, Record
from scigate.failure import CORE_REASONS
from scigate.schema import error_schema, input_schema, output_schema

UNKNOWN = Reason("unknown_sample", Code.NOT_FOUND, "no sample has the name", "Check name.")


class Organ(StrEnum):
    LIVER = "liver"
    LUNG = "lung"


class Ask(Input):
    """A question."""

    title: str = Field(description="What it is called.")
    organ: Organ | None = None
    either: int | str | None = None
    properties: list[Literal["a", "b"]] | None = None
    default: float = 1.5


class Part(Record):
    name: str
    weight: float | None = None


class Found(Output):
    parts: list[Part]
    best: Part | None = None
    count: int = 0
    tags: dict[str, str] | None = None


def test_an_input_is_a_closed_object_without_null() -> None:
    """Fields named like schema words stay; titles that repeat names go."""
    schema = input_schema(Ask)
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert schema["required"] == ["title"]
    assert set(schema["properties"]) == {"title", "organ", "either", "properties", "default"}
    assert schema["properties"]["title"] == {"type": "string", "description": "What it is called."}
    assert schema["properties"]["either"] == {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    assert schema["properties"]["properties"] == {"type": "array", "items": {"enum": ["a", "b"], "type": "string"}}
    assert schema["properties"]["default"] == {"type": "number", "default": 1.5}
    assert "null" not in str(schema)


def test_an_output_is_a_result_or_an_error() -> None:
    """Never both and never neither; the result requires what is always there."""
    schema = output_schema(Found, [UNKNOWN])
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["anyOf"] == [
        {"not": {"required": ["error"]}, "required": ["count", "parts"]},
        {"required": ["error"]},
    ]
    assert "required" not in schema


@pytest.mark.parametrize(
    ("content", "valid"),
    [
        ({"parts": [], "count": 0}, True),
        ({"parts": [{"name": "a", "weight": 1.5}], "count": 1, "best": {"name": "a"}, "notice": "n"}, True),
        ({"parts": []}, False),
        ({"parts": [{"weight": 1}], "count": 1}, False),
        ({"error": {"code": -32001, "message": "m", "data": {"reason": "r", "recovery": {"hint": "h"}}}}, True),
        ({"error": {"code": -32001}}, False),
        ({"error": {"code": -32001, "message": "m", "data": {"recovery": {}}}}, False),
        ({}, False),
    ],
)
def test_the_output_schema_takes_what_is_sent(content: dict[str, Any], valid: bool) -> None:
    """And refuses what never is."""
    assert jsonschema.Draft202012Validator(output_schema(Found, [UNKNOWN])).is_valid(content) is valid


def test_a_page_requires_its_offset_and_its_items() -> None:
    """All else on a page depends on what was found."""

    class Rows(Page):
        rows: list[int]

    assert output_schema(Rows, [])["anyOf"][0]["required"] == ["offset", "rows"]


def test_declared_reasons_are_examples_of_the_reason() -> None:
    """A tool's own; one that declares none shows core's first."""

    def reasons(*declared: Reason) -> list[str]:
        return error_schema(declared)["properties"]["data"]["properties"]["reason"]["examples"]

    assert reasons(UNKNOWN, CORE_REASONS[1]) == ["unknown_sample", "quota_exhausted"]
    assert reasons() == ["invalid_arguments"]
