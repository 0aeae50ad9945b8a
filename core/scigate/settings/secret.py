"""Secrets that are kept elsewhere: in a file, or in the keyring of the operating system.

A setting of a secret type may be a table of one key in place of a text: `{ file = PATH }` or
`{ keyring = "SERVICE/USER" }`. The secret is read whenever settings are loaded or a section is validated, so a reload
reads it anew. No problem with one tells anything of what was read.
"""

import os
import shlex
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Final, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel, SecretBytes, SecretStr
from pydantic.fields import FieldInfo

from scigate.settings.origin import Keys, Origin, Origins, Tree
from scigate.settings.problem import named, unknown_name
from scigate.settings.regular import without_waiting
from scigate.settings.source import is_set

__all__ = ["LONGEST_BYTES", "Reference", "Resolved", "SecretUnreadable", "read_secret", "references", "resolved"]

LONGEST_BYTES: Final = 64 * 1024
"""Bytes of a secret's file; a longer one is not what was meant."""

Kind = Literal["file", "keyring"]

_KINDS: Final[tuple[Kind, ...]] = ("file", "keyring")

_UNSET: Final = object()
"""Stands for a table whose only key says nothing."""

_FORMS: Final = 'should be a text, { file = PATH } or { keyring = "SERVICE/USER" }'


class SecretUnreadable(Exception):
    """A secret is not to be had where it is kept; the text says why and what to do, and nothing of the secret."""


@dataclass(frozen=True)
class Reference:
    """Where one secret is kept.

    Attributes:
        keys: The setting's path from the top.
        kind: file or keyring.
        place: An absolute path, or SERVICE/USER.
        origin: What says so.
    """

    keys: Keys
    kind: Kind
    place: str
    origin: Origin

    def __str__(self) -> str:
        return f"{self.kind} {self.place}"


@dataclass(frozen=True)
class Resolved:
    """Settings with their secrets in place.

    Attributes:
        values: The settings; an empty text stands for each secret that is not to be had.
        problems: Why one is not, by the setting's path.
    """

    values: dict[str, object]
    problems: Mapping[Keys, str]


def resolved(model: type[BaseModel], values: Tree, where: Origins) -> Resolved:
    """Read the secrets that settings keep elsewhere; only where the model's field is of a secret type.

    Args:
        model: What describes the values.
        values: The settings as they were read.
        where: Their origins, asked by paths within the values.
    """
    problems: dict[Keys, str] = {}

    def take(keys: Keys, value: object) -> object:
        try:
            found = _reference(keys, value, where)
            return read_secret(found.kind, found.place) if isinstance(found, Reference) else found
        except SecretUnreadable as error:
            problems[keys] = str(error) if isinstance(error, _Malformed) else _told(keys, where, str(error))
            return ""

    return Resolved(_filled_section(model, values, (), take), problems)


def references(model: type[BaseModel], values: Tree, where: Origins) -> list[Reference]:
    """The secrets that settings keep elsewhere, without a look at them; those of settings that load."""
    found: list[Reference] = []

    def take(keys: Keys, value: object) -> object:
        reference = _reference(keys, value, where)
        if isinstance(reference, Reference):
            found.append(reference)
        return value

    _filled_section(model, values, (), take)
    return found


def read_secret(kind: Kind, place: str) -> str:
    """Read a secret, without the line ends behind it.

    Args:
        kind: Where it is kept.
        place: The path of its file, or SERVICE/USER in the keyring.

    Raises:
        SecretUnreadable: It is not there, or is no secret.
    """
    return _in_file(Path(place)) if kind == "file" else _in_keyring(place)


