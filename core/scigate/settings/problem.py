"""What is wrong with the settings, in words: which key, where it stands, and the nearest right name."""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from scigate.annotation import holds_secret, model_in
from scigate.settings.origin import Keys, Origins, env_name

_USERINFO = re.compile(r"(?<=//)[^/@\s]*:[^/@\s]*@")


class SettingsError(Exception):
    """The settings are wrong; the text says how, one line for each problem.

    Attributes:
        problems: The lines.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


def problems_of(
    error: ValidationError, model: type[BaseModel], origins: Origins, told: Collection[Keys] = ()
) -> list[str]:
    """One line for each error that pydantic found; none for what is at a path that has been told of."""
    return [_problem(detail, model, origins) for detail in error.errors() if _keys(detail) not in told]


def unknown_name(keys: Keys, origins: Origins, known: Iterable[Keys]) -> str:
    """The line that refuses a key; `known` are the right paths, of which the nearest is named."""
    right = _nearest_path(keys, list(known))
    where, name = named(keys, origins)
    hint = ""
    if right:
        full = (*origins.prefix, *right)
        hint = f"; did you mean {env_name(full) if not where else '.'.join(full)}?"
    return f"{where}{name} is not a setting{hint}"


def named(keys: Keys, origins: Origins) -> tuple[str, str]:
    """How a setting is called where it stands: the file's line and the dotted name, or the variable alone."""
    origin = origins.of(keys)
    if origin.kind == "environment":
        return "", origin.text
    where = "" if origin.kind == "default" else f"{origin.text}: "
    return where or "settings: ", ".".join((*origins.prefix, *keys))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a person most likely meant, if any is near."""
    return next(iter(difflib.get_close_matches(name, list(known), 1)), None)


def shown(value: object) -> str:
    """A value as a person may see it: cut after 80 characters, and no password of a URL."""
    text = _USERINFO.sub("***@", repr(value))
    return text if len(text) <= 80 else text[:77] + "..."


def is_secret(model: type[BaseModel], keys: Keys) -> bool:
    """Whether the value at a path may not be shown.

    That is one of a secret type, one in place of a section, and one at a path that the model does not describe.
    """
    annotation: object = model
    for key in keys:
        if holds_secret(annotation):
            return True
        nested = model_in(annotation)
        if nested is None:
            continue
        if key not in nested.model_fields:
            # A mapping's name, such as that of an upstream, stands between its field and the model.
            if nested is not annotation:
                annotation = nested
                continue
            return True
        annotation = nested.model_fields[key].annotation
    return holds_secret(annotation) or model_in(annotation) is not None


def _keys(detail: ErrorDetails) -> Keys:
    return tuple(str(part) for part in detail["loc"])


def _is_plain(value: object) -> bool:
    """Whether a value is neither a section nor holds one, in which there may be a secret."""
    if isinstance(value, list):
        return all(_is_plain(each) for each in cast("list[object]", value))
    return not isinstance(value, Mapping | BaseModel)


def _problem(detail: ErrorDetails, model: type[BaseModel], origins: Origins) -> str:
    keys = _keys(detail)
    if detail["type"] == "extra_forbidden":
        return unknown_name(keys, origins, [*_siblings(model, keys), *_leaves(model)])
    where, name = named(keys, origins)
    message = re.sub(r"^(Input|Value error,|\w+(?= should))\s*", "", detail["msg"])
    hidden = detail["type"] == "missing" or is_secret(model, keys) or not _is_plain(detail["input"])
    given = "" if hidden else f"; it is {shown(detail['input'])}"
    return f"{where}{name} {message[:1].lower() + message[1:]}{given}"


def _nearest_path(keys: Keys, known: list[Keys]) -> Keys | None:
    """The sibling whose last key is nearest, or else a setting of any section."""
    siblings = {path[-1]: path for path in known if path[:-1] == keys[:-1]}
    anywhere = {path[-1]: path for path in reversed(known)}
    for names in (siblings, anywhere):
        if right := nearest(keys[-1], names):
            return names[right]
    return None


def _siblings(model: type[BaseModel], keys: Keys) -> list[Keys]:
    annotation: object = model
    for key in keys[:-1]:
        nested = model_in(annotation)
        if nested is None:
            return []
        field = nested.model_fields.get(key)
        annotation = field.annotation if field else nested
    nested = model_in(annotation)
    return [(*keys[:-1], name) for name in nested.model_fields] if nested else []


def _leaves(model: type[BaseModel], above: Keys = ()) -> list[Keys]:
    found: list[Keys] = []
    for name, field in model.model_fields.items():
        nested = field.annotation
        if isinstance(nested, type) and issubclass(nested, BaseModel):
            found += _leaves(nested, (*above, name))
        found.append((*above, name))
    return found
