"""`scigate schema`: pin tool definitions, and say in words what changed."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scigate.cli.definitions import StdioCommand, Url, listed
from scigate.cli.options import AsJson, ConfigFile
from scigate.cli.refusal import Refusal
from scigate.cli.remote import KeyFrom
from scigate.cli.terminal import write, write_json

if TYPE_CHECKING:
    from scigate.snapshot import Change, Lock

app = typer.Typer(help="Pin tool definitions, and see what changed.", no_args_is_help=True)

LockFile = Annotated[
    Path | None,
    typer.Option(
        "--lock", metavar="FILE", help="The lock; without it, definitions.lock.json in the configuration directory."
    ),
]


def lock_path(lock: Path | None) -> Path:
    """The lock's file: the one that is named, or the usual one of this user."""
    return lock or Path(typer.get_app_dir("scigate")) / "definitions.lock.json"


def read_lock(lock: Path | None) -> "Lock":
    """The lock in its file; refused where there is none."""
    from scigate.snapshot import Lock, LockError  # for start-up time

    try:
        return Lock.read(lock_path(lock))
    except LockError as error:
        raise Refusal(str(error)) from error


@app.command()
def snapshot(url: Url = None, key_from: KeyFrom = None, stdio: StdioCommand = None, config: ConfigFile = None) -> None:
    """Print the canonical definitions with their hashes, as a lock without history."""
    from scigate.clock import SystemClock  # for start-up time
    from scigate.snapshot import Lock

    write_json(Lock.of(listed(url, stdio, config, key_from).definitions, SystemClock().now()).as_json())


@app.command()
def lock(
    lock: LockFile = None,
    url: Url = None,
    key_from: KeyFrom = None,
    stdio: StdioCommand = None,
    config: ConfigFile = None,
) -> None:
    """Accept the present definitions; what changed since the last lock is printed and kept in its log."""
    from scigate.clock import SystemClock  # for start-up time
    from scigate.snapshot import Lock

    path = lock_path(lock)
    definitions = listed(url, stdio, config, key_from).definitions
    now = SystemClock().now()
    if path.exists():
        earlier = read_lock(path)
        _write_changes(earlier.compared(definitions))
        renewed = earlier.renewed(definitions, now)
    else:
        renewed = Lock.of(definitions, now)
    renewed.write(path)
    typer.echo(f"scigate: {len(renewed.tools)} definitions are locked in {path}", err=True)


@app.command()
def diff(
    lock: LockFile = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Another lock or snapshot to compare.")
    ] = None,
    url: Url = None,
    key_from: KeyFrom = None,
    stdio: StdioCommand = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Say what differs from the lock: of this gateway, of another server, or of a second file.

    Exit code: 0 where nothing differs or words alone, 1 for a compatible change, 3 for a breaking one.
    """
    earlier = read_lock(lock)
    definitions = list(read_lock(to).tools.values()) if to else listed(url, stdio, config, key_from).definitions
    found = earlier.compared(definitions)
    if as_json:
        write_json([{"tool": tool, "kind": change.kind, "words": change.words} for tool, change in found])
    else:
        _write_changes(found)
    kinds = {change.kind for _, change in found}
    raise typer.Exit(3 if "breaking" in kinds else 1 if "compatible" in kinds else 0)


@app.command()
def log(
    tool: Annotated[str | None, typer.Argument(help="One tool alone.", show_default=False)] = None,
    lock: LockFile = None,
    as_json: AsJson = False,
) -> None:
    """Print the changelog of the locked definitions, newest first."""
    entries = [each for each in reversed(read_lock(lock).log) if tool in (None, each.tool)]
    if as_json:
        write_json(
            [{"on": e.on, "tool": e.tool, "kind": e.change.kind, "words": e.change.words} for e in entries],
        )
        return
    for entry in entries:
        write(f"{entry.on}  {entry.tool}: {entry.change.words} ({entry.change.kind})")


def _write_changes(found: "Iterable[tuple[str, Change]]") -> None:
    for tool, change in found:
        write(f"{tool}: {change.words} ({change.kind})")
