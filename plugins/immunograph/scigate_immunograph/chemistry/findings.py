"""Records of what is found in structures: what the tools give and the worker processes make."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from scigate import Record

__all__ = [
    "Agreement",
    "Alert",
    "Component",
    "Described",
    "Descriptors",
    "Findings",
    "Given",
    "Problem",
    "Rule",
    "Stereo",
    "Verdict",
]

Severity = Literal["error", "warning", "info"]


class Problem(Record):
    """Something to know about a structure; an error makes it invalid."""

    code: str = Field(description="Stable name.")
    severity: Severity
    message: str
    position: int | None = Field(default=None, description="0-based place in the SMILES, in characters.")
    atoms: list[int] | None = Field(default=None, description="0-based indices of atoms, in the SMILES's order.")


class Given(Record):
    """Identifiers of one compound as a caller has them; SMILES or InChI is there."""

    smiles: str | None = None
    inchi: str | None = None
    inchi_key: str | None = None
    molecular_formula: str | None = None


class Agreement(Record):
    """Whether a given identifier names the structure that was read."""

    identifier: Literal["inchi", "inchiKey", "molecularFormula"]
    given: str
    computed: str | None = Field(default=None, description="Of the structure; absent where it has none.")
    agrees: bool
    differs_in: str | None = Field(default=None, description="What differs: stereo, isotopes or charge; connectivity.")


class Stereo(Record):
    """Counts of stereocentres and stereo double bonds."""

    defined_centres: int
    undefined_centres: int
    defined_bonds: int
    undefined_bonds: int
    conflicting: int = Field(description="Double bonds whose / and \\ marks contradict each other.")
    ignored_marks: int = Field(description="Marks on atoms or bonds that are not stereogenic.")


class Component(Record):
    """One of the structure's covalent units."""

    smiles: str
    molecular_formula: str
    formal_charge: int
    count: int
    role: Literal["parent", "other"] = Field(description="parent: the largest organic one.")


class Alert(Record):
    """A substructure of an alert catalogue: information, no error."""

    catalogue: str = Field(description="PAINS_A, PAINS_B, PAINS_C or Brenk.")
    name: str
    atoms: list[int]


class Findings(Record):
    """All that validation says of a structure; without one only `valid` and `problems`."""

    valid: bool = Field(description="Whether no problem is an error.")
    problems: list[Problem]
    canonical_smiles: str | None = Field(default=None, description="RDKit's canonical SMILES, with stereo.")
    inchi: str | None = None
    inchi_key: str | None = None
    molecular_formula: str | None = None
    formal_charge: int | None = None
    heavy_atoms: int | None = None
    stereo: Stereo | None = None
    components: list[Component] | None = None
    parent_smiles: str | None = Field(default=None, description="Largest organic component; what to prepare.")
    agreement: list[Agreement] | None = None
    alerts: list[Alert] | None = Field(default=None, description="PAINS and Brenk alerts; empty when none match.")


class Rule(Record):
    """One bound of a rule of thumb, with the number behind it."""

    descriptor: str
    value: float
    bound: str = Field(description="Such as <= 500.")
    holds: bool


class Verdict(Record):
    """A rule of thumb for oral drugs."""

    passes: bool
    rules: list[Rule]


class Descriptors(Record):
    """Descriptors of one structure; `methods` of the result says how each was computed."""

    molecular_formula: str
    molecular_weight: float = Field(description="g/mol")
    exact_mass: float = Field(description="Da")
    log_p: float
    tpsa: float = Field(description="Square angstrom.")
    hbd: int
    hba: int
    rotatable_bonds: int
    rings: int
    aromatic_rings: int
    fraction_csp3: float
    qed: float | None = Field(default=None, description="0 to 1; absent where its functions overflow.")
    formal_charge: int
    heavy_atoms: int
    lipinski: Verdict
    veber: Verdict
    egan: Verdict


class Described(Record):
    """Descriptors of one entry of a batch, or why it has none."""

    smiles: str = Field(description="As given.")
    canonical_smiles: str | None = None
    descriptors: Descriptors | None = None
    problems: list[Problem] | None = Field(default=None, description="Why there are no descriptors.")
