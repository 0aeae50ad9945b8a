"""The run envelope on every outcome."""

import re
import uuid
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from importlib.metadata import version
from typing import Any

import jsonschema
from scigate.call import LOCAL
from scigate.host import Host, Reply

Fetch = Callable[..., Awaitable[Reply]]


async def test_meta_says_which_call_it_was(host: Host, fetch: Fetch) -> None:
    """Ids, names, and times in UTC with milliseconds, in order."""
    meta = (await fetch(host)).structured["meta"]
    assert uuid.UUID(meta["requestId"]).hex == (meta["requestId"].replace("-", ""))
    assert (meta["runId"], meta["toolName"]) == ("run-1", "fetch_compound")
    assert meta["toolVersion"] == version("scigate-immunograph")
    assert meta["startedAt"].endswith("Z")
    assert len(meta["startedAt"]) == len("2026-01-01T00:00:00.000Z")
    assert datetime.fromisoformat(meta["startedAt"]) <= datetime.fromisoformat(meta["completedAt"])
    assert meta["durationMs"] >= 0


async def test_outcomes_agree_with_the_output_schema(host: Host, fetch: Fetch) -> None:
    """Success of every tool, failure and refused arguments alike."""
    validators = {
        tool["name"]: jsonschema.Draft202012Validator(tool["outputSchema"]) for tool in host.catalogue.definitions
    }
    replies = [await fetch(host), await fetch(host, compoundRef="0"), await fetch(host, source="x")]
    replies += [await host.call(example.tool, example.arguments, LOCAL) for example in host.catalogue.examples]
    for reply in replies:
        validators[reply.structured["meta"]["toolName"]].validate(reply.structured)
        assert reply.structured["ok"] is not reply.is_error
        assert ("error" in reply.structured) is reply.is_error


def leaves(value: Any) -> Iterator[Any]:
    """The text and numbers in a JSON value, names aside."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    elif not isinstance(value, bool) and value is not None:
        yield value


async def test_the_text_carries_every_fact_of_every_tool(host: Host) -> None:
    """All leaves of data, the run and the hashes; not the request's id, times and version."""
    for example in host.catalogue.examples:
        reply = await host.call(example.tool, example.arguments, LOCAL)
        assert not reply.is_error, reply.structured
        text = re.sub(r"\\([\\`*~|<])", r"\1", reply.content[0]["text"])
        meta = reply.structured["meta"]
        told = [meta[name] for name in ("runId", "toolName", "inputHash", "outputHash", "notice") if name in meta]
        for value in [*leaves(reply.structured["data"]), *told]:
            assert str(value).rstrip() in text


async def test_a_failure_says_what_to_do_next(host: Host, fetch: Fetch) -> None:
    """Core's reason and hint stand in details, and in the text."""
    reply = await fetch(host, compoundRef="aspirin")
    details = reply.structured["error"]["details"]
    assert details["reason"] == "invalid_compound_ref"
    assert details["recovery"]["hint"] in reply.content[0]["text"]
    assert "outputHash" not in reply.structured["meta"]
