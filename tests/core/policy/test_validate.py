"""Wrong arguments come back as `invalid_arguments` that say which, what was given and what is allowed."""

import tracemalloc
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field
from scigate import Batch, Call, Input, Offset, Output, PageSize, tool
from scigate.call import LOCAL
from scigate.host import Host


class Ask(Input):
    sample_kind: Literal["blood", "tissue"]
    name: str | None = None
    names: Annotated[list[str] | None, Batch(cap=2, accepts=5)] = None
    depth: float = Field(default=1.0, ge=0, le=9)
    rows: Annotated[int, PageSize(cap=10, accepts=20)] = 5
    start: Annotated[int, Offset()] = 0
    extra: dict[str, Any] | None = None


class Echo(Output):
    given: str


@tool("lab_ask", title="Ask")
async def ask(args: Ask, client: object, call: Call) -> Echo:
    """Repeat the arguments."""
    return Echo(given=args.model_dump_json(by_alias=True, exclude_none=True))


@pytest.fixture(scope="module")
async def host(hosting: Callable[..., Any]) -> AsyncIterator[Host]:
    async with hosting(ask) as host:
        yield host


async def refused(host: Host, **arguments: Any) -> dict[str, Any]:
    """The error of a refused call; the whole answer is small whatever was sent."""
    reply = await host.call("lab_ask", {"sampleKind": "blood", **arguments}, LOCAL)
    assert reply.is_error
    assert len(str(reply.structured)) + len(reply.content[0]["text"]) < 8_000
    error = reply.structured["error"]
    assert (error["code"], error["data"]["reason"]) == (-32602, "invalid_arguments")
    return error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"sampleKind": "stone"}, "sampleKind: input should be 'blood' or 'tissue', 'stone' was given."),
        ({"name": ["a"]}, "name: input should be a valid string, ['a'] was given."),
        ({"depth": 10}, "depth: input should be less than or equal to 9, 10 was given."),
        ({"depth": float("nan")}, "depth: input should be a finite number, nan was given."),
        ({"rows": 0}, "rows: input should be greater than or equal to 1, 0 was given."),
        ({"rows": 21}, "rows: input should be less than or equal to 20, 21 was given."),
        ({"start": -1}, "start: input should be greater than or equal to 0, -1 was given."),
        ({"start": 2**53}, f"start: input should be less than or equal to {2**53 - 1}, {2**53} was given."),
        ({"start": 1.5}, "start: input should be a valid integer, got a number with a fractional part, 1.5 was given."),
        ({"names": []}, "names: list should have at least 1 item after validation, not 0, [] was given."),
        ({"names": ["a", {}]}, "names.1: input should be a valid string, {} was given."),
        ({"sample_kind": "blood"}, "sample_kind is not an argument (did you mean sampleKind?)."),
        ({"nmae": "a"}, "nmae is not an argument (did you mean name?)."),
        ({"zzz": None}, "zzz is not an argument."),
    ],
)
async def test_the_field_what_was_given_and_what_is_allowed_are_named(
    host: Host, arguments: dict[str, Any], said: str
) -> None:
    """One sentence names all three, in the words of the wire."""
    error = await refused(host, **arguments)
    assert error["message"] == said


async def test_a_missing_argument_is_named(host: Host) -> None:
    """A required argument that is null is missing too."""
    for arguments in ({}, {"sampleKind": None}):
        reply = await host.call("lab_ask", arguments, LOCAL)
        assert reply.structured["error"]["message"] == "sampleKind is required."


async def test_an_unknown_name_brings_the_list_of_names(host: Host) -> None:
    """The hint lists every argument; a wrong value leaves the reason's own hint."""
    unknown = await refused(host, nmae="a")
    assert unknown["data"]["recovery"]["hint"] == "lab_ask takes: sampleKind, name, names, depth, rows, start, extra."
    assert "inputSchema" in (await refused(host, depth=10))["data"]["recovery"]["hint"]


