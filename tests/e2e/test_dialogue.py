"""A call that asks its client, over both transports and in both eras, and what forged or borrowed answers get."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import anyio.to_thread
import httpx
import pytest
from mcp import MCPError
from mcp.server.request_state import AESGCMRequestStateCodec
from mcp_types import ElicitRequestFormParams, ElicitResult, ErrorData
from scigate.endpoint.http import running
from scigate.host import Host
from scigate.keys import KeyRing
from scigate.settings import Settings

BOUND_S = 30
KEY = "the-key-of-these-tests-and-of-no-gateway"
FORMS = {"elicitation": {}}
INVALID_PARAMS, MISSING_CAPABILITY = -32602, -32021


Post = Callable[..., Awaitable[httpx.Response]]


ASKING = Path(__file__).with_name("asking.py")


@pytest.fixture
def opened(module_at: Callable[[Path], ModuleType]) -> Callable[..., AbstractAsyncContextManager[Host]]:
    """Opens a host with the provider."""
    lab = module_at(ASKING)
    return lambda **settings: Host.open(Settings.model_validate(settings), plugins={"lab": lab})


@pytest.fixture
def lab_host(opened: Any) -> Any:
    """What `connect` serves."""
    return opened


@pytest.fixture
def posting(opened: Any) -> Callable[..., AbstractAsyncContextManager[Post]]:
    """Serves, and gives what posts requests of the stateless revision as the test wants them."""

    @asynccontextmanager
    async def serve(**settings: Any) -> AsyncIterator[Post]:
        with anyio.fail_after(BOUND_S):
            async with opened(**settings) as host, running(host) as url, httpx.AsyncClient(timeout=BOUND_S) as http:
                yield poster(http, url)

    return serve


def poster(http: httpx.AsyncClient, url: str) -> Post:
    async def post(
        target: str = "lab_order",
        method: str = "tools/call",
        capabilities: dict[str, Any] = FORMS,
        key: str | None = None,
        arguments: dict[str, Any] | None = None,
        **params: Any,
    ) -> httpx.Response:
        named = {"uri": target} if method == "resources/read" else {"name": target, "arguments": arguments or {}}
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
            "Mcp-Name": target,
            **({"Authorization": f"Bearer {key}"} if key else {}),
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**named, **params, "_meta": meta}}
        return await http.post(url, json=body, headers=headers)

    return post


def answered(**content: Any) -> dict[str, Any]:
    return {"order": {"action": "accept", "content": content}}


def refused(response: httpx.Response) -> bool:
    """Whether a state was not taken, in the one sentence that says no more."""
    error = response.json().get("error", {})
    return (error.get("code"), error.get("message")) == (INVALID_PARAMS, "Invalid or expired requestState")


class Person:
    """Answers forms, and keeps what it was asked."""

    def __init__(self, *answers: dict[str, Any] | None) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, context: object, params: Any) -> ElicitResult | ErrorData:
        assert isinstance(params, ElicitRequestFormParams)
        self.asked.append(params.message)
        answer = self._answers.pop(0)
        if answer is None:
            return ErrorData(code=-1, message="nobody is here")
        return ElicitResult.model_validate(answer)


def filled(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


ASKED = ["How many plates for A-1?", "Order 3 plates?"]
REACHED = [("auto", "http"), ("auto", "stdio"), ("legacy", "stdio")]
"""Where a question reaches the client: everywhere but in the handshake era over HTTP."""


@pytest.mark.parametrize(("era", "connect"), REACHED, indirect=True)
async def test_a_person_is_asked_twice_and_the_call_goes_on(connect: Any) -> None:
    """The same host in both eras: by results that ask, or by requests to the client."""
    person = Person(filled(plates=3), filled(sure=True))
    async with connect(elicitation_callback=person) as client:
        result = await client.call_tool("lab_order", {})
    assert result.structured_content == {"text": "3 flat plates for A-1: sure=True"}
    assert person.asked == ASKED


@pytest.mark.parametrize(("era", "connect"), REACHED, indirect=True)
async def test_a_form_filled_in_wrong_comes_back(connect: Any) -> None:
    """With what is wrong in it, until it fits or the person gives up."""
    person = Person(filled(plates="three"), {"action": "cancel"})
    async with connect(elicitation_callback=person) as client:
        result = await client.call_tool("lab_order", {})
    assert result.structured_content == {"text": "not ordered: cancel"}
    assert "plates: Input should be a valid integer" in person.asked[1]


@pytest.mark.parametrize(("era", "connect"), REACHED, indirect=True)
async def test_a_resource_and_a_prompt_ask_as_well(connect: Any) -> None:
    """Every request that may, does so alike."""
    person = Person({"action": "decline"}, {"action": "decline"})
    async with connect(elicitation_callback=person) as client:
        read = await client.read_resource("lab://A-1")
        made = await client.get_prompt("lab_plan", {"sample": "A-1"})
    assert json.loads(read.contents[0].text) == {"text": "A-1 decline"}
    assert made.messages[0].content.text == "Plan A-1 decline."


@pytest.mark.parametrize(("era", "connect"), REACHED, indirect=True)
async def test_a_client_that_answers_with_an_error_ends_the_call(connect: Any) -> None:
    """There is nothing to go on with; the connection serves on."""
    async with connect(elicitation_callback=Person(None, {"action": "decline"})) as client:
        with pytest.raises(MCPError, match="nobody is here"):
            await client.call_tool("lab_order", {})
        result = await client.call_tool("lab_order", {})
    assert result.structured_content == {"text": "not ordered: decline"}


@pytest.mark.parametrize(("era", "connect"), [("auto", "http"), ("auto", "stdio")], indirect=True)
async def test_a_capability_that_is_not_declared_is_the_protocols_error(connect: Any) -> None:
    """It says what the client would have to declare."""
    async with connect() as client:
        for ask in (
            client.call_tool("lab_order", {}),
            client.read_resource("lab://A-1"),
            client.get_prompt("lab_plan", {"sample": "A-1"}),
        ):
            with pytest.raises(MCPError) as raised:
                await ask
            assert raised.value.error.code == MISSING_CAPABILITY
            assert raised.value.error.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}


@pytest.mark.parametrize(("era", "connect"), [("legacy", "stdio")], indirect=True)
async def test_in_the_handshake_era_it_is_a_failure_that_a_model_can_read(connect: Any) -> None:
    """That era has no such error."""
    async with connect() as client:
        result = await client.call_tool("lab_order", {})
    data = result.structured_content["error"]["data"]
    assert data["reason"] == "input_unavailable"
    assert data["requiredCapabilities"] == {"elicitation": {"form": {}}}


@pytest.mark.parametrize(("era", "connect"), [("legacy", "http")], indirect=True)
async def test_without_a_session_a_client_of_the_handshake_era_cannot_be_asked(connect: Any) -> None:
    """Nothing can be sent to it over HTTP: the call fails, and its hint says what to connect by."""
    person = Person()
    async with connect(elicitation_callback=person) as client:
        result = await client.call_tool("lab_order", {})
    data = result.structured_content["error"]["data"]
    assert data["reason"] == "input_unavailable"
    assert "2026-07-28, or over stdio" in data["recovery"]["hint"]
    assert person.asked == []


async def test_over_http_a_missing_capability_is_a_bad_request(posting: Any) -> None:
    """Status 400, as the protocol has it; another kind of question names another capability."""
    async with posting() as post:
        form = await post(capabilities={})
        other = await post("lab_roots")
    assert (form.status_code, form.json()["error"]["code"]) == (400, MISSING_CAPABILITY)
    assert (other.status_code, other.json()["error"]["data"]) == (400, {"requiredCapabilities": {"roots": {}}})


async def test_the_result_that_asks_is_as_the_protocol_has_it(posting: Any) -> None:
    """Type, questions and state; nothing of the answers can be read in the state."""
    async with posting() as post:
        first = (await post()).json()["result"]
        second = (await post(inputResponses=answered(plates=31337), requestState=first["requestState"])).json()[
            "result"
        ]
    assert first["resultType"] == "input_required"
    assert first["inputRequests"]["order"]["method"] == "elicitation/create"
    assert list(second["inputRequests"]) == ["sure"]
    assert "31337" not in second["requestState"]
    assert "structuredContent" not in first


async def test_what_was_answered_is_kept_by_no_cache(posting: Any) -> None:
    """A resource that was read with an answer is its reader's, now."""
    async with posting() as post:
        first = (await post("lab://A-1", "resources/read")).json()["result"]
        done = await post(
            "lab://A-1",
            "resources/read",
            inputResponses={"order": {"action": "decline"}},
            requestState=first["requestState"],
        )
    assert "ttlMs" not in first
    assert (done.json()["result"]["ttlMs"], done.json()["result"]["cacheScope"]) == (0, "private")


