"""Forms: the schema that a client shows, from the model that the answer has to fit."""

from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from mcp_types import ElicitRequestFormParams
from pydantic import BaseModel, Field, ValidationError, create_model
from scigate.form import complaint, form_schema


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


FIELDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "text": (str, {"type": "string"}),
    "bounded text": (
        Annotated[str, Field(min_length=1, max_length=9)],
        {"type": "string", "minLength": 1, "maxLength": 9},
    ),
    "whole number": (Annotated[int, Field(ge=1, le=5)], {"type": "integer", "minimum": 1, "maximum": 5}),
    "number": (float, {"type": "number"}),
    "truth": (bool, {"type": "boolean"}),
    "date": (date, {"type": "string", "format": "date"}),
    "choice": (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    "one choice": (Literal["a"], {"type": "string", "enum": ["a"]}),
    "enumeration": (Colour, {"type": "string", "enum": ["red", "blue"], "title": "Colour"}),
    "choices": (list[Literal["a", "b"]], {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
    "what a form cannot say": (Annotated[str, Field(pattern="^A-")], {"type": "string"}),
}


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_is_shown_as_the_protocol_allows(field: str) -> None:
    """Its type and bounds; what MCP's schema has no word for is left to the model."""
    annotation, shown = FIELDS[field]
    schema = form_schema(create_model("Form", it=annotation))
    ElicitRequestFormParams(message="", requested_schema=schema)
    assert schema["required"] == ["it"]
    assert {"title": "It", **schema["properties"]["it"]} == {"title": "It", **shown}


def test_an_optional_field_is_not_required_and_has_no_null() -> None:
    """A form has no null: what is left empty is left out."""
    schema = form_schema(create_model("Form", it=(str | None, None), size=(int, 3)))
    assert schema == {
        "type": "object",
        "properties": {
            "it": {"type": "string", "title": "It"},
            "size": {"type": "integer", "title": "Size", "default": 3},
        },
    }


class Inner(BaseModel):
    name: str


@pytest.mark.parametrize("annotation", [Inner, list[str], list[Inner], dict[str, str], str | int, Literal[1, 2], Any])
def test_what_no_form_can_ask_for_is_a_type_error_that_names_the_field(annotation: Any) -> None:
    """A nested model would be refused by the client, long after the author is gone."""
    with pytest.raises(TypeError, match=r"^Form\.it cannot be asked for in a form"):
        form_schema(create_model("Form", it=annotation))


def test_a_complaint_names_the_fields() -> None:
    """In one line, the first few."""
    with pytest.raises(ValidationError) as caught:
        create_model("Form", a=int, b=int, c=int, d=int).model_validate({"a": "x", "b": 1})
    said = complaint(caught.value)
    assert said.startswith("a: Input should be a valid integer")
    assert said.endswith("d: Field required")
