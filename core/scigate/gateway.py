"""The gateway while it runs: the host that is served now, and how another takes its place.

A host never changes. When the settings do, another one is opened beside it; calls go there from then on, and the old
one is closed when its own calls are over. What must not begin anew with it is in `Holdings`. Above is the endpoint.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Final, Generic, TypeVar

import structlog

from scigate.clock import Clock, SystemClock
from scigate.holdings import Holdings
from scigate.host import Host
from scigate.metrics import Telemetry
from scigate.settings import Settings, SettingsError
from scigate.stores import AutoStore

__all__ = ["FIXED", "Gateway", "View"]

_log: Final = structlog.get_logger("scigate.gateway")

Json = dict[str, Any]
T = TypeVar("T")

FIXED: Final = ("offline", "telemetry", "server", "auth", "audit", "quota", "cache")
"""Settings that are read at start only: they belong to what outlives a host."""


class View(Generic[T]):
    """Something made of each host before it is served, such as its lists.

    Attributes:
        make: Makes it; a ValueError says why the host is not to be served.
        now: The one made of the host that is served.
        before: The one made of the host before; `now` itself until the first replacement.
    """

    def __init__(self, make: Callable[[Host], T], host: Host) -> None:
        self.make = make
        self.now = self.before = make(host)


class Gateway:
    """Serves a host, and another one in its place when it is told to.

    Args:
        host: The host; whoever opened it closes it. Only a gateway from `Gateway.open` can replace it.
    """

    def __init__(self, host: Host) -> None:
        self._tenure = _Tenure(host)
        self._opening: Callable[..., AbstractAsyncContextManager[Host]] | None = None
        self._retired: set[asyncio.Task[None]] = set()
        self._views: list[View[Any]] = []
        self._told: list[Callable[[], Awaitable[None]]] = []
        self._replacing = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        settings: Settings,
        *,
        plugins: Mapping[str, object] | None = None,
        clock: Clock | None = None,
        auto_store: AutoStore = "memory",
        telemetry: Telemetry | None = None,
        objection: Callable[[Json], str | None] | None = None,
    ) -> AsyncGenerator[Gateway]:
        """Open the first host; at the end close those that are still open.

        Args and raised exceptions are those of `Host.open`.
        """
        clock = clock or SystemClock()
        holdings = Holdings.open(settings, clock, auto_store)
        try:
            opening = partial(
                Host.open, plugins=plugins, clock=clock, telemetry=telemetry, objection=objection, holdings=holdings
            )
            tenure = await _Tenure.begun(opening(settings))
            gateway = cls(tenure.host)
            gateway._tenure, gateway._opening = tenure, opening
            try:
                yield gateway
            finally:
                await gateway._close()
        finally:
            await holdings.aclose()

    @property
    def host(self) -> Host:
        """The host that is served now; for a call take it by `serving`, so that it stays open."""
        return self._tenure.host

    @property
    def is_live(self) -> bool:
        """Whether the host can be replaced, and with it what is listed."""
        return self._opening is not None

    @contextmanager
    def serving(self) -> Generator[Host]:
        """The host that is served now, kept open for as long as the block runs."""
        with self._tenure.used() as host:
            yield host

    def view(self, make: Callable[[Host], T]) -> View[T]:
        """Have something made of each host before it is served; one of which it cannot be made is not served."""
        view = View(make, self.host)
        self._views.append(view)
        return view

    def on_replaced(self, tell: Callable[[], Awaitable[None]]) -> None:
        """Have `tell` awaited after each replacement, in the order of registration."""
        self._told.append(tell)

    async def replace(self, settings: Settings, *, anew: bool = False) -> bool:
        """Serve by other settings from now on; calls under way end by those that they began with.

        What is read at start only stays as it is, and the log names it.

        Args:
            settings: The other settings.
            anew: Open another host even by equal settings, since what is installed may be different.

        Returns:
            Whether another host is served.

        Raises:
            SettingsError: The settings are wrong, or a provider that serves could not serve by them. Nothing has
                changed then.
            TypeError: The gateway was made around a host.
        """
        if self._opening is None:
            raise TypeError("this gateway serves one host")
        async with self._replacing:
            before = self._tenure
            settings = _applicable(before.host.settings, settings)
            # Not ==, which would compare where the values came from as well.
            if not anew and settings.model_dump() == before.host.settings.model_dump():
                return False
            serving = [provider.name for provider in before.host.providers if provider.state == "serving"]
            try:
                after = await _Tenure.begun(self._opening(settings, required=serving))
            except ValueError as error:
                raise SettingsError([str(error)]) from error
            try:
                made = [view.make(after.host) for view in self._views]
            except BaseException as error:
                await after.end()
                before.host.announce()
                if isinstance(error, ValueError):
                    raise SettingsError([str(error)]) from error
                raise
            self._tenure = after
            for view, now in zip(self._views, made, strict=True):
                view.before, view.now = view.now, now
            retired = asyncio.create_task(before.retire(), name="retired host")
            self._retired.add(retired)
            retired.add_done_callback(self._retired.discard)
            for tell in self._told:
                try:
                    await tell()
                except Exception:  # noqa: BLE001  # the new host serves by now, whatever becomes of this
                    _log.exception("telling failed")
            return True

    async def _close(self) -> None:
        # Nobody calls any more: what is left of calls has been cancelled by the endpoint.
        await asyncio.gather(*self._retired, self._tenure.end())


class _Tenure:
    """A host, from when it is served until the last call that began with it is over."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._calls = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @classmethod
    async def begun(cls, opening: AbstractAsyncContextManager[Host]) -> _Tenure:
        """Open a host, in a task of its own: a provider's client may need to be closed where it was built."""
        opened: asyncio.Future[_Tenure] = asyncio.get_running_loop().create_future()

        async def last() -> None:
            async with opening as host:
                tenure = cls(host)
                opened.set_result(tenure)
                await tenure._over.wait()

        task = asyncio.create_task(last(), name="host")
        try:
            await asyncio.wait({task, opened}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        if not opened.done():
            await task
        tenure = opened.result()
        tenure._task = task
        return tenure

    @contextmanager
    def used(self) -> Generator[Host]:
        self._calls += 1
        self._idle.clear()
        try:
            yield self.host
        finally:
            self._calls -= 1
            if not self._calls:
                self._idle.set()

    async def retire(self) -> None:
        """Close the host when its calls are over, whatever goes wrong thereby: another one serves."""
        try:
            await self.end()
        except Exception:  # noqa: BLE001  # the top of a task
            _log.exception("closing failed")

    async def end(self) -> None:
        """Close the host when its calls are over."""
        await self._idle.wait()
        self._over.set()
        if self._task is not None:
            await self._task


def _applicable(before: Settings, after: Settings) -> Settings:
    """The new settings, with the old ones where those are read at start only; the log names what differs there."""
    fixed = {name: getattr(before, name) for name in FIXED if getattr(before, name) != getattr(after, name)}
    if fixed:
        _log.warning("restart needed", settings=sorted(fixed))
    return after.model_copy(update=fixed)
