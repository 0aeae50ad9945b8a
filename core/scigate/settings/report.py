"""What is in force, and where each value came from, without a secret."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from pydantic import BaseModel, SecretBytes, SecretStr

from scigate.settings.model import Settings
from scigate.settings.origin import Keys, Origins
from scigate.settings.problem import shown
from scigate.settings.secret import Reference


@dataclass(frozen=True)
class Line:
    """One setting as it stands.

    Attributes:
        name: Its dotted name.
        value: Its value as text; `set, not shown` for a secret that has one, `not set` for None.
        origin: Where the value came from, as `Origin.text`; for a secret that is kept elsewhere also where.
    """

    name: str
    value: str
    origin: str


def report(settings: Settings, models: Mapping[str, type[BaseModel] | None]) -> list[Line]:
    """Every setting of core, then every section of providers and upstreams that was given.

    Args:
        settings: What was loaded.
        models: The providers, each with the model of its own keys or None; each gets a section.

    Raises:
        SettingsError: A provider's own keys are wrong.
    """
    lines = list(_lines(settings, (), settings.origins))
    for name, model in models.items():
        keys = ("providers", name)
        lines += _lines(settings.provider(name), keys, settings.origins)
        if model is not None:
            lines += _lines(settings.provider_section(name, model), keys, settings.origins)
    for name, upstream in settings.upstreams.items():
        lines += _lines(upstream, ("upstreams", name), settings.origins)
    kept = settings.references(models)
    return [_placed(line, kept) for line in lines]


def _placed(line: Line, kept: list[Reference]) -> Line:
    """The line, with the place where its secret is kept."""
    found = [each for each in kept if f"{'.'.join(each.keys)}.".startswith(f"{line.name}.")]
    if not found:
        return line
    return replace(line, origin=f"{found[0].origin.text} ({', '.join(str(each) for each in found)})")


def _lines(model: BaseModel, above: Keys, origins: Origins) -> Iterator[Line]:
    for name in type(model).model_fields:
        keys = (*above, name)
        if keys in (("providers",), ("upstreams",)):
            continue
        value: object = getattr(model, name)
        entries = (
            [entry for entry in cast("list[object]", value) if isinstance(entry, BaseModel)]
            if isinstance(value, list)
            else []
        )
        if isinstance(value, BaseModel):
            yield from _lines(value, keys, origins)
        elif entries:
            for number, entry in enumerate(entries):
                yield from _lines(entry, (*keys, str(number)), origins)
        else:
            yield Line(".".join(keys), _text(cast("object", value)), origins.source(keys).text)


def _text(value: object) -> str:
    match value:
        case None:
            return "not set"
        case SecretStr() | SecretBytes():
            return "set, not shown"
        case list() if any(isinstance(entry, SecretStr | SecretBytes) for entry in cast("list[object]", value)):
            return "set, not shown"
        case bool():
            return str(value).lower()
        case Path():
            return shown(str(value))
        case _:
            return shown(value)
