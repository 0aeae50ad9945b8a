"""A question that a call asks, answered by the person at the terminal: field by field, on standard error and input."""

import sys
from collections.abc import Mapping
from typing import Any

import typer

from scigate.cli.arguments import accepted, parse_arguments
from scigate.cli.refusal import Refusal
from scigate.cli.terminal import Waiting

Json = dict[str, Any]


def can_answer() -> bool:
    """Whether a person is there: standard output may be a pipe."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def unanswerable(tool: str) -> Refusal:
    """For a call that asks where nobody is to answer."""
    return Refusal(f"{tool} asks something first; call it in a terminal, with no pipe on its input")


class Terminal:
    """Has the person fill in forms.

    Args:
        spinner: What is shown meanwhile, and stands aside for a question.
    """

    def __init__(self, spinner: Waiting) -> None:
        self._spinner = spinner

    def fill_in(self, message: str, schema: Mapping[str, Any]) -> Json:
        """The answer to a form, as MCP has it; the end of input (Ctrl-D) declines.

        It blocks, so that an interrupt (Ctrl-C) ends the command; nothing else goes on while a person types.
        """
        with self._spinner.aside():
            typer.echo(f"{_printable(message)} (Ctrl-D declines)", err=True)
            words: list[str] = []
            for name, field in schema["properties"].items():
                text = self._line(name, field, needed=name in schema.get("required", ()))
                if text is None:
                    typer.echo("", err=True)
                    return {"action": "decline"}
                words += _words(name, field, text)
        return {"action": "accept", "content": parse_arguments(words, schema)}

    def _line(self, name: str, field: Mapping[str, Any], *, needed: bool) -> str | None:
        """What is typed for a field, "" for its default or for leaving it out; None at the end of input."""
        default: object = field.get("default")
        hint = f" [{default}]" if default is not None else "" if needed else " [none]"
        told = field.get("description") or field.get("title") or name
        while True:
            typer.echo(f"  {_printable(told)} ({_printable(accepted(field, field))}){hint}: ", err=True, nl=False)
            line = sys.stdin.readline()
            if not line:
                return None
            text = line.strip()
            if text or not needed or default is not None:
                return text


def _words(name: str, field: Mapping[str, Any], text: str) -> list[str]:
    if not text:
        return []
    if field.get("type") == "boolean":
        text = {"y": "true", "yes": "true", "n": "false", "no": "false"}.get(text.lower(), text.lower())
    parts = [part.strip() for part in text.split(",")] if field.get("type") == "array" else [text]
    return [f"{name}={part}" for part in parts]


def _printable(text: str) -> str:
    """The text without what would move the cursor or hide something: it comes from elsewhere."""
    return "".join(each if each.isprintable() else " " for each in text)
