"""Providers: finding them, asking their hooks one provider at a time, and setting a broken one aside.

Above is the host, which builds its tables from what stands here. Below are the entry points and pluggy.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import Distribution, entry_points
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeVar, cast, runtime_checkable

import anyio
import httpx
import pluggy
import structlog
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from scigate import API_VERSION, hookspecs
from scigate.envelope import Envelope, StandardEnvelope
from scigate.failure import Failure
from scigate.operation import Example, Prompt, Resource, Tool
from scigate.policy import Policy
from scigate.upstream import Upstream

if TYPE_CHECKING:
    import typer

__all__ = [
    "EntryPoint",
    "Provider",
    "ProviderError",
    "ProviderStatus",
    "Registry",
    "close_client",
    "installed",
    "plugin_of",
]

T = TypeVar("T")

_log: Final = structlog.get_logger("scigate.providers")

BUILD_TIMEOUT_S: Final = 10.0
"""Seconds that a provider's `build_client` may take; a client that hangs must not hold up the others."""

CLOSE_TIMEOUT_S: Final = 5.0


class ProviderError(Exception):
    """A provider cannot serve; the text says why, for an operator."""


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    """How a provider stands.

    Attributes:
        name: Name of its entry point.
        distribution: Name of the distribution that brings it, or "" for one registered in process.
        version: That distribution's version, or "".
        state: Whether it serves, is turned off by config, or was set aside for a fault.
        reason: Why it does not serve, or None.
        tools: Names of the tools it serves, in list order.
        refused: Sentences on tools, resources and prompts of its that are not served, each with the remedy.
    """

    name: str
    distribution: str
    version: str
    state: Literal["serving", "disabled", "quarantined"]
    reason: str | None = None
    tools: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(slots=True)
class Provider:
    """A provider whose hooks have answered.

    Attributes:
        name: Name of its entry point.
        tools, resources, prompts, upstreams, policies, examples: What it registered, in its order.
        envelope: Its envelope, or the standard one.
        client: What its `build_client` made, or None.
        map_error: Its reading of its own exceptions.
        settings: Its section of the configuration, or None when it has no model for one.
    """

    name: str
    tools: list[Tool]
    resources: list[Resource]
    prompts: list[Prompt]
    upstreams: list[Upstream]
    policies: list[Policy]
    examples: list[Example]
    envelope: Envelope
    map_error: Callable[[Exception], Failure | None]
    settings: object = None
    client: object = None


