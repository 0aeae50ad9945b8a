"""`scigate upstreams`: where the budget goes, other gateways' part included."""

import asyncio
import json
from pathlib import Path

import pytest
from scigate.cli.app import app
from scigate.clock import SystemClock
from scigate.upstream.pace import Slowing
from scigate.upstream.sqlite_quotas import SqliteQuotas
from scigate.upstream.window import Token, Window
from typer.testing import CliRunner

WINDOWS = (Window(5, 1.0), Window(400, 60.0))
REPORT = {"pubchem": {"waiting": 7, "cache_hits": 30, "cache_misses": 10, "requests": 12, "breaker": "half-open"}}


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that has sent two requests and was refused once, on a store that this command shares."""
    monkeypatch.setenv("SCIGATE_QUOTA__DIRECTORY", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    async def work() -> None:
        store = SqliteQuotas(tmp_path, SystemClock())
        store.tell(lambda: json.dumps(REPORT))
        for _ in range(2):
            token = await store.take("pubchem", WINDOWS)
            assert isinstance(token, Token)
            store.sent(token)
        store.slow("pubchem", WINDOWS, Slowing(50.0, 1.0, 55.0, "429"))
        await store.look("pubchem", WINDOWS)
        store._close = lambda: None  # type: ignore[method-assign]  # It is still running.
        await store.aclose()

    asyncio.run(work())


@pytest.mark.usefixtures("running")
def test_figures_of_a_running_gateway_are_shown() -> None:
    """What is used of each window, who waits, what slows it down, the cache's part, the breaker and the store."""
    listed = json.loads(CliRunner().invoke(app, ["upstreams", "--json"]).stdout)
    [pubchem] = [each for each in listed if each["name"] == "pubchem"]
    shown = ("store", "members", "waiting", "requests", "cache_hits", "breaker", "slowed_by", "trouble")
    assert [pubchem[name] for name in shown] == ["sqlite", 1, 7, 12, 30, "half-open", "429", None]
    assert pubchem["used"][1] == 2
    assert 0 < pubchem["paused_for_s"] <= 50


@pytest.mark.usefixtures("running")
def test_a_line_tells_it_to_a_person() -> None:
    """One line an upstream, with what it is slowed by in words."""
    result = CliRunner().invoke(app, ["upstreams"])
    [line] = [line for line in result.stdout.splitlines() if line.startswith("pubchem\t")]
    cells = line.split("\t")
    assert cells[2] == "5/second, 400/minute"
    assert cells[4] == "7"
    assert cells[5].startswith("429, paused for ")
    assert cells[6:] == ["75 % of 40", "half-open", "sqlite"]


def test_a_store_that_cannot_be_used_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line says that the store is degraded, and standard error why."""
    monkeypatch.setenv("SCIGATE_QUOTA__REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    result = CliRunner().invoke(app, ["upstreams"])
    assert result.exit_code == 0
    assert "redis, degraded" in result.stdout
    assert "Redis is away" in result.stderr
