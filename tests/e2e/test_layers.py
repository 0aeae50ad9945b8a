"""The direction of imports, as pyproject.toml states it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_imports_go_down_the_layers() -> None:
    """Core's layers, the SDK's one place, core without providers, providers without each other."""
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
