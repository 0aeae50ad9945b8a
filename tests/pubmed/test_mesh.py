"""MeSH's summaries."""

import pytest
from scigate_pubmed.errors import NcbiUnreadable
from scigate_pubmed.mesh import decoded, parse_headings

RECORD = {
    "uid": "68003924",
    "ds_meshui": "D003924",
    "ds_meshterms": ["Diabetes Mellitus, Type 2", "NIDDM", "NIDDM", "MODY"],
    "ds_scopenote": "A subclass of <b>DIABETES</b>.",
    "ds_idxlinks": [{"treenum": "C18.452.394.750.149"}, {"treenum": "@218176"}, {"treenum": ""}, "x"],
}


def test_a_heading_is_read() -> None:
    """The first term is its name, the others are synonyms; a pointer is no tree number."""
    (found,) = parse_headings({"result": {"uids": ["68003924"], "68003924": RECORD}}, ("68003924", "1"))
    assert (found.mesh_id, found.uid, found.name) == ("D003924", "68003924", "Diabetes Mellitus, Type 2")
    assert found.entry_terms == ("NIDDM", "MODY")
    assert found.tree_numbers == ("C18.452.394.750.149",)
    assert found.scope_note == "A subclass of DIABETES."


def test_records_come_in_the_order_asked_for() -> None:
    """Not in the answer's; one that NCBI cannot summarise is left out."""
    answer = {"result": {"2": {"ds_meshterms": ["B"]}, "1": {"ds_meshterms": ["A"]}, "3": {"error": "cannot"}}}
    assert [one.name for one in parse_headings(answer, ("1", "3", "2"))] == ["A", "B"]


@pytest.mark.parametrize(
    ("uid", "mesh_id"),
    [("68003924", "D003924"), ("67012345", "C012345"), ("81000188", "Q000188"), ("2025952", "2025952"), ("99", "99")],
)
def test_an_entrez_number_spells_the_identifier(uid: str, mesh_id: str) -> None:
    """Its first two digits are a letter's code; a newer supplementary concept's number is its own."""
    assert decoded(uid) == mesh_id
    (found,) = parse_headings({"result": {uid: {"ds_meshterms": []}}}, (uid,))
    assert (found.mesh_id, found.name) == (mesh_id, "")


@pytest.mark.parametrize("answer", [{}, [], {"result": []}, "x"])
def test_a_body_without_a_result_is_not_an_answer(answer: object) -> None:
    """It would read as headings without details."""
    with pytest.raises(NcbiUnreadable):
        parse_headings(answer, ("1",))
