"""The `scigate` command: one module for each group of commands, below them the host and the endpoint.

What a command needs beyond typer is imported in its function: `scigate --version` and a stdio server's first answer
should not wait for the parts of other commands.
"""

__all__ = ["main"]


def main() -> None:
    """Run the command line of this process; it exits with 0, 1 for a tool's failure, or 2 for wrong usage."""
    from scigate.cli.app import app  # here, so that `import scigate.cli` costs nothing

    app(prog_name="scigate")
