"""The standard streams as lines: over pipes in this process; the process as a whole is tested end to end."""

import os
from collections.abc import Iterator

import anyio
import pytest
from scigate.endpoint.wire import Wire

BOUND_S = 10


class Pipes:
    """A wire and the other side's two ends."""

    def __init__(self) -> None:
        wire_in, self.to_wire = os.pipe()
        self.from_wire, wire_out = os.pipe()
        self.wire = Wire(wire_in, wire_out)


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    ends = Pipes()
    yield ends
    for fd in (ends.to_wire, ends.from_wire):
        try:
            os.close(fd)
        except OSError:
            pass  # the test has closed it


async def test_gives_lines_however_they_are_cut(pipes: Pipes) -> None:
    """A line may come in parts, or several at once; empty ones and carriage returns are left out."""
    for part in (b"on", b"e\n\r\n", b"two\r\nthree\n\n", b"last, without an end"):
        os.write(pipes.to_wire, part)
    os.close(pipes.to_wire)
    with anyio.fail_after(BOUND_S):
        lines = [line async for line in pipes.wire.lines()]
    assert lines == [b"one", b"two", b"three", b"last, without an end"]


async def test_gives_more_lines_than_it_reads_ahead(pipes: Pipes) -> None:
    """Reading ahead is bounded and loses nothing."""
    sent = [b"%d" % number for number in range(1_000)]
    os.write(pipes.to_wire, b"\n".join(sent))
    os.close(pipes.to_wire)
    with anyio.fail_after(BOUND_S):
        lines = [line async for line in pipes.wire.lines()]
    assert lines == sent


async def test_writes_more_than_a_pipe_holds(pipes: Pipes) -> None:
    """A long line is written while the other side reads, and the event loop runs on meanwhile."""
    line = b"x" * 1_000_000 + b"\n"
    read = bytearray()

    async def reading() -> None:
        while len(read) < len(line):
            read.extend(await anyio.to_thread.run_sync(os.read, pipes.from_wire, 65_536))

    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reading)
            await pipes.wire.write(line)
    assert bytes(read) == line


async def test_says_that_the_other_side_has_gone(pipes: Pipes) -> None:
    """Writing to a closed pipe raises, so that the server can end."""
    os.close(pipes.from_wire)
    with anyio.fail_after(BOUND_S), pytest.raises(BrokenPipeError):
        await pipes.wire.write(b"anyone?\n")


async def test_giving_up_on_a_write_does_not_wait_for_the_reader(pipes: Pipes) -> None:
    """A full pipe holds up its writer thread alone."""
    with anyio.fail_after(BOUND_S), anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pipes.wire.write, b"x" * 1_000_000)
            await anyio.lowlevel.checkpoint()
            scope.cancel()
    assert scope.cancelled_caught
