"""Builds the PubChem sample that the emulator serves, from the `chemicals` package and RDKit.

Run with `chemicals` and `rdkit` installed: `python plugins/pubchem/scripts/build_sample.py`. The same versions of both
give the same bytes. It writes, into `scigate_pubchem/data`, `compounds.tsv.xz` (one line a column, see `COLUMNS`),
`assays.json` and `SOURCES.md` (how many rows came from where, how many were dropped and why).

Identifiers and names are PubChem's as `chemicals` ships them (MIT, Caleb Bell). Everything else is computed from the
structure. What PubChem computes with software that nobody else has (XLogP, Complexity, Volume3D) is left out, but for
a few compounds whose published values are quoted everywhere.
"""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from rdkit import Chem, RDLogger
from rdkit.Chem import Descriptors, FindMolChiralCenters, rdMolDescriptors
from rdkit.Chem.rdchem import Mol

DATA = Path(__file__).parents[1] / "scigate_pubchem" / "data"
WANTED = 10_000
HEAVY_ATOMS = 120
NAMES = 14

COLUMNS = (
    "CID", "Title", "IUPACName", "SMILES", "ConnectivitySMILES", "InChI", "InChIKey", "MolecularFormula",
    "MolecularWeight", "ExactMass", "MonoisotopicMass", "TPSA", "Charge", "HBondDonorCount", "HBondAcceptorCount",
    "RotatableBondCount", "HeavyAtomCount", "IsotopeAtomCount", "AtomStereoCount", "DefinedAtomStereoCount",
    "UndefinedAtomStereoCount", "BondStereoCount", "DefinedBondStereoCount", "UndefinedBondStereoCount",
    "CovalentUnitCount", "XLogP", "Complexity", "Synonym", "RDKitSMILES",
)  # fmt: skip

# In the order of preference when two tables have one CID. "user" and "small" are curated by hand at the source.
TABLES = {
    "user": "chemical identifiers example user db.tsv",
    "small": "chemical identifiers pubchem small.tsv",
    "inorganic": "Inorganic db.tsv",
    "large": "chemical identifiers pubchem large.tsv",
}

# Compounds that people try first keep all their names.
FAMOUS = {
    2244, 2519, 3672, 1983, 4091, 5793, 702, 241, 962, 5288826, 5904, 54675779, 5754, 5997, 60961, 5957, 2157, 6106,
    5950, 602, 156391, 5743, 2733526, 5284596, 681, 5202, 896, 305, 6049, 36314, 5816, 338, 4594, 3386, 2153, 1302,
}  # fmt: skip

# XLogP and Complexity as PubChem publishes them (read in public quotations of its records, 2026-11).
PUBLISHED = {
    2244: ("1.2", "212"), 2519: ("-0.1", "293"), 3672: ("3.5", ""), 1983: ("0.5", ""), 702: ("-0.1", ""),
    5793: ("-2.6", ""), 241: ("2.1", "15.5"), 8857: ("0.7", "49.5"), 5429: ("-0.8", "289"), 4: ("-1", ""),
}  # fmt: skip

# Atomic weights and uncertainties as PubChem's printed weights imply them (IUPAC 2001 table); other elements are
# taken from RDKit with one unit in the third decimal. 12.0107 is needed to print C13H25Br as 261.24.
WEIGHTS = {
    "H": (1.00794, 0.00007), "C": (12.0107, 0.0008), "N": (14.0067, 0.0002), "O": (15.9994, 0.0003),
    "F": (18.9984032, 0.0000005), "P": (30.973762, 0.000002), "S": (32.065, 0.003), "Cl": (35.453, 0.002),
    "Br": (79.904, 0.001), "I": (126.90447, 0.00003), "Na": (22.98977, 0.000002), "K": (39.0983, 0.0001),
}  # fmt: skip

# PubChem's count of acceptors, as nearly as a pattern says it: amide and pyrrole nitrogen do not count, fluorine and
# divalent sulphur do (caffeine 3, aspirin 4, dexamethasone 6, ATP 17).
ACCEPTORS = Chem.MolFromSmarts(
    "[$([#8]),$([F]),$([Cl-]),$([Br-]),$([I-]),$([#16;X2;!a]),$([N;v3;X3;!$(N-C=[O,S])]),$([n;X2]),$([N;v3;X2]),$([N;X1])]"
)

