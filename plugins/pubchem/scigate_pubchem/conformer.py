"""pubchem_get_compound_3d_structure: a compound's default conformer, and how a V2000 file is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pydantic import ConfigDict, Field
from scigate import Call, Code, Input, Output, Reason, Record, tool

from scigate_pubchem.cid import Cid
from scigate_pubchem.client import PubChem
from scigate_pubchem.faults import NotFound, UnexpectedAnswer
from scigate_pubchem.lookups import look_up

__all__ = ["Molfile", "get_3d_structure"]

LISTED: Final = 200
"""Atoms, and bonds, that are listed when the caller does not say how many."""

SDF_LINES: Final = 500
"""Lines of an SDF that are given unless the caller asks for all."""

_LARGEST: Final = 2**53 - 1

NO_3D_STRUCTURE: Final = Reason(
    "no_3d_structure",
    Code.NOT_FOUND,
    "PubChem has computed no conformer (too large, too flexible, a mixture or salt), or has no such compound",
    "Use pubchem_get_compound_image for the 2D drawing, or check the number with pubchem_search_compounds.",
)


class Get3dStructure(Input):
    cid: Cid = Field(description="Compound number, from pubchem_search_compounds.")
    format: Literal["sdf", "json"] = "json"
    include_alternate_conformer_ids: bool = Field(default=False, description="Also list further conformers' IDs.")
    max_atoms: int | None = Field(default=None, ge=1, le=_LARGEST, description="json: atoms to list; 200 if left out.")
    max_bonds: int | None = Field(default=None, ge=1, le=_LARGEST, description="json: bonds to list; 200 if left out.")
    include_raw_sdf: bool = Field(default=False, description="sdf: all of it, also past 500 lines.")


class Atom(Record):
    """One atom at its place, in angstrom."""

    model_config = ConfigDict(extra="forbid")

    element: str
    x: float
    y: float
    z: float


class Bond(Record):
    """A bond between two atoms, which are counted from 1; order 4 is aromatic."""

    model_config = ConfigDict(extra="forbid")

    a1: int
    a2: int
    order: int


class Structure(Output):
    """One conformer, as lists of atoms and bonds or as SDF; a `shown_` field and its cap stand where one was cut."""

    cid: int
    atom_count: int = Field(description="Of the whole record.")
    bond_count: int = Field(description="Of the whole record.")
    conformer_id: str | None = None
    atoms: list[Atom] | None = Field(default=None, description="Coordinates in angstrom.")
    bonds: list[Bond] | None = Field(default=None, description="Atoms counted from 1; order 4 is aromatic.")
    sdf: str | None = None
    alternate_conformer_ids: list[str] | None = None
    truncated: bool | None = None
    shown_atoms: int | None = None
    atom_cap: int | None = None
    shown_bonds: int | None = None
    bond_cap: int | None = None
    shown_sdf_lines: int | None = None


@dataclass(frozen=True, slots=True)
class Molfile:
    """The structure in a V2000 file.

    Attributes:
        atoms: Element symbol and coordinates in angstrom.
        bonds: Both atoms, counted from 1, and the order.
    """

    atoms: tuple[tuple[str, float, float, float], ...]
    bonds: tuple[tuple[int, int, int], ...]

    @classmethod
    def parse(cls, text: str) -> Molfile:
        """Read the first structure of a file, by columns: numbers may touch (BIOVIA, "CTfile Formats").

        Raises:
            UnexpectedAnswer: It is no V2000 file, or ends before its structure does.
        """
        lines = text.splitlines()
        try:
            counts = lines[3]
            if "V3000" in counts:
                raise UnexpectedAnswer("the SDF is V3000, not V2000")
            atom_count, bond_count = int(counts[0:3]), int(counts[3:6])
            if not 0 < atom_count < 1000 or bond_count < 0:
                raise UnexpectedAnswer("the SDF's counts line has no atoms")
            bonds_at = 4 + atom_count
            atoms = [_atom(lines[at]) for at in range(4, bonds_at)]
            bonds = [_bond(lines[at]) for at in range(bonds_at, bonds_at + bond_count)]
        except (ValueError, IndexError) as error:
            raise UnexpectedAnswer("the SDF's counts, atoms or bonds cannot be read") from error
        return cls(tuple(atoms), tuple(bonds))


@tool("pubchem_get_compound_3d_structure", title="Get Compound 3D Structure", errors=[NO_3D_STRUCTURE])
async def get_3d_structure(args: Get3dStructure, pubchem: PubChem, call: Call) -> Structure:
    """Give the 3D conformer that PubChem computed for a compound (CID): atoms with coordinates in angstrom, and bonds,
    or the SDF file as text. Use it to start docking or modelling; for a picture use pubchem_get_compound_image, for
    SMILES pubchem_get_compound_details. Returns the true counts; a cut is told with how to get the rest.

    Costs one PubChem request, with includeAlternateConformerIds two.
    """
    try:
        text = await pubchem.conformer(args.cid)
    except NotFound as error:
        raise NO_3D_STRUCTURE.error(
            f"PubChem has no 3D structure of CID {args.cid}.", fault=error.fault.text
        ) from error
    molfile = Molfile.parse(text)
    structure = Structure(cid=args.cid, atom_count=len(molfile.atoms), bond_count=len(molfile.bonds))
    if args.format == "sdf":
        _give_text(structure, text, args, call)
    else:
        _give_lists(structure, molfile, args, call)
    if args.include_alternate_conformer_ids:
        looked_up = await look_up(call, [args.cid], pubchem.conformers)
        looked_up.tell(call, lambda _: "IDs of conformers")
        ids = looked_up.found.get(args.cid, [])
        structure.conformer_id = ids[0] if ids else None
        structure.alternate_conformer_ids = ids[1:] or None
    return structure


def _give_lists(structure: Structure, molfile: Molfile, args: Get3dStructure, call: Call) -> None:
    atom_cap, bond_cap = args.max_atoms or LISTED, args.max_bonds or LISTED
    structure.atoms = [Atom(element=element, x=x, y=y, z=z) for element, x, y, z in molfile.atoms[:atom_cap]]
    structure.bonds = [Bond(a1=a1, a2=a2, order=order) for a1, a2, order in molfile.bonds[:bond_cap]]
    if atom_cap < structure.atom_count:
        structure.truncated, structure.shown_atoms, structure.atom_cap = True, atom_cap, atom_cap
        call.notice(f"{atom_cap} of {structure.atom_count} atoms are listed: raise maxAtoms for more.")
    if bond_cap < structure.bond_count:
        structure.truncated, structure.shown_bonds, structure.bond_cap = True, bond_cap, bond_cap
        call.notice(f"{bond_cap} of {structure.bond_count} bonds are listed: raise maxBonds for more.")


def _give_text(structure: Structure, text: str, args: Get3dStructure, call: Call) -> None:
    lines = text.splitlines()
    if args.include_raw_sdf or len(lines) <= SDF_LINES:
        structure.sdf = text
        return
    structure.sdf = "\n".join(lines[:SDF_LINES])
    structure.truncated, structure.shown_sdf_lines = True, SDF_LINES
    call.notice(f"{SDF_LINES} of {len(lines):,} lines of the SDF are given: set includeRawSdf for all.")


def _atom(line: str) -> tuple[str, float, float, float]:
    element = line[31:34].strip()
    if not element:
        raise ValueError("an atom without an element")
    return element, float(line[0:10]), float(line[10:20]), float(line[20:30])


def _bond(line: str) -> tuple[int, int, int]:
    return int(line[0:3]), int(line[3:6]), int(line[6:9])
