"""Rules: which caller may call which tool, and with which arguments.

Above is the policy that asks. The rules know no call: they judge a caller, a tool's name and arguments as values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, cast

from scigate.call import Caller
from scigate.settings.access import ConditionSettings, Effect, RuleSettings, linear_pattern

__all__ = ["DEFAULT", "Decision", "Rules", "Verdict"]

DEFAULT: Final = "default"
"""Stands for a rule's name where no rule fits."""

_REMEMBERED: Final = 4096
"""Pairs of caller and tool whose rules are kept found."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a call may be made.

    Attributes:
        allowed: It may.
        rule: The name of the rule that says so, or `default`.
        message: What a refused caller is told; empty for core's own words.
    """

    allowed: bool
    rule: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one rule stands to one call.

    Attributes:
        rule: Its name.
        effect: What it would do.
        fits: Whether it fits the call.
        why: What fits, or the first thing that does not.
    """

    rule: str
    effect: Effect
    fits: bool
    why: str


class Rules:
    """The rules in their order; the first that fits decides.

    Args:
        rules: What the operator wrote.
        default: What becomes of a call that none fits.
    """

    def __init__(self, rules: Sequence[RuleSettings] = (), default: Effect = "allow") -> None:
        self._written = (list(rules), default)
        self._rules = [_Rule(settings, number) for number, settings in enumerate(rules, start=1)]
        self._default = Decision(default == "allow", DEFAULT)
        self._concerning = lru_cache(_REMEMBERED)(self._find)

    def __bool__(self) -> bool:
        """Whether they can refuse anything."""
        return bool(self._rules) or not self._default.allowed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rules) and self._written == other._written

    __hash__ = None  # type: ignore[assignment]  # compared, never looked up

    def decide(self, caller: Caller, tool: str) -> Decision | None:
        """The decision that holds for all arguments; None where they matter."""
        concerning = self._concerning(caller, tool)
        if not concerning:
            return self._default
        return None if concerning[0].conditions else concerning[0].decision

    def decide_with(self, caller: Caller, tool: str, arguments: Mapping[str, object]) -> Decision:
        """The decision for one call.

        Args:
            caller: Who calls.
            tool: The tool's name, prefix included; a resource's name.
            arguments: The validated arguments by their names on the wire, defaults included.
        """
        for rule in self._concerning(caller, tool):
            if rule.misfit(arguments) is None:
                return rule.decision
        return self._default

    def may_call(self, caller: Caller, tool: str) -> bool:
        """Whether there can be arguments with which the caller may call the tool."""
        concerning = self._concerning(caller, tool)
        last = concerning[-1].decision if concerning and not concerning[-1].conditions else self._default
        return last.allowed or any(rule.decision.allowed for rule in concerning)

    def explain(self, caller: Caller, tool: str, arguments: Mapping[str, object]) -> list[Verdict]:
        """How each rule stands to a call, in their order, those after the deciding one included."""
        return [rule.verdict(caller, tool, arguments) for rule in self._rules]

    def arguments_named(self, tool: str) -> list[tuple[str, str]]:
        """Pairs of a rule's name and an argument that it has a condition on, of the rules about a tool."""
        return [(rule.name, name) for rule in self._rules if rule.is_about(tool) for name in rule.conditions]

    def without_tool(self, tools: Iterable[str]) -> list[str]:
        """The names of the rules that are about none of these tools."""
        names = list(tools)
        return [rule.name for rule in self._rules if not any(rule.is_about(name) for name in names)]

    def _find(self, caller: Caller, tool: str) -> tuple[_Rule, ...]:
        """The rules that can decide the caller's calls of the tool: none after the first without conditions."""
        found: list[_Rule] = []
        for rule in self._rules:
            if rule.stranger(caller, tool) is None:
                found.append(rule)
                if not rule.conditions:
                    break
        return tuple(found)


class _Rule:
    def __init__(self, settings: RuleSettings, number: int) -> None:
        self.name = settings.name or f"rule {number}"
        self.decision = Decision(settings.effect == "allow", self.name, settings.message)
        self.conditions = {name: _Condition(given) for name, given in settings.arguments.items()}
        self._settings = settings

    def is_about(self, tool: str) -> bool:
        return fnmatchcase(tool, self._settings.tool)

    def stranger(self, caller: Caller, tool: str) -> str | None:
        """Why the rule is not about this caller and tool; None where it is."""
        if not self.is_about(tool):
            return f"is about the tools {self._settings.tool}"
        if not fnmatchcase(caller.id, self._settings.caller):
            return f"is about the callers {self._settings.caller}"
        if self._settings.scope and self._settings.scope not in caller.scopes:
            return f"is about callers with the scope {self._settings.scope}"
        return None

    def misfit(self, arguments: Mapping[str, object]) -> str | None:
        """Why the arguments do not fit; None where they do."""
        for name, condition in self.conditions.items():
            if (why := condition.misfit(arguments.get(name), every=self.decision.allowed)) is not None:
                return f"{name} {why}"
        return None

    def verdict(self, caller: Caller, tool: str, arguments: Mapping[str, object]) -> Verdict:
        why = self.stranger(caller, tool) or self.misfit(arguments)
        fitting = "caller, tool and arguments fit" if self.conditions else "caller and tool fit"
        return Verdict(self.name, self._settings.effect, why is None, why or fitting)


class _Condition:
    def __init__(self, settings: ConditionSettings) -> None:
        self._at_most = settings.at_most
        self._tests: list[tuple[Callable[[str], bool], str]] = []
        if settings.equals is not None:
            self._tests.append((_text(settings.equals).__eq__, f"is not {_text(settings.equals)}"))
        if settings.one_of is not None:
            texts = [_text(value) for value in settings.one_of]
            self._tests.append((frozenset(texts).__contains__, f"is none of {', '.join(texts)}"))
        if settings.matches is not None:
            self._tests.append((linear_pattern(settings.matches).isinstance_python, f"is not like {settings.matches}"))

    def misfit(self, value: object, *, every: bool) -> str | None:
        """Why a value does not fit; None where it does.

        Args:
            value: The argument; None where the call does not have it.
            every: Whether each entry of a list has to fit, as for a rule that allows. One that denies takes a single
                entry for enough: else a forbidden entry would pass beside others.
        """
        if value is None:
            return "is not given"
        entries = cast("list[object]", value) if isinstance(value, list) else [value]
        if self._at_most is not None:
            size = len(entries) if isinstance(value, list) else value
            if isinstance(size, bool) or not isinstance(size, int | float):
                return "is no number"
            if not size <= self._at_most:
                return f"is over {self._at_most:g}"
        texts = [_text(entry) for entry in entries]
        for fits, why in self._tests:
            if not (all if every else any)(map(fits, texts)):
                return why
        return None


def _text(value: object) -> str:
    """A value as text, the same for 5, 5.0 and "5": a tool may take a number as text, or the other way round."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
