"""Outputs on the wire."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError
from scigate import Output, Page, Record
from scigate.output import CappedInput, structured


class Part(Record):
    part_name: str
    made_at: datetime | None = None


class Found(Output):
    best_part: Part
    others: list[Part]
    by_name: dict[str, Part]


def test_names_are_camel_case_and_none_is_left_out() -> None:
    """At every depth; keys of a mapping are data and stay as they are."""
    part = Part(part_name="a", made_at=datetime(2026, 1, 1, tzinfo=UTC))
    found = Found(best_part=part, others=[Part(part_name="b")], by_name={"snake_key": part})
    assert structured(found) == {
        "bestPart": {"partName": "a", "madeAt": "2026-01-01T00:00:00Z"},
        "others": [{"partName": "b"}],
        "byName": {"snake_key": {"partName": "a", "madeAt": "2026-01-01T00:00:00Z"}},
    }


def test_core_s_fields_are_absent_until_core_fills_them() -> None:
    """A page states its offset alone."""
    assert structured(Page()) == {"offset": 0}
    assert structured(Output()) == {}


def test_a_capped_input_has_no_further_fields() -> None:
    """Its form is part of every tool's contract."""
    entry = CappedInput(input="names", requested=30, served=25, unprocessed=5)
    assert structured(entry) == {"input": "names", "requested": 30, "served": 25, "unprocessed": 5}
    with pytest.raises(ValidationError):
        CappedInput(input="names", requested=30, served=25, reason="full")  # type: ignore[call-arg]
