"""What PubChem's faults are read as, and what they mean to a caller."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from scigate import Code
from scigate_pubchem.faults import (
    SEARCH_FAILED,
    BadRequest,
    Fault,
    NotFound,
    PubChemError,
    SearchRejected,
    UnexpectedAnswer,
    map_error,
    raise_for_fault,
)
from scigate_pubchem.upstream import is_transient, throttle

RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings" / "pubchem"


def answer(status: int, code: str = "", message: str = "", **headers: str) -> httpx.Response:
    if not code:
        return httpx.Response(status, text=message, headers=headers)
    return httpx.Response(status, json={"Fault": {"Code": code, "Message": message}}, headers=headers)


BUSY = ("PUGREST.ServerBusy", "Too many requests or server too busy")


@pytest.mark.parametrize(
    ("response", "fault"),
    [
        (
            answer(404, "PUGREST.NotFound", "No CID found"),
            Fault(404, "PUGREST.NotFound", "No CID found"),
        ),
        (
            httpx.Response(400, json={"Fault": {"Code": "c", "Message": "m", "Details": ["one", "", "two"]}}),
            Fault(400, "c", "m", ("one", "two")),
        ),
        (
            answer(400, message="Status: 400\nCode: PUGREST.BadRequest\nMessage: Unable to read\nDetail: x\n"),
            Fault(400, "PUGREST.BadRequest", "Unable to read"),
        ),
        (answer(503, message="<!DOCTYPE html><html>Code: secret\nMessage: secret</html>"), Fault(503, "", "")),
        (answer(502, message=""), Fault(502, "", "")),
        (answer(500, message='{"Fault": {"Code":'), Fault(500, "", "")),
        (answer(500, message='{"Fault": "odd"}'), Fault(500, "", "")),
        (answer(500, message="[1]"), Fault(500, "", "")),
        (httpx.Response(500, content=b"\xff\xfe\xfa"), Fault(500, "", "")),
        (answer(503, *BUSY, **{"Retry-After": "30"}), Fault(503, *BUSY, retry_after_s=30)),
        (answer(503, *BUSY, **{"Retry-After": "soon"}), Fault(503, *BUSY)),
    ],
)
def test_a_fault_is_read_from_any_body(response: httpx.Response, fault: Fault) -> None:
    """JSON, lines of text, or neither; an HTML page is not repeated."""
    assert Fault.of(response) == fault


def test_a_fault_in_one_line_is_bounded() -> None:
    """Whatever PubChem says; and the bare status where it says nothing."""
    assert Fault(404, "PUGREST.NotFound", "No CID found").text == "PUGREST.NotFound: No CID found"
    assert Fault(502, "", "").text == "HTTP 502"
    assert len(Fault(500, "c", "m" * 1000).text) == 300


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (answer(200), None),
        (answer(202), None),
        (answer(404, "PUGREST.NotFound", "No CID found"), NotFound),
        (answer(404), NotFound),
        (answer(400, "PUGREST.BadRequest", "m"), BadRequest),
        (answer(400, *BUSY), PubChemError),
        (answer(404, *BUSY), PubChemError),
        (answer(500, "PUGREST.Unknown", "m"), PubChemError),
        (answer(302), PubChemError),
    ],
)
def test_what_is_raised_for_an_answer(response: httpx.Response, error: type[Exception] | None) -> None:
    """The code decides before the status: under load a 4xx may say that the server is busy."""
    if error is None:
        raise_for_fault(response)
        return
    with pytest.raises(PubChemError) as caught:
        raise_for_fault(response)
    assert type(caught.value) is error


@pytest.mark.parametrize(
    ("response", "transient"),
    [
        (answer(200), False),
        (answer(400, "PUGREST.BadRequest", "m"), False),
        (answer(400, *BUSY), True),
        (answer(404, "PUGREST.NotFound", "m"), False),
        (answer(429), True),
        (answer(500, "PUGREST.Unknown", "m"), True),
        (answer(500, "PUGREST.ServerError", SEARCH_FAILED), False),
        (answer(501, "PUGREST.Unimplemented", "m"), False),
        (answer(502, message="<html></html>"), True),
        (answer(503, *BUSY), True),
        (answer(504, "PUGREST.Timeout", "m"), True),
    ],
)
def test_what_is_worth_a_second_try(response: httpx.Response, transient: bool) -> None:
    """Not what fails the same way each time."""
    assert is_transient(response) is transient


@pytest.mark.parametrize(
    ("response", "reason", "code", "retryable", "retry_after_ms"),
    [
        (answer(503, *BUSY), "upstream_rate_limited", Code.RATE_LIMITED, True, None),
        (answer(503, *BUSY, **{"Retry-After": "30"}), "upstream_rate_limited", Code.RATE_LIMITED, True, 30_000),
        (answer(400, *BUSY), "upstream_rate_limited", Code.RATE_LIMITED, True, None),
        (answer(429), "upstream_rate_limited", Code.RATE_LIMITED, True, None),
        (answer(504, "PUGREST.Timeout", "m"), "upstream_timeout", Code.TIMEOUT, True, None),
        (answer(500, "PUGREST.Unknown", "m"), "upstream_unavailable", Code.SERVICE_UNAVAILABLE, True, None),
        (answer(502, message="<html></html>"), "upstream_unavailable", Code.SERVICE_UNAVAILABLE, True, None),
        (answer(501, "PUGREST.Unimplemented", "m"), "upstream_rejected", Code.SERVICE_UNAVAILABLE, False, None),
        (answer(400, "PUGREST.BadRequest", "m"), "upstream_rejected", Code.VALIDATION_ERROR, False, None),
        (answer(403), "upstream_rejected", Code.VALIDATION_ERROR, False, None),
        (answer(404, "PUGREST.NotFound", "m"), "not_found", Code.NOT_FOUND, False, None),
        (answer(405, "PUGREST.NotAllowed", "m"), "upstream_rejected", Code.SERVICE_UNAVAILABLE, False, None),
    ],
)
def test_what_a_fault_means(
    response: httpx.Response, reason: str, code: Code, retryable: bool, retry_after_ms: int | None
) -> None:
    """With the fault's text and status beside it, and PubChem's own wish how long to wait."""
    with pytest.raises(PubChemError) as caught:
        raise_for_fault(response)
    failure = map_error(caught.value)
    assert failure is not None
    assert (failure.reason, failure.code, failure.retryable) == (reason, code, retryable)
    assert failure.retry_after_ms == retry_after_ms
    assert failure.data == {"fault": caught.value.fault.text, "status": response.status_code}
    assert failure.hint


@pytest.mark.parametrize(("form", "word"), [("smiles", "SMILES"), ("cid", "CID"), ("formula", "Hill order")])
def test_a_rejected_search_says_what_to_correct(form: str, word: str) -> None:
    """The hint names the form that was sent."""
    failure = map_error(SearchRejected(Fault(500, "PUGREST.ServerError", SEARCH_FAILED), form, "C" * 1000))
    assert failure is not None
    assert (failure.reason, failure.retryable) == ("search_query_rejected", False)
    assert word in failure.hint
    assert failure.data["fault"] == f"PUGREST.ServerError: {SEARCH_FAILED}"
    assert len(failure.message) < 300


def test_an_answer_of_another_shape_is_told_as_such() -> None:
    """And any other exception is left to core."""
    failure = map_error(UnexpectedAnswer("there is no table"))
    assert failure is not None
    assert (failure.reason, failure.code) == ("upstream_invalid_response", Code.SERIALIZATION_ERROR)
    assert map_error(httpx.ReadTimeout("")) is None
    assert map_error(KeyError()) is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("nonsense", None),
        ("Request Count status: Green (0%), Request Time status: Green (0%), Service status: Green (20%)", None),
        ("Request Count status: Yellow (60%), Request Time status: Green (0%), Service status: Green (20%)", 0.4),
        ("request count STATUS:RED (80%), Service status: Yellow (60%)", 1.0),
        ("Request Count status: Green (0%), Service status: Black (100%)", 5.0),
        ("Request Count status: Mauve (3%)", None),
    ],
)
def test_the_throttling_header_is_read_leniently(header: str | None, seconds: float | None) -> None:
    """The worst colour decides; absent or unknown says nothing (PubChem, "Dynamic Request Throttling")."""
    headers = {} if header is None else {"X-Throttling-Control": header}
    assert throttle(httpx.Headers(headers)) == seconds


def recorded() -> list[Any]:
    index = RECORDINGS / "index.json"
    if not index.exists():
        return []
    entries = json.loads(index.read_text(encoding="utf-8"))["files"]
    return [entry for entry in entries if entry["file"].startswith("fault_")]


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the recordings are not at hand")
def test_recorded_faults_are_at_hand() -> None:
    """So that the next test is not empty."""
    assert len(recorded()) >= 4


@pytest.mark.parametrize("entry", recorded(), ids=lambda entry: entry["file"])
def test_a_recorded_fault_is_read(entry: dict[str, Any]) -> None:
    """True answers of the service, with their status: code and message are found, and it is no wait for better days."""
    body = (RECORDINGS / entry["file"]).read_bytes()
    response = httpx.Response(int(entry["http_status"]), content=body, headers={"Content-Type": "application/json"})
    fault = Fault.of(response)
    assert fault.code in ("PUGREST.BadRequest", "PUGREST.NotFound")
    assert fault.message
    assert all(fault.details)
    assert not is_transient(response)
    with pytest.raises(NotFound if response.status_code == 404 else BadRequest):
        raise_for_fault(response)
