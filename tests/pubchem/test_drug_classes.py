"""Drug classes in the two shapes that the FDA's have, MeSH's and ATC's."""

import json

from scigate_pubchem.drug_classes import DrugClasses
from scigate_pubchem.pug_view import View


def view(heading: str, *strings: str) -> View:
    values = [{"Value": {"StringWithMarkup": [{"String": text}]}} for text in strings]
    return View.parse(json.dumps({"Record": {"Section": [{"TOCHeading": heading, "Information": values}]}}))


def test_fda_classes() -> None:
    """One class in a text, or a list of them with its tags behind the names; CS and PE are in neither list."""
    classes = DrugClasses.of(
        view(
            "FDA Pharmacological Classification",
            "R16CO5Y76E",
            "Mechanisms of Action [MoA] - Cyclooxygenase Inhibitors",
            "Nonsteroidal Anti-inflammatory Drug [EPC]; Cyclooxygenase Inhibitors [MoA]; Decreased Clotting [PE]",
            "Established Pharmacologic Class [EPC] - Platelet Aggregation Inhibitor",
            "Chemical Structure [CS] - Salicylates",
        )
    )
    assert classes.fda == ["Nonsteroidal Anti-inflammatory Drug", "Platelet Aggregation Inhibitor"]
    assert classes.mechanisms == ["Cyclooxygenase Inhibitors"]


def test_mesh_classes() -> None:
    """As they are, commas and semicolons of their own included."""
    texts = ("Anti-Inflammatory Agents, Non-Steroidal; a class", "Antipyretics")
    assert DrugClasses.of(view("MeSH Pharmacological Classification", *texts)).mesh == list(texts)


def test_atc_codes() -> None:
    """Only those of substances, each once, with what follows the dash."""
    texts = ("N - Nervous system", "N02BA - Salicylic acid", "N02BA01 - Aspirin - plain", "N02BA01 - other", "B01AC06")
    classes = DrugClasses.of(view("ATC Code", *texts, "B01AC0677 - no code", "see N02BA01"))
    assert classes.atc == {"N02BA01": "Aspirin - plain", "B01AC06": ""}


def test_no_classes() -> None:
    """A record without any has nothing to show."""
    assert not DrugClasses.of(View())