FORGED: dict[str, Callable[[str], str]] = {
    "a longer one": lambda state: f"{state}-TAMPERED",
    "a shorter one": lambda state: state[:-4],
    "a changed one": lambda state: state[:40] + ("A" if state[40] != "A" else "B") + state[41:],
    "none at all": lambda state: "",
    "plain answers": lambda state: json.dumps({"round": 1, "asked": {}, "answered": {}}),
    "another gateway's": lambda state: AESGCMRequestStateCodec(["x" * 32]).seal(b"{}"),
}


@pytest.mark.parametrize("forged", FORGED)
async def test_a_forged_state_is_refused(forged: str, posting: Any) -> None:
    """In one sentence that does not say why, and the handler does not run."""
    async with posting() as post:
        state = (await post()).json()["result"]["requestState"]
        response = await post(inputResponses=answered(plates=1), requestState=FORGED[forged](state))
    assert refused(response)


async def test_a_state_is_good_for_its_own_request_alone(posting: Any) -> None:
    """Neither for another tool, nor other arguments, nor another method."""
    given = answered(plates=1)
    async with posting() as post:
        state = (await post(arguments={"sample": "A-1"})).json()["result"]["requestState"]
        elsewhere = [
            await post("lab_discard", arguments={"sample": "A-1"}, inputResponses=given, requestState=state),
            await post(arguments={"sample": "A-2"}, inputResponses=given, requestState=state),
            await post("lab_plan", "prompts/get", arguments={"sample": "A-1"}, requestState=state),
        ]
        itself = await post(arguments={"sample": "A-1"}, inputResponses=given, requestState=state)
    assert [refused(response) for response in elsewhere] == [True] * 3
    assert itself.json()["result"]["resultType"] == "input_required"


