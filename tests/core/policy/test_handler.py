"""Whatever a handler raises is one failure, with the reason that fits and nothing of the inside."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from pydantic import BaseModel, ValidationError
from scigate import Call, CircuitOpen, Code, DeadlineExceeded, Input, Output, QuotaExhausted, Reason, tool
from scigate.call import LOCAL
from scigate.host import Host, Reply
from scigate.policy.handler import upstream_failure
from scigate.upstream.errors import ForeignUrl, ResponseTooLarge

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = "https://lab.example/?key=secret"
UNKNOWN = Reason("unknown_sample", Code.NOT_FOUND, "no sample has the name", "Check name.")
Hosting = Callable[..., AbstractAsyncContextManager[Host]]


class Nothing(Input):
    pass


class Done(Output):
    said: str = "done"


class LabError(Exception):
    """The lab's client failed."""


def raising(error: Exception) -> Any:
    @tool("lab_raise", title="Raise", errors=[UNKNOWN])
    async def handler(args: Nothing, client: object, call: Call) -> Done:
        """Raise the error."""
        raise error

    return handler


async def outcome(hosting: Hosting, error: Exception, **hooks: Any) -> dict[str, Any]:
    async with hosting(raising(error), **hooks) as host:
        reply = await host.call("lab_raise", {}, LOCAL)
    assert reply.is_error
    assert "secret" not in json.dumps(reply.structured) + reply.content[0]["text"]
    assert "Traceback" not in reply.content[0]["text"]
    return reply.structured["error"]


def status(code: int, **headers: str) -> httpx.HTTPStatusError:
    request = httpx.Request("GET", SECRET)
    response = httpx.Response(code, text="<html>secret</html>", headers=headers, request=request)
    return httpx.HTTPStatusError(f"{code} for {SECRET}", request=request, response=response)


def invalid() -> ValidationError:
    class Answer(BaseModel):
        count: int

    with pytest.raises(ValidationError) as caught:
        Answer.model_validate({"count": "secret"})
    return caught.value