@runtime_checkable
class EntryPoint(Protocol):
    """What names an installed provider.

    By its shape: a library that imports the backport `importlib_metadata`, as keyring does before Python 3.12, has the
    standard library answer with the backport's own class from then on.
    """

    @property
    def name(self) -> str: ...
    @property
    def group(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def dist(self) -> Distribution | None: ...

    def load(self) -> Any:
        """Import what it names."""
        ...


def plugin_of(candidate: object) -> object:
    """The plugin of a candidate: what its entry point names, or the candidate itself.

    Raises:
        ProviderError: Its import ended the process.
        Exception: Whatever its import raises.
    """
    if not isinstance(candidate, EntryPoint):
        return candidate
    try:
        return candidate.load()
    except SystemExit as error:
        raise ProviderError(f"its import asked the process to end (SystemExit: {error})") from error


def installed() -> dict[str, EntryPoint]:
    """Entry points in the group `scigate`, by name, in order of their names; nothing is imported."""
    found = cast("Iterable[EntryPoint]", entry_points(group=hookspecs.PROJECT))
    return {point.name: point for point in sorted(found, key=lambda point: point.name)}


def reason_text(error: BaseException) -> str:
    """An exception in one line, for status and log."""
    text = " ".join(str(error).split())
    return text if isinstance(error, ProviderError) else f"{type(error).__name__}: {text}"


@dataclass(slots=True)
class Registry:
    """The plugins of one host, and the way to ask each alone."""

    _manager: pluggy.PluginManager = field(init=False)

    def __post_init__(self) -> None:
        self._manager = pluggy.PluginManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)

    def register(self, name: str, plugin: object) -> None:
        """Take a plugin in.

        Raises:
            ProviderError: A hook is misspelt or takes unknown arguments, there is none, or the provider is for another
                API version.
        """
        # First: a provider for a later API may well have hooks that this one does not know.
        _check_api_version(plugin)
        if type(plugin).__hash__ is None:
            raise ProviderError(f"a provider is a module or another hashable object, not a {type(plugin).__name__}")
        try:
            self._manager.register(plugin, name)
            self._manager.check_pending()
        except pluggy.PluginValidationError as error:
            self._manager.unregister(name=name)
            raise ProviderError(" ".join(str(error).split())) from error
        if not self._manager.get_hookcallers(plugin):
            raise ProviderError("none of its functions is marked with @hookimpl")

    def settings_model(self, name: str) -> type[Any] | None:
        """The model of the provider's own settings, or None when it has none."""
        return self._ask(name, "settings_model")

    def commands(self, name: str) -> list[typer.Typer]:
        """The groups of commands that the provider adds to the command line."""
        answers: list[Iterable[typer.Typer]] = self._ask(name, "register_commands") or []
        return [group for answer in answers for group in answer]

    def ask(self, name: str, settings: object) -> Provider:
        """Ask every registering hook of one provider.

        Args:
            name: The provider.
            settings: Its section of the configuration, or None when it has no model for one.

        Raises:
            ProviderError: It registers something that is not what the hook is for.
            Exception: Whatever its hooks raise.
        """

        def every(hook: str, kind: type[T], **arguments: object) -> list[T]:
            answers: list[Iterable[T]] = self._ask(name, hook, **arguments) or []
            items = [item for answer in answers for item in answer]
            for item in items:
                if not isinstance(item, kind):
                    raise ProviderError(f"{hook} gave {item!r}, which is no {kind.__name__}")
            return items

        def map_error(error: Exception) -> Failure | None:
            return self._ask(name, "map_error", error=error)

        return Provider(
            name=name,
            tools=every("register_tools", Tool, settings=settings),
            resources=every("register_resources", Resource),
            prompts=every("register_prompts", Prompt),
            upstreams=every("register_upstreams", Upstream, settings=settings),
            policies=every("register_policies", Policy),
            examples=every("register_examples", Example),
            envelope=self._ask(name, "register_envelope") or StandardEnvelope(),
            map_error=map_error,
            settings=settings,
        )

    async def build_client(self, provider: Provider, upstreams: Mapping[str, httpx.AsyncClient]) -> None:
        """Make the provider's client, within `BUILD_TIMEOUT_S`.

        Raises:
            ProviderError: It took too long.
            Exception: Whatever the hook raises.
        """
        try:
            client = self._ask(provider.name, "build_client", upstreams=upstreams, settings=provider.settings)
            if inspect.isawaitable(client):
                with anyio.move_on_after(BUILD_TIMEOUT_S) as scope:
                    client = await client
                if scope.cancelled_caught:
                    raise ProviderError(f"build_client was not done within {BUILD_TIMEOUT_S:g} s")
        except SystemExit as error:
            raise ProviderError(f"build_client asked the process to end (SystemExit: {error})") from error
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            raise ProviderError("build_client waited for something that was cancelled") from error
        provider.client = client

    def _ask(self, name: str, hook: str, **arguments: object) -> Any:
        plugin = self._manager.get_plugin(name)
        others = [other for other in self._manager.get_plugins() if other is not plugin]
        return self._manager.subset_hook_caller(hook, others)(**arguments)


async def close_client(provider: Provider) -> None:
    """Close the provider's client by its `aclose()` or `close()`, if it has one, within `CLOSE_TIMEOUT_S`."""
    close = getattr(provider.client, "aclose", None) or getattr(provider.client, "close", None)
    if close is None:
        return
    with anyio.move_on_after(CLOSE_TIMEOUT_S, shield=True):
        try:
            result = close()
            if inspect.isawaitable(result):
                await result
        except (Exception, SystemExit):  # noqa: BLE001  # the others are closed all the same
            _log.exception("client did not close", provider=provider.name)
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            _log.exception("client did not close", provider=provider.name)


def _is_cancelled() -> bool:
    """Whether it is this task that somebody has cancelled, and not something that it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _check_api_version(plugin: object) -> None:
    written_for = getattr(plugin, "scigate_api", None)
    if written_for is None:
        return
    try:
        fits = SpecifierSet(str(written_for)).contains(API_VERSION)
    except InvalidSpecifier as error:
        raise ProviderError(f"scigate_api is {written_for!r}, which is no version range such as '>=1,<2'") from error
    if not fits:
        raise ProviderError(
            f"it is written for provider API {written_for}, this scigate has {API_VERSION}: "
            "upgrade whichever of the two is older"
        )