# AID, what is screened for, and the SMARTS that decides. The numbers are far above those that PubChem has given out.
SCREENS = (
    (900000001, "carboxylic acids", "C(=O)[OX2H1]"),
    (900000002, "primary aliphatic amines", "[NX3;H2;!$(NC=[O,N,S]);!$(N-a)]-[CX4]"),
    (900000003, "nitroaromatic compounds", "a[N+](=O)[O-]"),
    (900000004, "benzodiazepine ring systems", "c1ccc2c(c1)~[#6]~[#7]~[#6]~[#6]~[#7]2"),
    (900000005, "oganesson compounds (the sample has none)", "[#118]"),
)


def source_rows() -> Iterator[tuple[str, list[str]]]:
    """Every row of every table, with the table's short name; a row is the cells of one line."""
    for table, name in TABLES.items():
        path = files("chemicals").joinpath("Identifiers", name)
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [line.split("\t") for line in lines]
        if table == "large":
            rows.sort(key=lambda cells: (-len(cells), int(cells[0])))
        yield from ((table, cells) for cells in rows)


def systematic(name: str) -> str:
    """Gives a lower-cased IUPAC name its capitals back: stereodescriptors, N- and O-locants, indicated hydrogen."""
    name = re.sub(r"\((?:\d*[a-z]*[rsez])(?:,\d*[a-z]*[rsez])*\)", lambda m: _last_letters(m[0]), name)
    name = re.sub(r"(?<![a-z])([no])(?=[,\-]|'+[,\-])", lambda m: m[1].upper(), name)
    return re.sub(r"(?<![a-z0-9])(\d+[a-z]?)h(?=[,\-])", r"\1H", name)


def _last_letters(descriptors: str) -> str:
    return re.sub(r"[rsez](?=[,)])", lambda m: m[0].upper(), descriptors)


def title(name: str) -> str:
    """The common name as PubChem writes titles: the first letter of an all-lower-case word is a capital."""
    if name != name.lower():
        return name
    if re.match(r"[a-z]+[- ]?[a-z]*\d{3,}|unii-", name):
        return name.upper()
    name = re.sub(r" ([a-z])$", lambda m: m[0].upper(), name)
    return re.sub(r"^((?:[\d,'()\[\]+\-]|[dlnop]-|dl-|alpha-|beta-|gamma-)*)([a-z])", _capital, name, count=1)


def _capital(match: re.Match[str]) -> str:
    return re.sub(r"\b(dl|[dlno])(?=-)", lambda m: m[0].upper(), match[1]) + match[2].upper()


def chosen_names(found: list[str], cid: int, cas: str) -> list[str]:
    """The first names, each once whatever its case; the CAS number is always among them."""
    seen: dict[str, str] = {}
    for name in found:
        name = name.strip()
        if name and len(name) <= 90 and "|" not in name:
            seen.setdefault(name.lower(), name)
    names = list(seen.values())
    if cid in FAMOUS or len(names) <= NAMES:
        return names
    return [*names[: NAMES - 1], cas] if cas not in names[:NAMES] else names[:NAMES]


def merged_names() -> dict[int, list[str]]:
    """The names of each CID, from all tables that have it, in the tables' order."""
    names: dict[int, list[str]] = {}
    for _, cells in source_rows():
        names.setdefault(int(cells[0]), []).extend([cells[8], *cells[9:], cells[1]])
    return names


def weight(molecule: Mol) -> str:
    """The average weight as text with as many decimals as its uncertainty allows, as PubChem prints it."""
    total = uncertainty = 0.0
    table = Chem.GetPeriodicTable()
    if any(atom.GetIsotope() for atom in molecule.GetAtoms()):
        return f"{Descriptors.MolWt(molecule):.2f}".rstrip("0").rstrip(".")
    for element, count in elements(molecule).items():
        one, error = WEIGHTS.get(element, (table.GetAtomicWeight(element), 0.001))
        total, uncertainty = total + one * count, uncertainty + error * count
    decimals = 3 if uncertainty < 0.0017 else 2 if uncertainty < 0.017 else 1 if uncertainty < 0.17 else 0
    return f"{total:.{decimals}f}".rstrip("0").rstrip(".") if decimals else f"{total:.0f}"


def elements(molecule: Mol) -> Counter[str]:
    count: Counter[str] = Counter()
    for atom in molecule.GetAtoms():
        count[atom.GetSymbol()] += 1
        count["H"] += atom.GetTotalNumHs()
    count["H"] += 0
    return +count