@pytest.mark.parametrize(
    ("error", "reason", "code", "retryable", "retry_after_ms"),
    [
        (QuotaExhausted("full", upstream="lab", retry_after_s=1.5), "quota_exhausted", -32003, True, 1500),
        (CircuitOpen("open", upstream="lab", retry_after_s=30), "upstream_unavailable", -32000, True, 30_000),
        (DeadlineExceeded("late", upstream="lab"), "deadline_exceeded", -32004, True, None),
        (ResponseTooLarge("long", upstream="lab", limit=9), "result_too_large", -32070, False, None),
        (ForeignUrl(SECRET, upstream="lab"), "internal_error", -32603, False, None),
        (httpx.ConnectTimeout(SECRET), "upstream_timeout", -32004, True, None),
        (httpx.ReadTimeout(SECRET), "upstream_timeout", -32004, True, None),
        (httpx.PoolTimeout(SECRET), "upstream_timeout", -32004, True, None),
        (httpx.ConnectError(SECRET), "upstream_unavailable", -32000, True, None),
        (httpx.ReadError(SECRET), "upstream_unavailable", -32000, True, None),
        (httpx.RemoteProtocolError(SECRET), "upstream_invalid_response", -32070, True, None),
        (httpx.DecodingError(SECRET), "upstream_invalid_response", -32070, True, None),
        (status(400), "upstream_rejected", -32007, False, None),
        (status(404), "upstream_rejected", -32007, False, None),
        (status(408), "upstream_timeout", -32004, True, None),
        (status(429), "upstream_rate_limited", -32003, True, None),
        (status(429, **{"Retry-After": "7"}), "upstream_rate_limited", -32003, True, 7000),
        (status(500), "upstream_unavailable", -32000, True, None),
        (status(503, **{"Retry-After": "2"}), "upstream_unavailable", -32000, True, 2000),
        (status(504), "upstream_timeout", -32004, True, None),
        (json.JSONDecodeError(SECRET, "secret", 0), "upstream_invalid_response", -32070, True, None),
        (UnicodeDecodeError("utf-8", b"secret", 0, 1, SECRET), "upstream_invalid_response", -32070, True, None),
        (invalid(), "upstream_invalid_response", -32070, True, None),
        (httpx.InvalidURL("URL too long"), "invalid_arguments", -32602, False, None),
        (KeyError(SECRET), "internal_error", -32603, False, None),
        (TimeoutError(SECRET), "internal_error", -32603, False, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
async def test_an_exception_has_its_reason(
    hosting: Hosting, error: Exception, reason: str, code: int, retryable: bool, retry_after_ms: int | None
) -> None:
    """Core's own exceptions and httpx's are known; any other is a fault of the provider's code."""
    failure = await outcome(hosting, error)
    data = failure["data"]
    assert (data["reason"], failure["code"], data["retryable"]) == (reason, code, retryable)
    assert data.get("retryAfterMs") == retry_after_ms
    assert data["recovery"]["hint"]


async def test_what_could_not_be_reached_is_named_without_its_secrets(hosting: Hosting) -> None:
    """A tool asks several upstreams; the host tells which, and path, query and password stay out."""
    request = httpx.Request("GET", "https://user:secret@lab.example/secret?key=secret")
    failure = await outcome(hosting, httpx.ConnectError(SECRET, request=request))
    assert failure["message"] == "lab.example could not be reached."


def test_retry_after_as_a_date_is_counted_from_now() -> None:
    """The header may hold a date (RFC 9110, 10.2.3)."""
    failure = upstream_failure(status(503, **{"Retry-After": "Thu, 01 Jan 2026 00:00:09 GMT"}), NOW)
    assert failure is not None
    assert failure.retry_after_ms == 9000


async def test_a_declared_reason_is_the_failure(hosting: Hosting) -> None:
    """What the handler raised is told as it is, its data beside the reason."""
    failure = await outcome(hosting, UNKNOWN.error("No sample 'A-1'.", asked="A-1"))
    assert failure == {
        "code": -32001,
        "message": "No sample 'A-1'.",
        "data": {
            "reason": "unknown_sample",
            "recovery": {"hint": "Check name."},
            "retryable": False,
            "asked": "A-1",
        },
    }


async def test_of_several_causes_the_first_is_told(hosting: Hosting) -> None:
    """A task group's exception may hold groups; the first leaf decides."""
    inner = ExceptionGroup("inner", [UNKNOWN.error("first"), httpx.ReadTimeout("second")])
    failure = await outcome(hosting, ExceptionGroup("outer", [inner, ValueError("third")]))
    assert failure["message"] == "first"
    only = await outcome(hosting, ExceptionGroup("one", [httpx.ReadTimeout("late")]))
    assert only["data"]["reason"] == "upstream_timeout"


async def test_the_provider_is_asked_first(hosting: Hosting) -> None:
    """`map_error` may know better than core, of core's exceptions too; None leaves it to core."""

    def map_error(error: Exception) -> Any:
        return UNKNOWN.failure("the lab says no") if isinstance(error, (LabError, httpx.ReadTimeout)) else None

    for error in (LabError(), httpx.ReadTimeout(""), ExceptionGroup("one", [LabError()])):
        assert (await outcome(hosting, error, map_error=map_error))["message"] == "the lab says no"
    other = await outcome(hosting, httpx.ConnectError(""), map_error=map_error)
    assert other["data"]["reason"] == "upstream_unavailable"


@pytest.mark.parametrize(
    ("error", "reason"), [(httpx.ReadTimeout(""), "upstream_timeout"), (LabError(), "internal_error")]
)
async def test_a_map_error_that_raises_hides_nothing(hosting: Hosting, error: Exception, reason: str) -> None:
    """Core reads the exception then as if the provider had left it."""

    def map_error(error: Exception) -> None:
        raise ZeroDivisionError

    assert (await outcome(hosting, error, map_error=map_error))["data"]["reason"] == reason


async def test_a_fault_names_the_call_for_the_log(hosting: Hosting) -> None:
    """The caller can tell the operator which line of the log is meant."""
    async with hosting(raising(KeyError("x"))) as host:
        reply = await host.call("lab_raise", {}, LOCAL)
    assert reply.structured["error"]["data"]["callId"] == reply.meta["scigate/call"]


class Broken(Output):
    said: Any = None


@pytest.fixture
async def broken(hosting: Hosting) -> AsyncIterator[Callable[[object], Any]]:
    """Calls a handler that gives what it is told to, instead of its declared output."""
    given: list[Any] = []

    @tool("lab_give", title="Give")
    async def give(args: Nothing, client: object, call: Call) -> Broken:
        """Give something."""
        return given[-1]

    async with hosting(give) as host:

        async def call(what: object) -> Reply:
            given.append(what)
            return await host.call("lab_give", {}, LOCAL)

        yield call


@pytest.mark.parametrize(
    "what",
    [None, {"said": "x"}, Broken(said=object()), Broken(said=b"\xff")],
    ids=["nothing", "a dict", "an object", "bytes"],
)
async def test_an_output_that_cannot_be_sent_is_a_fault(broken: Callable[[object], Any], what: object) -> None:
    """Nothing gets out of a call but an answer: what cannot be written as JSON is the provider's fault."""
    reply = await broken(what)
    assert reply.structured["error"]["data"]["reason"] == "internal_error"
    assert json.dumps(reply.structured).encode()
