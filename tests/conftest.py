"""What all tests share: one event loop's kind, hypothesis's profile, and the comparison with contracts."""

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import pytest

# The same examples in every run: a failure on one machine is a failure on all.
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, database=None, max_examples=60)
# Other examples in every run, to look for what the fixed ones miss.
hypothesis.settings.register_profile("search", deadline=None, max_examples=500)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


# What a gateway keeps for its user (caches, quotas, ledgers, keys) belongs to this run, here and in its subprocesses.
_HOME = tempfile.TemporaryDirectory(prefix="scigate-tests-")
for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
    os.environ[name] = str(Path(_HOME.name, name.removeprefix("XDG_").lower()))


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """The gateway runs on asyncio alone."""
    return "asyncio"


@pytest.fixture(scope="session")
def module_at() -> Callable[[Path], ModuleType]:
    """Imports a file by its path, under its own name: tests cannot import what stands beside them."""

    def load(path: Path) -> ModuleType:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def contract_differences(
    module_at: Callable[[Path], ModuleType],
) -> Callable[[Mapping[str, Any], Mapping[str, Any]], list[str]]:
    """Compares a served tool with its contract."""
    return module_at(Path(__file__).with_name("contracts.py")).differences
