"""Providers made for one test, and a host that has only them."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from types import ModuleType
from typing import Any

import pytest
from scigate import Tool, hookimpl
from scigate.clock import Clock
from scigate.host import Host
from scigate.metrics import Telemetry
from scigate.settings import Settings


@pytest.fixture(scope="session")
def provider() -> Callable[..., ModuleType]:
    """Makes a provider of tools and of hooks given by name; what is no function stands on it as it is."""

    def make(*tools: Tool, **members: Any) -> ModuleType:
        if tools:
            members["register_tools"] = lambda: list(tools)
        module = ModuleType("lab")
        for name, value in members.items():
            setattr(module, name, hookimpl(value) if callable(value) else value)
        return module

    return make


@pytest.fixture(scope="session")
def hosting(provider: Callable[..., ModuleType]) -> Callable[..., AbstractAsyncContextManager[Host]]:
    """Opens a host that has one provider, `lab`, of the given tools and hooks."""

    def make(
        *tools: Tool,
        settings: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        telemetry: Telemetry | None = None,
        **members: Any,
    ) -> AbstractAsyncContextManager[Host]:
        lab = provider(*tools, **members)
        chosen = Settings.model_validate(settings or {})
        return Host.open(chosen, plugins={"lab": lab}, clock=clock, telemetry=telemetry)

    return make
