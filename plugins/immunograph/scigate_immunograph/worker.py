"""The other side of `workers`: a process that does one job after another until its input ends.

A job comes as a pickled (function, arguments, named arguments), an answer goes as a pickled (done, result or
exception), each after its length in eight bytes.
"""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Callable
from typing import Any, BinaryIO, Final

__all__ = ["LENGTH", "framed"]

LENGTH: Final = struct.Struct(">Q")


def framed(value: object) -> bytes:
    """A value as it goes through the pipe."""
    body = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


def main() -> None:
    """Serve on standard input and output, which nothing else in the process can reach."""
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        # Libraries print what they like, some of them past Python.
        os.dup2(nowhere, stream)
    while (job := _next(jobs)) is not None:
        answers.write(_answer(*job))
        answers.flush()


def _next(jobs: BinaryIO) -> tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]] | None:
    header = jobs.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    body = jobs.read(*LENGTH.unpack(header))
    # What is unpickled comes from the gateway that started this process, and from nobody else.
    return pickle.loads(body)  # noqa: S301


def _answer(function: Callable[..., object], arguments: tuple[Any, ...], named: dict[str, Any]) -> bytes:
    try:
        return framed((True, function(*arguments, **named)))
    except Exception as error:  # noqa: BLE001  # handed on to whoever asked
        return framed((False, error))


if __name__ == "__main__":
    main()
