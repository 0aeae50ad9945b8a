"""list_runs and get_run: what the ledger holds of a caller's runs."""

from __future__ import annotations

from typing import Annotated, Any

import anyio
from pydantic import Field
from scigate import Call, Input, Offset, Page, PageSize, Record, tool

from scigate_immunograph.ledger import Ledger, RecordedStep
from scigate_immunograph.reasons import LEDGER_UNREADABLE, RUN_NOT_FOUND
from scigate_immunograph.run import RunId
from scigate_immunograph.workbench import Workbench

__all__ = ["get_run", "list_runs"]


class ListRuns(Input):
    offset: Annotated[int, Offset()] = Field(default=0, description="Position of the first run.")
    max_results: Annotated[int, PageSize(cap=200)] = Field(default=50, description="Page size; 200 at most.")


class Run(Record):
    """A run at a glance."""

    run_id: str
    steps: int
    failed: int = Field(description="Steps that failed.")
    started_at: str = Field(description="Start of its first step, UTC.")
    completed_at: str = Field(description="End of its last one, UTC.")
    tools: list[str]


class Runs(Page):
    """A page of runs."""

    runs: list[Run] = Field(description="The latest first.")


class GetRun(Input):
    run_id: RunId
    include_data: bool = Field(default=False, description="Also give what each step answered; it can be long.")
    offset: Annotated[int, Offset()] = Field(default=0, description="Position of the first step.")
    max_results: Annotated[int, PageSize(cap=100)] = Field(default=50, description="Page size; 100 at most.")


class RunStep(Record):
    """A step as it was recorded."""

    request_id: str
    tool: str
    tool_version: str
    started_at: str
    completed_at: str
    duration_ms: float
    ok: bool
    input_hash: str
    output_hash: str | None = None
    arguments: dict[str, Any] = Field(description="As validated, without runId.")
    error: dict[str, Any] | None = Field(default=None, description="Why it failed.")
    notice: str | None = None
    provenance: dict[str, Any] | None = Field(default=None, description="Where its facts came from.")
    data: dict[str, Any] | None = Field(default=None, description="What it answered, with includeData.")


class RunSteps(Page):
    """A page of a run's steps."""

    run_id: str
    steps: list[RunStep] = Field(description="In the order in which they were finished.")


@tool("list_runs", title="List Runs", errors=[LEDGER_UNREADABLE], open_world=False)
async def list_runs(args: ListRuns, bench: Workbench, call: Call) -> Runs:
    """List the research runs of this caller: how many steps each has, when, and by which tools.

    get_run shows one of them. Reads the gateway's own ledger; costs no request.
    """
    if bench.ledger is None:
        call.notice("No ledger is kept here: the setting record is off.")
        return Runs(runs=call.page.whole([]))
    total, found = await anyio.to_thread.run_sync(_runs, bench.ledger, call)
    return Runs(runs=call.page.part(found, total=total))


@tool("get_run", title="Get Run", errors=[RUN_NOT_FOUND, LEDGER_UNREADABLE], open_world=False)
async def get_run(args: GetRun, bench: Workbench, call: Call) -> RunSteps:
    """Show what a research run did, step by step: tool, arguments, times, hashes, outcome and provenance.

    Use it after list_runs, to check or to repeat a run: all of this caller's calls with one runId. Two steps with equal
    inputHash asked the same; equal outputHash means an equal answer. Reads the gateway's own ledger; costs no request.
    """
    total, found = (0, []) if bench.ledger is None else await anyio.to_thread.run_sync(_steps, bench.ledger, args, call)
    if total == 0:
        raise RUN_NOT_FOUND.error(f"The ledger has no run {args.run_id!r} of this caller.")
    return RunSteps(run_id=args.run_id, steps=call.page.part(found, total=total))


def _runs(ledger: Ledger, call: Call) -> tuple[int, list[Run]]:
    total, runs = ledger.runs(call.caller.id, offset=call.page.offset, limit=call.page.size)
    return total, [
        Run(
            run_id=run.run_id,
            steps=run.steps,
            failed=run.failed,
            started_at=run.started_at,
            completed_at=run.completed_at,
            tools=list(run.tools),
        )
        for run in runs
    ]


def _steps(ledger: Ledger, args: GetRun, call: Call) -> tuple[int, list[RunStep]]:
    total, steps = ledger.steps(args.run_id, call.caller.id, offset=call.page.offset, limit=call.page.size)
    return total, [_step(recorded, with_data=args.include_data) for recorded in steps]


def _step(recorded: RecordedStep, *, with_data: bool) -> RunStep:
    step = recorded.step
    return RunStep(
        request_id=step.request_id,
        tool=step.tool,
        tool_version=step.version,
        started_at=step.started_at,
        completed_at=step.completed_at,
        duration_ms=step.duration_ms,
        ok=step.ok,
        input_hash=step.input_hash,
        output_hash=step.output_hash,
        arguments=step.arguments or {},
        error=step.error,
        notice=step.notice,
        provenance=recorded.provenance,
        data=step.data if with_data else None,
    )
