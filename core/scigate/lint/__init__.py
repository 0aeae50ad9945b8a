"""Grades tool definitions as a reader of them sees them, and finds definitions that try to steer that reader.

Above is the command line; below is nothing but the definitions on the wire, so that those of any MCP server can be
graded. A rule is a plain test of words: the same definitions always get the same grade.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from scigate.lint.definition import Definition, Finding
from scigate.lint.poison import Poison, poison
from scigate.lint.rules import DIMENSIONS

__all__ = ["BEST", "Finding", "Grade", "Poison", "grade", "poison"]

BEST: Final = 5.0
"""The best grade of a dimension; the worst is 1."""


@dataclass(frozen=True, slots=True)
class Grade:
    """How a tool's definition reads.

    Attributes:
        tool: Name of the tool.
        scores: For each dimension 1 to 5, in the order of `DIMENSIONS`.
        findings: What costs points, in the same order.
    """

    tool: str
    scores: Mapping[str, float]
    findings: tuple[Finding, ...]

    @property
    def overall(self) -> float:
        """The mean of the dimensions, 1 to 5."""
        return fmean(self.scores.values())


def grade(definitions: Sequence[Mapping[str, Any]]) -> list[Grade]:
    """Grade each definition, in their order; they are siblings, which may and should name each other."""
    names = frozenset(str(definition.get("name", "")) for definition in definitions)
    return [_graded(Definition.read(definition, names)) for definition in definitions]


def _graded(definition: Definition) -> Grade:
    found = {dimension: tuple(rule(definition)) for dimension, rule in DIMENSIONS.items()}
    scores = {name: max(1.0, BEST - sum(finding.costs for finding in findings)) for name, findings in found.items()}
    return Grade(definition.name, scores, tuple(finding for findings in found.values() for finding in findings))
