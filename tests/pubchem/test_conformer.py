"""`pubchem_get_compound_3d_structure`, and V2000 files."""

from collections.abc import Callable
from typing import Any

import pytest
from scigate_pubchem.conformer import Molfile
from scigate_pubchem.faults import UnexpectedAnswer

TOOL = "pubchem_get_compound_3d_structure"

TOUCHING = """1
 made

  2  1  0     0  0  0  0  0  0999 V2000
-1000.1234-2000.5678-3000.9999 Cl  0  0
    0.0000    0.0000    0.0000 C   0  0
  1  2  3  0
M  END
"""


def test_numbers_that_touch_are_read_by_column() -> None:
    """Splitting at spaces would join them."""
    molfile = Molfile.parse(TOUCHING)
    assert molfile.atoms[0] == ("Cl", -1000.1234, -2000.5678, -3000.9999)
    assert molfile.bonds == ((1, 2, 3),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one\ntwo\nthree\n",
        TOUCHING.replace("  2  1  0 ", "         "),
        TOUCHING.replace("  2  1  0 ", "  x  1  0 "),
        TOUCHING.replace("  2  1  0 ", "  0  0  0 "),
        TOUCHING.replace("  2  1  0 ", " 20  1  0 "),
        TOUCHING.replace("V2000", "V3000"),
        TOUCHING.replace(" Cl ", "    "),
        "<html>\n<body>\nbusy\n</body>\n</html>",
    ],
)
def test_a_broken_file_is_an_error(text: str) -> None:
    """And never an empty structure."""
    with pytest.raises(UnexpectedAnswer):
        Molfile.parse(text)


@pytest.mark.parametrize(
    ("name", "elements", "bonds"),
    [
        ("record_aspirin_3d.sdf", "OOOOCCCCCCCCCHHHHHHHH", 21),
        ("Conformer3D_COMPOUND_CID_4_1.sdf", "ONCCCHHHHHHHHH", 13),
        ("Structure2D_COMPOUND_CID_4.sdf", "ONCCCHHHHHHHHH", 13),
    ],
)
def test_recorded_files(recorded: Callable[[str], bytes], name: str, elements: str, bonds: int) -> None:
    """The service's own files, with all their data items behind."""
    molfile = Molfile.parse(recorded(name).decode())
    assert ("".join(atom[0] for atom in molfile.atoms), len(molfile.bonds)) == (elements, bonds)
    assert {order for _, _, order in molfile.bonds} <= {1, 2}


async def test_atoms_and_bonds(gateway: Any) -> None:
    """Ethanol, hydrogens included; one request."""
    found = await gateway.good(TOOL, cid=702)
    assert (found["atomCount"], found["bondCount"]) == (9, 8) == (len(found["atoms"]), len(found["bonds"]))
    assert found["atoms"][2]["element"] == "O"
    assert {"sdf", "conformerId", "truncated", "shownAtoms"}.isdisjoint(found)
    assert gateway.asked == ["/rest/pug/compound/cid/702/record/SDF"]


async def test_long_lists_are_cut_and_say_so(gateway: Any) -> None:
    """Counts stay those of the whole record, and the inputs that lift the limits are named."""
    found = await gateway.good(TOOL, cid=2244, maxAtoms=5, maxBonds=7)
    assert (found["atomCount"], found["shownAtoms"], found["atomCap"], len(found["atoms"])) == (21, 5, 5, 5)
    assert (found["bondCount"], found["shownBonds"], found["bondCap"], len(found["bonds"])) == (21, 7, 7, 7)
    assert found["truncated"] is True
    assert "maxAtoms" in found["notice"]
    assert "maxBonds" in found["notice"]


@pytest.mark.parametrize(("lines", "raw", "cut"), [(500, False, False), (501, False, True), (501, True, False)])
async def test_a_long_file_is_cut(saying: Any, answer: Any, lines: int, raw: bool, cut: bool) -> None:
    """At 500 lines, unless all of it is asked for; exactly 500 are whole."""
    text = TOUCHING + "> <X>\n" * (lines - len(TOUCHING.splitlines()))
    sdf = answer(text.encode(), kind="chemical/x-mdl-sdfile")
    async with saying(lambda path, query: sdf) as gateway:
        found = await gateway.good(TOOL, cid=1, format="sdf", includeRawSdf=raw)
    assert len(found["sdf"].splitlines()) == (500 if cut else lines)
    assert (found.get("truncated"), found.get("shownSdfLines")) == ((True, 500) if cut else (None, None))
    assert ("includeRawSdf" in found.get("notice", "")) == cut
    assert "atoms" not in found


async def test_further_conformers_cost_a_request(gateway: Any) -> None:
    """The first ID is the default conformer's."""
    found = await gateway.good(TOOL, cid=702, includeAlternateConformerIds=True)
    assert found["conformerId"] == "000002BE00000001"
    assert found["alternateConformerIds"] == ["000002BE00000002", "000002BE00000003"]
    assert len(gateway.asked) == 2


async def test_conformers_that_cannot_be_read_leave_the_structure(gateway: Any) -> None:
    """The structure stands and the notice says which reason there was."""
    gateway.emulator.faults.add("504;match=conformers")
    found = await gateway.good(TOOL, cid=702, includeAlternateConformerIds=True)
    assert found["atomCount"] == 9
    assert "conformerId" not in found
    assert "upstream_timeout" in found["notice"]


@pytest.mark.parametrize("cid", [5234, 999999999])
async def test_no_conformer_has_two_causes(gateway: Any, cid: int) -> None:
    """A salt and an unknown number are answered alike, and the hint covers both."""
    error = await gateway.bad(TOOL, cid=cid)
    assert (error["code"], error["data"]["reason"]) == (-32001, "no_3d_structure")
    hint = error["data"]["recovery"]["hint"]
    assert "pubchem_get_compound_image" in hint
    assert "pubchem_search_compounds" in hint


async def test_a_malformed_file_is_a_failure(saying: Any, answer: Any) -> None:
    """Its counts line decides."""
    async with saying(lambda path, query: answer(b"1\n\n\n  x  y\n", kind="chemical/x-mdl-sdfile")) as gateway:
        error = await gateway.bad(TOOL, cid=1)
    assert error["data"]["reason"] == "upstream_invalid_response"
