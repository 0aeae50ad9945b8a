"""Options that several commands share, and the settings that they lead to."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from scigate.cli.refusal import Refusal

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scigate.settings import Settings

Section = TypeVar("Section", bound="BaseModel")

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        envvar="SCIGATE_CONFIG",
        metavar="FILE",
        help="The configuration file; without it, scigate.toml in the user's configuration directory, if there.",
    ),
]
Offline = Annotated[
    bool, typer.Option("--offline", help="Answer from the providers' sample data and open no connection.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def load_settings(config: Path | None, **options: object) -> "Settings":
    """The settings of a command: its options over the environment over the file.

    The working directory is not looked into. Clients start a stdio server in directories that others may write to, and
    a file there could send keys to another address.
    """
    from scigate.settings import Settings, SettingsError  # for start-up time

    if config is None:
        usual = Path(typer.get_app_dir("scigate")) / "scigate.toml"
        config = usual if usual.is_file() else None
    try:
        return Settings.load(config, **options)
    except SettingsError as error:
        raise Refusal(str(error)) from error


def load_section(config: Path | None, provider: str, model: type[Section]) -> Section:
    """A provider's own settings, for a command of its; the log is set up as for core's commands.

    Args:
        config: As the option `ConfigFile` gives it.
        provider: Name of the provider's entry point.
        model: What its `settings_model` gives.
    """
    from scigate.settings import SettingsError  # for start-up time
    from scigate.telemetry import configure_logging

    settings = load_settings(config)
    configure_logging(settings.log, brief=True)
    try:
        return settings.provider_section(provider, model)
    except SettingsError as error:
        raise Refusal(str(error)) from error


def only_given(**options: object) -> dict[str, object]:
    """The options that were given: those that are neither None nor False."""
    return {name: value for name, value in options.items() if value is not None and value is not False}
