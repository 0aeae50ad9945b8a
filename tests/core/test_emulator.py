"""The wrapper of emulators: faults in process and on a socket, counts, the rate, the mark."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate.emulator import Arrival, Body, Emulator, Fault, serving

TRUE_ANSWER = b'{"answer": 42, "and": "more"}'


async def upstream(scope: Any, receive: Any, send: Any) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(TRUE_ANSWER)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": TRUE_ANSWER})


def busy(kind: str, status: int) -> Body:
    return Body(status, "application/json", f'{{"code": "{kind}"}}'.encode(), {"X-Said": "wait"})


class Time:
    """Seconds that pass only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def emulator(time: Time) -> Emulator:
    throttle = {"X-Slow-Down": "please"}
    return Emulator(upstream, "acme", busy, throttle, monotonic=time.monotonic, sleep=time.sleep)


@pytest.fixture
async def local(emulator: Emulator) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=emulator), base_url="http://acme") as client:
        yield client


@pytest.fixture
async def remote(emulator: Emulator) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(emulator) as base_url, httpx.AsyncClient(base_url=base_url) as client:
        yield client


async def test_true_answer(local: httpx.AsyncClient):
    """Without a fault the app's answer passes, marked as sample data."""
    answer = await local.get("/")
    assert (answer.content, answer.headers["x-sample-data"]) == (TRUE_ANSWER, "acme")


@pytest.mark.parametrize(
    ("fault", "status", "content", "headers"),
    [
        ("429", 429, b'{"code": "429"}', {"x-said": "wait"}),
        ("503;retry-after=2", 503, b'{"code": "503"}', {"retry-after": "2"}),
        ("500", 500, b'{"code": "500"}', {}),
        ("504", 504, b'{"code": "504"}', {}),
        ("busy", 400, b'{"code": "busy"}', {}),
        ("wrong-type", 200, TRUE_ANSWER, {"content-type": "application/octet-stream"}),
        ("throttle", 200, TRUE_ANSWER, {"x-slow-down": "please", "content-type": "application/json"}),
    ],
)
async def test_answered_faults(
    local: httpx.AsyncClient,
    remote: httpx.AsyncClient,
    emulator: Emulator,
    fault: str,
    status: int,
    content: bytes,
    headers: dict[str, str],
):
    """Faults that are answered look alike in process and on a socket, are marked, and meet one request."""
    for client in (local, remote):
        emulator.faults.add(fault)
        answer = await client.get("/")
        assert (answer.status_code, answer.content) == (status, content)
        assert headers.items() <= dict(answer.headers).items()
        assert answer.headers["x-sample-data"] == "acme"
        assert (await client.get("/")).content == TRUE_ANSWER


async def test_no_retry_after(local: httpx.AsyncClient, emulator: Emulator):
    """A 503 has no `Retry-After` unless it is asked for."""
    emulator.faults.add(Fault("503"))
    assert "retry-after" not in (await local.get("/")).headers


async def test_html(local: httpx.AsyncClient, emulator: Emulator):
    """A page comes with status 200 in place of JSON."""
    emulator.faults.add(Fault("html"))
    answer = await local.get("/")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.text.startswith("<!DOCTYPE html>")


async def test_latency(local: httpx.AsyncClient, emulator: Emulator, time: Time):
    """The true answer comes after the wait."""
    emulator.faults.add(Fault("latency", seconds=7))
    assert (await local.get("/")).content == TRUE_ANSWER
    assert time.now == 7


async def test_truncated_on_a_socket(remote: httpx.AsyncClient, emulator: Emulator):
    """The announced length is the whole one; half of it comes, then the connection closes; the server serves on."""
    emulator.faults.add(Fault("truncated"))
    with pytest.raises(
        httpx.RemoteProtocolError, match=f"received {len(TRUE_ANSWER) // 2} bytes, expected {len(TRUE_ANSWER)}"
    ):
        await remote.get("/")
    assert (await remote.get("/")).content == TRUE_ANSWER


async def test_reset_on_a_socket(remote: httpx.AsyncClient, emulator: Emulator):
    """The peer resets: the reader gets an error and not a polite end."""
    emulator.faults.add(Fault("reset"))
    with pytest.raises(httpx.ReadError) as caught:
        await remote.get("/")
    assert (await remote.get("/")).content == TRUE_ANSWER
    causes = []
    cause: BaseException | None = caught.value
    while cause:
        causes.append(type(cause))
        cause = cause.__cause__ or cause.__context__
    assert ConnectionResetError in causes


async def test_hang_on_a_socket(remote: httpx.AsyncClient, emulator: Emulator):
    """Nothing comes, and leaving the server does not wait for it."""
    emulator.faults.add(Fault("hang"))
    with pytest.raises(httpx.ReadTimeout):
        await remote.get("/", timeout=0.05)
    assert (await remote.get("/")).content == TRUE_ANSWER


async def test_leaving_closes_hanging_requests(emulator: Emulator):
    """A request that hangs is cut off when the server stops."""
    emulator.faults.add(Fault("hang"))
    async with httpx.AsyncClient() as client:
        async with serving(emulator) as base_url:
            waiting = asyncio.create_task(client.get(base_url))
            while not emulator.requests:
                await asyncio.wait({waiting}, timeout=0.001)
        with pytest.raises(httpx.RemoteProtocolError):
            await waiting


