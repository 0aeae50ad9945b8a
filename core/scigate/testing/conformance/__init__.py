"""The conformance kit: what core promises of every provider, tried on one provider's own emulator.

It needs the extra `testing` (hypothesis and jsonschema). `scigate conformance NAME` runs it, and so does the fixture of
`scigate.testing.plugin` in a provider's own suite.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, SecretStr

from scigate.operation import Tool
from scigate.output import Success
from scigate.providers import Registry, installed, plugin_of
from scigate.testing.conformance import checks
from scigate.testing.conformance.arguments import Pool, generated
from scigate.testing.conformance.bench import Bench, Seen
from scigate.testing.conformance.lag import LONGEST_S, Lag
from scigate.testing.conformance.report import Check, Report

__all__ = ["Check", "Report", "conformance"]

CANARY: Final = "canary-7f31c0d4e9"
"""Stands for every secret of the provider's settings, and is looked for in all that comes out."""


@dataclass(frozen=True, slots=True)
class _Case:
    """Arguments that a tool answers on sample data, and the answer."""

    tool: Tool
    arguments: Mapping[str, Any]
    healthy: Seen


async def conformance(
    name: str, plugin: object = None, *, cases: Mapping[str, Mapping[str, Any]] | None = None, thoroughness: int = 8
) -> Report:
    """Try one provider.

    Args:
        name: Its name.
        plugin: The provider; None for the installed one of this name.
        cases: Arguments that work on the provider's sample data, by tool; beside its `register_examples`.
        thoroughness: How many generated calls each tool gets.

    Raises:
        LookupError: No provider of this name is installed.
        AssertionError: It does not serve at all; the text says why.
    """
    if plugin is None:
        if name not in installed():
            raise LookupError(f"no provider {name!r} is installed; there are {', '.join(installed()) or 'none'}")
        plugin = plugin_of(installed()[name])
    return await _Run(name, plugin, dict(cases or {}), thoroughness).report()


