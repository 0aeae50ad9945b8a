"""Replaying a run: every step again, offline, from what was recorded, and compared with what it answered then.

A step is called through a host of its own, with all policies, whose only provider is this one with recorded sources: it
registers no upstream, so there is nothing that a connection could be opened to, and it records nothing.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal, TypeAlias

from scigate import LOCAL, Call, Host, Settings, hookimpl

import scigate_immunograph
from scigate_immunograph.compound import Compound, Provenance
from scigate_immunograph.fixtures import FixtureFile
from scigate_immunograph.ledger import RecordedStep
from scigate_immunograph.pubchem import read_answer
from scigate_immunograph.retrieval import FallbackPolicy, Retrieved
from scigate_immunograph.workbench import Workbench
from scigate_immunograph.workers import Workers

__all__ = ["Difference", "Replayed", "first_difference", "replay"]

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | bool | None"

_DEADLINE_S = 600.0
"""Seconds for one step: a replay has nobody waiting, and a slower machine must not make a difference."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first member that differs, in the order in which it was recorded.

    Attributes:
        path: Such as `minimisation.energyKcalMol` or `molecules[2].descriptors.logP`.
        recorded, replayed: JSON values; None also where the member is absent.
    """

    path: str
    recorded: object
    replayed: object


@dataclass(frozen=True, slots=True)
class Replayed:
    """How a step compares.

    Attributes:
        verdict: `same`: the same output hash, or the same error code; `different`; `not_replayed`: the source failed
            when it was recorded, and said nothing that could be replayed.
        output_hash: Of the replay; None when it failed.
    """

    recorded: RecordedStep
    verdict: Literal["same", "different", "not_replayed"]
    output_hash: str | None = None
    difference: Difference | None = None


async def replay(steps: Sequence[RecordedStep], workers: int) -> list[Replayed]:
    """Replay the steps of a run, in their order.

    Args:
        steps: As the ledger gives them.
        workers: Processes for chemistry at once.
    """
    source = _RecordedSource()
    found: list[Replayed] = []
    async with _host(source, workers) as host:
        for recorded in steps:
            if recorded.step.tool == "fetch_compound" and recorded.evidence is None:
                found.append(Replayed(recorded, "not_replayed"))
                continue
            source.recorded = recorded
            arguments = {"runId": recorded.step.run_id, **(recorded.step.arguments or {})}
            reply = await host.call(recorded.step.tool, arguments, LOCAL)
            found.append(_compared(recorded, reply.structured))
    return found


def first_difference(recorded: Json, replayed: Json, path: str = "") -> Difference | None:
    """The first member of two JSON values that is not the same, or None."""
    if isinstance(recorded, dict) and isinstance(replayed, dict):
        for name in dict.fromkeys([*recorded, *replayed]):
            where = f"{path}.{name}" if path else name
            if found := first_difference(recorded.get(name), replayed.get(name), where):
                return found
        return None
    if isinstance(recorded, list) and isinstance(replayed, list):
        for index, (mine, other) in enumerate(zip_longest(recorded, replayed)):
            if found := first_difference(mine, other, f"{path}[{index}]"):
                return found
        return None
    return None if recorded == replayed else Difference(path, recorded, replayed)


class _RecordedSource:
    """A source of compounds that repeats what was recorded of one step."""

    def __init__(self) -> None:
        self.recorded: RecordedStep | None = None

    async def fixture(self, key: str) -> Retrieved:
        return self._retrieved(None)

    async def compound(self, cid: int, policy: FallbackPolicy, call: Call) -> Retrieved:
        return self._retrieved(cid)

    def _retrieved(self, cid: int | None) -> Retrieved:
        recorded = self.recorded
        if recorded is None or recorded.evidence is None or recorded.provenance is None:
            raise RuntimeError("there is no recorded answer for this step")
        compound = _compound(recorded.evidence, cid)
        provenance = Provenance.model_validate(recorded.provenance)
        # Computed anew, so that a changed record or a changed reading of it is seen.
        again = provenance.model_copy(update={"content_hash": compound.content_hash})
        return Retrieved(compound, again, recorded.evidence)


def _compound(evidence: dict[str, Any], cid: int | None) -> Compound:
    if "fixture" in evidence:
        return FixtureFile.model_validate(evidence["fixture"]).compound
    if cid is None:
        raise RuntimeError("a fixture was asked for, and PubChem's answer is recorded")
    return read_answer(evidence["answer"], cid)


class _ReplayingProvider:
    """This provider, with a recorded source, no upstream and no ledger."""

    def __init__(self, source: _RecordedSource, workers: int) -> None:
        self._bench = Workbench(source, Workers(workers), ledger=None)
        for name in ("register_tools", "register_envelope", "map_error"):
            setattr(self, name, getattr(scigate_immunograph, name))

    @hookimpl
    def build_client(self) -> Workbench:
        """The workbench with the recorded source."""
        return self._bench


@asynccontextmanager
async def _host(source: _RecordedSource, workers: int) -> AsyncGenerator[Host]:
    settings = Settings(offline=True, deadline_s=_DEADLINE_S)
    async with Host.open(settings, plugins={"immunograph": _ReplayingProvider(source, workers)}) as host:
        yield host


def _compared(recorded: RecordedStep, replayed: dict[str, Any]) -> Replayed:
    step = recorded.step
    if step.error is not None:
        # A message may hold a time or a count of the moment; the code does not.
        fault: dict[str, Any] = replayed.get("error") or {}
        replayed_code = fault.get("code")
        difference = first_difference(step.error["code"], replayed_code, "error.code")
        return Replayed(recorded, "different" if difference else "same", None, difference)
    output_hash: str | None = replayed["meta"].get("outputHash")
    if output_hash == step.output_hash:
        return Replayed(recorded, "same", output_hash)
    if "data" not in replayed:
        return Replayed(recorded, "different", None, Difference("error.code", None, replayed["error"]["code"]))
    difference = first_difference(step.data, replayed["data"])
    return Replayed(recorded, "different", output_hash, difference)
