"""Wrong usage, said in one line with a hint, exit code 2, never a traceback."""

import sys
from typing import Any

import typer
from typer.core import TyperGroup

WRONG_USAGE = 2


class Refusal(typer.TyperException):
    """The command cannot do what was asked; `message` says why and what to do instead."""

    exit_code = WRONG_USAGE


class OneLineRefusals(TyperGroup):
    """A group of commands whose errors are plain lines, so that a log or a script can show them."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command and exit; with `standalone_mode` off, return its exit code."""
        try:
            code = super().main(*args, standalone_mode=False, **extra)
        except typer.TyperException as error:
            for line in _lines(error):
                typer.echo(f"scigate: {line}", err=True)
            code = error.exit_code
        except typer.Abort:
            code = 130
        if standalone_mode:
            sys.exit(code)
        return code


def _lines(error: typer.TyperException) -> list[str]:
    message = error.format_message()
    context: typer.Context | None = getattr(error, "ctx", None)
    if context is None or not message:
        # Ours say themselves what to do; an empty one is of a group called bare, which has shown its help.
        return message.splitlines()
    # Pydantic's way to begin what a parser of an option said.
    complaint = " ".join(message.split()).rstrip(".").replace(": Value error, ", ": ")
    return [
        complaint if complaint.endswith("?") else f"{complaint}; `{context.command_path} --help` says what it takes"
    ]
