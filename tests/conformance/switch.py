"""A provider whose tools change what the gateway serves, as the suite's `test_trigger_*_change` are to do.

Each turns a further provider on or off, by the way that an operator's edit of the configuration takes.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from scigate import Call, Input, Output, hookimpl, prompt, tool
from scigate.gateway import Gateway

__all__ = ["Switch"]


class Nothing(Input):
    pass


class Done(Output):
    done: bool = True


@tool("test_changing_tool", title="Changing tool")
async def changing_tool(args: Nothing, client: object, call: Call) -> Done:
    """Come and go."""
    return Done()


@prompt("test_changing_prompt", title="Changing prompt")
def changing_prompt(args: Nothing) -> str:
    """Come and go."""
    return "Come and go."


def _provider(**hooks: Any) -> ModuleType:
    module = ModuleType("switched")
    for name, hook in hooks.items():
        setattr(module, name, hookimpl(hook))
    return module


class Switch:
    """The providers, and what they switch.

    Attributes:
        plugins: By name, to be served beside others.
        gateway: What is switched; set once it is open.
    """

    gateway: Gateway

    def __init__(self) -> None:
        @tool("test_trigger_tool_change", title="Change the tools", read_only=False)
        async def change_tools(args: Nothing, client: object, call: Call) -> Done:
            """Have a tool come or go."""
            return await self._turn("changing_tool")

        @tool("test_trigger_prompt_change", title="Change the prompts", read_only=False)
        async def change_prompts(args: Nothing, client: object, call: Call) -> Done:
            """Have a prompt come or go."""
            return await self._turn("changing_prompt")

        self.plugins: dict[str, object] = {
            "switch": _provider(register_tools=lambda: [change_tools, change_prompts]),
            "changing_tool": _provider(register_tools=lambda: [changing_tool]),
            "changing_prompt": _provider(register_tools=lambda: (), register_prompts=lambda: [changing_prompt]),
        }

    async def _turn(self, provider: str) -> Done:
        settings = self.gateway.host.settings
        section = settings.provider(provider)
        turned = section.model_copy(update={"enabled": not section.enabled})
        await self.gateway.replace(settings.model_copy(update={"providers": {**settings.providers, provider: turned}}))
        return Done()