async def test_a_state_is_good_for_its_own_caller_alone(tmp_path: Path, posting: Any) -> None:
    """Another's answers are no use to whoever got hold of them."""
    file = tmp_path / "keys.json"
    ring = KeyRing(file)
    ada, bob = (ring.new(name, datetime.now(UTC)) for name in ("ada", "bob"))
    async with posting(auth={"accept": ["keys"], "keys_file": file}) as post:
        state = (await post(key=ada)).json()["result"]["requestState"]
        borrowed = await post(key=bob, inputResponses=answered(plates=1), requestState=state)
        own = await post(key=ada, inputResponses=answered(plates=1), requestState=state)
    assert refused(borrowed)
    assert own.json()["result"]["resultType"] == "input_required"


async def test_a_state_expires(posting: Any) -> None:
    """Sealed with the gateway's own key and right in all else, one whose time is over is refused."""
    codec = AESGCMRequestStateCodec([KEY])
    async with posting(server={"state_keys": [KEY]}) as post:
        claims = json.loads(codec.unseal((await post()).json()["result"]["requestState"]))
        assert claims["exp"] - claims["iat"] == 1800
        resealed = await post(requestState=codec.seal(json.dumps(claims).encode()))
        claims["exp"] = claims["iat"] - 1
        expired = await post(requestState=codec.seal(json.dumps(claims).encode()))
    assert resealed.json()["result"]["resultType"] == "input_required"
    assert refused(expired)


async def test_replicas_with_the_same_keys_go_on_with_each_others_calls(opened: Any) -> None:
    """Behind a balancer each round may reach another one; without keys in the settings only its own process can."""
    rotated = {"state_keys": ["another-key-that-seals-from-now-on-12345", KEY]}
    with anyio.fail_after(BOUND_S):
        async with (
            opened(server={"state_keys": [KEY]}) as one,
            opened(server=rotated) as two,
            opened() as alone,
            running(one) as first,
            running(two) as second,
            running(alone) as third,
            httpx.AsyncClient(timeout=BOUND_S) as http,
        ):
            state = (await poster(http, first)()).json()["result"]["requestState"]
            further = await poster(http, second)(inputResponses=answered(plates=1), requestState=state)
            stranger = await poster(http, third)(inputResponses=answered(plates=1), requestState=state)
    assert list(further.json()["result"]["inputRequests"]) == ["sure"]
    assert refused(stranger)


