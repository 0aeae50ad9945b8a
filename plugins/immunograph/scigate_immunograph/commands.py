"""`scigate runs`: what research runs did, and whether they do it again."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from scigate.cli.options import AsJson, ConfigFile, load_section
from scigate.cli.refusal import Refusal
from scigate.cli.terminal import write, write_json, write_table

if TYPE_CHECKING:
    from scigate_immunograph.ledger import Ledger, RecordedStep
    from scigate_immunograph.replay import Replayed
    from scigate_immunograph.settings import ImmunoGraphSettings

__all__ = ["app"]

app = typer.Typer(name="runs", help="List, show, export and replay research runs.", no_args_is_help=True)

RunName = Annotated[str, typer.Argument(metavar="RUN", help="The runId that the calls of the run carried.")]
LedgerFile = Annotated[
    Path | None, typer.Option("--ledger", metavar="FILE", help="Read this ledger instead of the configured one.")
]
CallerName = Annotated[
    str | None, typer.Option("--caller", help="Only what this caller did, where several used one runId.")
]


@app.command("list")
def list_runs(ledger: LedgerFile = None, config: ConfigFile = None, as_json: AsJson = False) -> None:
    """List the runs in the ledger, the latest first."""
    import dataclasses  # for start-up time

    with _reading(ledger, config) as (book, _):
        _, runs = book.runs(None)
    if as_json:
        write_json([dataclasses.asdict(run) for run in runs])
        return
    rows = [
        (run.run_id, run.caller, str(run.steps), str(run.failed), run.completed_at, ", ".join(run.tools))
        for run in runs
    ]
    write_table(("run", "caller", "steps", "failed", "last step", "tools"), rows)


@app.command()
def show(
    run: RunName,
    caller: CallerName = None,
    ledger: LedgerFile = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Show the steps of a run: tool, time, outcome, hashes, and where the facts came from."""
    with _reading(ledger, config) as (book, _):
        steps = _steps(book, run, caller)
    if as_json:
        write_json([_exported(recorded) for recorded in steps])
        return
    rows = [
        (
            recorded.step.started_at,
            recorded.step.tool,
            "ok" if recorded.step.ok else str((recorded.step.error or {}).get("code")),
            f"{recorded.step.duration_ms:.0f} ms",
            (recorded.provenance or {}).get("mode", ""),
            _short(recorded.step.input_hash),
            _short(recorded.step.output_hash),
        )
        for recorded in steps
    ]
    write_table(("started", "tool", "outcome", "took", "from", "input", "output"), rows)


@app.command()
def export(
    run: RunName,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.")] = None,
    caller: CallerName = None,
    ledger: LedgerFile = None,
    config: ConfigFile = None,
) -> None:
    """Export a run as JSON Lines: one object a step, with arguments, answer, hashes, provenance and evidence."""
    with _reading(ledger, config) as (book, _):
        steps = _steps(book, run, caller)
    lines = [json.dumps(_exported(recorded), ensure_ascii=False) for recorded in steps]
    if output is None:
        write("\n".join(lines))
        return
    try:
        output.write_text("\n".join(lines) + "\n", "utf-8")
    except OSError as error:
        raise Refusal(f"{output} cannot be written: {error.strerror}") from error


@app.command()
def replay(
    run: RunName,
    caller: CallerName = None,
    ledger: LedgerFile = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Execute a run again, offline, from what was recorded, and compare each step's output.

    Exit code 1 when a step's output is not the same.
    """
    import anyio  # for start-up time

    from scigate_immunograph import replay as again

    with _reading(ledger, config) as (book, settings):
        steps = _steps(book, run, caller)
    replayed = anyio.run(again.replay, steps, settings.workers)
    if as_json:
        write_json([_compared(step) for step in replayed])
    else:
        rows = [
            (step.recorded.step.tool, step.verdict, _short(step.recorded.step.output_hash), _where(step))
            for step in replayed
        ]
        write_table(("tool", "verdict", "recorded output", "first difference"), rows)
    raise typer.Exit(1 if any(step.verdict == "different" for step in replayed) else 0)


@contextmanager
def _reading(ledger: Path | None, config: Path | None) -> Generator[tuple[Ledger, ImmunoGraphSettings]]:
    """The ledger of a command, closed at its end, with the provider's settings; its faults are refusals."""
    from scigate_immunograph.ledger import Ledger, LedgerError, usual_path  # for start-up time
    from scigate_immunograph.settings import ImmunoGraphSettings

    section = load_section(config, "immunograph", ImmunoGraphSettings)
    if ledger is not None and not ledger.is_file():
        raise Refusal(f"there is no ledger at {ledger}")
    book = Ledger(ledger or section.ledger or usual_path())
    try:
        yield book, section
    except LedgerError as error:
        raise Refusal(str(error)) from error
    finally:
        book.close()


def _steps(book: Ledger, run: str, caller: str | None) -> list[RecordedStep]:
    _, steps = book.steps(run, caller)
    if not steps:
        import difflib  # for start-up time

        near = difflib.get_close_matches(run, [known.run_id for known in book.runs(None)[1]], 3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`scigate runs list` shows those that are"
        raise Refusal(f"no run {run!r} is recorded; {hint}")
    return steps


def _exported(recorded: RecordedStep) -> dict[str, Any]:
    step = recorded.step
    return {
        **step.envelope()["meta"],
        "caller": recorded.caller,
        "ok": step.ok,
        "arguments": step.arguments,
        "data": step.data,
        "error": step.error,
        "provenance": recorded.provenance,
        "evidence": recorded.evidence,
    }


def _compared(replayed: Replayed) -> dict[str, Any]:
    step, difference = replayed.recorded.step, replayed.difference
    found: dict[str, Any] = {
        "requestId": step.request_id,
        "toolName": step.tool,
        "verdict": replayed.verdict,
        "recordedHash": step.output_hash,
        "replayedHash": replayed.output_hash,
    }
    if difference is not None:
        found["difference"] = {
            "path": difference.path,
            "recorded": difference.recorded,
            "replayed": difference.replayed,
        }
    return found


def _where(replayed: Replayed) -> str:
    difference = replayed.difference
    if difference is None:
        return "its source failed, and said nothing to replay" if replayed.verdict == "not_replayed" else ""
    return f"{difference.path}: {_brief(difference.recorded)} is now {_brief(difference.replayed)}"


def _brief(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _short(digest: str | None) -> str:
    return (digest or "").removeprefix("sha256:")[:12]
