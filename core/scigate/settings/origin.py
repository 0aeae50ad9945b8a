"""Where a setting's value came from: an option, an environment variable, a line of a file, or the default."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, cast

Keys = tuple[str, ...]
Tree = Mapping[str, object]


@dataclass(frozen=True)
class Origin:
    """The source of one value; `text` is how a person finds it: `scigate.toml:12`, `SCIGATE_SERVER__PORT`."""

    kind: Literal["default", "file", "environment", "option"]
    text: str


def env_name(keys: Keys) -> str:
    """The environment variable of a setting: ("server", "port") is SCIGATE_SERVER__PORT."""
    return "SCIGATE_" + "__".join(key.upper() for key in keys)


@dataclass(frozen=True)
class Origins:
    """The layers that settings are merged from, the strongest first.

    Attributes:
        options: Values of a command line, nested dicts.
        environment: Values of variables, nested dicts with lower-case keys.
        variables: The variables as they are spelt, by their keys.
        file: The parsed file; `path` and `text` are where it stands and what it says.
        prefix: Keys put before each asked path, where these origins are those of one section.
    """

    options: Tree = field(default_factory=dict[str, object])
    environment: Tree = field(default_factory=dict[str, object])
    variables: Mapping[Keys, str] = field(default_factory=dict[Keys, str])
    file: Tree = field(default_factory=dict[str, object])
    path: Path | None = None
    text: str = ""
    prefix: Keys = ()

    def below(self, *prefix: str) -> "Origins":
        """The same origins, asked by paths that start at a section."""
        return replace(self, prefix=(*self.prefix, *prefix))

    def merged(self) -> dict[str, object]:
        """One tree in which the stronger layer's leaves stand over the weaker one's."""
        return _over(self.options, _over(self.environment, self.file))

    def source(self, keys: Keys) -> Origin:
        """Where the value at a path came from; the default where the path itself is not written."""
        full = (*self.prefix, *keys)
        written = any(_holds(layer, full) for layer in (self.options, self.environment, self.file))
        return self.of(keys) if written else Origin("default", "default")

    def of(self, keys: Keys) -> Origin:
        """Where the value at a path came from; the nearest line above it where the path itself is not written."""
        full = (*self.prefix, *keys)
        if _holds(self.options, full):
            return Origin("option", "--" + full[-1].replace("_", "-"))
        if _holds(self.environment, full):
            return Origin("environment", self._variable(full))
        for length in range(len(full), 0, -1):
            if self.path is not None and full[:length] in self._lines:
                return Origin("file", f"{self.path}:{self._lines[full[:length]]}")
        return Origin("default", "default")

    def _variable(self, full: Keys) -> str:
        # A variable may hold a whole section as JSON, so its own path may be shorter than the value's.
        for length in range(len(full), 0, -1):
            if name := self.variables.get(full[:length]):
                return name
        return env_name(full)

    @cached_property
    def _lines(self) -> dict[Keys, int]:
        return line_numbers(self.text)


def line_numbers(text: str) -> dict[Keys, int]:
    """The line, counted from 1, on which each key path of a TOML document is first written.

    tomllib keeps no positions. But a document cut at a line either parses, and then holds what is written so far, or
    the cut falls within a value. So the paths that a longer cut adds are written on the first line after the last cut
    that parsed. The time grows with the square of the length, which only an error or `config show` pays.
    """
    found: dict[Keys, int] = {}
    lines = text.splitlines(keepends=True)
    start = 1
    for end in range(1, len(lines) + 1):
        try:
            document = tomllib.loads("".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        for keys in _paths(document):
            found.setdefault(keys, start)
        start = end + 1
    return found


def _paths(tree: Tree, above: Keys = ()) -> Iterator[Keys]:
    for key, value in tree.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from _paths(cast("Tree", value), (*above, key))


def _holds(node: object, keys: Keys) -> bool:
    # An element of a list stands where its list stands.
    if not keys or isinstance(node, list):
        return True
    if not isinstance(node, Mapping):
        return False
    branch = cast("Tree", node)
    return keys[0] in branch and _holds(branch[keys[0]], keys[1:])


def _over(upper: Tree, lower: Tree) -> dict[str, object]:
    merged = dict(lower)
    for key, value in upper.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            value = _over(cast("Tree", value), cast("Tree", below))
        merged[key] = value
    return merged
