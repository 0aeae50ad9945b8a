"""Lipinski's and Veber's rules, with values that are missing or come as text."""

from typing import Any

import pytest
from scigate.output import structured
from scigate_pubchem.drug_likeness import INPUTS, DrugLikeness

GOOD = dict(zip(INPUTS, ("180.16", 1.2, 1, 4, 63.6, 3), strict=True))


def rules(**changed: Any) -> dict[str, Any]:
    return structured(DrugLikeness.of({name: value for name, value in (GOOD | changed).items() if value is not None}))


def test_a_small_molecule_passes() -> None:
    """The weight, which comes as text, is a number; limits themselves pass."""
    found = rules()
    assert found["lipinski"]["mw"] == {"limit": 500, "pass": True, "value": 180.16}
    assert (found["lipinski"]["violations"], found["veber"]["violations"], found["pass"]) == (0, 0, True)
    edge = rules(MolecularWeight="500", XLogP=5, HBondDonorCount=5, HBondAcceptorCount=10, TPSA=140)
    assert edge["pass"] is True


@pytest.mark.parametrize(
    ("changed", "five", "two", "verdict"),
    [
        ({"MolecularWeight": "500.01"}, 1, 0, True),
        ({"MolecularWeight": "501", "XLogP": 5.1}, 2, 0, False),
        ({"HBondDonorCount": 6, "HBondAcceptorCount": 11}, 2, 0, False),
        ({"TPSA": 140.1}, 0, 1, False),
        ({"RotatableBondCount": 11}, 0, 1, False),
    ],
)
def test_rules_that_are_broken(changed: dict[str, Any], five: int, two: int, verdict: bool) -> None:
    """One Lipinski rule may be, no Veber rule."""
    found = rules(**changed)
    assert (found["lipinski"]["violations"], found["veber"]["violations"], found["pass"]) == (five, two, verdict)


@pytest.mark.parametrize("value", [None, "", "n/a", "nan", "inf"])
def test_an_unknown_value_is_null_and_no_violation(value: Any) -> None:
    """Null is written out, not left out, and there is no verdict."""
    found = rules(XLogP=value, MolecularWeight="501")
    assert found["lipinski"]["xLogP"] == {"limit": 5, "pass": None, "value": None}
    assert (found["lipinski"]["violations"], found["pass"]) == (1, None)
