"""The gateway as a process, whose configuration file is edited while it serves."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp import Client
from mcp.client.stdio import StdioServerParameters

BOUND_S = 60
SCIGATE = [sys.executable, "-m", "scigate.cli"]
HTTP = ["serve", "--http", "--port", "0", "--config"]
ON = 'offline = true\nlog.format = "json"\n'
OFF = ON + "[providers.pubmed]\nenabled = false\n"
WRONG = ON + "[providers.pubmed]\nenable = false\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "scigate.toml"
    write(path, ON)
    return path


@pytest.fixture
def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("SCIGATE_")}


def write(path: Path, text: str) -> None:
    """Move the text into place at once, as a deployment does."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


async def providers_of(client: Client) -> set[str]:
    """The first word of each tool's name."""
    return {tool.name.split("_")[0] for tool in (await client.list_tools()).tools}


@pytest.mark.parametrize("era", ["legacy", "auto"], ids=["handshake", "stateless"])
async def test_a_client_on_stdio_is_told(path: Path, environment: dict[str, str], era: str) -> None:
    """In both eras: by a notification after the handshake, by the stream that it listens to without one."""
    told = anyio.Event()

    async def hear(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            told.set()

    command = [*SCIGATE[1:], "serve", "--stdio", "--config", str(path)]
    server = StdioServerParameters(command=SCIGATE[0], args=command, env=environment)
    with anyio.fail_after(BOUND_S):
        async with Client(server, mode=era, message_handler=hear) as client:
            assert "pubmed" in await providers_of(client)
            if era == "legacy":
                write(path, OFF)
                await told.wait()
            else:
                async with client.listen(tools_list_changed=True) as changes:
                    write(path, OFF)
                    await anext(aiter(changes))
            left = await providers_of(client)
    assert left
    assert "pubmed" not in left


class Log:
    """A process's log, line by line as JSON."""

    def __init__(self, process: Process) -> None:
        assert process.stderr is not None
        self._lines = BufferedByteReceiveStream(process.stderr)

    async def until(self, event: str) -> dict[str, Any]:
        while True:
            line = await self._lines.receive_until(b"\n", 100_000)
            if line.startswith(b"{") and (found := json.loads(line))["event"] == event:
                return found


@asynccontextmanager
async def serving(path: Path, environment: dict[str, str]) -> AsyncIterator[tuple[Process, Log]]:
    """A gateway over HTTP, which stops by SIGTERM without complaint."""
    command = [*SCIGATE, *HTTP, str(path)]
    async with await anyio.open_process(command, stdin=None, stdout=None, stderr=PIPE, env=environment) as process:
        try:
            yield process, Log(process)
        finally:
            process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def test_a_broken_configuration_is_refused(path: Path, environment: dict[str, str]) -> None:
    """What was served before is served on; the log and `scigate doctor` say what is wrong, and where it stands."""
    with anyio.fail_after(BOUND_S):
        async with serving(path, environment) as (process, log):
            url = (await log.until("serving"))["url"]
            write(path, WRONG)
            process.send_signal(signal.SIGHUP)
            refused = await log.until("reload refused")
            doctor = await anyio.run_process(
                [*SCIGATE, "doctor", "--json", "--config", str(path)], check=False, env=environment
            )
            async with Client(url) as client:
                assert "pubmed" in await providers_of(client)
            write(path, OFF)
            await log.until("reloaded")
            async with Client(url) as client:
                assert "pubmed" not in await providers_of(client)
    assert f"{path}:4" in refused["reason"]
    assert doctor.returncode == 1
    found = [finding["what"] for finding in json.loads(doctor.stdout) if finding["state"] == "problem"]
    assert any(f"{path}:4" in what for what in found), found


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of this kind are POSIX")
def test_a_terminal_that_closes_takes_its_gateway_along(path: Path, environment: dict[str, str]) -> None:
    """SIGHUP has its first meaning there: nobody is left who could stop it."""
    import pty

    ours, theirs = pty.openpty()
    program = "import os, sys, fcntl, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    program += "os.execv(sys.executable, [sys.executable, '-m', 'scigate.cli', *sys.argv[1:]])"
    command = [sys.executable, "-c", program, *HTTP, str(path)]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=PIPE, env=environment) as process:
        os.close(theirs)
        assert process.stderr is not None
        for line in process.stderr:
            if b'"serving"' in line:
                break
        os.close(ours)
        process.stderr.read()
        assert process.wait(BOUND_S) == 0
