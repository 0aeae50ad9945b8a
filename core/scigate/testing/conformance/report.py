"""What the conformance kit found, for a person, for a program and as an exit code."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Check", "Report"]

Verdict = Literal["pass", "fail", "skip"]


@dataclass(slots=True)
class Check:
    """One promise that a provider has to keep.

    Attributes:
        name: What is promised, in a few words.
        tried: How many calls or definitions it was held against; 0 makes it a skip.
        problems: What broke it, each with the tool and what to do.
        notes: What an author may want to know all the same.
    """

    name: str
    tried: int = 0
    problems: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])

    @property
    def verdict(self) -> Verdict:
        """Whether the promise was kept, or never put to the test."""
        if self.problems:
            return "fail"
        return "pass" if self.tried else "skip"

    def expect(self, holds: object, problem: str) -> None:
        """Count one trial, and note the problem when it does not hold; the same problem is noted once."""
        self.tried += 1
        if not holds and problem not in self.problems:
            self.problems.append(problem)


@dataclass(frozen=True, slots=True)
class Report:
    """All checks of one provider, in their order."""

    provider: str
    checks: list[Check]

    @property
    def ok(self) -> bool:
        """Whether no promise was broken."""
        return all(check.verdict != "fail" for check in self.checks)

    def lines(self) -> Iterator[str]:
        """The report for a person: a line a check, and its problems below it."""
        for check in self.checks:
            yield f"{check.verdict:4}  {check.name} ({check.tried})"
            yield from (f"      {problem}" for problem in check.problems)
            yield from (f"      note: {note}" for note in check.notes)
        failed = sum(check.verdict == "fail" for check in self.checks)
        yield f"{self.provider}: " + ("conforms" if self.ok else f"{failed} of {len(self.checks)} checks failed")

    def as_json(self) -> dict[str, object]:
        """The report for a program."""
        checks = [
            {
                "name": check.name,
                "verdict": check.verdict,
                "tried": check.tried,
                "problems": check.problems,
                "notes": check.notes,
            }
            for check in self.checks
        ]
        return {"provider": self.provider, "ok": self.ok, "checks": checks}

    def require(self) -> None:
        """Do nothing for a provider that conforms.

        Raises:
            AssertionError: It does not; the text is the report.
        """
        if not self.ok:
            raise AssertionError("\n".join(self.lines()))
