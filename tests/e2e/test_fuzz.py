"""A gateway that is sent what no client sends."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import httpx
import pytest
from scigate.call import LOCAL
from scigate.endpoint.http import running
from structlog.testing import capture_logs

BENCH = Path(__file__).parents[2] / "bench" / "fuzz.py"
BOUND_S = 60


@pytest.fixture(scope="module")
def fuzzer(module_at: Callable[[Path], ModuleType]) -> ModuleType:
    """bench/fuzz.py, which sends many more."""
    return module_at(BENCH)


async def test_mutated_requests_are_answered_and_harm_nobody(
    fuzzer: ModuleType, lab_host: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Some calls succeed, most are refused, none is a fault of the server, and a right call works after them."""
    with anyio.fail_after(BOUND_S), capture_logs() as logs:
        async with lab_host() as host, running(host) as url:
            port = httpx.URL(url).port
            found = await fuzzer.fuzz(port, 1_000, 1, "lab_echo", {"text": "x"}, width=32)
            reply = await host.call("lab_echo", {"text": "still here"}, LOCAL)
    assert found[200] > 20
    assert found[400] > 20
    assert [status for status in found if status is not None and status >= 500] == []
    assert [line for line in logs if line["log_level"] in ("error", "critical")] == []
    # What the server below the gateway logs: a traceback for each would let any caller fill the disk.
    assert [record.getMessage() for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")] == []
    assert reply.structured["text"] == "still here"
