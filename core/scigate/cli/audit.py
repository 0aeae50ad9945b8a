"""`scigate audit`: whether the audit log is whole."""

from pathlib import Path
from typing import Annotated

import typer

from scigate.cli.options import AsJson, ConfigFile, load_settings
from scigate.cli.refusal import Refusal
from scigate.cli.terminal import write, write_json

app = typer.Typer(help="Look through the audit log.", no_args_is_help=True)

_SHOWN = 20
"""Problems that are listed; one change early in a log can give one for each line behind it."""


@app.callback()
def audit() -> None:
    """Look through the audit log."""


@app.command()
def verify(
    file: Annotated[
        Path | None, typer.Argument(help="The log's current file; without it, audit.path.", show_default=False)
    ] = None,
    noted: Annotated[
        str | None, typer.Option("--noted", metavar="HASH", help="A hash noted earlier, which has to be there still.")
    ] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Find changed, missing and added lines, old files included.

    The chain shows a change to whoever cannot forge it: set audit.key, or note the hash that this prints somewhere else
    and give it with --noted later. Exit code: 0 for a whole log, 1 where something is wrong.
    """
    from scigate.audit import AuditError, verify  # for start-up time

    settings = load_settings(config).audit
    path = file or settings.path
    if path is None:
        raise Refusal("there is no audit log: audit.path (SCIGATE_AUDIT__PATH) is not set; or name a file")
    # A second gateway on this machine writes beside the first one's log.
    beside = [] if file else sorted(path.parent.glob(f"{path.stem}-[0-9]*{path.suffix}"))
    try:
        found = verify(path, settings, noted)
        others = {each: verify(each, settings) for each in beside}
    except AuditError as error:
        raise Refusal(str(error)) from error
    found.problems.extend(f"{each}: {problem}" for each, other in others.items() for problem in other.problems)
    if as_json:
        write_json(
            {
                "files": [str(each) for each in found.files],
                "lines": found.lines,
                "first": found.first,
                "last": found.last,
                "hash": found.head or None,
                "lost": found.lost,
                "unfinished": found.torn,
                "problems": found.problems,
                "beside": {str(each): other.lines for each, other in others.items()},
            }
        )
    else:
        write(
            f"{path.absolute()}: {found.lines:,} lines, {found.first:,} to {found.last:,}, in {len(found.files)} files"
        )
        for each, other in others.items():
            write(f"{each.absolute()}: {other.lines:,} lines, written by a further gateway")
        if found.first > 1:
            write(f"older files are gone: the lines before {found.first:,} are not there to look at")
        if found.lost:
            write(f"{found.lost:,} calls have no line: the disk did not keep up or was full; the log says so itself")
        if found.torn:
            write(f"{found.torn} files end within a line: their gateway was stopped while it wrote")
        for problem in found.problems[:_SHOWN]:
            write(problem)
        if len(found.problems) > _SHOWN:
            write(f"and {len(found.problems) - _SHOWN:,} more")
        write(f"hash of the last line: {found.head}" if found.head else "not chained: only the numbers were checked")
        write("whole" if not found.problems else "not whole")
    if found.problems:
        raise typer.Exit(1)
