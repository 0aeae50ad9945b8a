"""A configuration file that says every setting, its default, its variable and its reason; made from the models."""

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scigate.settings.model import ProviderSettings, Settings, UpstreamSettings
from scigate.settings.origin import Keys, env_name

_HEADER = """\
# The settings of scigate. Every one stands here with its default, so nothing has to be uncommented or copied.
# The environment wins over this file: each setting's variable stands beside it. `scigate config show` says what is in
# force and where it came from. The file is named by --config or SCIGATE_CONFIG.
# A key or a password may be kept elsewhere, in a file or in the keyring of the operating system (scigate[keyring]):
#   key = { file = "/run/secrets/audit" }, as SCIGATE_AUDIT__KEY__FILE; a relative path starts where this file is
#   key = { keyring = "SERVICE/USER" }, as SCIGATE_AUDIT__KEY__KEYRING
"""


def example_file(providers: Mapping[str, type[BaseModel] | None], upstreams: Iterable[str]) -> str:
    """The text of a file that changes nothing; sections of providers and upstreams are commented out.

    Args:
        providers: The providers' names, each with the model of its own keys or None.
        upstreams: The names of the declared upstreams.
    """
    top: list[str] = []
    sections: list[str] = []
    for name, field in Settings.model_fields.items():
        nested = field.annotation
        if isinstance(nested, type) and issubclass(nested, BaseModel):
            sections.append("\n".join([f"[{name}]", *_settings(nested, (name,))]))
        elif (entry := _entry_model(field)) is not None:
            sections.append("\n".join(_entry(field, name, entry)))
        elif name not in ("providers", "upstreams"):
            top += _setting(field, (name,))
    for name, model in providers.items():
        keys = ("providers", name)
        own = list(_settings(model, keys, "#")) if model else []
        sections.append("\n".join([f"#[providers.{name}]", *_settings(ProviderSettings, keys, "#"), *own]))
    for name in upstreams:
        keys = ("upstreams", name)
        sections.append("\n".join([f"#[upstreams.{name}]", *_settings(UpstreamSettings, keys, "#")]))
    return "\n".join([_HEADER, *top, ""]) + "\n" + "\n\n".join(sections) + "\n"


def _entry_model(field: FieldInfo) -> type[BaseModel] | None:
    """The model of a list's entries, where they are sections."""
    if get_origin(field.annotation) is not list:
        return None
    (entry,) = get_args(field.annotation)
    return entry if isinstance(entry, type) and issubclass(entry, BaseModel) else None


def _entry(field: FieldInfo, name: str, model: type[BaseModel]) -> Iterator[str]:
    """One entry of a list of sections, as a comment: there is none by default."""
    yield from textwrap.wrap(_reason(field), 118, initial_indent="# ", subsequent_indent="# ")
    yield f"# {env_name((name,))}, as JSON; here, a section for each:"
    yield f"#   [[{name}]]"
    for key, part in model.model_fields.items():
        yield from textwrap.wrap(_reason(part), 116, initial_indent="#   # ", subsequent_indent="#   # ")
        default: object = part.examples[0] if part.examples else part.get_default(call_default_factory=True)
        yield f"#   {key} = {_toml('' if default is None else default)}"


def _reason(field: FieldInfo) -> str:
    return " ".join((field.description or "").split())


def _settings(model: type[BaseModel], above: Keys, mark: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield from _setting(field, (*above, name), mark)


def _setting(field: FieldInfo, keys: Keys, mark: str = "") -> Iterator[str]:
    yield from textwrap.wrap(_reason(field), 118, initial_indent="# ", subsequent_indent="# ")
    yield f"# {env_name(keys)}"
    default: object = field.get_default(call_default_factory=True, validated_data={})
    if default is None:
        yield f'#{keys[-1]} = ""'
    else:
        yield f"{mark}{keys[-1]} = {_toml(default)}"


def _toml(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}" if value >= 10_000 else str(value)
    return json.dumps(value, ensure_ascii=False)
