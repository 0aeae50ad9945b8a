"""Every recorded answer of PubChem: which test reads it, or why no tool would meet it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from scigate_pubchem.pug_view import View
from scigate_pubchem.sdq import Sdq

FOLDER = Path(__file__).parents[3] / "shared" / "recordings" / "pubchem"

READ_BY = {
    "test_faults.py": ["fault_*.json"],
    "test_client.py": ["cids_smiles_unknown_zero.json", "property_name_json_2020.json"],
    "test_bioactivity.py": ["pubchem_cid_4_bioactivity.csv"],
    "test_xrefs.py": ["xrefs_rn_*.json", "synonyms_smiles.json"],
    "test_conformer.py": ["*.sdf"],
    "test_image.py": ["image_*.png"],
    "test_ghs.py": ["pugview_compound_8057_inner.json"],
    "test_pug_view.py": ["pugview_compound_*.json"],
    "test_recordings.py": ["BIOASSAY_AID_743069.json", "pubchem_[cs]id_*.json"],
    "emulator/": [
        *("cids_name_aspirin.txt", "property_canonicalsmiles_post.txt", "property_cids_123.csv"),
        *("cid_2244_2d.json", "record_cid241_2d.json", "record_inchikey_cid8857.json", "description_cid241.json"),
    ],
}

NOT_MET = {
    "a form that no tool asks for: TXT, CSV, XML or ASN.1, where the client reads JSON": [
        *("cids_parent_post.txt", "cids_xref_rn_aspirin.txt", "fastsubstructure_smarts.csv", "*.xml", "*.asnt"),
        *("pubchem_cid_4_cpdat.csv", "pubchem_cid_4_iupacpka.csv"),
    ],
    "a whole record, of which the tools read properties, SDF and PNG instead": [
        *("cid_1038_2d.json", "cid_638186_2d.json", "record_cid259_single_atom.json"),
        *("record_inchikey_post_two.json", "sid_348356775_2d.json", "Conformer3D_COMPOUND_CID_4_1.json"),
    ],
    "a service of the web pages that no tool uses": [
        *("Chemical_Disease-Co-Occurrences*.json", "NLM_Curated_Citations_CID_4.json", "Substances_by_Category*.json"),
    ],
    "the index of the folder": ["index.json"],
}

Recorded = Callable[[str], bytes]


@pytest.mark.skipif(not FOLDER.exists(), reason="the recordings are not at hand")
def test_every_recording_is_read_or_has_a_reason() -> None:
    """None is forgotten, and no test names one that is not there."""
    patterns = [pattern for names in (*READ_BY.values(), *NOT_MET.values()) for pattern in names]
    matched = {pattern: {path.name for path in FOLDER.glob(pattern)} for pattern in patterns}
    assert [pattern for pattern, names in matched.items() if not names] == []
    assert {path.name for path in FOLDER.iterdir()} == set().union(*matched.values())


@pytest.mark.parametrize("place", READ_BY)
def test_the_tests_named_are_there(place: str) -> None:
    """Beside this one."""
    assert (Path(__file__).parent / place).exists()


def test_a_record_of_an_assay_is_a_view_too(recorded: Recorded) -> None:
    """PUG View has one shape for all kinds of records."""
    view = View.parse(recorded("BIOASSAY_AID_743069.json"))
    assert view.source
    assert any(item.strings for item in view.under("Description"))


@pytest.mark.parametrize(
    "name",
    [
        "pubchem_cid_4_pathway.json",
        "pubchem_cid_4_pathwayreaction.json",
        "pubchem_cid_4_consolidatedcompoundtaxonomy.json",
        "pubchem_sid_134971235_chemidplus.json",
        "pubchem_sid_516647966_thiemechemistry.json",
    ],
)
async def test_rows_of_recorded_tables(recorded: Recorded, name: str) -> None:
    """Anchors and entities in values are decoded, lists are no cells, and blank values are none.

    The recordings are downloads, bare lists of rows; a query wraps them, as done here.
    """
    rows: list[dict[str, Any]] = json.loads(recorded(name))
    body = {"SDQOutputSet": [{"status": {"code": 0}, "totalCount": len(rows), "rows": rows}]}
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
    async with httpx.AsyncClient(transport=transport, base_url="http://pubchem") as client:
        table = await Sdq(client).rows("any", 4, ["cid"], offset=0, limit=100)
    assert (len(table.rows), table.total) == (len(rows), len(rows))
    cells = [cell for row in table.rows for cell in row.values()]
    assert not any(isinstance(cell, str) and ("<a " in cell or "&gt;" in cell) for cell in cells)
    assert not any(cell == "" or isinstance(cell, list | dict) for cell in cells)
