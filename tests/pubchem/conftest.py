"""The tools over a socket: on the emulator, or on an upstream that a test makes up."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import scigate_pubchem
from scigate.call import LOCAL
from scigate.emulator import Emulator, serving
from scigate.host import Host, Reply
from scigate.settings import Settings
from scigate_pubchem.emulator import create_app

Search = Callable[..., Awaitable[Reply]]


class Pug:
    """An ASGI app that answers by a function `(path, options) -> (status, JSON)`, and keeps what it was asked."""

    def __init__(self, answer: Callable[[str, dict[str, str]], tuple[int, Any]]) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        query = scope["query_string"].decode()
        path = scope["path"].removeprefix("/rest/pug/")
        self.asked.append(f"{path}?{query}" if query else path)
        options = dict(pair.split("=", 1) for pair in query.split("&") if pair)
        status, answer = self.answer(path, {**options, "body": body.decode()})
        content = json.dumps(answer).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})


@pytest.fixture(scope="session")
def pug_answering() -> type[Pug]:
    return Pug


@pytest.fixture(scope="session")
def searching() -> Callable[..., AbstractAsyncContextManager[Search]]:
    """Serves an app as the upstream, and gives a function that calls the tool."""

    @asynccontextmanager
    async def opened(app: Emulator | Pug, **upstream: Any) -> AsyncGenerator[Search]:
        async with serving(app) as url:
            section = {"base_url": url, "quotas": ["1000/second"], "retries": 0, **upstream}
            settings = Settings.model_validate({"upstreams": {"pubchem": section}})
            async with Host.open(settings, plugins={"pubchem": scigate_pubchem}) as host:

                async def search(search_type: str, **arguments: Any) -> Reply:
                    return await host.call("pubchem_search_compounds", {"searchType": search_type, **arguments}, LOCAL)

                yield search

    return opened


@dataclass(frozen=True)
class Gateway:
    """A host that asks an emulator, each attempt once and without waiting for turns."""

    host: Host
    emulator: "Emulator | Said"

    async def call(self, tool: str, **arguments: Any) -> Reply:
        return await self.host.call(tool, arguments, LOCAL)

    async def good(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that succeeds."""
        reply = await self.call(tool, **arguments)
        assert not reply.is_error, reply.structured
        return reply.structured

    async def bad(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The error of a call that fails."""
        reply = await self.call(tool, **arguments)
        assert reply.is_error, reply.structured
        error: Any = reply.structured["error"]
        return error

    @property
    def asked(self) -> list[str]:
        """The paths of the requests that reached the emulator."""
        if isinstance(self.emulator, Emulator):
            return [arrival.path for arrival in self.emulator.requests]
        return self.emulator.asked


@pytest.fixture
def emulator() -> Emulator:
    return create_app()


@pytest.fixture
async def gateway(emulator: Emulator) -> AsyncIterator[Gateway]:
    async with serving(emulator) as url:
        section = {"base_url": url, "quotas": ["1000/second"], "retries": 0}
        settings = Settings.model_validate({"upstreams": {"pubchem": section}})
        async with Host.open(settings, plugins={"pubchem": scigate_pubchem}) as host:
            yield Gateway(host, emulator)


@dataclass(frozen=True)
class Answer:
    """What an upstream that a test makes up says."""

    content: bytes
    status: int = 200
    kind: str = "application/json"


Saying = Callable[[str, str], Answer | dict[str, Any]]


class Said:
    """An ASGI app that answers by a function `(path, query) -> answer`, a dict being JSON, and keeps the paths."""

    def __init__(self, answer: Saying) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked.append(scope["path"])
        said = self.answer(scope["path"], scope["query_string"].decode())
        answer = said if isinstance(said, Answer) else Answer(json.dumps(said).encode())
        headers = [(b"content-type", answer.kind.encode()), (b"content-length", str(len(answer.content)).encode())]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.content})


@pytest.fixture(scope="session")
def answer() -> type[Answer]:
    return Answer


@pytest.fixture(scope="session")
def saying() -> Callable[..., AbstractAsyncContextManager[Gateway]]:
    """Opens a gateway whose upstream answers by a function of path and query."""

    @asynccontextmanager
    async def opened(function: Saying) -> AsyncGenerator[Gateway]:
        app: Any = Said(function)
        async with serving(app) as url:
            section = {"base_url": url, "quotas": ["1000/second"], "retries": 0}
            settings = Settings.model_validate({"upstreams": {"pubchem": section}})
            async with Host.open(settings, plugins={"pubchem": scigate_pubchem}) as host:
                yield Gateway(host, app)

    return opened


@pytest.fixture(scope="session")
def recorded() -> Callable[[str], bytes]:
    """Reads a recorded answer of the real service; skips the test where the recordings are not at hand."""

    def read(name: str) -> bytes:
        path = Path(__file__).parents[3] / "shared" / "recordings" / "pubchem" / name
        if not path.exists():
            pytest.skip("the recordings are not at hand")
        return path.read_bytes()

    return read
