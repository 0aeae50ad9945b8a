"""Descriptors of small molecules, and rules of thumb with the numbers behind them."""

from __future__ import annotations

from rdkit import Chem
from rdkit.Chem import QED, rdMolDescriptors
from rdkit.Chem.rdchem import Mol

from scigate_immunograph.chemistry import findings
from scigate_immunograph.chemistry.findings import Described, Rule, Verdict
from scigate_immunograph.chemistry.reading import quiet, read_smiles

__all__ = ["describe"]


def describe(smiles: str) -> Described:
    """Descriptors of one SMILES, or the problems that stand against them."""
    molecule, problems = read_smiles(smiles)
    if molecule is None:
        return Described(smiles=smiles, problems=problems)
    with quiet():
        molecule = Chem.RemoveHs(molecule)
        return Described(smiles=smiles, canonical_smiles=Chem.MolToSmiles(molecule), descriptors=_descriptors(molecule))


def _descriptors(molecule: Mol) -> findings.Descriptors:
    # Its public form, Descriptors.MolWt, imports every descriptor there is.
    weight = rdMolDescriptors._CalcMolWt(molecule)  # pyright: ignore[reportPrivateUsage]
    log_p = rdMolDescriptors.CalcCrippenDescriptors(molecule)[0]
    tpsa = rdMolDescriptors.CalcTPSA(molecule)
    rotatable = rdMolDescriptors.CalcNumRotatableBonds(molecule)
    lipinski = [
        _at_most("molecularWeight", weight, 500),
        _at_most("logP", log_p, 5),
        _at_most("N-H and O-H", rdMolDescriptors.CalcNumLipinskiHBD(molecule), 5),
        _at_most("N and O", rdMolDescriptors.CalcNumLipinskiHBA(molecule), 10),
    ]
    veber = [_at_most("rotatableBonds", rotatable, 10), _at_most("tpsa", tpsa, 140)]
    lower = Rule(descriptor="logP", value=round(log_p, 4), bound=">= -1.0", holds=log_p >= -1.0)
    egan = [lower, _at_most("logP", log_p, 5.88), _at_most("tpsa", tpsa, 131.6)]
    return findings.Descriptors(
        molecular_formula=rdMolDescriptors.CalcMolFormula(molecule),
        molecular_weight=round(weight, 3),
        exact_mass=round(rdMolDescriptors.CalcExactMolWt(molecule), 6),
        log_p=round(log_p, 4),
        tpsa=round(tpsa, 2),
        hbd=rdMolDescriptors.CalcNumHBD(molecule),
        hba=rdMolDescriptors.CalcNumHBA(molecule),
        rotatable_bonds=rotatable,
        rings=rdMolDescriptors.CalcNumRings(molecule),
        aromatic_rings=rdMolDescriptors.CalcNumAromaticRings(molecule),
        fraction_csp3=round(rdMolDescriptors.CalcFractionCSP3(molecule), 4),
        qed=_qed(molecule),
        formal_charge=Chem.GetFormalCharge(molecule),
        heavy_atoms=molecule.GetNumHeavyAtoms(),
        # The original rule warns when two are broken.
        lipinski=Verdict(passes=sum(not rule.holds for rule in lipinski) <= 1, rules=lipinski),
        veber=Verdict(passes=all(rule.holds for rule in veber), rules=veber),
        egan=Verdict(passes=all(rule.holds for rule in egan), rules=egan),
    )


def _at_most(descriptor: str, value: float, limit: float) -> Rule:
    return Rule(descriptor=descriptor, value=round(value, 4), bound=f"<= {limit:g}", holds=value <= limit)


def _qed(molecule: Mol) -> float | None:
    try:
        return round(QED.qed(molecule), 4)
    except (OverflowError, ZeroDivisionError):
        # Its desirability functions are exponentials, which very large molecules take out of range.
        return None