def likeliest_mass(molecule: Mol) -> float:
    """The mass of the most probable isotopic composition, which is what PubChem calls ExactMass."""
    if any(atom.GetIsotope() for atom in molecule.GetAtoms()):
        return rdMolDescriptors.CalcExactMolWt(molecule)
    return sum(_likeliest_mass(element, count) for element, count in elements(molecule).items()) - (
        0.000548579909 * Chem.GetFormalCharge(molecule)
    )


def _likeliest_mass(element: str, count: int) -> float:
    table = Chem.GetPeriodicTable()
    number = table.GetAtomicNumber(element)
    shares = {
        isotope: table.GetAbundanceForIsotope(number, isotope)
        for isotope in range(number, 3 * number + 2)
        if table.GetAbundanceForIsotope(number, isotope) > 0
    }
    if not shares:
        return count * table.GetMostCommonIsotopeMass(number)
    taken = dict.fromkeys(shares, 0)
    for _ in range(count):
        best = max(shares, key=lambda isotope: shares[isotope] / (taken[isotope] + 1))
        taken[best] += 1
    return sum(table.GetMassForIsotope(number, isotope) * n for isotope, n in taken.items())


def kekule(molecule: Mol) -> str:
    plain = Chem.Mol(molecule)
    Chem.Kekulize(plain, clearAromaticFlags=True)
    return Chem.MolToSmiles(plain)


def surface(molecule: Mol) -> float:
    """TPSA over an aromaticity that leaves out rings with C=O, as PubChem's does (caffeine 58.4, folic acid 209)."""
    plain = Chem.Mol(molecule)
    Chem.Kekulize(plain, clearAromaticFlags=True)
    Chem.SetAromaticity(plain, Chem.AromaticityModel.AROMATICITY_MMFF94)
    return rdMolDescriptors.CalcTPSA(plain, force=True)


def stereo(molecule: Mol) -> list[int]:
    """Atom and bond stereo counts, each as all, defined, undefined."""
    centers = [
        (index, label)
        for index, label in FindMolChiralCenters(molecule, includeUnassigned=True, useLegacyImplementation=False)
        if molecule.GetAtomWithIdx(index).GetSymbol() != "P"  # phosphates of ATP are none to PubChem
    ]
    defined = sum(label != "?" for _, label in centers)
    found = [info for info in Chem.FindPotentialStereo(molecule) if info.type == Chem.StereoType.Bond_Double]
    known = sum(info.specified == Chem.StereoSpecified.Specified for info in found)
    return [len(centers), defined, len(centers) - defined, len(found), known, len(found) - known]


def describe(cells: list[str], molecule: Mol, inchi: str, key: str, names: list[str]) -> list[str]:
    cid = int(cells[0])
    absolute = cells[4] if cells[4] == cells[4].upper().replace("CL", "Cl").replace("BR", "Br") else kekule(molecule)
    flat = Chem.Mol(molecule)
    Chem.RemoveStereochemistry(flat)
    for atom in flat.GetAtoms():
        atom.SetIsotope(0)
    plain = absolute if not re.search(r"[@/\\]|\[\d", absolute) else kekule(flat)
    isotopes = sum(atom.GetIsotope() > 0 for atom in molecule.GetAtoms())
    numbers = [
        Chem.GetFormalCharge(molecule),
        sum(atom.GetAtomicNum() in (7, 8, 16) and atom.GetTotalNumHs() > 0 for atom in molecule.GetAtoms()),
        len(molecule.GetSubstructMatches(ACCEPTORS)),
        rdMolDescriptors.CalcNumRotatableBonds(molecule, rdMolDescriptors.NumRotatableBondsOptions.NonStrict),
        molecule.GetNumHeavyAtoms(),
        isotopes,
        *stereo(molecule),
        len(Chem.GetMolFrags(molecule)),
    ]
    return [
        str(cid),
        title(cells[8].strip()),
        systematic(cells[7].strip()),
        absolute,
        plain,
        inchi,
        key,
        rdMolDescriptors.CalcMolFormula(molecule),
        weight(molecule),
        f"{likeliest_mass(molecule):.9f}".rstrip("0").rstrip("."),
        f"{rdMolDescriptors.CalcExactMolWt(molecule):.9f}".rstrip("0").rstrip("."),
        f"{surface(molecule):.1f}".removesuffix(".0"),
        *map(str, numbers),
        *PUBLISHED.get(cid, ("", "")),
        "|".join(chosen_names(names, cid, cells[1])),
        Chem.MolToSmiles(molecule),
    ]


