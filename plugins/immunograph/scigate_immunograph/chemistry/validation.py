"""Whether a structure is one, what is undefined in it, and whether its identifiers agree."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Final, Literal

from rdkit import Chem
from rdkit.Chem import rdMolDescriptors
from rdkit.Chem.FilterCatalog import FilterCatalog, FilterCatalogParams
from rdkit.Chem.MolStandardize import rdMolStandardize
from rdkit.Chem.rdchem import Atom, Mol

from scigate_immunograph.chemistry.findings import Agreement, Alert, Component, Findings, Given, Problem, Stereo
from scigate_immunograph.chemistry.reading import quiet, read_inchi, read_smiles

__all__ = ["validate"]

_MOST_ATOMS_FOR_ALERTS: Final = 1_000
"""Heavy atoms up to which alerts are looked for; the catalogues are of small molecules."""

_ELEMENT: Final = re.compile(r"([A-Z][a-z]?)(\d*)")
_CHARGED: Final = re.compile(r"([A-Za-z0-9.]*)([+-]?)(\d*)")

_KEY_PARTS: Final = ("connectivity", "stereo or isotopes", "protonation")


def validate(given: Given) -> Findings:
    """Look at a structure; bad chemistry is a finding, not an exception."""
    if given.smiles is not None:
        molecule, problems = read_smiles(given.smiles)
    else:
        molecule, problems = read_inchi(given.inchi or "")
    if molecule is None:
        return Findings(valid=False, problems=problems)
    with quiet():
        return _findings(molecule, problems, given)


def _findings(marked: Mol, problems: list[Problem], given: Given) -> Findings:
    stereo, more = _stereo(marked, given.smiles)
    problems += more
    molecule = Chem.RemoveHs(marked)
    inchi: str | None = Chem.MolToInchi(molecule) or None
    key: str | None = Chem.InchiToInchiKey(inchi) or None if inchi else None
    if inchi is None:
        problems.append(Problem(code="no_inchi", severity="info", message="InChI does not cover this structure."))
    formula = rdMolDescriptors.CalcMolFormula(molecule)
    components = _components(molecule)
    if len(components) > 1 or components[0].count > 1:
        message = f"{sum(part.count for part in components)} components: a salt, a solvate or a mixture."
        problems.append(Problem(code="components", severity="warning", message=message))
    agreement = _agreement(given, inchi, key, formula)
    for part in agreement:
        if not part.agrees:
            message = f"{part.identifier} does not name this structure: {part.differs_in} differs."
            problems.append(Problem(code="disagreement", severity="error", message=message))
    heavy = molecule.GetNumHeavyAtoms()
    if heavy > _MOST_ATOMS_FOR_ALERTS:
        message = f"Alerts are not looked for above {_MOST_ATOMS_FOR_ALERTS} heavy atoms."
        problems.append(Problem(code="no_alerts", severity="info", message=message))
    return Findings(
        valid=not any(problem.severity == "error" for problem in problems),
        problems=problems,
        canonical_smiles=Chem.MolToSmiles(molecule),
        inchi=inchi,
        inchi_key=key,
        molecular_formula=formula,
        formal_charge=Chem.GetFormalCharge(molecule),
        heavy_atoms=heavy,
        stereo=stereo,
        components=components,
        parent_smiles=next(part.smiles for part in components if part.role == "parent"),
        agreement=agreement or None,
        alerts=_alerts(marked) if heavy <= _MOST_ATOMS_FOR_ALERTS else None,
    )


def _stereo(molecule: Mol, smiles: str | None) -> tuple[Stereo, list[Problem]]:
    """Counts, and problems where stereo is open or contradicts itself."""
    problems: list[Problem] = []
    open_atoms: list[int] = []
    counts: Counter[tuple[str, bool]] = Counter()
    stereogenic: set[int] = set()
    for element in Chem.FindPotentialStereo(molecule):
        kind = "bond" if element.type == Chem.StereoType.Bond_Double else "centre"
        defined = element.specified == Chem.StereoSpecified.Specified
        counts[kind, defined] += 1
        if kind == "centre":
            stereogenic.add(element.centeredOn)
            if not defined:
                open_atoms.append(element.centeredOn)
    undefined_bonds = counts["bond", False]
    if open_atoms or undefined_bonds:
        message = f"{len(open_atoms)} stereocentres and {undefined_bonds} double bonds are undefined."
        problems.append(
            Problem(code="undefined_stereo", severity="warning", message=message, atoms=sorted(open_atoms) or None)
        )
    ignored, conflicting = _marks(smiles, stereogenic)
    if conflicting:
        message = "Marks / and \\ around a double bond contradict each other."
        problems.append(Problem(code="conflicting_stereo", severity="error", message=message, atoms=conflicting))
    if ignored:
        message = "A stereo mark stands on an atom that is no stereocentre; it means nothing."
        problems.append(Problem(code="ignored_stereo", severity="warning", message=message, atoms=ignored))
    stereo = Stereo(
        defined_centres=counts["centre", True],
        undefined_centres=len(open_atoms),
        defined_bonds=counts["bond", True],
        undefined_bonds=undefined_bonds,
        conflicting=len(conflicting),
        ignored_marks=len(ignored),
    )
    return stereo, problems


def _marks(smiles: str | None, stereogenic: set[int]) -> tuple[list[int], list[int]]:
    """Atoms with a mark that means nothing, and atoms whose two marks contradict each other, as written."""
    if smiles is None:
        return [], []
    parameters = Chem.SmilesParserParams()
    parameters.sanitize = False
    parameters.removeHs = False
    parameters.allowCXSMILES = False
    parameters.parseName = False
    written = Chem.MolFromSmiles(smiles.strip().partition(" ")[0], parameters)
    assert written is not None, "read_smiles has read it"
    marked = [atom for atom in written.GetAtoms() if atom.GetChiralTag() != Chem.ChiralType.CHI_UNSPECIFIED]
    ignored = [atom.GetIdx() for atom in marked if atom.GetIdx() not in stereogenic]
    conflicting = [atom.GetIdx() for atom in written.GetAtoms() if _contradicts(atom)]
    return ignored, conflicting


def _contradicts(atom: Atom) -> bool:
    """Whether both single bonds of a double-bonded atom are marked to the same side."""
    bonds = list(atom.GetBonds())
    if not any(bond.GetBondType() == Chem.BondType.DOUBLE for bond in bonds):
        return False
    up, down = Chem.BondDir.ENDUPRIGHT, Chem.BondDir.ENDDOWNRIGHT
    sides: list[bool] = []
    for bond in bonds:
        if bond.GetBondDir() in (up, down):
            # A mark is read from the bond's first atom to its second.
            outward = bond.GetBeginAtomIdx() == atom.GetIdx()
            sides.append((bond.GetBondDir() == up) == outward)
    return len(sides) == 2 and sides[0] == sides[1]


def _components(molecule: Mol) -> list[Component]:
    fragments = Chem.GetMolFrags(molecule, asMols=True, sanitizeFrags=False)
    parent = molecule
    if len(fragments) > 1:
        parameters = rdMolStandardize.CleanupParameters()
        parameters.preferOrganic = True
        parent = rdMolStandardize.LargestFragmentChooser(parameters).choose(molecule)
    chosen = Chem.MolToSmiles(parent)
    counts = Counter(Chem.MolToSmiles(fragment) for fragment in fragments)
    by_smiles = {Chem.MolToSmiles(fragment): fragment for fragment in fragments}
    return [
        Component(
            smiles=smiles,
            molecular_formula=rdMolDescriptors.CalcMolFormula(by_smiles[smiles]),
            formal_charge=Chem.GetFormalCharge(by_smiles[smiles]),
            count=count,
            role="parent" if smiles == chosen else "other",
        )
        for smiles, count in sorted(counts.items(), key=lambda item: (item[0] != chosen, -len(item[0]), item[0]))
    ]


def _agreement(given: Given, inchi: str | None, key: str | None, formula: str) -> list[Agreement]:
    found: list[Agreement] = []

    def compare(name: Literal["inchi", "inchiKey"], text: str, computed: str | None, differs: str | None) -> None:
        found.append(
            Agreement(identifier=name, given=text, computed=computed, agrees=differs is None, differs_in=differs)
        )

    if given.smiles is not None and given.inchi is not None:
        text = given.inchi.strip()
        other = Chem.InchiToInchiKey(text) if text.startswith("InChI=") else ""
        compare("inchi", text, inchi, None if text == inchi else _key_difference(other, key))
    if given.inchi_key is not None:
        text = given.inchi_key.strip().upper().removeprefix("INCHIKEY=")
        compare("inchiKey", text, key, None if text == key else _key_difference(text, key))
    if given.molecular_formula is not None:
        text = given.molecular_formula.strip()
        agrees = _counts(text) == _counts(formula)
        found.append(
            Agreement(
                identifier="molecularFormula",
                given=text,
                computed=formula,
                agrees=agrees,
                differs_in=None if agrees else "composition",
            )
        )
    return found


def _key_difference(given: str | None, computed: str | None) -> str:
    """Which part of an InChIKey differs first; the second part covers stereo and isotopes, the third the protons."""
    if computed is None or given is None or not re.fullmatch(r"[A-Z]{14}-[A-Z]{10}-[A-Z]", given):
        return "form" if computed is not None else "everything (the structure has no InChIKey)"
    pairs = zip(given.split("-"), computed.split("-"), _KEY_PARTS, strict=True)
    # Equal keys of unequal InChI: one of the two is not a standard InChI.
    return next((part for mine, other, part in pairs if mine != other), "form")


def _counts(formula: str) -> tuple[dict[str, int], str]:
    """Atoms of each element, and the charge as written."""
    whole = _CHARGED.fullmatch(formula.replace(" ", ""))
    if whole is None:
        return {}, formula
    body, sign, charge = whole.groups()
    counts: Counter[str] = Counter()
    for unit in body.split("."):
        times = re.match(r"\d*", unit)
        factor = int(times.group() or 1) if times else 1
        for element, number in _ELEMENT.findall(unit):
            counts[element] += factor * int(number or 1)
    return dict(counts), f"{sign}{charge or (1 if sign else '')}"


@cache
def _catalogue() -> FilterCatalog:
    parameters = FilterCatalogParams()
    for name in ("PAINS_A", "PAINS_B", "PAINS_C", "BRENK"):
        parameters.AddCatalog(getattr(FilterCatalogParams.FilterCatalogs, name))
    return FilterCatalog(parameters)


def _alerts(molecule: Mol) -> list[Alert]:
    found: list[Alert] = []
    for entry in _catalogue().GetMatches(molecule):
        for match in entry.GetFilterMatches(molecule):
            atoms = sorted({pair[1] for pair in match.atomPairs})
            found.append(Alert(catalogue=entry.GetProp("FilterSet"), name=entry.GetDescription(), atoms=atoms))
    return found
