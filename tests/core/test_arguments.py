"""The annotations of an input model, and what they mean for its schema and its limits."""

from typing import Annotated, Any

import pytest
from pydantic import ValidationError
from scigate import Batch, Cap, Input, Offset, PageSize
from scigate.arguments import MAX_SAFE_INTEGER, Limits, limits_of
from scigate.schema import input_schema


class Ask(Input):
    sample_names: Annotated[list[str] | None, Batch(cap=2, accepts=4)] = None
    numbers: Annotated[list[int], Batch(cap=3)] = [1]  # noqa: RUF012  # pydantic copies defaults
    page_rows: Annotated[int, PageSize(cap=10, accepts=50)] = 5
    start_at: Annotated[int, Offset(maximum=9)] = 0
    plain: int = 0
    names_each: Annotated[int, Cap(cap=3, accepts=30)] = 1


class Free(Input):
    start: Annotated[int, Offset()] = 0


def test_limits_are_read_off_the_annotations() -> None:
    """By the fields' own names, batches in order."""
    assert limits_of(Ask) == Limits(
        page_size=("page_rows", PageSize(cap=10, accepts=50)),
        offset="start_at",
        batches=(("sample_names", Batch(cap=2, accepts=4)), ("numbers", Batch(cap=3))),
        caps=(("names_each", Cap(cap=3, accepts=30)),),
    )
    assert limits_of(Input) == Limits(None, None, ())


def test_bounds_stand_in_the_schema_and_the_cap_does_not() -> None:
    """What is accepted is wider than what is served: an agent is not refused for asking."""
    properties = input_schema(Ask)["properties"]
    assert properties["sampleNames"] == {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 4}
    assert (properties["numbers"]["minItems"], properties["numbers"]["maxItems"]) == (1, 1000)
    assert properties["pageRows"] == {"type": "integer", "minimum": 1, "maximum": 50, "default": 5}
    assert properties["namesEach"] == {"type": "integer", "minimum": 1, "maximum": 30, "default": 1}
    assert properties["startAt"] == {"type": "integer", "minimum": 0, "maximum": 9, "default": 0}
    assert input_schema(Free)["properties"]["start"]["maximum"] == MAX_SAFE_INTEGER == 2**53 - 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"sampleNames": []},
        {"sampleNames": ["a"] * 5},
        {"pageRows": 0},
        {"pageRows": 51},
        {"namesEach": 31},
        {"startAt": -1},
        {"startAt": 10},
        {"sample_names": ["a"]},
        {"unknown": 1},
        {"plain": float("inf")},
    ],
)
def test_what_the_schema_excludes_is_refused(arguments: dict[str, Any]) -> None:
    """Validation and schema follow from the same annotation."""
    with pytest.raises(ValidationError):
        Ask.model_validate(arguments)


@pytest.mark.parametrize("mark", [PageSize(cap=1), Offset()])
def test_a_model_has_one_page_size_and_one_offset(mark: object) -> None:
    """With two, core could not tell which is the page's."""

    class Twice(Input):
        first: Annotated[int, mark] = 1
        second: Annotated[int, mark] = 1

    with pytest.raises(TypeError, match="Twice has more than one page size or offset"):
        limits_of(Twice)


def test_a_mark_inside_a_union_is_refused() -> None:
    """Pydantic would bound the schema and forget the cap."""

    class Lost(Input):
        names: Annotated[list[str], Batch(cap=2)] | None = None

    with pytest.raises(TypeError, match=r"Lost\.names: write Annotated\[X \| None, mark\]"):
        limits_of(Lost)


def test_a_page_size_always_has_a_number() -> None:
    """A page of no size is none."""

    class Sizeless(Input):
        rows: Annotated[int | None, PageSize(cap=2)] = None

    with pytest.raises(TypeError, match=r"Sizeless\.rows is a page's PageSize and has no number for default"):
        limits_of(Sizeless)


def test_a_default_is_shared_by_no_two_calls() -> None:
    """What one call's handler does to a list does not reach the next."""
    Ask.model_validate({}).numbers.append(2)
    assert Ask.model_validate({}).numbers == [1]
