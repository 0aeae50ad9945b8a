"""Prompts run through the policies, as tools do."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from scigate import Input, prompt
from scigate.call import LOCAL
from scigate.endpoint.lists import Lists
from scigate.host import Host, ReadFailed

Hosting = Callable[..., AbstractAsyncContextManager[Host]]


class Topic(Input):
    topic: str


@prompt("lab_plan", title="Plan")
def plan(args: Topic) -> str:
    """Plan something."""
    return f"Plan {args.topic}."


def lab(hosting: Hosting, settings: Mapping[str, Any]) -> AbstractAsyncContextManager[Host]:
    return hosting(settings=settings, register_prompts=lambda: [plan])


async def test_a_prompt_is_written_to_the_audit_log(hosting: Hosting, tmp_path: Path) -> None:
    """By its name, with its arguments."""
    audit = tmp_path / "audit.jsonl"
    async with lab(hosting, {"audit": {"path": str(audit)}}) as host:
        await host.prompt("lab_plan", {"topic": "x"}, LOCAL)
    assert '"tool":"lab_plan"' in audit.read_text(encoding="utf-8")


async def test_a_rule_keeps_a_prompt_from_callers(hosting: Hosting) -> None:
    """One whom a rule denies it neither sees it listed nor gets it."""
    async with lab(hosting, {"rules": [{"tool": "lab_plan", "effect": "deny"}]}) as host:
        assert Lists(host).shown_to(LOCAL, "prompts/list")["prompts"] == []
        with pytest.raises(ReadFailed) as refused:
            await host.prompt("lab_plan", {"topic": "x"}, LOCAL)
    assert refused.value.failure.reason == "forbidden"


async def test_a_rule_may_be_about_a_prompts_argument(hosting: Hosting) -> None:
    """As about a tool's."""
    rule = {"tool": "lab_plan", "effect": "deny", "arguments": {"topic": {"equals": "bombs"}}}
    async with lab(hosting, {"rules": [rule]}) as host:
        await host.prompt("lab_plan", {"topic": "assays"}, LOCAL)
        with pytest.raises(ReadFailed):
            await host.prompt("lab_plan", {"topic": "bombs"}, LOCAL)


async def test_prompts_count_among_a_callers_calls(hosting: Hosting) -> None:
    """What a caller may ask in a time is spent by them, too."""
    async with lab(hosting, {"limits": [{"caller": "*", "rates": ["1/hour"]}]}) as host:
        await host.prompt("lab_plan", {"topic": "x"}, LOCAL)
        with pytest.raises(ReadFailed) as refused:
            await host.prompt("lab_plan", {"topic": "x"}, LOCAL)
    assert refused.value.failure.reason == "caller_rate_limited"
