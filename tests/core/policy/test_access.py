"""Rules around real calls: what a refused caller gets, and which form of an argument is judged."""

from collections.abc import Callable
from typing import Any

import pytest
from scigate import Call, Caller, Input, Output, resource, tool
from scigate.catalogue import UnknownTool
from scigate.host import ReadFailed
from scigate.settings import SettingsError

ADA = Caller("key:ada", "key")
BOB = Caller("key:bob", "key")


class Find(Input):
    name: str
    page_size: int = 10


class Found(Output):
    name: str


@tool("lab_find", title="Find")
async def find(args: Find, client: object, call: Call) -> Found:
    """Find."""
    return Found(name=args.name)


@tool("lab_other", title="Other")
async def other(args: Find, client: object, call: Call) -> Found:
    """Find otherwise."""
    return Found(name=args.name)


@resource("lab://{name}", name="lab-sample", title="Sample")
async def sample(args: Find, client: object, call: Call) -> Found:
    """A sample."""
    return Found(name=args.name)


def reason(reply: Any) -> str | None:
    return reply.structured["error"]["data"]["reason"] if reply.is_error else None


@pytest.fixture
def ruled(hosting: Callable[..., Any]) -> Callable[..., Any]:
    """Opens a host with two tools, a resource and these rules."""

    def make(*rules: dict[str, Any], **settings: Any) -> Any:
        return hosting(find, other, settings={"rules": list(rules), **settings}, register_resources=lambda: [sample])

    return make


async def test_a_refused_call_says_by_which_rule(ruled: Callable[..., Any]) -> None:
    """Its own code and reason, the operator's message, and a hint that helps."""
    rule = {"name": "not bob", "caller": "key:bob", "tool": "lab_*", "effect": "deny", "message": "Ask Ada."}
    async with ruled(rule) as host:
        assert reason(await host.call("lab_find", {"name": "x"}, ADA)) is None
        error = (await host.call("lab_find", {"name": "x"}, BOB)).structured["error"]
    assert (error["code"], error["message"]) == (-32005, "Ask Ada.")
    assert error["data"]["reason"] == "forbidden"
    assert error["data"]["rule"] == "not bob"
    assert not error["data"]["retryable"]


async def test_who_may_never_call_a_tool_learns_nothing_of_its_arguments(ruled: Callable[..., Any]) -> None:
    """The refusal comes before the validation."""
    async with ruled({"caller": "key:bob", "effect": "deny"}) as host:
        assert reason(await host.call("lab_find", {"nmae": 1}, BOB)) == "forbidden"
        assert reason(await host.call("lab_find", {"nmae": 1}, ADA)) == "invalid_arguments"


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        ({"name": "x"}, True),
        ({"name": "x", "pageSize": 20}, True),
        ({"name": "x", "pageSize": "20"}, True),
        ({"name": "x", "pageSize": 21}, False),
        ({"name": "x", "pageSize": "21"}, False),
        ({"name": "x", "pageSize": 21.0}, False),
        ({"name": "x", "pageSize": None}, True),
        ({"name": 5}, False),
    ],
)
async def test_arguments_are_judged_as_the_tool_takes_them(
    ruled: Callable[..., Any], arguments: dict[str, Any], allowed: bool
) -> None:
    """Defaults stand in them, and another way to write a value is no way around a rule."""
    conditions = {"pageSize": {"at_most": 20}, "name": {"matches": "[a-z]+"}}
    async with ruled({"arguments": conditions, "effect": "allow"}, rules_default="deny") as host:
        assert (reason(await host.call("lab_find", arguments, ADA)) is None) is allowed


async def test_lists_hold_what_their_reader_may_call(ruled: Callable[..., Any]) -> None:
    """Tools and resources; a tool stays in the list where some arguments are allowed."""
    async with ruled(
        {"caller": "key:bob", "tool": "lab_find", "arguments": {"name": {"equals": "x"}}, "effect": "allow"},
        {"caller": "key:bob", "effect": "deny"},
    ) as host:
        assert [tool["name"] for tool in host.shown_to(ADA, host.catalogue.definitions)] == ["lab_find", "lab_other"]
        assert [tool["name"] for tool in host.shown_to(BOB, host.catalogue.definitions)] == ["lab_find"]
        assert host.shown_to(BOB, host.catalogue.resource_templates) == []
        with pytest.raises(ReadFailed, match="may not make this call"):
            await host.read("lab://x", BOB)
        assert (await host.read("lab://x", ADA)).text is not None


async def test_no_name_of_a_hidden_tool_is_given_away(ruled: Callable[..., Any]) -> None:
    """Neither by a near miss nor by the instructions, which are the same for all."""
    async with ruled({"caller": "key:bob", "tool": "lab_other", "effect": "deny"}) as host:
        with pytest.raises(UnknownTool) as raised:
            await host.call("lab_othr", {}, BOB)
        assert "lab_other" not in raised.value.suggestions
        assert "lab_other" not in host.instructions


async def test_a_rule_is_about_the_name_with_its_prefix(ruled: Callable[..., Any]) -> None:
    """As the caller sees it."""
    providers = {"lab": {"tool_prefix": "my_"}}
    async with ruled({"tool": "my_lab_find", "effect": "deny"}, providers=providers) as host:
        assert reason(await host.call("my_lab_find", {"name": "x"}, ADA)) == "forbidden"
        assert reason(await host.call("my_lab_other", {"name": "x"}, ADA)) is None


async def test_a_condition_on_an_argument_that_is_not_there_stops_the_start(ruled: Callable[..., Any]) -> None:
    """Misspelt, a denial would let pass what it is there to stop."""
    rule = {"name": "big", "tool": "lab_*", "arguments": {"pagesize": {"at_most": 5}}, "effect": "deny"}
    with pytest.raises(SettingsError, match="big has a condition on pagesize, which none of its tools takes"):
        async with ruled(rule):
            pass


async def test_a_wrong_rule_is_named_with_its_place(ruled: Callable[..., Any]) -> None:
    """As any other setting."""
    from scigate.settings import Settings

    with pytest.raises(SettingsError, match=r"rules\.0\.efect is not a setting; did you mean"):
        Settings.load(rules=[{"efect": "deny", "effect": "deny"}])
