"""A gateway process under mixed faults; the long form is bench/soak.py."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch, module_at: Callable[[Path], ModuleType]) -> ModuleType:
    """The benchmark, as a module."""
    monkeypatch.syspath_prepend(str(BENCH))
    return module_at(BENCH / "soak.py")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the gateway's open files are counted in /proc")
async def test_faults_end_in_right_answers_or_failures_with_a_reason(soak: ModuleType) -> None:
    """No answer is wrong, no call outlives its deadline, every failure is typed, and no connection is left behind."""
    report = await soak.soak(seconds=8.0, callers=16)
    assert report.wrong == []
    assert report.late == []
    assert report.right > 0
    assert set(report.failed) <= {
        *("quota_exhausted", "deadline_exceeded", "upstream_unavailable", "upstream_timeout"),
        *("upstream_rate_limited", "upstream_invalid_response", "upstream_rejected"),
    }
    # One connection for each caller and for each request to the upstream, and the process's own.
    assert max(report.files) < 16 + 10 + 30
