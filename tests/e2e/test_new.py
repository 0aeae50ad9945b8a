"""`scigate new`: what it writes installs, passes its own tests and conforms, as it stands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from scigate.scaffold import ScaffoldError, write_provider


def test_a_new_provider_installs_and_passes_its_own_tests(tmp_path: Path) -> None:
    """Its conformance is one of them; nothing is fetched."""
    place = tmp_path / "scigate-deep_lab"
    written = subprocess.run(
        [sys.executable, "-m", "scigate.cli", "new", "deep_lab", str(place)], capture_output=True, text=True, check=True
    )
    assert str(place / "scigate_deep_lab" / "samples.py") in written.stdout.splitlines()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    site = tmp_path / "site"
    subprocess.run([*pip, "--target", str(site), str(place)], check=True, timeout=100)
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTEST_XDIST_AUTO_NUM_WORKERS": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert "3 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["MyLab", "my-lab", "1lab", "lab_", "x" * 21, ""])
def test_a_name_that_no_tool_could_begin_with_is_refused(tmp_path: Path, name: str) -> None:
    """Before anything is written."""
    with pytest.raises(ScaffoldError, match="lower-case"):
        write_provider(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A directory that holds something is left alone."""
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ScaffoldError, match="not empty"):
        write_provider("mylab", tmp_path)