def _in_file(path: Path) -> str:
    try:
        # Opened without waiting: a pipe that nobody writes to would hold the start up.
        with open(path, "rb", opener=without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SecretUnreadable(f"{path}: not a regular file, and a reload has to read it again")
            raw = file.read(LONGEST_BYTES + 1)
    except ValueError as error:
        raise SecretUnreadable(f"a path of a file has {error}") from None
    except OSError as error:
        raise SecretUnreadable(f"{path}: {error.strerror or error}; put a file there that this user can read") from None
    if len(raw) > LONGEST_BYTES:
        raise SecretUnreadable(f"{path}: longer than {LONGEST_BYTES:,} bytes; name the file of the secret alone")
    try:
        # Some editors of Windows put a mark before the text, which is no part of it.
        secret = raw.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        # The error itself holds what was read.
        raise SecretUnreadable(f"{path}: not UTF-8 text; save it as UTF-8") from None
    if not secret.strip():
        raise SecretUnreadable(f"{path}: empty; write the secret into it")
    return secret


def _in_keyring(place: str) -> str:
    service, _, user = place.rpartition("/")
    if not service or not user:
        raise SecretUnreadable("should be SERVICE/USER, as the entry is called in the keyring")
    try:
        import keyring  # an extra
    except ModuleNotFoundError:
        raise SecretUnreadable(f"{place}: needs an extra: pip install 'scigate[keyring]'") from None
    try:
        secret = keyring.get_password(service, user)
    except Exception as error:  # noqa: BLE001  # each backend raises what it likes, whose text may hold anything
        why = f"the keyring fails ({type(error).__name__}); `python -m keyring diagnose` says which one it is"
        raise SecretUnreadable(f"{place}: {why}") from None
    if not (secret or "").strip():
        command = shlex.join(["python", "-m", "keyring", "set", service, user])
        raise SecretUnreadable(f"{place}: no such entry in the keyring; `{command}` makes one")
    return str(secret)


class _Malformed(SecretUnreadable):
    """What stands in place of the secret is not right; the text names the setting already."""


def _reference(keys: Keys, value: object, where: Origins) -> object:
    """Where a secret is kept, or the value itself where it is no table.

    Raises:
        SecretUnreadable: The table is not of its form, or the secret is given twice.
    """
    variables = [
        name
        for path in [keys, *((*keys, kind) for kind in _KINDS)]
        if (name := where.variables.get((*where.prefix, *path))) is not None
    ]
    if len(variables) > 1:
        raise _Malformed(f"{' and '.join(variables)} say the same; set one of them")
    if not isinstance(value, Mapping):
        return value
    table = cast("Tree", value)
    if not table:
        return _UNSET
    for key in table:
        if key not in _KINDS:
            raise _Malformed(unknown_name((*keys, key), where, [(*keys, kind) for kind in _KINDS]))
    given = _strongest([kind for kind in _KINDS if kind in table], keys, where)
    kind, place = given[0], table[given[0]]
    if not is_set(place):
        return _UNSET
    if len(given) > 1 or not isinstance(place, str):
        raise SecretUnreadable(_FORMS)
    origin = where.of((*keys, kind))
    return Reference((*where.prefix, *keys), kind, _absolute(place, origin, where) if kind == "file" else place, origin)


def _strongest(kinds: list[Kind], keys: Keys, where: Origins) -> list[Kind]:
    """Of the kinds that a merged table has, those of its strongest layer: a variable wins over the file's table."""
    layers = [where.of((*keys, kind)).kind for kind in kinds]
    wins = next(layer for layer in ("option", "environment", "file", "default") if layer in layers)
    return [kind for kind, layer in zip(kinds, layers, strict=True) if layer == wins]


def _absolute(place: str, origin: Origin, where: Origins) -> str:
    try:
        path = Path(place).expanduser()
    except RuntimeError:
        raise SecretUnreadable(f"{place}: this user has no home directory; write the whole path") from None
    if path.is_absolute():
        return str(path)
    if origin.kind == "file" and where.path is not None:
        return str(where.path.absolute().parent / path)
    # An editor or a service manager starts the gateway in a directory of its own choice.
    raise SecretUnreadable(
        f"{place}: should be an absolute path, as the gateway may be started in any directory; "
        "in a configuration file a path may be relative to that file"
    )


def _told(keys: Keys, where: Origins, problem: str) -> str:
    deeper = next((path for kind in _KINDS if (*where.prefix, *(path := (*keys, kind))) in where.variables), keys)
    place, name = named(deeper, where)
    return f"{place}{name} {problem}" if problem.startswith("should") else f"{place}{name}: {problem}"


Take = Callable[[Keys, object], object]


def _filled_section(model: type[BaseModel], values: Tree, keys: Keys, take: Take) -> dict[str, object]:
    filled: dict[str, object] = {}
    for key, value in values.items():
        field = _field(model, key)
        taken = value if field is None else _filled(field.annotation, value, (*keys, key), take)
        if taken is not _UNSET:
            filled[key] = taken
    return filled


def _field(model: type[BaseModel], key: str) -> FieldInfo | None:
    fields = model.model_fields
    return fields.get(key) or next(
        (each for each in fields.values() if key in (each.alias, each.validation_alias)), None
    )


def _filled(annotation: object, value: object, keys: Keys, take: Take) -> object:
    """The value with what `take` gives for each secret in it."""
    kinds = list(_alternatives(annotation))
    is_secret = SecretStr in kinds or SecretBytes in kinds
    if isinstance(value, Mapping):
        table = cast("Tree", value)
        if is_secret and (set(table) <= set(_KINDS) or not any(_is_table(kind) for kind in kinds)):
            return take(keys, table)
        for kind in kinds:
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                return _filled_section(kind, table, keys, take)
            if get_origin(kind) is dict:
                entry = get_args(kind)[1]
                filled = {key: _filled(entry, each, (*keys, key), take) for key, each in table.items()}
                return {key: each for key, each in filled.items() if each is not _UNSET}
        return table
    if isinstance(value, list):
        entries = next((get_args(kind)[0] for kind in kinds if _is_collection(kind)), object)
        items = enumerate(cast("list[object]", value))
        filled_items = [_filled(entries, each, (*keys, str(number)), take) for number, each in items]
        return [each for each in filled_items if each is not _UNSET]
    return take(keys, value) if is_secret else value


def _alternatives(annotation: object) -> Iterator[object]:
    """The types of which a value may be."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif origin is Union or origin is UnionType:
        for part in get_args(annotation):
            yield from _alternatives(part)
    else:
        yield annotation


def _is_table(kind: object) -> bool:
    return get_origin(kind) is dict or kind is dict or (isinstance(kind, type) and issubclass(kind, BaseModel))


def _is_collection(kind: object) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Collection) and not issubclass(origin, Mapping)
