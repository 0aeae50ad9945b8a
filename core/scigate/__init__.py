"""scigate: one MCP endpoint for scientific data providers.

This module is all that a provider's author imports. What it exports is the provider API, version `API_VERSION`;
everything else in the package is core's own and may change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scigate.arguments import Batch, Cap, Input, Offset, PageSize, Sensitive
    from scigate.call import LOCAL, Call, Caller
    from scigate.dialogue import Answer, Dialogue, InputRequest, InputRequired
    from scigate.envelope import Envelope, Rendered
    from scigate.failure import Code, Failure, FailureError, Reason
    from scigate.hookspecs import hookimpl
    from scigate.host import Host
    from scigate.operation import Contents, Example, Prompt, Resource, Tool, prompt, resource, tool
    from scigate.output import Audio, Embedded, Image, Output, Page, Record, Success
    from scigate.policy import Policy
    from scigate.rendering import markdown
    from scigate.schema import result_schema
    from scigate.settings import Settings
    from scigate.upstream import Lifetime, Upstream
    from scigate.upstream.errors import CircuitOpen, DeadlineExceeded, QuotaExhausted

API_VERSION: Final = "1.0"
"""Version of the provider API; a provider states the range it was written for in `scigate_api`."""

# Exports are imported when first used: every module of core runs this one first, and `scigate --version` needs
# neither pydantic nor httpx.
_HOMES: Final = {
    "scigate.arguments": ("Batch", "Cap", "Input", "Offset", "PageSize", "Sensitive"),
    "scigate.call": ("LOCAL", "Call", "Caller"),
    "scigate.dialogue": ("Answer", "Dialogue", "InputRequest", "InputRequired"),
    "scigate.envelope": ("Envelope", "Rendered"),
    "scigate.failure": ("Code", "Failure", "FailureError", "Reason"),
    "scigate.hookspecs": ("hookimpl",),
    "scigate.host": ("Host",),
    "scigate.operation": ("Contents", "Example", "Prompt", "Resource", "Tool", "prompt", "resource", "tool"),
    "scigate.output": ("Audio", "Embedded", "Image", "Output", "Page", "Record", "Success"),
    "scigate.policy": ("Policy",),
    "scigate.rendering": ("markdown",),
    "scigate.schema": ("result_schema",),
    "scigate.settings": ("Settings",),
    "scigate.upstream": ("Lifetime", "Upstream"),
    "scigate.upstream.errors": ("CircuitOpen", "DeadlineExceeded", "QuotaExhausted"),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "API_VERSION",
    "LOCAL",
    "Answer",
    "Audio",
    "Batch",
    "Call",
    "Caller",
    "Cap",
    "CircuitOpen",
    "Code",
    "Contents",
    "DeadlineExceeded",
    "Dialogue",
    "Embedded",
    "Envelope",
    "Example",
    "Failure",
    "FailureError",
    "Host",
    "Image",
    "Input",
    "InputRequest",
    "InputRequired",
    "Lifetime",
    "Offset",
    "Output",
    "Page",
    "PageSize",
    "Policy",
    "Prompt",
    "QuotaExhausted",
    "Reason",
    "Record",
    "Rendered",
    "Resource",
    "Sensitive",
    "Settings",
    "Success",
    "Tool",
    "Upstream",
    "hookimpl",
    "markdown",
    "prompt",
    "resource",
    "result_schema",
    "tool",
]


def __getattr__(name: str) -> object:
    if (home := _HOME_OF.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value
