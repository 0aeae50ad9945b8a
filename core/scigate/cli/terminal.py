"""What a person or a program sees: tables on a terminal, plain lines in a pipe, waiting shown on standard error."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Generator, Iterable, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

SHOWN_AFTER_S = 0.5
"""Seconds after which waiting is shown; what is quicker than that only flickers."""


def is_terminal() -> bool:
    """Whether a person reads standard output."""
    return sys.stdout.isatty()


def write(text: str) -> None:
    """Print a line to standard output, whatever characters it holds.

    Half of a surrogate pair, which JSON can carry and UTF-8 cannot, is written as its JSON escape.
    """
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()


def write_json(value: object) -> None:
    """Print a value as indented JSON."""
    write(json.dumps(value, ensure_ascii=False, indent=2))


def write_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: drawn on a terminal, otherwise one line a row with tabs between, without the heading."""
    if not is_terminal():
        for row in rows:
            write("\t".join(" ".join(cell.split()) for cell in row))
        return
    from rich.console import Console  # for start-up time
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


class Waiting:
    """A spinner's text, which progress changes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.status: Status | None = None
        self._what = text

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Take a call's progress: what it is at, and how far."""
        share = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        self.text = f"{message or self._what} ({share})"

    @contextmanager
    def aside(self) -> Generator[None]:
        """Leave the terminal to somebody else."""
        if self.status is None:
            yield
            return
        self.status.stop()
        try:
            yield
        finally:
            self.status.start()


@asynccontextmanager
async def waiting(text: str) -> AsyncGenerator[Waiting]:
    """Show a spinner on standard error for what takes longer than `SHOWN_AFTER_S`; nothing where no terminal is."""
    state = Waiting(text)
    if not sys.stderr.isatty():
        yield state
        return
    from rich.console import Console  # for start-up time

    async def spin() -> None:
        await asyncio.sleep(SHOWN_AFTER_S)
        with Console(stderr=True).status(state.text) as state.status:
            while True:
                await asyncio.sleep(0.1)
                state.status.update(state.text)

    # Not in a task group, which would wrap what the block raises.
    spinner = asyncio.create_task(spin())
    try:
        yield state
    finally:
        spinner.cancel()
        await asyncio.wait([spinner])
