"""The HTTP endpoint on a socket: what is refused before a call, what an answer carries, and how a call is given up."""

import json
import re
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from subprocess import PIPE
from typing import Any

import anyio
import httpx
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from scigate.endpoint.http import ExposureError, create_app, running, serve_http
from scigate.gateway import Gateway
from scigate.settings import ServerSettings

BOUND_S = 10
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Endpoint:
    """A client that knows nothing but HTTP and JSON, in one era of the protocol."""

    def __init__(self, url: str, http: httpx.AsyncClient, era: str) -> None:
        self.url = url
        self.http = http
        self.stateless = era == "auto"

    def headers(self, method: str, params: dict[str, Any]) -> dict[str, str]:
        if not self.stateless:
            return {**ACCEPT, "MCP-Protocol-Version": "2025-11-25"}
        name = params.get("name") or params.get("uri")
        named = {"Mcp-Name": name} if name else {}
        return {**ACCEPT, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **named}

    def message(self, method: str, params: dict[str, Any], **meta: Any) -> dict[str, Any]:
        meta = {**(MODERN if self.stateless else {}), **meta}
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}

    async def post(
        self, method: str = "tools/list", params: dict[str, Any] | None = None, **extra: str
    ) -> httpx.Response:
        params = params or {}
        headers = self.headers(method, params) | extra
        return await self.http.post(self.url, json=self.message(method, params), headers=headers)

    async def post_bytes(self, body: bytes | AsyncIterator[bytes]) -> httpx.Response:
        return await self.http.post(self.url, content=body, headers=self.headers("tools/list", {}))

    async def works(self) -> bool:
        return result_of(await self.post("tools/call", {"name": "lab_echo", "arguments": {}}))["isError"] is False


def result_of(response: httpx.Response) -> dict[str, Any]:
    text = response.content.decode("utf-8", "strict")
    if response.headers["Content-Type"].startswith("text/event-stream"):
        text = next(line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: "))
    return json.loads(text)["result"]


@asynccontextmanager
async def waiting(endpoint: Endpoint) -> AsyncIterator[None]:
    """A call that waits while the block runs, and whose connection is closed at its end."""
    params = {"name": "lab_wait", "arguments": {}}
    message = endpoint.message("tools/call", params, progressToken="p")
    headers = endpoint.headers("tools/call", params)
    async with endpoint.http.stream("POST", endpoint.url, json=message, headers=headers) as response:
        async for line in response.aiter_lines():
            if "started" in line:
                break
        yield


@pytest.fixture
def endpoint(era: str, lab_host: Any) -> Callable[..., Any]:
    """Serves the provider with given settings."""

    @asynccontextmanager
    async def served(**settings: Any) -> AsyncIterator[Endpoint]:
        with anyio.fail_after(BOUND_S):
            async with (
                lab_host() as host,
                running(host, settings=ServerSettings(**settings)) as url,
                httpx.AsyncClient() as http,
            ):
                yield Endpoint(url, http, era)

    return served


async def test_refuses_a_foreign_page_and_a_foreign_name(endpoint: Any) -> None:
    """A web page of another origin is refused, and so is a name that an attacker's DNS points at this address."""
    async with endpoint() as served:
        assert (await served.post(Origin="http://evil.example")).status_code == 403
        assert (await served.post(Origin="null")).status_code == 403
        assert (await served.post(Host="evil.example")).status_code == 421
        assert (await served.post(Origin="http://localhost:3000")).status_code == 200


async def test_accepts_the_hosts_and_origins_of_the_settings(endpoint: Any) -> None:
    """Behind a proxy the public name is accepted once it is set."""
    settings = {"allowed_hosts": ["gate.example"], "allowed_origins": ["https://app.example"]}
    async with endpoint(**settings) as served:
        assert (await served.post(Host="gate.example", Origin="https://app.example")).status_code == 200
        assert (await served.post(Host="gate.example", Origin="https://evil.example")).status_code == 403


async def test_checks_the_host_on_a_wildcard_address_too(era: str, lab_host: Any) -> None:
    """The protection does not depend on the address that is bound."""
    async with lab_host() as host:
        app = create_app(Gateway(host), ServerSettings(host="0.0.0.0", insecure=True))
        transport = httpx.ASGITransport(app)
        async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport) as http:
            assert (await Endpoint("http://evil.example/mcp", http, era).post()).status_code == 421
            assert (await Endpoint("http://127.0.0.1:8765/mcp", http, era).post()).status_code == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_only_post_is_served(endpoint: Any, method: str) -> None:
    """There is no session to listen to or to end, so nothing but POST means anything."""
    async with endpoint() as served:
        response = await served.http.request(method, served.url, headers=served.headers("tools/list", {}))
    assert response.status_code == 405
    assert response.headers["Allow"] == "POST"


