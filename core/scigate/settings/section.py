"""One section of the settings, validated by a model that somebody else declares."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from scigate.settings.origin import Origins
from scigate.settings.problem import SettingsError, problems_of, unknown_name
from scigate.settings.secret import resolved
from scigate.settings.source import as_list, wants_list

Section = TypeVar("Section", bound=BaseModel)


def validate_section(
    model: type[Section], values: Mapping[str, object], where: Origins, also: Iterable[str] = ()
) -> Section:
    """Validate one section by a model, with errors that say where each value stands.

    A key that the model does not have is refused even where the model would ignore it, the text of a variable may be a
    list with commas where the model wants a list, and a secret may be kept in a file or a keyring.

    Args:
        model: The section's model.
        values: The section's keys, as they were read.
        where: The origins, asked by paths within the section (`Origins.below`).
        also: Right names of the section besides the model's, for the nearest name.

    Raises:
        SettingsError: A key is unknown, a value is wrong, or a secret is not to be had.
    """
    known = _names(model)
    allowed = model.model_config.get("extra") == "allow"
    unknown = [] if allowed else [key for key in values if key not in known]
    candidates = [(name,) for name in (*known, *also)]
    problems = [unknown_name((key,), where, candidates) for key in unknown]
    given = {key: _listed(model, key, value) for key, value in values.items() if key not in unknown}
    found = resolved(model, given, where)
    problems += found.problems.values()
    try:
        section = model.model_validate(found.values)
    except ValidationError as error:
        # Without it as the cause, since its text can hold any value, secrets among them.
        raise SettingsError([*problems, *problems_of(error, model, where, found.problems)]) from None
    if problems:
        raise SettingsError(problems)
    return section


def _names(model: type[BaseModel]) -> list[str]:
    aliases = [field.alias for field in model.model_fields.values() if field.alias]
    return [*model.model_fields, *aliases]


def _listed(model: type[BaseModel], key: str, value: object) -> object:
    field = model.model_fields.get(key)
    if isinstance(value, str) and field is not None and wants_list(field.annotation):
        # What begins like JSON and is none stays a text, which the model refuses with its place.
        with suppress(ValueError):
            return as_list(value)
    return value