def compounds() -> tuple[list[list[str]], list[Mol], Counter[str]]:
    """The rows to keep, by rising CID, with their molecules, and what was counted on the way."""
    kept: dict[int, tuple[list[str], Mol]] = {}
    keys: set[str] = set()
    names = merged_names()
    count: Counter[str] = Counter()
    for table, cells in source_rows():
        if len(kept) == WANTED:
            break
        cid = int(cells[0])
        if cid < 1:
            count["dropped: the source gives no CID"] += 1
            continue
        if cid in kept:
            count["dropped: CID already taken from a table before"] += 1
            continue
        molecule = Chem.MolFromSmiles(cells[4]) if cells[4] else None
        if molecule is None or not molecule.GetNumAtoms():
            count["dropped: RDKit cannot read the SMILES"] += 1
            continue
        if molecule.GetNumHeavyAtoms() > HEAVY_ATOMS:
            count[f"dropped: more than {HEAVY_ATOMS} heavy atoms"] += 1
            continue
        inchi = Chem.MolToInchi(molecule)
        key = Chem.InchiToInchiKey(inchi) if inchi else ""
        if inchi.removeprefix("InChI=1S/") != cells[5] or key != cells[6]:
            count["dropped: InChI or InChIKey computed from the SMILES is not the source's"] += 1
            continue
        if key in keys:
            count["dropped: a structure that another CID of the sample has"] += 1
            continue
        keys.add(key)
        count[f"kept: {table}"] += 1
        kept[cid] = describe(cells, molecule, inchi, key, names[cid]), molecule
    count["kept with stereochemistry"] = sum(row[3] != row[4] for row, _ in kept.values())
    chosen = [kept[cid] for cid in sorted(kept)]
    return [row for row, _ in chosen], [molecule for _, molecule in chosen], count


def assays(rows: list[list[str]], molecules: list[Mol]) -> list[dict[str, object]]:
    """Screens whose outcomes are read off the structures, so that no measurement is made up."""
    screens: list[dict[str, object]] = []
    for aid, what, smarts in SCREENS:
        pattern = Chem.MolFromSmarts(smarts)
        active = [int(row[0]) for row, m in zip(rows, molecules, strict=True) if m.HasSubstructMatch(pattern)]
        inactive = sorted({int(row[0]) for row in rows[:: len(rows) // 300]} - set(active))
        screens.append(
            {
                "AID": aid,
                "Name": f"Sample screen: {what}",
                "SourceName": "scigate sample data",
                "Description": [
                    "This is sample data, not a measurement.",
                    f"Active means that the structure matches the SMARTS {smarts}.",
                ],
                "Active": active,
                "Inactive": inactive,
            }
        )
    return screens


def main() -> None:
    RDLogger.DisableLog("rdApp.*")
    rows, molecules, count = compounds()
    columns = list(zip(*rows, strict=True))
    text = "\n".join("\t".join((name, *cells)) for name, cells in zip(COLUMNS, columns, strict=True)) + "\n"
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 24}]
    packed = lzma.compress(text.encode(), check=lzma.CHECK_CRC32, filters=filters)
    (DATA / "compounds.tsv.xz").write_bytes(packed)
    screens = assays(rows, molecules)
    (DATA / "assays.json").write_text(json.dumps(screens, separators=(",", ":")) + "\n", encoding="utf-8")
    lines = [
        "# Where the sample data comes from",
        "",
        f"Built by `scripts/build_sample.py` from `chemicals` {version('chemicals')} with RDKit {version('rdkit')}.",
        "PubChem CIDs, names, structures: `chemicals`, Copyright (C) 2016-2021 Caleb Bell, MIT licence, see `NOTICE`.",
        f"Formulas, weights, masses, counts and TPSA are computed. {len(PUBLISHED)} compounds have XLogP as published,",
        "some of them Complexity; the others have neither, and none has Volume3D.",
        "Assays are made for the sample: their outcomes are read off the structures.",
        "",
        f"{len(rows)} compounds, {len(packed)} bytes.",
        "",
        *(f"- {what}: {n}" for what, n in sorted(count.items())),
        "",
    ]
    (DATA / "SOURCES.md").write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines[7:]))
    for screen in screens:
        print(screen["AID"], screen["Name"], len(screen["Active"]), len(screen["Inactive"]))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
