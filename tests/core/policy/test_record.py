"""What the audit log is told of a call."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest
from pydantic import Field, SecretStr
from scigate import Call, Caller, Code, Input, Output, Reason, Record, Sensitive, tool
from scigate.catalogue import UnknownTool
from scigate.settings import SettingsError

ADA = Caller("key:ada", "key")
GONE = Reason("lab_gone", Code.NOT_FOUND, "always", "Ask for another.")


class Patient(Record):
    name: Annotated[str, Sensitive()]
    ward: str


class Find(Input):
    name: str = "x"
    password: Annotated[str | None, Sensitive()] = None
    token: SecretStr | None = None
    notes: Annotated[str, Sensitive()] | None = None
    patients: list[Patient] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)


class Found(Output):
    name: str = "x"


@tool("lab_find", title="Find", errors=[GONE])
async def find(args: Find, client: object, call: Call) -> Found:
    """Find."""
    if args.name == "gone":
        raise GONE.error("It is gone.")
    if args.name == "broken":
        raise KeyError
    if args.name == "wait":
        await anyio.sleep_forever()
    return Found()


@pytest.fixture
def audited(hosting: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Makes calls of lab_find with the given arguments, and gives the log's lines."""

    async def make(*calls: dict[str, Any], tool: str = "lab_find", **settings: Any) -> list[dict[str, Any]]:
        path = tmp_path / "audit.jsonl"
        audit = {"path": path, **settings.pop("audit", {})}
        async with hosting(find, settings={"audit": audit, **settings}) as host:
            for arguments in calls:
                with anyio.move_on_after(0.05 if arguments.get("name") == "wait" else None):
                    await host.call(tool, arguments, ADA)
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    return make


async def test_a_line_says_who_asked_for_what_and_how_it_ended(audited: Callable[..., Any]) -> None:
    """A success, the tool's own failure, a wrong argument, a fault, and a call given up."""
    names: list[Any] = ["x", "gone", ["y"], "broken", "wait"]
    lines = await audited(*({"name": name} for name in names))
    assert [(line["arguments"]["name"], line["outcome"], line["reason"]) for line in lines] == [
        ("x", "ok", None),
        ("gone", "failure", "lab_gone"),
        (["y"], "failure", "invalid_arguments"),
        ("broken", "failure", "internal_error"),
        ("wait", "cancelled", None),
    ]
    first = lines[0]
    assert (first["event"], first["caller"], first["tool"], first["rule"]) == ("call", "key:ada", "lab_find", None)
    assert (first["requests"], first["cached"]) == (0, 0)
    assert first["durationMs"] >= 0
    assert len(first["call"]) == 32


async def test_the_rule_that_decided_is_told(audited: Callable[..., Any]) -> None:
    """For what was allowed and for what was denied."""
    rules = [{"name": "short", "arguments": {"name": {"matches": "."}}, "effect": "allow"}]
    lines = await audited({"name": "x"}, {"name": "long"}, rules=rules, rules_default="deny")
    assert [(line["rule"], line["reason"]) for line in lines] == [("short", None), ("default", "forbidden")]


async def test_sensitive_values_stay_out_of_the_log(audited: Callable[..., Any]) -> None:
    """Marked ones, secrets, those within a record, and whatever stands under a name that the tool does not know."""
    secret = "canary"
    patients = [{"name": secret, "ward": "north"}, secret]
    sent = {"name": "x", "password": secret, "token": secret, "notes": secret, "patients": patients, "pasword": secret}
    lines = await audited(sent)
    assert secret not in json.dumps(lines[0]["arguments"]).replace('"canary"]', "]")
    assert lines[0]["arguments"]["name"] == "x"
    assert lines[0]["arguments"]["patients"][0] == {"name": "[withheld]", "ward": "north"}
    assert lines[0]["arguments"]["pasword"] == "[withheld]"


async def test_hashed_arguments_are_the_same_for_the_same_call(audited: Callable[..., Any]) -> None:
    """Repeats can be counted, and nothing be read; with a key not even be guessed."""
    audit = {"arguments": "hashed", "key": "k"}
    first, second, third = await audited({"name": "a", "tags": ["t"]}, {"tags": ["t"], "name": "a"}, {}, audit=audit)
    assert set(first["arguments"]) == {"sha256", "characters"}
    assert first["arguments"] == second["arguments"] != third["arguments"]


async def test_long_arguments_are_told_by_their_digest(audited: Callable[..., Any]) -> None:
    """A log of megabytes a call would be full soon, and so would the memory before it."""
    lines = await audited({"tags": ["t" * 1000] * 10}, {"tags": ["\ud800"]}, {"tags": [10**5000]})
    assert set(lines[0]["arguments"]) == {"sha256", "characters"}
    assert lines[1]["arguments"] == {"tags": ["\ud800"]}
    assert lines[2]["arguments"] == {"unwritable": True}


async def test_a_tool_that_does_not_exist_is_told_too(
    hosting: Callable[..., Any], audited: Callable[..., Any], tmp_path: Path
) -> None:
    """Whoever tries names is seen."""
    with pytest.raises(UnknownTool):
        await audited({}, tool="lab_fidn")
    (line,) = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (line["tool"], line["outcome"], line["reason"]) == ("lab_fidn", "failure", "unknown_tool")


async def test_a_log_that_cannot_be_written_stops_the_start(hosting: Callable[..., Any], tmp_path: Path) -> None:
    """No call is served that nobody would know of."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"audit\.path"):
        async with hosting(find, settings={"audit": {"path": tmp_path / "file" / "audit.jsonl"}}):
            pass


async def test_the_host_says_how_the_log_stands(hosting: Callable[..., Any], tmp_path: Path) -> None:
    """For metrics and for whoever looks; without a log there is nothing to say."""
    async with hosting(find) as host:
        assert host.audit is None
    async with hosting(find, settings={"audit": {"path": tmp_path / "audit.jsonl"}}) as host:
        assert host.audit is not None
        assert host.audit.lost == 0