async def test_nothing_is_served_beside_the_endpoint(endpoint: Any) -> None:
    """Another path is 404, whatever the configured one is."""
    async with endpoint(path="/science/mcp") as served:
        assert served.url.endswith("/science/mcp")
        assert await served.works()
        served.url = served.url.removesuffix("/science/mcp") + "/mcp"
        assert (await served.post()).status_code == 404


async def test_refuses_a_body_over_the_limit_with_and_without_its_length(endpoint: Any) -> None:
    """Memory is bounded for a body that states its size and for one that does not."""

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 1_000

    async with endpoint(max_body_bytes=10_000) as served:
        assert (await served.post_bytes(b" " * 20_000)).status_code == 413
        assert (await served.post_bytes(chunks())).status_code == 413
        assert await served.works()


BAD_BODIES = {
    "cut off": b'{"jsonrpc":"2.0","id":1,',
    "empty": b"",
    "not UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
    "too deep": b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "deeper than JSON parsers of clients go": b'{"a":' * 300 + b"1" + b"}" * 300,
    "a huge integer": b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":' + b"9" * 10_000 + b"}}",
}


@pytest.mark.parametrize("body", BAD_BODIES)
async def test_answers_a_bad_body_and_serves_on(endpoint: Any, body: str) -> None:
    """A body that is not a message is the client's fault, said as one, and the next request is served."""
    async with endpoint() as served:
        response = await served.post_bytes(BAD_BODIES[body])
        assert response.status_code == 400
        assert response.json()["error"]["code"] in (-32700, -32600, -32602)
        assert await served.works()


async def test_a_lone_surrogate_is_refused_in_a_text_that_a_strict_parser_reads(endpoint: Any) -> None:
    """Half of a surrogate pair reaches neither an upstream nor the client."""
    async with endpoint() as served:
        params = {"name": "lab_echo", "arguments": {"text": "ODD"}}
        body = json.dumps(served.message("tools/call", params)).replace("ODD", "\\ud800").encode()
        response = await served.http.post(served.url, content=body, headers=served.headers("tools/call", params))
        # The handshake era's parser refuses it as no JSON, the other's lets validation name the argument.
        if response.status_code == 200:
            assert result_of(response)["structuredContent"]["error"]["data"]["reason"] == "invalid_arguments"
        else:
            assert response.json()["error"]["code"] == -32700
        assert not re.search(r"(?i)\\ud[89a-f]", response.text)
        assert await served.works()


async def test_a_client_that_goes_away_cancels_its_call(endpoint: Any, lab: Any) -> None:
    """Closing the connection frees what the call holds."""
    async with endpoint() as served:
        async with waiting(served):
            pass
        await lab.client.cancelled.wait()


async def test_a_client_that_goes_away_within_its_body_is_no_fault(lab_host: Any) -> None:
    """Its request is dropped without an answer or an error: each would be a traceback in the log."""
    sent: list[Any] = []
    messages = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), *((name.lower().encode(), value.encode()) for name, value in ACCEPT.items())]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers, "query_string": b""}
    async with lab_host() as host:
        app = create_app(Gateway(host))
        async with app.router.lifespan_context(app):
            await app(scope, receive, send)
    assert sent == []


@pytest.mark.parametrize("era", ["auto"], indirect=True)
async def test_white_space_around_a_header_is_no_part_of_it(endpoint: Any) -> None:
    """A client may pad a header's value (RFC 9110, section 5.5); the tool's name in it still is the body's."""
    async with endpoint() as served:
        params = {"name": "lab_echo", "arguments": {}}
        headers = served.headers("tools/call", params) | {"Mcp-Name": " \tlab_echo \t ", "Connection": "close"}
        body = json.dumps(served.message("tools/call", params)).encode()
        url = httpx.URL(served.url)
        head = [f"POST {url.path} HTTP/1.1", f"Host: {url.host}:{url.port}", f"Content-Length: {len(body)}"]
        head += [f"{name}: {value}" for name, value in headers.items()]
        async with await anyio.connect_tcp(url.host, url.port) as stream:
            await stream.send("\r\n".join([*head, "", ""]).encode() + body)
            answer = await stream.receive()
    assert answer.startswith(b"HTTP/1.1 200 ")


