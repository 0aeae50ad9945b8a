"""`validate_compound` through the host: what is valid, what is not, and where."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import scigate_immunograph
from scigate.host import Host, Reply
from scigate.settings import Settings

Call = Callable[..., Awaitable[Reply]]


@pytest.fixture(scope="module")
async def host() -> AsyncIterator[Host]:
    """One host for these tests, so that its worker processes are started once."""
    settings = Settings.model_validate({"offline": True, "providers": {"immunograph": {"record": False}}})
    async with Host.open(settings, plugins={"immunograph": scigate_immunograph}) as host:
        yield host


ALANINE = "InChI=1S/C3H7NO2/c1-2(4)3(5)6/h2H,4H2,1H3,(H,5,6)/t2-/m0/s1"


async def found(call: Call, **arguments: Any) -> dict[str, Any]:
    reply = await call("validate_compound", **arguments)
    assert not reply.is_error, reply.structured
    return reply.structured["data"]


def codes(findings: dict[str, Any]) -> list[str]:
    return [problem["code"] for problem in findings["problems"]]


async def test_a_good_structure_is_valid_and_canonical(call: Call) -> None:
    """Formula, charge, InChI and InChIKey are of the structure; what agrees is said."""
    aspirin = await found(
        call, smiles="OC(=O)c1ccccc1OC(C)=O", inchiKey="BSYNRYMUTXBXSQ-UHFFFAOYSA-N", molecularFormula="C9O4H8"
    )
    assert (aspirin["valid"], aspirin["problems"]) == (True, [])
    assert aspirin["canonicalSmiles"] == aspirin["parentSmiles"] == "CC(=O)Oc1ccccc1C(=O)O"
    assert (aspirin["molecularFormula"], aspirin["formalCharge"], aspirin["heavyAtoms"]) == ("C9H8O4", 0, 13)
    assert [(part["identifier"], part["agrees"]) for part in aspirin["agreement"]] == [
        ("inchiKey", True),
        ("molecularFormula", True),
    ]
    assert aspirin["software"].startswith("RDKit ")


@pytest.mark.parametrize(
    ("smiles", "code", "position"),
    [
        ("", "empty", None),
        ("CC(C", "unclosed_branch", 2),
        ("CC)C", "unopened_branch", 2),
        ("C1CC2CC1", "unclosed_ring", 4),
        ("CCxC", "smiles_syntax", 2),
        ("CC>>CO", "reaction", 2),
        ("*CC", "wildcard", 0),
        ("C[R1]", "r_group", 1),
        ("{[]CC[]}", "polymer", 0),
        ("C(C)(C)(C)(C)C", "valence", 0),
        ("CCN(C)(C)(C)C", "valence", 2),
        ("Cc1cccc1", "kekulize", 1),
        ("F/C(\\Cl)=C/F", "conflicting_stereo", None),
        ("C" * 20_001, "too_long", None),
    ],
)
async def test_bad_chemistry_is_a_result_with_its_place(
    call: Call, smiles: str, code: str, position: int | None
) -> None:
    """The problem is an error, so the structure is not valid; the call succeeds."""
    findings = await found(call, smiles=smiles)
    problem = next(problem for problem in findings["problems"] if problem["code"] == code)
    assert (findings["valid"], problem["severity"], problem.get("position")) == (False, "error", position)


@pytest.mark.parametrize(
    ("smiles", "code"),
    [
        ("CC(O)CN", "undefined_stereo"),
        ("FC=CF", "undefined_stereo"),
        ("C[C@H](C)C", "ignored_stereo"),
        ("CCN.Cl", "components"),
        ("[CH3]", "radical"),
        ("[13CH4]", "isotope"),
        ("C[Hg]C", "metal"),
        ("Cl[Pt](Cl)(N)N", "metal"),
        ("CCO ethanol", "trailing_text"),
    ],
)
async def test_what_is_unusual_is_told_and_valid(call: Call, smiles: str, code: str) -> None:
    """A warning or a remark makes no structure invalid."""
    findings = await found(call, smiles=smiles)
    assert code in codes(findings)
    assert findings["valid"]


async def test_five_thousand_atoms_are_answered(call: Call) -> None:
    """InChI and alerts do not cover them, which is told."""
    findings = await found(call, smiles="C" * 5_000)
    assert (findings["valid"], findings["heavyAtoms"]) == (True, 5_000)
    assert {"no_inchi", "no_alerts"} <= set(codes(findings))


async def test_a_salt_has_its_parent(call: Call) -> None:
    """Components are counted; the largest organic one is what to prepare."""
    findings = await found(call, smiles="C[N+](C)(C)CC(=O)[O-].Cl.Cl")
    assert findings["parentSmiles"] == "C[N+](C)(C)CC(=O)[O-]"
    assert [(part["smiles"], part["count"], part["role"]) for part in findings["components"]] == [
        ("C[N+](C)(C)CC(=O)[O-]", 1, "parent"),
        ("Cl", 2, "other"),
    ]


@pytest.mark.parametrize(
    ("given", "identifier", "differs"),
    [
        ({"inchiKey": "QNAYBMKLOCPYGJ-UWTATZPHSA-N"}, "inchiKey", "stereo or isotopes"),
        ({"inchiKey": "QNAYBMKLOCPYGJ-REOHCLBHSA-M"}, "inchiKey", "protonation"),
        ({"inchiKey": "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"}, "inchiKey", "connectivity"),
        ({"inchiKey": "alanine"}, "inchiKey", "form"),
        ({"inchi": ALANINE.replace("/m0", "/m1")}, "inchi", "stereo or isotopes"),
        ({"molecularFormula": "C3H7NO2+"}, "molecularFormula", "composition"),
    ],
)
async def test_identifiers_that_name_something_else_are_told(
    call: Call, given: dict[str, str], identifier: str, differs: str
) -> None:
    """Which part differs says whether it is another compound or another form of it."""
    findings = await found(call, smiles="C[C@H](N)C(=O)O", **given)
    (part,) = findings["agreement"]
    assert (part["identifier"], part["agrees"], part["differsIn"]) == (identifier, False, differs)
    assert (findings["valid"], codes(findings)) == (False, ["disagreement"])


async def test_inchi_alone_is_read(call: Call) -> None:
    """It gives the same structure as the SMILES."""
    assert (await found(call, inchi=ALANINE))["canonicalSmiles"] == "C[C@H](N)C(=O)O"
    assert codes(await found(call, inchi="InChI=1S/nonsense")) == ["inchi_syntax"]


async def test_alerts_are_information(call: Call) -> None:
    """They name catalogue, pattern and atoms, and make nothing invalid."""
    quinone = await found(call, smiles="O=C1C=CC(=O)C=C1")
    assert quinone["valid"]
    assert {alert["catalogue"] for alert in quinone["alerts"]} == {"PAINS_A", "Brenk"}


async def test_without_a_structure_the_call_fails(call: Call) -> None:
    """There is nothing to validate."""
    error = (await call("validate_compound", inchiKey="BSYNRYMUTXBXSQ-UHFFFAOYSA-N")).structured["error"]
    assert (error["code"], error["category"]) == ("MISSING_STRUCTURE", "validation")