@pytest.mark.parametrize(("kind", "error"), [("truncated", httpx.RemoteProtocolError), ("reset", httpx.ReadError)])
async def test_connection_faults_in_process(
    local: httpx.AsyncClient, emulator: Emulator, kind: Any, error: type[Exception]
):
    """Without a connection the exception is raised that httpx would raise for one."""
    emulator.faults.add(Fault(kind))
    with pytest.raises(error):
        await local.get("/")


async def test_hang_in_process(local: httpx.AsyncClient, emulator: Emulator):
    """A hanging request waits until it is cancelled."""
    emulator.faults.add(Fault("hang"))
    waiting = asyncio.create_task(local.get("/"))
    done, _ = await asyncio.wait({waiting}, timeout=0.01)
    waiting.cancel()
    assert not done
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_times_and_match(local: httpx.AsyncClient, emulator: Emulator):
    """A fault meets as many requests as it says, and only those that match; others wait behind it."""
    emulator.faults.add("500;times=2;match=GET /b.*x=1", "429;times=all;match=^POST")
    asked = [
        ("GET", "/a?x=1"),
        ("GET", "/b"),
        ("GET", "/b?x=1"),
        ("POST", "/b?x=1"),
        ("GET", "/b?x=1"),
        ("GET", "/b?x=1"),
    ]
    statuses = [(await local.request(method, path)).status_code for method, path in asked]
    assert statuses == [200, 200, 500, 429, 500, 200]
    assert [fault.kind for fault in emulator.faults] == ["429"]
    emulator.faults.clear()
    assert (await local.post("/")).status_code == 200


async def test_fault_by_header(local: httpx.AsyncClient):
    """A request can ask for its own fault."""
    answer = await local.get("/", headers={"X-Emulator-Fault": "503;retry-after=2.5"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2.5")


async def test_unreadable_fault_header(local: httpx.AsyncClient):
    """A request that asks for a fault that is not known is told so."""
    answer = await local.get("/", headers={"X-Emulator-Fault": "418"})
    assert (answer.status_code, answer.text[:33]) == (400, "X-Emulator-Fault: no fault '418';")


@pytest.mark.parametrize(("text", "named"), [("418", "truncated"), ("503;color=red", "retry-after")])
def test_unknown_fault(text: str, named: str):
    """A fault that is not known is refused with what there is."""
    with pytest.raises(ValueError, match=named):
        Fault.parse(text)


async def test_log(local: httpx.AsyncClient, emulator: Emulator, time: Time):
    """Arrivals are kept with time, path, query and the fault that they met."""
    await local.get("/a%20b?x=1")
    time.now = 2.5
    emulator.faults.add("500")
    await local.post("/c")
    assert [(a.at, a.method, a.path, a.query, a.fault) for a in emulator.requests] == [
        (0.0, "GET", "/a b", "x=1", None),
        (2.5, "POST", "/c", "", "500"),
    ]


async def test_enforced_rate(local: httpx.AsyncClient, emulator: Emulator, time: Time):
    """A request over the rate is refused, refused ones do not count, and a window later there is room again."""
    emulator.enforce("2/second", "3/minute")
    statuses = []
    for at in (0.0, 0.1, 0.9, 1.0, 1.1, 60.0):
        time.now = at
        statuses.append((await local.get("/")).status_code)
    assert statuses == [200, 200, 503, 200, 503, 200]
    assert [a.fault for a in emulator.requests if a.fault] == ["over rate", "over rate"]


@pytest.mark.parametrize("quota", ["5", "5/fortnight", "a/second"])
def test_unreadable_rate(emulator: Emulator, quota: str):
    """A rate that cannot be read is refused by its text."""
    with pytest.raises(ValueError, match=quota):
        emulator.enforce(quota)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=30), st.integers(1, 15))
def test_peak(stamps: list[int], window: int):
    """The peak is the fullest of all half-open windows of its length."""
    arrived = sorted(stamp / 10 for stamp in stamps)
    emulator = Emulator(upstream, "acme")
    emulator.requests.extend(arrival(at) for at in arrived)
    slow = max(sum(start <= 10 * at < start + window for at in arrived) for start in range(-15, 41))
    assert emulator.peak(window / 10) == slow


def arrival(at: float) -> Arrival:
    return Arrival(at, "GET", "/", "", None)


def test_peak_of_nothing():
    """Where nothing arrived the peak is 0."""
    assert Emulator(upstream, "acme").peak() == 0


async def test_arrivals_are_told_over_the_socket(remote: httpx.AsyncClient) -> None:
    """Another process learns what was asked and which fault it met; asking for it is no arrival."""
    await remote.get("/compound/name/aspirin", params={"key": "secret"}, headers={"X-Emulator-Fault": "503"})
    told = (await remote.delete("/-/arrivals")).json()
    assert told == [{"at": 0.0, "method": "GET", "path": "/compound/name/aspirin", "fault": "503"}]
    assert (await remote.get("/-/arrivals")).json() == []
