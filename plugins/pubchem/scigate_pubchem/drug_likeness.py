"""Lipinski's and Veber's rules over a compound's properties, with null for what is not known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, WithJsonSchema, model_serializer
from scigate import Record

__all__ = ["INPUTS", "DrugLikeness"]

INPUTS: Final = ("MolecularWeight", "XLogP", "HBondDonorCount", "HBondAcceptorCount", "TPSA", "RotatableBondCount")

_Verdict = Annotated[bool | None, WithJsonSchema({"type": ["boolean", "null"]})]
_Value = Annotated[int | float | None, WithJsonSchema({"type": ["number", "null"]})]


class _Judged(Record):
    """A record whose unknown values are null on the wire, where any other record leaves them out."""

    model_config = ConfigDict(extra="forbid")

    # Without a return type the schema stays that of the fields.
    @model_serializer(mode="wrap")
    def _with_nulls(self, handler: SerializerFunctionWrapHandler):
        known: dict[str, Any] = handler(self)
        names = (field.serialization_alias or name for name, field in type(self).model_fields.items())
        return {name: known.get(name) for name in names}


class Check(_Judged):
    """One value against its limit; no verdict where the value is unknown."""

    limit: int
    passed: _Verdict = Field(serialization_alias="pass")
    value: _Value

    @classmethod
    def of(cls, value: Any, limit: int) -> Check:
        """Whether a value, which may come as text or not at all, is within its limit."""
        number = _number(value)
        return cls(limit=limit, passed=None if number is None else number <= limit, value=number)


class Lipinski(Record):
    """The rule of five: weight, XLogP, hydrogen-bond donors and acceptors."""

    model_config = ConfigDict(extra="forbid")

    mw: Check
    x_log_p: Check
    hbd: Check
    hba: Check
    violations: int


class Veber(Record):
    """Veber's rule: polar surface area and rotatable bonds."""

    model_config = ConfigDict(extra="forbid")

    tpsa: Check
    rotatable_bonds: Check
    violations: int


class DrugLikeness(_Judged):
    """The verdicts of both rules."""

    lipinski: Lipinski
    veber: Veber
    passed: _Verdict = Field(
        serialization_alias="pass",
        description="Null when a value is unknown.",
    )

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> DrugLikeness:
        """Apply the rules to the properties of `INPUTS`; an unknown value is no violation and leaves no verdict."""
        limits = zip(INPUTS, (500, 5, 5, 10, 140, 10), strict=True)
        mw, x_log_p, hbd, hba, tpsa, bonds = (Check.of(properties.get(name), limit) for name, limit in limits)
        five, two = (mw, x_log_p, hbd, hba), (tpsa, bonds)
        broken, broken_too = (sum(check.passed is False for check in checks) for checks in (five, two))
        known = all(check.passed is not None for check in (*five, *two))
        return cls(
            lipinski=Lipinski(mw=mw, x_log_p=x_log_p, hbd=hbd, hba=hba, violations=broken),
            veber=Veber(tpsa=tpsa, rotatable_bonds=bonds, violations=broken_too),
            passed=broken <= 1 and not broken_too if known else None,
        )


def _number(value: Any) -> int | float | None:
    """A number that came as one or as text; the weight always comes as text."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() else number
