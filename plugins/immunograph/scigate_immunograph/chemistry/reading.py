"""From a SMILES or an InChI to a molecule, or to a list of what is wrong with it and where."""

from __future__ import annotations

import logging
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from rdkit import Chem, rdBase
from rdkit.Chem.rdchem import Mol

from scigate_immunograph.chemistry.findings import Problem

__all__ = ["LONGEST_SMILES", "is_metal", "quiet", "read_inchi", "read_smiles"]

LONGEST_SMILES: Final = 20_000
"""Characters of a SMILES; some 10,000 atoms."""

_ATOM: Final = re.compile(r"\[[^\]]*\]|Br|Cl|[BCNOPSFIbcnops*]")
_RING: Final = re.compile(r"\[[^\]]*\]|(?P<label>%\(\d+\)|%\d\d|\d)")
_POSITION: Final = re.compile(r"check for mistakes around position (\d+)")
_R_GROUP: Final = re.compile(r"\[R\d*\]|\[[A-Z]{1,2}\d*'*\]")
_NON_METALS: Final = frozenset((0, 1, 2, *range(5, 11), *range(14, 19), *range(33, 37), *range(52, 55), 85, 86))


@contextmanager
def quiet() -> Generator[list[str]]:
    """Collect what RDKit logs instead of printing it."""
    messages: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    logger = logging.getLogger("rdkit")
    collector = Collector()
    rdBase.LogToPythonLogger()
    handlers, propagate = logger.handlers, logger.propagate
    logger.handlers, logger.propagate = [collector], False
    try:
        yield messages
    finally:
        logger.handlers, logger.propagate = handlers, propagate


def is_metal(atomic_number: int) -> bool:
    """Whether an element is a metal; the dummy atom is none."""
    return atomic_number not in _NON_METALS


def read_smiles(given: str) -> tuple[Mol | None, list[Problem]]:
    """Read a SMILES.

    Returns:
        The sanitised molecule, or None, and problems with their places; without a molecule one of them is an error.
    """
    text, _, rest = given.strip().partition(" ")
    problems: list[Problem] = []
    if rest.strip():
        message = f"Text after the SMILES is not read: {rest.strip()[:60]!r}."
        problems.append(Problem(code="trailing_text", severity="warning", message=message, position=len(text)))
    if (refused := _not_a_molecule(text)) is not None:
        return None, [*problems, refused]
    with quiet() as messages:
        parameters = Chem.SmilesParserParams()
        parameters.sanitize = False
        parameters.removeHs = False
        parameters.allowCXSMILES = False
        parameters.parseName = False
        raw = Chem.MolFromSmiles(text, parameters)
        if raw is None:
            return None, [*problems, _syntax(text, messages)]
        raw.UpdatePropertyCache(False)
        faults = _chemistry(raw, _places(text, raw.GetNumAtoms()))
        problems += faults
        if any(problem.severity == "error" for problem in faults):
            return None, problems
        # Hydrogens stay as they are written, so that atom indices remain those of the SMILES.
        molecule = Chem.Mol(raw)
        Chem.SanitizeMol(molecule)
        Chem.AssignStereochemistry(molecule, cleanIt=True, force=True)
    return molecule, problems


def read_inchi(given: str) -> tuple[Mol | None, list[Problem]]:
    """Read an InChI; the counterpart of `read_smiles`."""
    text = given.strip()
    with quiet() as messages:
        molecule = Chem.MolFromInchi(text, sanitize=True, removeHs=True) if text.startswith("InChI=") else None
    if molecule is None:
        said = next((message for message in messages if "ERROR" in message or "Explicit" in message), "")
        message = f"This is not an InChI that can be read. {_unstamped(said)}".strip()
        return None, [Problem(code="inchi_syntax", severity="error", message=message)]
    return molecule, _chemistry(molecule, None)


def _not_a_molecule(text: str) -> Problem | None:
    """What is no SMILES of one compound, told by its signs before any parser complains of them."""
    code, message, position = "", "", None
    if not text:
        code, message = "empty", "There is no structure in it."
    elif len(text) > LONGEST_SMILES:
        code, message = "too_long", f"{len(text):,} characters; a SMILES of up to {LONGEST_SMILES:,} is read."
    elif ">" in text.replace("->", ""):
        code, message, position = "reaction", "This is a reaction, not one compound.", text.find(">")
    elif "{" in text:
        code, message, position = (
            "polymer",
            "This is BigSMILES of a polymer, not one structure.",
            text.find("{"),
        )
    elif text.startswith("InChI="):
        code, message = "smiles_syntax", "This is an InChI, not a SMILES: give it as inchi."
    return Problem(code=code, severity="error", message=message, position=position) if code else None


