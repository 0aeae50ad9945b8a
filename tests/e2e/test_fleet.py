"""Three gateway processes behind nginx, with one budget in a real Redis server, on the emulator's count."""

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

import httpx
import pytest
import yaml
from scigate.emulator import Emulator, serving
from scigate_pubchem.emulator import create_app

DEPLOY = Path(__file__).parents[2] / "deploy"
PROGRAMS = ("redis-server", "nginx")
REPLICAS = 3
LIMIT = 10
BOUND_S = 60
"""Seconds that any wait may take: a bound on a hang, not an expectation."""
NOTED_S = 0.1
"""Seconds by which a busy machine's emulator may note an arrival late; the window is looked at without them."""

_VERSION = "2026-07-28"
_names = count()


class Fleet:
    """What a test sees of it: one address, the emulator's log, and the replicas to kill."""

    def __init__(self, url: str, emulator: Emulator) -> None:
        self.emulator = emulator
        self.replicas: dict[str, subprocess.Popen[bytes]] = {}
        self.served_by: Counter[str] = Counter()
        self.client = httpx.AsyncClient(
            base_url=url, timeout=BOUND_S, trust_env=False, limits=httpx.Limits(max_connections=50)
        )

    async def call(self) -> None:
        """A call that takes one request: a name that nothing has. Fails where the answer is not a result."""
        arguments = {"searchType": "identifier", "identifierType": "name", "identifiers": [f"none such {next(_names)}"]}
        tool = "pubchem_search_compounds"
        meta = {
            "io.modelcontextprotocol/protocolVersion": _VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": _VERSION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        response = await self.client.post("/mcp", json=message, headers=headers)
        assert response.status_code == 200, response.text
        assert "mcp-session-id" not in response.headers
        assert '"isError":true' not in response.text.replace(" ", ""), response.text
        # nginx lists every replica that it tried; the last one answered.
        self.served_by[response.headers["X-Served-By"].split(", ")[-1]] += 1


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


async def listening(port: int, process: subprocess.Popen[bytes]) -> None:
    async with asyncio.timeout(BOUND_S):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                assert process.poll() is None, f"{process.args} ended with {process.returncode}"
                await asyncio.sleep(0.02)  # A refusal takes no time, and the process needs the processor.
            else:
                writer.close()
                await writer.wait_closed()
                return


def nginx_configuration(directory: Path, port: int, replicas: list[int]) -> Path:
    """The one that is deployed, with this test's addresses."""
    text = (DEPLOY / "nginx.conf").read_text()
    text = text.replace("listen 8080", f"listen 127.0.0.1:{port}")
    for number, replica in enumerate(replicas, 1):
        text = text.replace(f"gateway-{number}:8765", f"127.0.0.1:{replica}")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"  {kind}_temp_path {directory}/{kind};\n" for kind in kinds)
    path = directory / "nginx.conf"
    path.write_text(text.replace("http {\n", f"http {{\n{paths}"))
    return path


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing and os.environ.get("CI"):
        pytest.fail(f"{' and '.join(missing)} not installed")
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed")
    redis, entrance, *ports = (free_port() for _ in range(2 + REPLICAS))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SCIGATE_")}
    async with AsyncExitStack() as stack:
        emulator = create_app()
        url = await stack.enter_async_context(serving(emulator))

        def started(*command: str, **variables: str) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(command, env=kept | variables, cwd=tmp_path)
            stack.callback(process.wait, BOUND_S)
            stack.callback(process.terminate)
            return process

        server = started("redis-server", "--port", str(redis), "--save", "", "--loglevel", "warning")
        await listening(redis, server)
        fleet = Fleet(f"http://127.0.0.1:{entrance}", emulator)
        stack.push_async_callback(fleet.client.aclose)
        for port in ports:
            fleet.replicas[f"127.0.0.1:{port}"] = started(
                *(sys.executable, "-m", "scigate.cli", "serve", "--http", "--port", str(port)),
                SCIGATE_UPSTREAMS__PUBCHEM__BASE_URL=url,
                SCIGATE_UPSTREAMS__PUBCHEM__QUOTAS=f"{LIMIT}/second",
                SCIGATE_QUOTA__REDIS_URL=f"redis://127.0.0.1:{redis}/0",
                SCIGATE_QUOTA__REPLICAS=str(REPLICAS),
                SCIGATE_LOG__LEVEL="error",
                XDG_CONFIG_HOME=str(tmp_path),
            )
        for port, replica in zip(ports, fleet.replicas.values(), strict=True):
            await listening(port, replica)
        configuration = nginx_configuration(tmp_path, entrance, ports)
        own = f"daemon off; pid {tmp_path}/nginx.pid;"
        await listening(entrance, started("nginx", "-p", str(tmp_path), "-c", str(configuration), "-g", own))
        yield fleet


async def test_fleet_keeps_one_quota_and_loses_no_call_with_a_replica(fleet: Fleet) -> None:
    """Calls go round all replicas without a session, and when one is killed in mid-load the others answer them all."""
    await asyncio.gather(*(fleet.call() for _ in range(9)))
    assert set(fleet.served_by) == set(fleet.replicas)

    load = [asyncio.create_task(fleet.call()) for _ in range(45)]
    name, victim = next(iter(fleet.replicas.items()))
    for number, answered in enumerate(asyncio.as_completed(load)):
        await answered
        if number == 15:
            victim.send_signal(signal.SIGKILL)

    before = fleet.served_by[name]
    await asyncio.gather(*(fleet.call() for _ in range(6)))
    assert fleet.served_by[name] == before
    assert fleet.emulator.peak(1.0 - NOTED_S) <= LIMIT
    assert sum(fleet.served_by.values()) == 60
    assert len(fleet.emulator.requests) >= 60


def test_manifests_agree_with_each_other() -> None:
    """The replicas that nginx knows are those of the compose file, and as many as the budget is divided among."""
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    gateways = {name for name in compose["services"] if name.startswith("gateway-")}
    assert set(re.findall(r"server (gateway-\d+):8765", (DEPLOY / "nginx.conf").read_text())) == gateways
    assert compose["services"]["gateway-1"]["environment"]["SCIGATE_QUOTA__REPLICAS"] == str(len(gateways))
    documents = [
        document
        for path in sorted((DEPLOY / "kubernetes").iterdir())
        for document in yaml.safe_load_all(path.read_text())
    ]
    kinds = {(document["kind"], document["metadata"]["name"]): document for document in documents}
    deployment, variables = kinds["Deployment", "scigate"]["spec"], kinds["ConfigMap", "scigate"]["data"]
    assert variables["SCIGATE_QUOTA__REPLICAS"] == str(deployment["replicas"])
    [container] = deployment["template"]["spec"]["containers"]
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_manifests_set_only_what_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every SCIGATE variable of the manifests is a setting, and together they are a configuration that is accepted."""
    from scigate.settings import Settings

    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    manifest = next(yaml.safe_load_all((DEPLOY / "kubernetes" / "scigate.yaml").read_text()))
    image = dict(re.findall(r"(SCIGATE_\w+)=(\S+)", (DEPLOY / "Containerfile").read_text()))
    for variables in (compose["services"]["gateway-1"]["environment"], manifest["data"]):
        with monkeypatch.context() as patch:
            for name, value in (image | variables).items():
                patch.setenv(name, value)
            settings = Settings.load()
        assert (settings.quota.replicas, settings.cache.store, settings.server.host) == (3, "redis", "0.0.0.0")
