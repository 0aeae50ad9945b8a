"""Reading PubChem's property tables, of today and of before the renaming of 2025."""

import json
from typing import Any

import pytest
from scigate_immunograph.faults import NoSuchCompound, SourceUnreadable
from scigate_immunograph.pubchem import read_answer

# https://pubchem.ncbi.nlm.nih.gov/rest/pug/compound/cid/2244/property/.../JSON
ROW = {
    "CID": 2244,
    "MolecularFormula": "C9H8O4",
    "MolecularWeight": "180.16",
    "SMILES": "CC(=O)OC1=CC=CC=C1C(=O)O",
    "ConnectivitySMILES": "CC(=O)OC1=CC=CC=C1C(=O)O",
    "InChI": "InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12)",
    "InChIKey": "BSYNRYMUTXBXSQ-UHFFFAOYSA-N",
    "Title": "Aspirin",
}


def table(*rows: dict[str, Any]) -> str:
    return json.dumps({"PropertyTable": {"Properties": list(rows)}})


def test_answers_of_before_2025_are_the_same_record() -> None:
    """The SMILES had other names, and the weight was a number until 2020 or later."""
    older = {"IsomericSMILES": ROW["SMILES"], "CanonicalSMILES": ROW["ConnectivitySMILES"], "MolecularWeight": 180.16}
    kept = {name: value for name, value in ROW.items() if "SMILES" not in name}
    assert read_answer(table(kept | older), 2244) == read_answer(table(ROW), 2244)


def test_a_row_of_another_compound_is_not_taken() -> None:
    """Whatever its place in the table."""
    other = {**ROW, "CID": 241, "Title": "Benzene"}
    assert read_answer(table(other, ROW), 2244).title == "Aspirin"
    with pytest.raises(SourceUnreadable, match="no row of CID 2244"):
        read_answer(table(other), 2244)


def test_a_row_of_a_number_alone_is_no_compound() -> None:
    """So PubChem answers, with status 200, for a CID that was never given out."""
    with pytest.raises(NoSuchCompound):
        read_answer(table({"CID": 999999999}), 999999999)


@pytest.mark.parametrize("body", ["", "{", "[]", '{"PropertyTable": {}}', table({**ROW, "MolecularFormula": None})])
def test_another_shape_is_unreadable(body: str) -> None:
    """It is never an empty record."""
    with pytest.raises(SourceUnreadable):
        read_answer(body, 2244)