def _syntax(text: str, messages: list[str]) -> Problem:
    r_group = next((match for match in _R_GROUP.finditer(text) if not _is_element(match.group())), None)
    if r_group is not None:
        message = f"{r_group.group()} stands for a group, not for an atom."
        return Problem(code="r_group", severity="error", message=message, position=r_group.start())
    said = " ".join(messages)
    found = _POSITION.search(said)
    # RDKit counts from 1, and points at the sign before which it failed.
    position = max(0, int(found.group(1)) - 1) if found else None
    code, cause = "smiles_syntax", "It cannot be read as a SMILES"
    if "unclosed ring" in said:
        code, cause, position = "unclosed_ring", "A ring bond is opened and not closed", _open_ring(text)
    elif "extra open parentheses" in said:
        code, cause = "unclosed_branch", "A branch is opened and not closed"
    elif "extra close parentheses" in said:
        code, cause = "unopened_branch", "A branch is closed and not opened"
    near = f", near {text[position : position + 12]!r}" if position is not None else ""
    return Problem(code=code, severity="error", message=f"{cause}{near}.", position=position)


def _open_ring(text: str) -> int | None:
    """Where the first ring bond stands that is never closed."""
    opened: dict[str, int] = {}
    for token in _RING.finditer(text):
        label = token.group("label")
        if label is not None and opened.pop(label.strip("%()"), None) is None:
            opened[label.strip("%()")] = token.start()
    return min(opened.values(), default=None)


def _is_element(bracket: str) -> bool:
    symbol = bracket.strip("[]")
    return not any(sign.isdigit() for sign in symbol) and symbol in {
        Chem.GetPeriodicTable().GetElementSymbol(number) for number in range(1, 119)
    }


def _chemistry(raw: Mol, places: list[int] | None) -> list[Problem]:
    """Valence, aromaticity, dummies, radicals, metals and isotopes."""
    found: list[Problem] = []

    def add(code: str, severity: Any, message: str, atoms: list[int]) -> None:
        position = places[atoms[0]] if places and atoms else None
        found.append(Problem(code=code, severity=severity, message=message, position=position, atoms=atoms))

    for fault in Chem.DetectChemistryProblems(raw):
        kind = fault.GetType()
        if kind == "KekulizeException":
            add(
                "kekulize", "error", "Aromatic atoms without an alternating bond pattern.", list(fault.GetAtomIndices())
            )
        else:
            atom = fault.GetAtomIdx()
            code = "valence" if kind == "AtomValenceException" else "aromaticity"
            add(code, "error", f"{fault.Message()}.", [atom])
    every = list(raw.GetAtoms())
    dummies = [atom.GetIdx() for atom in every if atom.GetAtomicNum() == 0]
    if dummies:
        add("wildcard", "error", "* stands for any atom or group: this is no one compound.", dummies)
    metals = [atom.GetIdx() for atom in every if is_metal(atom.GetAtomicNum())]
    if metals:
        names = ", ".join(sorted({raw.GetAtomWithIdx(index).GetSymbol() for index in metals}))
        add("metal", "warning", f"It holds {names}: force fields and descriptors were not made for it.", metals)
    if not any(problem.severity == "error" for problem in found):
        Chem.AssignRadicals(raw)
    radicals = [atom.GetIdx() for atom in every if atom.GetNumRadicalElectrons() and atom.GetIdx() not in metals]
    if radicals:
        add("radical", "warning", "Atoms have unpaired electrons.", radicals)
    isotopes = [atom.GetIdx() for atom in every if atom.GetIsotope() and atom.GetAtomicNum()]
    if isotopes:
        add("isotope", "info", "Atoms are labelled with isotopes.", isotopes)
    return found


def _places(text: str, atoms: int) -> list[int] | None:
    """Where each atom begins in the SMILES, or None when the simple reading does not find as many."""
    places = [match.start() for match in _ATOM.finditer(text)]
    return places if len(places) == atoms else None


def _unstamped(message: str) -> str:
    return re.sub(r"^\[\d\d:\d\d:\d\d\]\s*", "", message)
