"""Planted secrets, and every place in which they must not turn up again."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import keyring
import pytest
import scigate_pubmed
import structlog
from keyring.backend import KeyringBackend
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scigate import Call, Input, Output, hookimpl, tool
from scigate.cli.app import app as command
from scigate.clock import SystemClock
from scigate.emulator import serving
from scigate.endpoint.http import running
from scigate.exporters import exporting
from scigate.host import Host
from scigate.keys import KeyRing
from scigate.settings import LogSettings, Settings
from scigate.telemetry import configure_logging
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from typer.testing import CliRunner

CANARY = "canary7d1fupstream"
AUDIT_CANARY = "canary9b2aaudit"
BOUND_S = 30
EMPTY = {"esearchresult": {"count": "0", "retmax": "0", "retstart": "0", "idlist": [], "querytranslation": "x"}}


class Ask(Input):
    text: str


class Nothing(Output):
    pass


class Clumsy:
    """A provider whose tool breaks with a secret among its local variables."""

    scigate_api = ">=1,<2"

    @hookimpl
    def register_tools(self) -> list[Any]:
        @tool("lab_break", title="Break")
        async def break_down(args: Ask, client: object, call: Call) -> Nothing:
            """Break down."""
            held = CANARY
            raise RuntimeError(f"broke after {len(held)} letters")

        return [break_down]


@pytest.fixture(scope="module")
def exporter() -> Iterator[InMemorySpanExporter]:
    """What is exported while a tracer provider is set; a tracer keeps to the first one that it has had."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with pytest.MonkeyPatch.context() as patch:
        # The API lets a process set its provider once only.
        patch.setattr(trace, "_TRACER_PROVIDER", provider)
        yield exporter
    provider.shutdown()


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> InMemorySpanExporter:
    exporter.clear()
    return exporter


class MemoryKeyring(KeyringBackend):
    """A keyring that has every entry, and in each the secret."""

    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        return CANARY

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError

    def delete_password(self, service: str, username: str) -> None:
        raise NotImplementedError


@pytest.fixture
def ring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture(autouse=True)
def log_as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def ncbi(heard: list[str]) -> Starlette:
    """An upstream that answers one search, refuses another as NCBI does a wrong key, and fails at a third."""

    async def search(request: Request) -> JSONResponse:
        key = request.query_params.get("api_key", "")
        if not key:
            key = dict(httpx.QueryParams((await request.body()).decode())).get("api_key", "")
        heard.append(key)
        asked = str(request.query_params) + (await request.body()).decode()
        if "refused" in asked:
            return JSONResponse({"error": "API key invalid", "api-key": key, "type": "client"}, 400)
        if "failing" in asked:
            return JSONResponse({"error": f"no service for {key}"}, 500)
        return JSONResponse(EMPTY)

    return Starlette(routes=[Route("/{rest:path}", search, methods=["GET", "POST"])])


async def called(url: str, key: str, name: str, arguments: dict[str, Any]) -> str:
    """The whole answer, headers included."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {key}",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
    }
    params = {"name": name, "arguments": arguments, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(url, headers=headers, json=message)
    return f"{answer.headers} {answer.text}"


PLACES = {
    "in clear": (f'"{CANARY}"', ""),
    "in a file": ('{ file = "secrets/upstream" }', "(file "),
    "in a keyring": ('{ keyring = "ncbi/ada" }', "(keyring ncbi/ada)"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.usefixtures("ring")
async def test_planted_secrets_turn_up_nowhere(
    place: str,
    tmp_path: Path,
    spans: InMemorySpanExporter,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No key, wherever it is kept, is in an answer, log, span, figure, audit line, error, cache or report.

    That is an upstream's key, a caller's and the audit log's own.

    The upstream does hear its key, once for each request, and answers with it as NCBI does.
    """
    keys = tmp_path / "keys.json"
    caller_key = KeyRing(keys).new("lab", SystemClock().now())
    kept = tmp_path / "secrets"
    kept.mkdir()
    (kept / "upstream").write_text(f"{CANARY}\n")
    (kept / "audit").write_text(f"{AUDIT_CANARY}\n")
    given, said = PLACES[place]
    heard: list[str] = []
    told: list[str] = []
    with anyio.fail_after(BOUND_S):
        async with serving(ncbi(heard)) as address:
            config = tmp_path / "scigate.toml"
            config.write_text(
                f"""
[providers.pubmed]
api_key = {given}
[upstreams.ncbi]
base_url = "{address}/entrez/eutils/"
retries = 0
[auth]
accept = ["keys"]
keys_file = "{keys}"
[audit]
path = "{tmp_path / "audit.jsonl"}"
key = {{ file = "secrets/audit" }}
[cache]
store = "sqlite"
[quota]
store = "sqlite"
directory = "{tmp_path / "stores"}"
[telemetry]
prometheus = true
""",
                encoding="utf-8",
            )
            settings = Settings.load(config)
            configure_logging(LogSettings(level="debug"))
            providers = {"pubmed": scigate_pubmed, "clumsy": Clumsy()}
            with exporting(settings.telemetry, SystemClock()) as telemetry:
                async with (
                    Host.open(settings, plugins=providers, telemetry=telemetry) as host,
                    running(host, settings=settings.server) as url,
                ):
                    for query in ("fine", "refused", "failing"):
                        told.append(await called(url, caller_key, "pubmed_search_articles", {"query": query}))
                    told.append(await called(url, caller_key, "lab_break", {"text": "x"}))
                    told.append(await called(url, f"{caller_key}x", "lab_break", {"text": "x"}))
                    told.append(repr(host.settings) + repr(host.provider_settings) + repr(host.upstreams))
                    assert telemetry.page is not None
                    told.append(telemetry.page().decode())
    monkeypatch.setenv("SCIGATE_CONFIG", str(config))
    for words in (["config", "show"], ["doctor", "--offline"], ["keys", "list"]):
        told.append(CliRunner().invoke(command, words, prog_name="scigate").output)
    assert said in told[-3].replace("\n", " ")
    shutil.move(kept, tmp_path / "moved")
    told.append(CliRunner().invoke(command, ["config", "show"], prog_name="scigate").output)
    assert "audit.key" in told[-1]
    assert "No such file" in told[-1]
    told += [span.to_json() for span in spans.get_finished_spans()]
    told += list(capfd.readouterr())
    assert set(heard) == {CANARY}
    assert len(heard) >= 3
    assert "tools/call lab_break" in "".join(told)
    assert json.loads((tmp_path / "audit.jsonl").read_text().splitlines()[0])["caller"] == "key:lab"
    secrets = (CANARY, AUDIT_CANARY, caller_key)
    assert [text for text in told if any(secret in text for secret in secrets)] == []
    written = [path for path in files(tmp_path, but=config) if path.parent.name != "moved"]
    assert any(path.suffix.startswith(".sqlite") or path.suffix == ".db" for path in written), written
    assert [path for path in written if any(contains(path, secret) for secret in secrets)] == []


def files(directory: Path, but: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file() and path != but]


def contains(path: Path, secret: str) -> bool:
    """Whether a file holds it, as it is or in a compressed column of a database."""
    raw = path.read_bytes()
    if secret.encode() in raw:
        return True
    if not raw.startswith(b"SQLite format 3"):
        return False
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        cells = [cell for table in tables for row in database.execute(f'SELECT * FROM "{table}"') for cell in row]
    database.close()
    return any(secret in repr(cell) for cell in cells)