class _Run:
    """One run of the kit."""

    def __init__(self, name: str, plugin: object, cases: dict[str, Mapping[str, Any]], thoroughness: int) -> None:
        self._name, self._plugin, self._given, self._thoroughness = name, plugin, cases, thoroughness
        self._settings = _with_canaries(name, plugin)
        self._reasons: set[str] = set()
        self.definitions = Check("definitions are valid, stable, closed and well told")
        self.names = Check("names fit every client")
        self.cases = Check("every tool has a call that works on sample data")
        self.shape = Check("answers are of their output schemas")
        self.text = Check("the text says what the structured content says")
        self.marked = Check("sample data is marked")
        self.annotations = Check("read-only tools send nothing that writes")
        self.reasons = Check("failures are declared ones, and declared ones are raised")
        self.caps = Check("caps are served and said, bounds are refused")
        self.batches = Check("batches drop nothing and repeat nothing")
        self.pages = Check("pages walked by nextOffset are the result")
        self.answers = Check("a tool that asks takes no for an answer")
        self.faults = Check("no fault of an upstream is an internal error or an empty result")
        self.quota = Check("no quota is passed")
        self.sockets = Check("sample data needs no connection")
        self.cancellation = Check("cancelling frees the upstream")
        self.loop = Check(f"no step holds the event loop up for over {LONGEST_S * 1000:.0f} ms")
        self.secrets = Check("no secret leaks")

    async def report(self) -> Report:
        async with Bench.open(self._name, self._plugin, self._settings) as bench:
            first = list(bench.host.catalogue.definitions)
            found = await self._find_cases(bench)
            await self._try_limits(bench, found)
            await self._generate(bench, found)
            self._after(bench)
        async with Bench.open(self._name, self._plugin, self._settings, cache=False) as bench:
            checks.definitions(self.definitions, self.names, first, list(bench.host.catalogue.definitions))
            await self._disturb(bench, found)
            await self._watch_loop(bench, found)
            self._after(bench)
            checks.reasons_raised(self.reasons, bench.tools, _sources(self._plugin), self._reasons)
        return Report(self._name, [value for value in vars(self).values() if isinstance(value, Check)])

    def _look(self, seen: Seen) -> Seen:
        if seen.reason:
            self._reasons.add(seen.reason)
        checks.every_call(
            seen,
            shape=self.shape,
            text=self.text,
            annotations=self.annotations,
            reasons=self.reasons,
            secrets=self.secrets,
            canary=CANARY,
        )
        return seen

    async def _find_cases(self, bench: Bench) -> list[_Case]:
        """A call of each tool that works: given, an example, or put together from what other answers have."""
        pool = Pool()
        examples: dict[str, list[Mapping[str, Any]]] = {name: [given] for name, given in self._given.items()}
        for example in bench.host.catalogue.examples:
            examples.setdefault(example.tool, []).append(example.arguments)
            pool.take(example.arguments)
        found: dict[str, _Case] = {}
        for _ in range(2):
            # Twice: a tool that is listed later may have what an earlier one needs.
            for tool in bench.tools:
                schema = _schema(bench, tool)
                guessed = pool.arguments(schema)
                for arguments in [*examples.get(tool.name, []), *([guessed] if guessed is not None else [])]:
                    if tool.name in found:
                        break
                    seen = self._look(await bench.call(tool, arguments))
                    if isinstance(seen.outcome, Success):
                        pool.take(arguments)
                        pool.take(seen.body)
                        checks.marked(self.marked, seen)
                        found[tool.name] = _Case(tool, arguments, seen)
        for tool in bench.tools:
            self.cases.expect(tool.name in found, f"{tool.name}: give it one in register_examples, or in cases")
        return list(found.values())

    async def _try_limits(self, bench: Bench, found: Sequence[_Case]) -> None:
        for case in found:
            await checks.pages(self.pages, bench, case.tool, case.arguments)
            await checks.caps(self.caps, bench, case.tool, case.arguments)
            await checks.batches(self.batches, bench, case.tool, case.arguments)
            for seen in await checks.answers(self.answers, bench, case.tool, case.arguments, case.healthy):
                self._look(seen)

    async def _generate(self, bench: Bench, found: Sequence[_Case]) -> None:
        known = {case.tool.name: case.arguments for case in found}
        for tool in bench.tools:
            for arguments in generated(_schema(bench, tool), known.get(tool.name, {}), self._thoroughness):
                self._look(await bench.call(tool, arguments))

    async def _disturb(self, bench: Bench, found: Sequence[_Case]) -> None:
        for case in found:
            if case.healthy.sent:
                for seen in await checks.faults(self.faults, bench, case.tool, case.arguments, case.healthy):
                    self._look(seen)
                await checks.cancellation(self.cancellation, bench, case.tool, case.arguments)

    async def _watch_loop(self, bench: Bench, found: Sequence[_Case]) -> None:
        bench.recover()
        for case in found:
            async with Lag(ignored=("emulator",)) as lag:
                await bench.call(case.tool, case.arguments)
            self.loop.expect(not lag.found, f"{case.tool.name} holds the loop up in {', '.join(lag.found[:3])}")

    def _after(self, bench: Bench) -> None:
        self.quota.expect(not bench.overdrawn, "; ".join(bench.overdrawn[:3]))
        self.sockets.expect(not bench.connections, f"connected to {', '.join(sorted(set(bench.connections))[:3])}")
        logged = json.dumps(bench.log, default=repr)
        self.secrets.expect(CANARY not in logged, "a secret of the settings is in the log")


def _schema(bench: Bench, tool: Tool) -> Mapping[str, Any]:
    return next(each["inputSchema"] for each in bench.host.catalogue.definitions if each["name"] == tool.name)


def _with_canaries(name: str, plugin: object) -> dict[str, Any]:
    """The provider's settings with the canary for every secret that takes it."""
    registry = Registry()
    registry.register(name, plugin)
    model: type[BaseModel] | None = registry.settings_model(name)
    if model is None:
        return {}
    secret = [key for key, field in model.model_fields.items() if "SecretStr" in repr(field.annotation)]
    return {key: SecretStr(CANARY).get_secret_value() for key in secret}


def _sources(plugin: object) -> str:
    """The text of the provider's modules."""
    file: str | None = getattr(plugin, "__file__", None)
    if file is None:
        return ""
    place = Path(file)
    files = sorted(place.parent.rglob("*.py")) if place.name == "__init__.py" else [place]
    return "\n".join(each.read_text(encoding="utf-8") for each in files)
