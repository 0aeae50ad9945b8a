"""Reading the two places that settings come from: one TOML file and the environment."""

import json
import os
import re
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Final, cast, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource

from scigate.settings.origin import Keys
from scigate.settings.problem import SettingsError, nearest
from scigate.settings.regular import read_regular

PREFIX = "SCIGATE_"

LONGEST_FILE: Final = 1024 * 1024
"""Bytes of a configuration file."""

# The variable that names the file itself; the command line reads it.
CONFIG_VARIABLE = "SCIGATE_CONFIG"
# The name that is free for the key of `--key-from env:SCIGATE_KEY`, in a shell that also sets settings.
KEY_VARIABLE = "SCIGATE_KEY"

_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")


def read_file(path: Path | None) -> tuple[str, dict[str, object]]:
    """The text of a TOML file and what it says; nothing for None.

    Raises:
        SettingsError: The file cannot be read, or is not TOML; with the line.
    """
    if path is None:
        return "", {}
    try:
        text = read_regular(path, LONGEST_FILE).decode("utf-8")
    except OSError as error:
        raise SettingsError([f"{path}: {error.strerror or error}; --config or {CONFIG_VARIABLE} names it"]) from error
    except UnicodeDecodeError as error:
        raise SettingsError([f"{path}: not UTF-8 text ({error.reason} at byte {error.start})"]) from error
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        where = f"{path}:{line[1] if line else text.count(chr(10)) + 1}"
        raise SettingsError([f"{where}: not TOML: {error}"]) from error
    return text, cast("dict[str, object]", _without_unset(tree))


def read_environment(settings: type[BaseSettings]) -> tuple[dict[str, object], dict[Keys, str]]:
    """The values of the variables that start with SCIGATE_, and each variable's name by its keys."""
    source = _Environment(settings)
    source.env_vars = {name.lower(): value for name, value in _variables().items()}
    return source(), {_keys(name): name for name in _variables()}


def unknown_variables(settings: type[BaseSettings]) -> list[str]:
    """One problem for each variable whose first part names no setting; what is below is the model's to refuse."""
    known = list(settings.model_fields)
    problems: list[str] = []
    for name in _variables():
        first, *rest = _keys(name)
        if first not in known:
            right = nearest(first, known)
            hint = f"; did you mean {PREFIX}{'__'.join([right, *rest]).upper()}?" if right else ""
            problems.append(f"{name} is not a setting{hint}")
    return problems


def as_list(text: str) -> list[object]:
    """The list that a variable's text says: a JSON array, or values between commas."""
    if text.lstrip().startswith("["):
        return json.loads(text)
    return [part.strip() for part in text.split(",")]


def wants_list(annotation: object) -> bool:
    """Whether a field's type is a list, or may be one."""
    return get_origin(annotation) is list or any(wants_list(part) for part in get_args(annotation))


class _Environment(EnvSettingsSource):
    """pydantic-settings' reader, but a list may be written with commas, and a provider's own key stays text.

    An API key of digits is not a number.
    """

    def decode_complex_value(self, field_name: str, field: FieldInfo | None, value: object) -> object:
        text = str(value)
        # What is not to be read stays a text, which the model refuses with its place; the library's own error would
        # show the value in a traceback.
        with suppress(ValueError):
            if field is not None and wants_list(field.annotation):
                return as_list(text)
            if text.lstrip().startswith(("{", "[")):
                return json.loads(text)
        return text


def _variables() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper().startswith(PREFIX) and name.upper() not in (CONFIG_VARIABLE, KEY_VARIABLE) and is_set(value)
    }


def _keys(name: str) -> Keys:
    return tuple(name[len(PREFIX) :].lower().split("__"))


def is_set(value: object) -> bool:
    """Whether a value says something: no empty text, nor a placeholder that a client's config left as `${NAME}`."""
    return not isinstance(value, str) or bool(value.strip() and not _PLACEHOLDER.fullmatch(value.strip()))


def _without_unset(node: object) -> object:
    if isinstance(node, dict):
        tree = cast("dict[str, object]", node)
        return {key: _without_unset(value) for key, value in tree.items() if is_set(value)}
    return node


_PATHS: Final = (("audit", "path"), ("auth", "keys_file"), ("quota", "directory"))


def anchored(tree: dict[str, object], directory: Path) -> dict[str, object]:
    """A file's values, the paths among them meant from its directory: a gateway is started anywhere."""
    found = dict(tree)
    for section, key in _PATHS:
        given = found.get(section)
        if isinstance(given, dict) and isinstance(text := cast("dict[str, object]", given).get(key), str):
            found[section] = {**given, key: str(directory / Path(text).expanduser())}
    return found
