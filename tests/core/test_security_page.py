"""docs/security.md names tests: they are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_that_the_threat_model_names_is_there() -> None:
    """A defence without its test is a promise."""
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", page))
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    there = set(re.findall(r"^(?:async )?def (test_\w+)\(", sources, re.MULTILINE))
    assert named
    assert named - there == set()
