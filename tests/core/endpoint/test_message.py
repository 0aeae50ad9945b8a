"""Messages in and out: what is read, what is refused with which answer, and what is made fit to be written."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from pydantic_core import from_json
from scigate.endpoint.message import MAX_DEPTH, RefusedMessageError, carried, is_too_deep, read_message, written

HALF = st.characters(categories=("Cs",))
TEXT = st.text(st.characters() | HALF)
JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


def request_line(text: str) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"text":' + text.encode() + b"}}"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('"plain"', "plain"),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ('"\\ud800"', "\ud800"),
        ('"\\udc00\\ud800"', "\udc00\ud800"),
        ('"\\\\ud800"', "\\ud800"),
        ('"\\\\\\ud800"', "\\\ud800"),
    ],
)
def test_reads_escapes_as_json_has_them(text: str, read: str) -> None:
    """Half of a surrogate pair is let through to the arguments, for their own validation to name the field."""
    message = read_message(request_line(text), max_bytes=1_000)
    assert isinstance(message, JSONRPCRequest)
    assert message.params == {"text": read}


def test_reads_a_notification() -> None:
    """A message without an id is a notification."""
    line = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"id":1}}'
    message = read_message(line, max_bytes=1_000)
    assert isinstance(message, JSONRPCNotification)


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"{", -32700, None),
        (b'"\\ud800', -32700, None),
        (b'{"a":"\xff"}', -32700, None),
        (request_line("[" * MAX_DEPTH + "]" * MAX_DEPTH), -32700, None),
        (request_line('"\\ud800", "x":' + "[" * MAX_DEPTH + "]" * MAX_DEPTH), -32700, None),
        (b"[]", -32600, None),
        (b"7", -32600, None),
        (b'{"id":7}', -32600, 7),
        (b'{"id":"a","method":7}', -32600, "a"),
        (b'{"id":true}', -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"m"}', -32600, None),
        (request_line('"' + "x" * 2_000 + '"'), -32600, 1),
        (b"x" * 2_000, -32600, None),
    ],
)
def test_refuses_what_is_no_message_with_the_id_where_there_is_one(
    line: bytes, code: int, request_id: int | str | None
) -> None:
    """Parse errors are -32700 and messages of a wrong shape or size -32600, as JSON-RPC 2.0 numbers them."""
    with pytest.raises(RefusedMessageError) as raised:
        read_message(line, max_bytes=1_000)
    assert raised.value.answer.error.code == code
    assert raised.value.answer.id == request_id


@pytest.mark.parametrize("rest", ['"result":null', '"result":"x"', '"error":{"code":"x"}'])
def test_a_malformed_response_answers_the_question_that_it_is_meant_for(rest: str) -> None:
    """With an error: sent back, it would be taken for the answer to a request of its sender's own."""
    message = read_message(b'{"jsonrpc":"2.0","id":1,' + rest.encode() + b"}", max_bytes=1_000)
    assert isinstance(message, JSONRPCError)
    assert message.id == 1


@pytest.mark.parametrize(
    ("body", "deep"),
    [
        (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, False),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), True),
        (b"[" * 100_000, True),
        (b'["\\ud800",' + b"[" * 300 + b"]" * 301, True),
        (b"[" + b"[]," * 1_000 + b"[]]", False),
        (b'["' + b"[" * 1_000 + b'"]', False),
        (b"no json " + b"{" * 1_000, False),
    ],
)
def test_tells_depth_from_size(body: bytes, deep: bool) -> None:
    """Many brackets are not many levels, and brackets inside a text are none."""
    assert is_too_deep(body) is deep


@given(JSON_LIKE)
def test_what_is_carried_is_json_in_utf8(value: object) -> None:
    """Whatever a provider returns, a strict parser reads what is sent, and reads the same."""
    sent = carried({"value": value})
    text = json.dumps(sent, ensure_ascii=False, allow_nan=False).encode("utf-8", "strict")
    assert from_json(text, allow_inf_nan=False) == sent


@given(st.recursive(st.none() | st.text() | st.integers() | st.floats(allow_nan=False, allow_infinity=False), st.lists))
def test_what_was_fit_to_be_sent_is_carried_unchanged(value: object) -> None:
    """Only what JSON cannot hold is replaced."""
    assert carried({"value": value}) == {"value": value}


def test_replaces_by_the_signs_that_say_so() -> None:
    """U+FFFD stands for a broken character and null for a number that is none."""
    assert carried({"a\ud800": ["b\udfff", math.nan, -math.inf, 1.5]}) == {"a\ufffd": ["b\ufffd", None, None, 1.5]}


def test_writes_one_line() -> None:
    """A message is one line, whatever its texts hold."""
    response = JSONRPCResponse(jsonrpc="2.0", id="\ud800", result={"text": "two\nlines \U0001f600"})
    line = written(response)
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"jsonrpc": "2.0", "id": "\ufffd", "result": {"text": "two\nlines \U0001f600"}}
