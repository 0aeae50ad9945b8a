"""What the tests of the upstream stack share: a clock that they move, a call to work for, and a real Redis server."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator

import pytest
from scigate.testing.clock import ManualClock
from scigate.upstream import CURRENT, Demand

BOUND_S = 20
"""Seconds that a server may take to start: a bound on a hang, not an expectation."""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def demand() -> Iterator[Demand]:
    """The call that the test's requests are made for."""
    demand = Demand(deadline=1000.0, caller="test")
    token = CURRENT.set(demand)
    yield demand
    CURRENT.reset(token)


class RedisServer:
    """A server on a port of its own that keeps nothing on disk; it can be killed and started again, empty."""

    def __init__(self, directory: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port: int = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._directory = directory
        self.start()

    def start(self) -> None:
        arguments = ["--port", str(self.port), "--save", "", "--dir", self._directory, "--loglevel", "warning"]
        self._process = subprocess.Popen(["redis-server", *arguments], stdout=subprocess.PIPE)
        with socket.socket() as attempt:
            attempt.settimeout(BOUND_S)
            while attempt.connect_ex(("127.0.0.1", self.port)):
                assert self._process.poll() is None, "redis-server ended"

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def say(self, *words: str) -> str:
        """A command in Redis's inline form, and the first line of what it says."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=BOUND_S) as connection:
            connection.sendall(" ".join(words).encode() + b"\r\n")
            return connection.makefile().readline().strip()


@pytest.fixture(scope="session")
def redis_process() -> Iterator[RedisServer]:
    if shutil.which("redis-server") is None:
        if os.environ.get("CI"):
            pytest.fail("redis-server is not installed")
        pytest.skip("redis-server is not installed")
    with tempfile.TemporaryDirectory() as directory:
        server = RedisServer(directory)
        yield server
        server.kill()


@pytest.fixture
def redis(redis_process: RedisServer) -> RedisServer:
    """A running server that holds nothing."""
    redis_process.say("FLUSHALL")
    return redis_process
