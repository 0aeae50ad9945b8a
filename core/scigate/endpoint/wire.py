"""The process's standard streams, owned by the protocol: lines of bytes in, lines of bytes out.

Reading and writing block, so each has a daemon thread: a process that is told to stop does not wait for a client that
neither sends nor reads. What the bytes mean is `message`'s affair.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import Final

__all__ = ["Wire", "claimed"]

_CHUNK: Final = 64 * 1024
"""Bytes asked of the operating system at once: what a Linux pipe holds."""

_MAX_HELD: Final = 64 * 1024 * 1024
"""Bytes of one line kept in memory; what follows them up to the line's end is dropped."""

_LINES_AHEAD: Final = 64
"""Lines read before the first of them is taken; then the client waits, as on a full pipe."""


class Wire:
    """A pair of file descriptors that carries lines."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._outbox: SimpleQueue[tuple[bytes, asyncio.Future[None]]] | None = None

    async def lines(self) -> AsyncIterator[bytes]:
        """Each line as it comes, without its end and never empty, until the other side closes."""
        loop = asyncio.get_running_loop()
        inbox: asyncio.Queue[bytes | None] = asyncio.Queue()
        room = threading.Semaphore(_LINES_AHEAD)

        def read() -> None:
            # A closed loop means that nobody waits for lines any more.
            with suppress(RuntimeError):
                for line in _lines(self._read_fd):
                    room.acquire()
                    loop.call_soon_threadsafe(inbox.put_nowait, line)
                loop.call_soon_threadsafe(inbox.put_nowait, None)

        threading.Thread(target=read, name="scigate-stdin", daemon=True).start()
        while (line := await inbox.get()) is not None:
            room.release()
            yield line

    async def write(self, line: bytes) -> None:
        """Write a line that brings its own end; return when the operating system has it.

        Raises:
            OSError: The other side has gone.
        """
        if self._outbox is None:
            self._outbox = SimpleQueue()
            threading.Thread(target=self._write_all, args=(self._outbox,), name="scigate-stdout", daemon=True).start()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._outbox.put((line, done))
        await done

    def _write_all(self, outbox: SimpleQueue[tuple[bytes, asyncio.Future[None]]]) -> None:
        while True:
            line, done = outbox.get()
            error: OSError | None = None
            rest = memoryview(line)
            try:
                while rest:
                    rest = rest[os.write(self._write_fd, rest) :]
            except OSError as raised:
                error = raised
            with suppress(RuntimeError):
                done.get_loop().call_soon_threadsafe(_settle, done, error)


@contextmanager
def claimed() -> Generator[Wire]:
    """Own standard input and output for as long as the block runs.

    Whatever else writes to standard output, a provider's print or a child process, reaches standard error, and whatever
    else reads standard input finds it at its end. So enter it before any provider is imported.
    """
    sys.stdout.flush()
    wire_in, wire_out = _duplicate(0), _duplicate(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # some clients start servers without a standard error
        os.dup2(nothing, 1)
    os.close(nothing)
    try:
        yield Wire(wire_in, wire_out)
    finally:
        # What was printed underway is still in the buffer, and must not follow the stream back onto the wire.
        sys.stdout.flush()
        os.dup2(wire_out, 1)
        os.dup2(wire_in, 0)


def _lines(fd: int) -> Iterator[bytes]:
    held = bytearray()
    while chunk := _read(fd):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            held += part[: max(0, _MAX_HELD - len(held))]
            if line := bytes(held).strip():
                yield line
            held.clear()
        held += rest[: max(0, _MAX_HELD - len(held))]
    if line := bytes(held).strip():
        yield line


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, _CHUNK)
    except OSError:  # a terminal or socket that went away ends the stream like one that was closed
        return b""


def _duplicate(fd: int) -> int:
    # The duplicates stay open when the block ends: a thread may still be blocked in them, and a number given to another
    # file meanwhile would have that thread read or write there.
    if sys.platform == "win32":
        return os.dup(fd)
    import fcntl  # not on Windows

    # Above the standard three, so that a standard error closed by the parent is not replaced by the wire.
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)


def _settle(done: asyncio.Future[None], error: OSError | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
