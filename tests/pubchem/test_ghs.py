"""GHS data in the texts of a record."""

from collections.abc import Callable

import pytest
from scigate_pubchem.ghs import PRECAUTIONS, Ghs
from scigate_pubchem.pug_view import Item, View


def item(name: str, *strings: str, extras: tuple[str, ...] = ()) -> Item:
    return Item(name, strings, extras, "a depositor")


@pytest.mark.parametrize(
    ("text", "code", "statement"),
    [
        ("H225: Highly flammable", "H225", "Highly flammable"),
        ("H225 (97%): text [Danger Flammable liquids]", "H225", "text [Danger Flammable liquids]"),
        ("H361d ***: text", "H361d", "text"),
        ("H350i (10.5%) **: text", "H350i", "text"),
        ("H361fd - text", "H361fd", "text"),
        ("H300+H310 – text: more", "H300+H310", "text: more"),
        ("H300 + H310 + H330 (11%): text", "H300+H310+H330", "text"),
        ("H280", "H280", ""),
        ("H302 text without a separator", "H302", "text without a separator"),
    ],
)
def test_a_hazard_statement(text: str, code: str, statement: str) -> None:
    """Suffixes and joined codes are kept; shares and asterisks between code and text are not part of either."""
    assert Ghs.of([item("GHS Hazard Statements", text)]).hazards == {code: statement}


@pytest.mark.parametrize("text", ["Not Classified", "", "H22: text", "H2255: text", "HAZARD H225", "H225abc: text"])
def test_a_text_without_a_code_is_no_statement(text: str) -> None:
    """Records also say in words that nothing is classified."""
    assert not Ghs.of([item("GHS Hazard Statements", text)])


@pytest.mark.parametrize("run", ["*" * 100_000, "* " * 50_000, "(1%)" * 50_000, " " * 100_000, "+H300" * 20_000])
def test_a_long_run_of_notes_is_read_once(run: str) -> None:
    """Without going back over it: a pattern that did would not end."""
    assert list(Ghs.of([item("GHS Hazard Statements", f"H300{run}\x00")]).hazards)


def test_precautionary_codes_are_scanned() -> None:
    """One list with "and" and prose at its end; joined codes stay one, and each stands once."""
    ghs = Ghs.of(
        [
            item(
                "Precautionary Statement Codes",
                "P210, P264 + P265, P303+P361+P353, P210, and P501",
                "(See the P-code page.)",
            ),
            item("Precautionary Statement Codes", "P501 (some trailing prose)"),
        ]
    )
    assert ghs.precautions == ["P210", "P264+P265", "P303+P361+P353", "P501"]
    assert not ghs


def test_depositors_are_merged() -> None:
    """Danger wins over Warning whoever says it; a code's first text is kept; a suffix makes another code."""
    ghs = Ghs.of(
        [
            item("Signal", "Danger"),
            item("Signal", "Warning"),
            item("GHS Hazard Statements", "H360: first", "H360D: other"),
            item("GHS Hazard Statements", "H360 (12%): second"),
        ]
    )
    assert ghs.signal == "Danger"
    assert ghs.hazards == {"H360": "first", "H360D": "other"}
    assert Ghs.of([item("Signal", "Warning"), item("Signal", "Danger"), item("Signal")]).signal == "Danger"


def test_pictograms() -> None:
    """By the marks' labels; without these by the texts, in which the symbols' numbers are put into words."""
    marked = item("Pictogram(s)", "    ", extras=("Flammable", "Irritant", "Flammable"))
    named = item("Pictogram(s)", "https://lab.example/ghs/GHS08.svg", "images/Skull.svg")
    assert Ghs.of([marked]).pictograms == ["Flammable", "Irritant"]
    assert Ghs.of([named]).pictograms == ["Health Hazard", "Skull"]
    every = [item("Pictogram(s)", *(f"GHS0{number}" for number in range(1, 10)))]
    assert Ghs.of(every).pictograms == [
        *("Explosive", "Flammable", "Oxidizer", "Compressed Gas", "Corrosive", "Toxic"),
        *("Irritant", "Health Hazard", "Environmental Hazard"),
    ]


def test_decoded_codes_have_one_text_each() -> None:
    """Texts end as sentences, and joined codes have their own."""
    assert all(text.endswith(".") for text in PRECAUTIONS.values())
    assert {"P501", "P321", "P320", "P411", "P241"}.isdisjoint(PRECAUTIONS)


def test_a_recorded_record(recorded: Callable[[str], bytes]) -> None:
    """The whole record of 1-bromopentane: percentages, pictograms as marks, 27 precautionary codes with "and"."""
    view = View.parse(b'{"Record":' + recorded("pugview_compound_8057_inner.json") + b"}")
    ghs = Ghs.of(view.under("GHS Classification"))
    assert (ghs.signal, ghs.pictograms) == ("Warning", ["Flammable", "Irritant", "Environmental Hazard"])
    assert list(ghs.hazards) == ["H226", "H315", "H319", "H335", "H411"]
    assert ghs.hazards["H319"].startswith("Causes serious eye irritation")
    assert (len(ghs.precautions), ghs.precautions[-1]) == (27, "P501")
    # A record without the section has no hazards.
    assert not Ghs.of(View.parse(recorded("pugview_compound_2349.json")).under("GHS Classification"))
