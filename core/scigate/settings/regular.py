"""Reading a regular file of bounded size without waiting: a pipe, a device or a mistake of gigabytes stops nobody."""

import errno
import os
import stat
from pathlib import Path

__all__ = ["read_regular", "without_waiting"]


def read_regular(path: Path, most: int) -> bytes:
    """What a file holds.

    Args:
        path: The file.
        most: Bytes that it may have.

    Raises:
        OSError: It cannot be read, is no regular file, or is longer.
    """
    with open(path, "rb", opener=without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file, and a reload has to read it again")
        raw = file.read(most + 1)
    if len(raw) > most:
        raise OSError(errno.EFBIG, f"longer than {most:,} bytes")
    return raw


def without_waiting(path: str, flags: int) -> int:
    """An `opener` that does not wait for somebody to write to a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
