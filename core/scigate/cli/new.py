"""`scigate new`: a provider to start from, which installs and passes its tests as it stands."""

from pathlib import Path
from typing import Annotated

import typer

from scigate.cli.refusal import Refusal
from scigate.cli.terminal import write


def new(
    name: Annotated[str, typer.Argument(help="The provider's name, such as mylab.", show_default=False)],
    directory: Annotated[
        Path | None, typer.Argument(help="Where to; without it, scigate-NAME.", show_default=False)
    ] = None,
) -> None:
    """Write a provider's distribution: one tool, one upstream with its emulator, settings, tests."""
    from scigate.scaffold import ScaffoldError, write_provider  # for start-up time

    place = directory or Path(f"scigate-{name}")
    try:
        written = write_provider(name, place)
    except ScaffoldError as error:
        raise Refusal(str(error)) from error
    for path in written:
        write(str(path))
    typer.echo(
        f"scigate: next: pip install -e '{place}[test]', then `scigate conformance {name}` and `pytest` in {place}",
        err=True,
    )
