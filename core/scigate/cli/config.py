"""`scigate config`: what is in force and why, and an example file."""

import typer

from scigate.cli.options import AsJson, ConfigFile, Offline, load_settings, only_given
from scigate.cli.refusal import Refusal
from scigate.cli.terminal import write, write_json, write_table

app = typer.Typer(help="Show the settings, an example file, or what to paste into a client.", no_args_is_help=True)


@app.command()
def show(as_json: AsJson = False, offline: Offline = False, config: ConfigFile = None) -> None:
    """Show every setting, its value and where it came from; never a secret."""
    from scigate.cli.declared import declared  # for start-up time
    from scigate.settings import SettingsError
    from scigate.settings.report import report

    settings = load_settings(config, **only_given(offline=offline))
    try:
        lines = report(settings, declared().settings_models)
    except SettingsError as error:
        raise Refusal(str(error)) from error
    if as_json:
        write_json({line.name: {"value": line.value, "from": line.origin} for line in lines})
    else:
        write_table(("setting", "value", "from"), [(line.name, line.value, line.origin) for line in lines])


@app.command()
def example() -> None:
    """Print a configuration file with every setting, its default, its variable and its reason."""
    from scigate.cli.declared import declared  # for start-up time
    from scigate.settings.example import example_file

    known = declared()
    write(example_file(known.settings_models, known.upstreams).rstrip("\n"))