async def test_no_session_is_kept(endpoint: Any) -> None:
    """No session id is given out, and a call needs no request before it, so that any replica can answer."""
    async with endpoint() as served:
        response = await served.post("tools/call", {"name": "lab_echo", "arguments": {"text": "first"}})
    assert result_of(response)["structuredContent"]["text"] == "first"
    assert "mcp-session-id" not in response.headers


async def test_answers_busy_while_all_places_are_taken(endpoint: Any) -> None:
    """Above the number of requests served at once the answer is 503, at once; idle connections do not count."""
    async with endpoint(concurrency=1) as served:
        assert await served.works()
        async with httpx.AsyncClient() as other:
            assert await Endpoint(served.url, other, "auto").works()
            async with waiting(served):
                busy = await Endpoint(served.url, other, "auto").post()
    assert busy.status_code == 503
    assert busy.headers["Retry-After"] == "1"


async def test_tells_nothing_of_the_software_below(endpoint: Any) -> None:
    """No header names the HTTP server."""
    async with endpoint() as served:
        response = await served.post()
    assert "server" not in response.headers


@pytest.mark.parametrize("era", ["auto"], indirect=True)
async def test_discovery_tells_what_is_served(endpoint: Any) -> None:
    """Every revision that is served is listed, newest first, and nothing is announced that is not there."""
    async with endpoint() as served:
        found = result_of(await served.post("server/discover"))
    assert found["supportedVersions"] == ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
    assert set(found["capabilities"]) == {"tools", "resources", "prompts", "completions"}
    assert not any(value for capability in found["capabilities"].values() for value in capability.values())
    assert "lab" in found["instructions"]
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "scigate"


LASTING = [
    ("server/discover", {}),
    ("tools/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("prompts/list", {}),
    ("resources/read", {"uri": "lab://sample/7"}),
]


@pytest.mark.parametrize("era", ["auto"], indirect=True)
@pytest.mark.parametrize(("method", "params"), LASTING)
async def test_says_how_long_an_answer_keeps(endpoint: Any, method: str, params: dict[str, Any]) -> None:
    """Lists keep for everybody, since they come from code; a resource keeps for its reader alone."""
    async with endpoint() as served:
        result = result_of(await served.post(method, params))
    assert result["ttlMs"] >= 60_000
    assert result["cacheScope"] == ("private" if method == "resources/read" else "public")


async def test_the_list_of_tools_is_the_same_byte_for_byte(endpoint: Any) -> None:
    """A client that hashes the list, or keeps it in a prompt cache, sees no change."""
    async with endpoint() as served:
        bodies = {(await served.post()).content for _ in range(3)}
    assert len(bodies) == 1


@pytest.mark.parametrize("address", ["0.0.0.0", "192.0.2.1", "::", "gate.example"])
async def test_does_not_bind_an_address_that_others_reach(address: str, lab_host: Any) -> None:
    """While nobody asks who calls, serving other machines has to be asked for by name."""
    async with lab_host() as host:
        with pytest.raises(ExposureError, match="SCIGATE_SERVER__INSECURE"):
            await serve_http(Gateway(host), ServerSettings(host=address))


async def test_lets_calls_under_way_finish_at_a_signal(lab_command: list[str]) -> None:
    """After SIGTERM a call that was accepted is still answered; then the process ends with code 0."""
    with anyio.fail_after(BOUND_S):
        async with await anyio.open_process([*lab_command, "http"], stdin=None, stdout=PIPE, stderr=None) as process:
            assert process.stdout is not None
            log = BufferedByteReceiveStream(process.stdout)

            async def logged(pattern: bytes) -> str:
                while (found := re.search(pattern, await log.receive_until(b"\n", 100_000))) is None:
                    pass
                return found[0].decode()

            url = await logged(rb"http://[\d.:]+/mcp")
            async with httpx.AsyncClient() as http, anyio.create_task_group() as tasks:
                endpoint = Endpoint(url, http, "auto")
                answers: list[httpx.Response] = []

                async def wait_for_the_other() -> None:
                    params = {"name": "lab_was_cancelled", "arguments": {}}
                    answers.append(await endpoint.post("tools/call", params))

                async with waiting(endpoint):
                    tasks.start_soon(wait_for_the_other)
                    await logged(b"lab_was_cancelled waits")
                    process.send_signal(signal.SIGTERM)
                    await logged(b"stopping")
            assert result_of(answers[0])["structuredContent"]["text"] == "cancelled"
            assert await process.wait() == 0
