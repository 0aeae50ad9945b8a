"""What is written for a program and for a person."""

import json

import pytest
from scigate.cli.terminal import Waiting, waiting, write_json, write_table


def test_a_piped_table_is_lines_with_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    """One row a line, whatever a cell holds, and no heading: what cut and awk expect."""
    write_table(("a", "b"), [("1", "two\nlines\tand a tab"), ("2", "")])
    assert capsys.readouterr().out == "1\ttwo lines and a tab\n2\t\n"


def test_json_survives_what_utf8_cannot_say(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Half of a surrogate pair comes out as its JSON escape, other characters as themselves."""
    value = {"text": "β \ud800"}
    write_json(value)
    written = capfdbinary.readouterr().out
    assert "β" in written.decode()
    assert json.loads(written) == value


async def test_what_the_block_raises_comes_out_as_it_is() -> None:
    """A spinner's task must not wrap a refusal in a group."""
    with pytest.raises(ValueError, match="as it is"):
        async with waiting("..."):
            raise ValueError("as it is")


async def test_progress_changes_the_spinners_text() -> None:
    """The tool's message, or else what the command waits for, and how far it is."""
    spinner = Waiting("calling x")
    await spinner.progress(3, 10, None)
    assert spinner.text == "calling x (3 of 10)"
    await spinner.progress(4, None, "looking up")
    assert spinner.text == "looking up (4)"
