"""Refused sign-ins in the audit log: each for itself while they are few, and a flood as a count."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import httpx
import pytest
from scigate import Input, Output, tool
from scigate.audit import verify
from scigate.call import Call
from scigate.endpoint.http import running
from scigate.endpoint.sign_ins import LINES, PEERS, WINDOW_S
from scigate.host import Host
from scigate.keys import KeyRing
from scigate.settings import AuditSettings, Settings
from scigate.testing.clock import ManualClock

BOUND_S = 20
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "lab_look", "arguments": {}, "_meta": MODERN},
}
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "lab_look",
}

Ask = Callable[..., Awaitable[int]]


class Nothing(Input):
    pass


class Done(Output):
    done: bool = True


@tool("lab_look", title="Look")
async def look(args: Nothing, client: object, call: Call) -> Done:
    """Look."""
    return Done()


class Gate:
    """A gateway with keys on a socket, its clock, and its audit log."""

    def __init__(self, lab: ModuleType, directory: Path) -> None:
        self.clock = ManualClock()
        self.ring = KeyRing(directory / "keys.json")
        self.key = self.ring.new("ada", datetime(2026, 1, 1, tzinfo=UTC))
        self.audit = AuditSettings(path=directory / "audit.jsonl", chain=True)
        self._lab = lab

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Ask]:
        """Serve, and give what asks with headers and tells the status."""
        auth: dict[str, Any] = {"accept": ["keys"], "keys_file": self.ring.path}
        settings = Settings.model_validate({"auth": auth, "audit": self.audit})
        with anyio.fail_after(BOUND_S):
            async with (
                Host.open(settings, plugins={"lab": self._lab}, clock=self.clock) as host,
                running(host) as url,
                httpx.AsyncClient(trust_env=False) as http,
            ):

                async def ask(token: str | None = None, query: str = "", **headers: str) -> int:
                    shown = {} if token is None else {"Authorization": f"Bearer {token}"}
                    answer = await http.post(url + query, json=CALL, headers=HEADERS | shown | headers)
                    return answer.status_code

                yield ask

    @property
    def text(self) -> str:
        assert self.audit.path is not None
        return self.audit.path.read_text(encoding="utf-8")

    def lines(self, event: str = "sign_in") -> list[dict[str, Any]]:
        return [line for line in map(json.loads, self.text.splitlines()) if line["event"] == event]


@pytest.fixture
def gate(provider: Callable[..., ModuleType], tmp_path: Path) -> Gate:
    return Gate(provider(look), tmp_path)


async def test_a_refused_sign_in_is_a_line(gate: Gate) -> None:
    """When, from where and why, and nothing of what was shown; one that is accepted is told with its calls."""
    async with gate.open() as ask:
        assert await ask() == 401
        await gate.clock.advance(2 * WINDOW_S)
        assert await ask(gate.key[:-1]) == 401
        assert await ask(gate.key, f"?access_token={gate.key}") == 400
        assert await ask(gate.key) == 200
    lines = gate.lines()
    assert [line["reason"] for line in lines] == ["nothing_shown", "invalid_token", "token_in_address"]
    assert {line["peer"] for line in lines} == {"127.0.0.1"}
    assert lines[1] == {
        "seq": 2,
        "time": "2026-01-01T00:02:00.000+00:00",
        "event": "sign_in",
        "peer": "127.0.0.1",
        "caller": None,
        "outcome": "refused",
        "reason": "invalid_token",
        "count": 1,
        "prev": lines[1]["prev"],
        "hash": lines[1]["hash"],
    }
    assert [line["caller"] for line in gate.lines("call")] == ["key:ada"]
    _, number, secret = gate.key.split("_", 2)
    assert number not in gate.text
    assert secret[:12] not in gate.text


async def test_a_flood_is_a_few_lines_and_a_count(gate: Gate) -> None:
    """The count comes when the minute is over, although nobody asks any more; then each has a line again."""
    async with gate.open() as ask:
        for number in range(50):
            assert await ask(f"guess-{number}") == 401
        assert await ask(gate.key) == 200
        await gate.clock.advance(WINDOW_S)
        assert await ask("guess") == 401
    assert [line["count"] for line in gate.lines()] == [1] * LINES + [50 - LINES, 1]
    counted = gate.lines()[LINES]
    assert (counted["time"], counted["reason"]) == ("2026-01-01T00:01:00.000+00:00", None)
    assert "guess" not in gate.text
    assert len(gate.lines("call")) == 1
    assert gate.audit.path is not None
    assert verify(gate.audit.path, gate.audit).problems == []


async def test_what_is_counted_is_told_when_the_gateway_stops(gate: Gate) -> None:
    """A stop within the minute loses nothing."""
    async with gate.open() as ask:
        for _ in range(LINES + 4):
            assert await ask("guess") == 401
    assert [line["count"] for line in gate.lines()] == [1] * LINES + [4]


async def test_a_flood_from_everywhere_is_bounded_too(gate: Gate) -> None:
    """Peers after the first ones of a minute are counted together."""
    async with gate.open() as ask:
        for number in range(2 * PEERS):
            for _ in range(LINES + 1):
                assert await ask("guess", **{"X-Forwarded-For": f"192.0.2.{number}"}) == 401
        await gate.clock.advance(WINDOW_S)
        assert await ask("guess", **{"X-Forwarded-For": "192.0.2.200"}) == 401
    lines = gate.lines()
    assert len(lines) == PEERS * (LINES + 1) + 1 + 1
    assert sum(line["count"] for line in lines) == 2 * PEERS * (LINES + 1) + 1
    assert Counter(line["peer"] for line in lines)["192.0.2.0"] == LINES + 1
    assert [line["count"] for line in lines if line["peer"] == "others"] == [PEERS * (LINES + 1)]
    assert lines[-1]["peer"] == "192.0.2.200"


@pytest.mark.parametrize(
    ("forwarded", "peer"),
    [
        ("2001:db8::7", "2001:db8::7"),
        ("fe80::7%canary", "fe80::7"),
        ("canary", "unknown"),
        ("canary" * 1000, "unknown"),
    ],
)
async def test_a_peer_is_an_address_and_nothing_else(gate: Gate, forwarded: str, peer: str) -> None:
    """A proxy on this machine says whom it forwards; so can any program here, with any text."""
    async with gate.open() as ask:
        assert await ask("guess", **{"X-Forwarded-For": forwarded}) == 401
    assert [line["peer"] for line in gate.lines()] == [peer]
    assert "canary" not in gate.text