async def test_answers_that_are_too_long_fail_the_call(posting: Any) -> None:
    """As a failure that a model can read, not as a state that no client carries."""
    async with posting() as post:
        first = (await post()).json()["result"]
        response = await post(inputResponses=answered(plates=1, more="x" * 70_000), requestState=first["requestState"])
    assert response.json()["result"]["structuredContent"]["error"]["data"]["reason"] == "input_too_large"


async def test_the_audit_log_has_a_line_for_each_round(tmp_path: Path, posting: Any) -> None:
    """Those that ended in a question say so."""
    log = tmp_path / "audit.jsonl"
    async with posting(audit={"path": log}) as post:
        first = (await post()).json()["result"]
        await post(inputResponses={"order": {"action": "decline"}}, requestState=first["requestState"])
        await post(capabilities={})
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    calls = [(line["outcome"], line["reason"]) for line in lines if line["event"] == "call"]
    assert calls == [("input_required", None), ("ok", None), ("failure", "input_unavailable")]


def typed(words: list[str], *lines: tuple[str, bytes]) -> tuple[int, str, str]:
    """Run `scigate` in a terminal, typing each line once its question is there; exit code, output, and what was shown.

    Standard output is a pipe, as in `scigate call ... | jq`.
    """
    master, slave = pty.openpty()
    shown = ""
    until = time.monotonic() + BOUND_S
    command = [sys.executable, "-m", "scigate.cli", *words]
    with subprocess.Popen(command, stdin=slave, stderr=slave, stdout=subprocess.PIPE, text=True) as process:
        os.close(slave)
        try:
            for question, line in lines:
                while question not in shown:
                    assert select.select([master], [], [], until - time.monotonic())[0], shown
                    shown += os.read(master, 4096).decode()
                shown = ""
                os.write(master, line)
            output, _ = process.communicate(timeout=BOUND_S)
        finally:
            process.kill()
    os.close(master)
    return process.returncode, output, shown


TYPED = [("Plates (integer)", b"3\n"), ("Kind (deep or flat) [flat]", b"\n"), ("Sure (boolean)", b"y\n")]


@pytest.fixture
def lab_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets child processes find the provider among the installed ones."""
    info = tmp_path / "asking-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: asking\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[scigate]\nlab = asking\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ASKING.parent)]))


async def test_the_command_line_asks_whoever_sits_there(opened: Any) -> None:
    """Field by field, choices and defaults shown; the answer alone is on standard output."""
    with anyio.fail_after(BOUND_S):
        async with opened() as host, running(host) as url:
            words = ["call", "lab_order", "--url", url]
            code, output, _ = await anyio.to_thread.run_sync(typed, words, *TYPED)
    assert (code, output.strip()) == (0, "text: 3 flat plates for A-1: sure=True")


@pytest.mark.usefixtures("lab_installed")
def test_the_command_line_asks_for_a_gateway_of_its_own_too() -> None:
    """A number that is none is asked for again; the end of input declines."""
    wrong = [("Plates (integer)", b"many\n"), ("Kind", b"deep\n"), ("Input should be a valid integer", b"\x04")]
    code, output, _ = typed(["call", "lab_order"], *wrong)
    assert (code, output.strip()) == (0, "text: not ordered: decline")
    code, output, _ = typed(["call", "lab_order"], *TYPED)
    assert (code, output.strip()) == (0, "text: 3 flat plates for A-1: sure=True")


@pytest.mark.usefixtures("lab_installed")
async def test_without_a_terminal_the_command_line_refuses(opened: Any) -> None:
    """In one sentence, whether the gateway is its own or another."""
    with anyio.fail_after(BOUND_S):
        async with opened() as host, running(host) as url:
            for words in (["lab_order"], ["lab_order", "--url", url]):
                command = [sys.executable, "-m", "scigate.cli", "call", *words]
                done = await anyio.run_process(command, check=False, stdin=subprocess.DEVNULL)
                said = done.stderr.decode()
                assert done.returncode == 2
                assert "lab_order asks something first; call it in a terminal" in said
