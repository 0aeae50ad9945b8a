"""PUG View records, and the two meanings of its 404."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from scigate_pubchem.pug_view import View


def record(*sections: dict[str, Any], **members: Any) -> View:
    return View.parse(json.dumps({"Record": {"Section": list(sections), **members}}))


def texts(*strings: str, **members: Any) -> dict[str, Any]:
    return {"Value": {"StringWithMarkup": [{"String": text} for text in strings]}, **members}


def test_sections_are_found_at_any_depth() -> None:
    """What is under a section counts, whatever its heading, and other sections do not."""
    inner = {"TOCHeading": "Deep", "Information": [texts("two")]}
    wanted = {"TOCHeading": "Wanted", "Information": [texts("one")], "Section": [inner]}
    view = record({"TOCHeading": "Top", "Section": [wanted], "Information": [texts("other")]}, wanted)
    assert [item.strings for item in view.under("Wanted")] == [("one",), ("two",)] * 2
    assert view.under("Nothing") == []


@pytest.mark.parametrize("value", [{}, {"Number": [1]}, {"Boolean": [True]}, {"ExternalTableName": "t"}])
def test_a_value_without_text_is_no_text(value: dict[str, Any]) -> None:
    """Values have many forms; names, marks, references and values may each be missing."""
    view = record({"TOCHeading": "A", "Information": [{"Value": value}, {}, texts("  ", "x", Name="n")]})
    assert [(item.name, item.strings, item.source) for item in view.under("A")] == [
        ("", (), None),
        ("", (), None),
        ("n", ("x",), None),
    ]
    assert record().source is None


def test_texts_are_distinct_with_their_first_source() -> None:
    """Letter case and white space alone make no other text; a paraphrase does."""
    view = record(
        {"TOCHeading": "A", "Information": [
            texts("One  text", ReferenceNumber=1),
            texts("one text", ReferenceNumber=2),
            texts("A text", ReferenceNumber=3),
        ]},
        Reference=[{"ReferenceNumber": 1, "SourceName": "first"}, {"ReferenceNumber": 2, "SourceName": "second"}],
    )  # fmt: skip
    assert view.texts("A") == [("One  text", "first"), ("A text", None)]
    assert view.source == "first"


def test_recorded_records(recorded: Callable[[str], bytes]) -> None:
    """Whole records of a natural product and of a reagent: descriptions with their sources."""
    cillin = View.parse(recorded("pugview_compound_2349.json"))
    ((text, source),) = cillin.texts("Record Description")
    assert text.startswith("Cillin has been reported in Penicillium chrysogenum")
    assert source
    assert cillin.under("ATC Code") == []
    reagent = View.parse(b'{"Record":' + recorded("pugview_compound_8057_inner.json") + b"}")
    assert reagent.texts("Record Description")[0][0].startswith("1-Bromopentane has been reported")
    assert len(reagent.under("Other Identifiers")) > 10
