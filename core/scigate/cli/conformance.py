"""`scigate conformance`: whether a provider keeps what core promises of it."""

from typing import Annotated

import typer

from scigate.cli.options import AsJson
from scigate.cli.refusal import Refusal
from scigate.cli.terminal import write, write_json


def conformance(
    provider: Annotated[str, typer.Argument(help="The provider's name, as `scigate providers` lists it.")],
    thoroughness: Annotated[
        int, typer.Option("--thoroughness", min=1, max=1000, help="How many generated calls each tool gets.")
    ] = 8,
    as_json: AsJson = False,
) -> None:
    """Try a provider on its own sample data: definitions, caps, pages, faults, cancellation, secrets.

    Needs `pip install scigate[testing]`. Exit code: 0 for a provider that conforms, 1 for one that does not.
    """
    import anyio  # for start-up time

    try:
        import hypothesis  # noqa: F401  # pyright: ignore[reportUnusedImport]  # an optional extra
        import jsonschema  # noqa: F401  # pyright: ignore[reportUnusedImport]  # an optional extra

        from scigate.testing.conformance import conformance as run
    except ImportError as error:
        raise Refusal(f"the conformance kit needs {error.name}: pip install 'scigate[testing]'") from error

    async def tried() -> None:
        report = await run(provider, thoroughness=thoroughness)
        if as_json:
            write_json(report.as_json())
        else:
            for line in report.lines():
                write(line)
        if not report.ok:
            raise typer.Exit(1)

    try:
        anyio.run(tried)
    except (LookupError, AssertionError) as error:
        raise Refusal(str(error)) from error
