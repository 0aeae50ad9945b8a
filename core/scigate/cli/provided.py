"""Commands of providers beside core's own: `scigate NAME ...` for each group that a provider registers."""

from functools import cached_property
from typing import Any

import typer

from scigate.cli.refusal import OneLineRefusals

__all__ = ["CommandsOfProviders"]


class CommandsOfProviders(OneLineRefusals):
    """Core's commands, and where one of another name is typed, those of the installed providers.

    Providers are imported only then, and for the list in the help: `scigate --version` waits for none.
    """

    # Any stands for the types of the click inside typer, which it keeps private.
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Core's command of this name, or a provider's; core's comes first."""
        return super().get_command(ctx, cmd_name) or self._provided.get(cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """Core's commands and then the providers'."""
        own = super().list_commands(ctx)
        return [*own, *(name for name in self._provided if name not in own)]

    @cached_property
    def _provided(self) -> dict[str, Any]:
        """The providers' groups by name; a broken provider has none, and is named on standard error."""
        from scigate.providers import Registry, installed, plugin_of, reason_text  # for start-up time

        registry = Registry()
        found: dict[str, Any] = {}
        for provider, point in installed().items():
            try:
                registry.register(provider, plugin_of(point))
                for group in registry.commands(provider):
                    command = typer.main.get_command(group)
                    found.setdefault(str(command.name), command)
            except Exception as error:  # noqa: BLE001  # whatever a provider's import raises, core's commands go on
                typer.echo(f"scigate: provider {provider} is broken: {reason_text(error)}", err=True)
        return found
