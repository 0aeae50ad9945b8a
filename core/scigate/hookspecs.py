"""What a provider can do: every hook, when it is called, and what becomes of its answer.

A provider is a module (or object) with functions marked `@hookimpl`, named by an entry point in the group
`scigate`. An implementation takes only the arguments it needs. The first three hooks make a provider; the others are
optional. Hooks are called once, while the gateway starts, one provider at a time; `map_error` is asked later, whenever
a call of this provider raised.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import pluggy

if TYPE_CHECKING:
    import httpx
    import typer
    from pydantic import BaseModel

    from scigate.envelope import Envelope
    from scigate.failure import Failure
    from scigate.operation import Example, Prompt, Resource, Tool
    from scigate.policy import Policy
    from scigate.upstream import Upstream

__all__ = ["PROJECT", "hookimpl", "hookspec"]

PROJECT: Final = "scigate"

hookspec: Final = pluggy.HookspecMarker(PROJECT)
hookimpl: Final = pluggy.HookimplMarker(PROJECT)


@hookspec
def register_tools(settings: object) -> Iterable[Tool]:  # type: ignore[empty-body]
    """Give the provider's tools, in the order in which they are to be listed.

    A tool whose name another provider already has is refused; the `tool_prefix` setting mends it.

    Args:
        settings: As in `build_client`; a switch in it may leave tools out.

    Example:
        >>> @hookimpl
        ... def register_tools():
        ...     return [search_samples, get_sample]
    """


@hookspec(firstresult=True)
def build_client(upstreams: Mapping[str, httpx.AsyncClient], settings: object) -> object:  # type: ignore[empty-body]
    """Make the client that every handler of this provider gets; called after `register_upstreams`.

    May be a coroutine function. The host closes the client at the end by its `aclose()` or `close()`, if it has one;
    the HTTP clients underneath belong to the host.

    Args:
        upstreams: For each upstream that the provider registered, an HTTP client with its base URL set and with
            quota, cache, retry, breaker and tracing already in its transport.
        settings: The provider's section of the configuration: an instance of `settings_model()`, or None without one.

    Example:
        >>> @hookimpl
        ... def build_client(upstreams):
        ...     return Lab(upstreams["mylab"])
    """


@hookspec(firstresult=True)
def map_error(error: Exception) -> Failure | None:
    """Say what an exception of this provider's client or handlers means; None leaves it to core.

    Core knows its own exceptions (`QuotaExhausted`, `CircuitOpen`, `DeadlineExceeded`) and httpx's. A `FailureError`
    is not asked about: it says itself what it means.

    Example:
        >>> @hookimpl
        ... def map_error(error):
        ...     if isinstance(error, LabError) and error.status == 404:
        ...         return UNKNOWN_SAMPLE.failure(f"no sample {error.asked}")
        ...     return None
    """


@hookspec
def register_upstreams(settings: object) -> Iterable[Upstream]:  # type: ignore[empty-body]
    """Give the remote services that the provider's client needs.

    Two providers that register the same upstream share its quota, cache and breaker; they must register it alike.

    Args:
        settings: As in `build_client`; a key in it may raise a quota.

    Example:
        >>> @hookimpl
        ... def register_upstreams():
        ...     return [Upstream("mylab", "https://lab.example/api/", quotas=("5/second",))]
    """


@hookspec
def register_resources() -> Iterable[Resource]:  # type: ignore[empty-body]
    """Give the provider's MCP resources and resource templates.

    Example:
        >>> @hookimpl
        ... def register_resources():
        ...     return [sample]
    """


@hookspec
def register_prompts() -> Iterable[Prompt]:  # type: ignore[empty-body]
    """Give the provider's MCP prompts.

    Example:
        >>> @hookimpl
        ... def register_prompts():
        ...     return [plan]
    """


@hookspec
def register_policies() -> Iterable[Policy]:  # type: ignore[empty-body]
    """Give policies that stand around every tool call of every provider, core's own among them.

    Example:
        >>> async def licence(call, proceed):
        ...     outcome = await proceed(call)
        ...     call.notice("Records of the lab are CC BY 4.0.")
        ...     return outcome
        >>> @hookimpl
        ... def register_policies():
        ...     return [Policy("licence", licence, inside="cap")]
    """


@hookspec(firstresult=True)
def settings_model() -> type[BaseModel]:  # type: ignore[empty-body]
    """Give the model of the provider's own keys in `[providers.NAME]`; unknown keys are refused by core.

    Example:
        >>> @hookimpl
        ... def settings_model():
        ...     return LabSettings
    """


@hookspec(firstresult=True)
def register_envelope() -> Envelope:  # type: ignore[empty-body]
    """Give the envelope of this provider's tools, where it keeps a wire contract of its own.

    Example:
        >>> @hookimpl
        ... def register_envelope():
        ...     return RunEnvelope()
    """


@hookspec
def register_examples() -> Iterable[Example]:  # type: ignore[empty-body]
    """Give calls that show the provider's tools on sample data, for `scigate demo`.

    Example:
        >>> @hookimpl
        ... def register_examples():
        ...     return [Example(title="A sample by name", tool="mylab_find", arguments={"name": "A-1"})]
    """


@hookspec
def register_commands() -> Iterable[typer.Typer]:  # type: ignore[empty-body]
    """Give groups of commands for the command line: `scigate NAME ...` for a group with `name=NAME`.

    Asked only when somebody types a command that is not core's, or asks for help: no other command waits for it.
    Import what the commands need in them, for the same reason. `scigate.cli.options`, `.terminal` and `.refusal` hold
    what core's own commands share: the options, the tables, and the one-line refusal.

    Example:
        >>> @hookimpl
        ... def register_commands():
        ...     from mylab.commands import app
        ...     return [app]
    """
