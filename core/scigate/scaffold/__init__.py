"""A new provider's distribution, written from the files beside this module.

A file is copied with `@name@` replaced by the provider's name and `@Name@` by a class name made of it; a path loses
its `.in` and its directory `package` becomes the import package.
"""

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

__all__ = ["ScaffoldError", "write_provider"]

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
LONGEST_NAME: Final = 20
"""Characters; tool names begin with it, and clients take 64 in all."""


class ScaffoldError(Exception):
    """The distribution cannot be written; the text says why."""


def write_provider(name: str, directory: Path) -> list[Path]:
    """Write the distribution `scigate-NAME` into a directory; gives the files in the order of their names.

    Raises:
        ScaffoldError: The name is no provider's, or the directory holds something.
    """
    if _NAME.fullmatch(name) is None or len(name) > LONGEST_NAME:
        raise ScaffoldError(f"{name!r} is not lower-case letters and digits joined by _, {LONGEST_NAME} at most")
    if directory.exists() and any(directory.iterdir()):
        raise ScaffoldError(f"{directory} is not empty")
    title = "".join(part.capitalize() for part in name.split("_"))
    written: list[Path] = []
    for path, text in sorted(_files(files(__name__) / "files", Path())):
        target = directory / _renamed(path, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace("@name@", name).replace("@Name@", title), encoding="utf-8")
        written.append(target)
    return written


def _renamed(path: Path, name: str) -> Path:
    parts = [f"scigate_{name}" if part == "package" else part.removesuffix(".in") for part in path.parts]
    return Path(*parts)


def _files(place: Traversable, path: Path) -> Iterator[tuple[Path, str]]:
    for entry in place.iterdir():
        if entry.is_dir():
            yield from _files(entry, path / entry.name)
        elif entry.name.endswith(".in"):
            yield path / entry.name, entry.read_text(encoding="utf-8")
