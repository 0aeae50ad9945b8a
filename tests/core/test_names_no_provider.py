"""Core knows no provider: whichever are installed, its code does not name them."""

import re
from pathlib import Path

import scigate
from scigate.providers import installed

CORE = Path(scigate.__file__).parent


def test_core_names_no_installed_provider() -> None:
    """Neither in code nor in examples: a provider's folder can be deleted, and nothing in core is about it."""
    # Without any provider nothing matches.
    wanted = re.compile("|".join(map(re.escape, installed())) or r"(?!)", re.IGNORECASE)
    found = {
        f"{path.relative_to(CORE)}: {line.strip()}"
        for path in [*CORE.rglob("*.py"), *CORE.rglob("*.in")]
        for line in path.read_text(encoding="utf-8").splitlines()
        if wanted.search(line)
    }
    assert found == set()
