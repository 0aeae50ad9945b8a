"""What the installed providers declare, learnt without starting any: settings models and upstreams."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scigate.upstream import Upstream


@dataclass(frozen=True)
class Declared:
    """The installed providers' declarations.

    Attributes:
        settings_models: For each provider the model of its own keys, or None.
        upstreams: The upstreams by name, in the order of their providers.
    """

    settings_models: Mapping[str, "type[BaseModel] | None"]
    upstreams: Mapping[str, "Upstream"]


def declared() -> Declared:
    """Import every installed provider and ask it; a broken one is named on standard error and left out."""
    from scigate.providers import Registry, installed, plugin_of, reason_text  # for start-up time

    registry = Registry()
    models: dict[str, type[BaseModel] | None] = {}
    upstreams: dict[str, Upstream] = {}
    for name, point in installed().items():
        try:
            registry.register(name, plugin_of(point))
            model = models[name] = registry.settings_model(name)
            for upstream in registry.ask(name, model() if model else None).upstreams:
                upstreams.setdefault(upstream.name, upstream)
        except Exception as error:  # noqa: BLE001  # whatever a provider's import raises, the others are shown
            typer.echo(f"scigate: provider {name} is broken: {reason_text(error)}", err=True)
    return Declared(models, upstreams)