async def test_several_problems_are_told_at_once(host: Host) -> None:
    """Up to ten are listed, each with its field, and the rest are counted."""
    error = await refused(host, depth=10, rows=0)
    assert [problem["field"] for problem in error["data"]["errors"]] == ["depth", "rows"]
    many = await refused(host, **{f"unknown{number}": 1 for number in range(500)})
    assert len(many["data"]["errors"]) == 10
    assert "(and 490 more problems)" in many["message"]


async def test_null_is_the_same_as_left_out(host: Host) -> None:
    """Clients that fill in every declared field send null for those that they do not use."""
    reply = await host.call("lab_ask", {"sampleKind": "blood", "name": None, "depth": None, "rows": None}, LOCAL)
    assert reply.structured["given"] == '{"sampleKind":"blood","depth":1.0,"rows":5,"start":0}'


async def test_numbers_are_taken_for_text_and_text_for_numbers(host: Host) -> None:
    """What models mix up without harm is served."""
    reply = await host.call("lab_ask", {"sampleKind": "blood", "name": 7, "rows": "6", "start": 2.0}, LOCAL)
    assert reply.structured["given"] == '{"sampleKind":"blood","name":"7","depth":1.0,"rows":6,"start":2}'


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"name": "a\0b"}, "name holds a NUL character, which no upstream accepts."),
        ({"names": ["a", "\0"]}, "names holds a NUL character, which no upstream accepts."),
        ({"extra": {"deep": ["a\0"]}}, "extra.deep holds a NUL character, which no upstream accepts."),
        ({"name": "a\ud800"}, "name holds half of a surrogate pair, which is not a character."),
        ({"\udfff": 1}, "\\udfff holds half of a surrogate pair, which is not a character."),
        ({"x\0": 1}, "x\0 holds a NUL character, which no upstream accepts."),
    ],
)
async def test_text_that_no_upstream_takes_is_refused(host: Host, arguments: dict[str, Any], said: str) -> None:
    """Wherever it stands, names included; the answer itself can be sent in UTF-8."""
    error = await refused(host, **arguments)
    assert error["message"] == said
    assert error["message"].encode()


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}], ids=["lists", "objects"])
async def test_deep_nesting_is_refused(host: Host, wrap: Callable[[Any], Any]) -> None:
    """10,000 levels would overflow whatever walks them recursively."""
    nested: Any = "x"
    for _ in range(10_000):
        nested = wrap(nested)
    error = await refused(host, extra={"key": nested})
    assert "is nested more than 32 levels deep." in error["message"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"names": [f"name {number}" for number in range(10_000)]},
        {"names": [1.5] * 10_000},
        {"depth": "x" * 10_000_000},
        {"sampleKind": "x" * 10_000_000},
        {"x" * 10_000_000: 1},
        {f"unknown{number}": 1 for number in range(10_000)},
        {"start": 10**5000},
        {"name": 10**5000},
        {"extra": {"key": [10**5000]}},
    ],
    ids=["10,000 names", "10,000 numbers", "10 MB for a number", "10 MB for a choice", "10 MB of a name",
         "10,000 unknown names", "5,001 digits", "5,001 digits for text", "5,001 digits deep inside"],
)  # fmt: skip
async def test_the_answer_to_huge_arguments_is_small(host: Host, arguments: dict[str, Any]) -> None:
    """Refused values are cut to 60 characters, problems to ten."""
    error = await refused(host, **arguments)
    assert len(error["message"]) < 2_000


async def test_10_mb_of_text_are_refused(host: Host) -> None:
    """No query or structure is that long, and a result may repeat it."""
    reply = await host.call("lab_ask", {"sampleKind": "blood", "name": "x" * 10_000_000}, LOCAL)
    error = reply.structured["error"]
    assert error["data"]["reason"] == "invalid_arguments"
    assert error["message"] == "name is 10,000,000 characters long, the most is 100,000."


async def test_a_long_name_is_not_repeated_for_each_of_its_members(host: Host) -> None:
    """2 MB of arguments cost no gigabytes: the path of a member is cut as it grows."""
    arguments = {"sampleKind": "blood", "extra": {"x" * 1_000_000: {f"{number}": "\0" for number in range(200)}}}
    tracemalloc.start()
    try:
        await host.call("lab_ask", arguments, LOCAL)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
