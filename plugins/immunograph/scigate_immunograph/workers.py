"""Worker processes for chemistry: the gateway's own process goes on answering while molecules are worked on.

Above are the tools; below is `chemistry`, imported in the workers alone. A worker is started when it is first needed
and ended with its host. It is killed when the call that it works for is cancelled or out of time: RDKit cannot be
interrupted in any other way.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from scigate import Call, DeadlineExceeded

from scigate_immunograph.chemistry import ChemistryError
from scigate_immunograph.worker import LENGTH, framed

__all__ = ["Workers"]

P = ParamSpec("P")
T = TypeVar("T")

# The standard library's pools and anyio's run the program's main module again in every worker, which a program that
# embeds the gateway need not be written for; and neither can end one worker while the others go on, or with a host.
# -P: what stands in the working directory is not imported.
_COMMAND: Final = (sys.executable, "-P", "-m", "scigate_immunograph.worker")

_BATCH_SHARE: Final = 0.8
"""Share of a call's remaining time that an entry of a batch may take, so that what is finished can be answered."""


class _Ended(Exception):
    """A worker is no more."""


class Workers:
    """Runs functions of `chemistry` in processes.

    Args:
        most: How many processes at once.
    """

    def __init__(self, most: int) -> None:
        self._limiter = anyio.CapacityLimiter(most)
        self._idle: list[Process] = []
        self._all: set[Process] = set()

    async def run(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Run a function of values that can be pickled; cancelling the call kills its process.

        Raises:
            ChemistryError: The function's own, or of the reason `chemistry_crashed` when the process ended.
        """
        job = framed((function, arguments, named))
        async with self._limiter:
            done, value = await self._answer(job)
        if not done:
            raise value
        return value

    async def run_in_batch(self, call: Call, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """As `run`, for one entry of a batch: it leaves time for answering with the others.

        Raises:
            DeadlineExceeded: The entry's share of the call's time is up.
        """
        try:
            with anyio.fail_after(max(0.0, call.remaining_s * _BATCH_SHARE)):
                return await self.run(function, *arguments, **named)
        except TimeoutError as error:
            raise DeadlineExceeded("the entry took too long", upstream="The worker processes") from error

    async def aclose(self) -> None:
        """End all workers."""
        self._idle.clear()
        for process in list(self._all):
            await self._end(process)

    async def _answer(self, job: bytes) -> tuple[bool, Any]:
        if self._idle:
            try:
                return await self._exchange(self._idle.pop(), job)
            except _Ended:
                # It may have been ended from outside while it was idle: a fresh one will tell.
                pass
        try:
            return await self._exchange(await self._started(), job)
        except _Ended as error:
            raise ChemistryError("chemistry_crashed", "The worker process ended before the work was done.") from error

    async def _started(self) -> Process:
        process: Process | None = None
        # Shielded: a process that nobody knows of could not be ended.
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self._all.add(process)
        assert process is not None
        return process

    async def _exchange(self, process: Process, job: bytes) -> tuple[bool, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        answers = BufferedByteReceiveStream(process.stdout)
        try:
            await process.stdin.send(job)
            (length,) = LENGTH.unpack(await answers.receive_exactly(LENGTH.size))
            body = await answers.receive_exactly(length)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, anyio.IncompleteRead) as error:
            await self._end(process)
            raise _Ended from error
        except BaseException:
            await self._end(process)
            raise
        self._idle.append(process)
        # What is unpickled comes from a process of this gateway's own.
        return pickle.loads(body)  # noqa: S301

    async def _end(self, process: Process) -> None:
        self._all.discard(process)
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                try:
                    process.kill()
                except ProcessLookupError:
                    pass
            await process.aclose()
