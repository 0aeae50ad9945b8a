"""The order of policies, and third parties' among them."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from scigate import Call, Input, Output, Policy, tool
from scigate.call import LOCAL
from scigate.failure import FORBIDDEN
from scigate.host import Host
from scigate.policy import core_policies, in_order
from scigate.settings import Settings

NAMES = ["trace", "disclose", "admit", "validate", "cap", "deadline", "page"]


class Ask(Input):
    name: str


class Done(Output):
    said: str


@tool("lab_ask", title="Ask")
async def ask(args: Ask, client: object, call: Call) -> Done:
    """Say the name."""
    return Done(said=args.name)


async def passing(call: Call, proceed: Any) -> Any:
    return await proceed(call)


def test_cores_own_order() -> None:
    """Outermost first: what is refused early costs nothing further in."""
    assert [policy.name for policy in core_policies(1)] == NAMES


@pytest.mark.parametrize("inside", [*NAMES, None])
def test_a_policy_stands_right_inside_the_one_it_names(inside: str | None) -> None:
    """Without a name it stands inside `cap`: arguments are valid there, and the handler's time is not running."""
    order = [policy.name for policy in in_order(core_policies(1), [Policy("mine", passing, inside)])]
    assert order[order.index("mine") - 1] == (inside or "cap")


def test_one_policy_may_stand_inside_another_of_its_kind() -> None:
    """Order of registration is order of placing."""
    mine = [Policy("outer", passing, "page"), Policy("inner", passing, "outer")]
    assert [policy.name for policy in in_order(core_policies(1), mine)] == [*NAMES, "outer", "inner"]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Policy("cap", passing), "policy 'cap' is registered twice"),
        (Policy("mine", passing, "nowhere"), "stands inside 'nowhere', which is none of trace, disclose"),
    ],
)
def test_a_policy_without_a_place_is_refused(policy: Policy, said: str) -> None:
    """By name, with the names that there are."""
    with pytest.raises(ValueError, match=said):
        in_order(core_policies(1), [policy])


async def test_a_provider_s_policy_stands_around_every_provider_s_tools(
    provider: Callable[..., ModuleType],
) -> None:
    """It sees valid arguments, may refuse, and may add to what is told."""

    async def rule(call: Call, proceed: Any) -> Any:
        if call.arguments.name == "secret":
            return FORBIDDEN.failure(f"{call.caller.id} may not ask for it.")
        call.notice("Seen.")
        return await proceed(call)

    plugins = {"lab": provider(ask), "rules": provider(register_policies=lambda: [Policy("rule", rule)])}
    async with Host.open(Settings(), plugins=plugins) as host:
        allowed = await host.call("lab_ask", {"name": "A-1"}, LOCAL)
        refused = await host.call("lab_ask", {"name": "secret"}, LOCAL)
        wrong = await host.call("lab_ask", {}, LOCAL)
    assert allowed.structured == {"said": "A-1", "notice": "Seen."}
    assert refused.structured["error"]["data"]["reason"] == "forbidden"
    assert wrong.structured["error"]["data"]["reason"] == "invalid_arguments"


async def test_a_policy_that_raises_is_a_fault_of_one_call(hosting: Callable[..., Any]) -> None:
    """The outermost policy answers for what nobody expected; the next call is served."""
    times: list[int] = []

    async def faulty(call: Call, proceed: Any) -> Any:
        times.append(1)
        if len(times) == 1:
            raise KeyError("secret")
        return await proceed(call)

    async with hosting(ask, register_policies=lambda: [Policy("faulty", faulty)]) as host:
        first = await host.call("lab_ask", {"name": "a"}, LOCAL)
        second = await host.call("lab_ask", {"name": "a"}, LOCAL)
    assert first.structured["error"]["data"]["reason"] == "internal_error"
    assert "secret" not in str(first)
    assert not second.is_error
