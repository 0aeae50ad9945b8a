"""The providers of this repository conform; `scigate conformance` says so."""

import json
import subprocess
import sys

import pytest


@pytest.mark.parametrize("provider", ["immunograph", "pubchem", "pubmed"])
def test_our_providers_conform(provider: str) -> None:
    """Each on its own emulator, in a process of its own; a few generated calls a tool keep it short."""
    command = [sys.executable, "-m", "scigate.cli", "conformance", provider, "--json", "--thoroughness", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)
    report = json.loads(done.stdout)
    assert {check["name"]: check["problems"] for check in report["checks"] if check["problems"]} == {}
    assert (done.returncode, report["ok"]) == (0, True)


def test_a_provider_that_is_not_installed_is_refused_by_name() -> None:
    """With those that are."""
    command = [sys.executable, "-m", "scigate.cli", "conformance", "nolab"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "no provider 'nolab' is installed; there are " in done.stderr
