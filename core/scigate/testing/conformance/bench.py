"""A gateway that has one provider, on sample data, in which every request and every outcome is seen."""

import asyncio
import sys
import threading
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import httpx
import structlog
from structlog.typing import EventDict

from scigate import hookspecs
from scigate.call import LOCAL, Call
from scigate.dialogue import InputRequest, InputRequired, concluded
from scigate.failure import Failure
from scigate.host import Host, Reply
from scigate.operation import Tool
from scigate.output import Success, structured
from scigate.policy import Outcome, Policy, Proceed
from scigate.settings import Settings
from scigate.testing.dialogue import FORMS, filled_in

__all__ = ["Bench", "HastyClock", "Seen", "Sent"]

HASTE: Final = 20.0
"""How much faster the kit's clock runs: waits for quotas and retries cost little, and computing has time to end."""

RECOVERY_S: Final = 90.0
"""Seconds after which a breaker lets requests pass again and a slowed upstream has its pace back."""


HANGING_S: Final = 6.0
"""Seconds that a call to an upstream that hangs may take; no answer comes however long one waits."""


class HastyClock:
    """A clock that runs `HASTE` times as fast as the machine's, and can be moved on."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._skipped = 0.0

    def monotonic(self) -> float:
        return (time.monotonic() - self._start) * HASTE + self._skipped

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / HASTE)

    def timeout(self, seconds: float) -> AbstractAsyncContextManager[asyncio.Timeout]:
        return asyncio.timeout(seconds / HASTE)

    def skip(self, seconds: float) -> None:
        """Let time pass at once; what waits already is not woken earlier."""
        self._skipped += seconds


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that the provider's client made.

    Attributes:
        safe: Whether it only reads: by its method, or because the client says so of a POST.
    """

    upstream: str
    method: str
    safe: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """One call and all that came of it.

    Attributes:
        schema: The tool's output schema.
        outcome: What the policies gave, before the envelope.
        sent: Requests that the client made, those answered from the cache included.
        fault: What each of them met, or None.
        asked: The keys of the questions that it asked its client.
    """

    tool: Tool
    arguments: Mapping[str, Any]
    schema: Mapping[str, Any]
    reply: Reply
    outcome: Outcome
    sent: tuple[Sent, ...]
    fault: str | None = None
    asked: tuple[str, ...] = ()

    @property
    def reason(self) -> str | None:
        """The failure's reason, or None for a result."""
        return self.outcome.reason if isinstance(self.outcome, Failure) else None

    @property
    def body(self) -> dict[str, Any]:
        """The result as it is without an envelope; empty for a failure."""
        return structured(self.outcome.output) if isinstance(self.outcome, Success) else {}

    @property
    def text(self) -> str:
        """The text for the model."""
        return "\n".join(block["text"] for block in self.reply.content if block["type"] == "text")


class _Watch:
    """The kit's own provider: one policy that keeps every outcome, by the call's id."""

    def __init__(self) -> None:
        self.outcomes: dict[str, Outcome] = {}

    @hookspecs.hookimpl
    def register_policies(self) -> list[Policy]:
        return [Policy("conformance", self._keep, inside="trace")]

    async def _keep(self, call: Call, proceed: Proceed) -> Outcome:
        outcome = await proceed(call)
        if not isinstance(outcome, InputRequired):
            self.outcomes[call.id] = outcome
        return outcome


@dataclass(slots=True)
class Bench:
    """The opened gateway.

    Attributes:
        tools: The provider's tools as it registered them.
        fault: What the emulator is asked to do with every request until further notice, as in `X-Emulator-Fault`.
        sending: Set when a request is under way.
        overdrawn: Quotas of which more was used than there is.
        connections: Addresses that somebody opened a connection to; sample data needs none.
        log: Lines that were logged, as dicts.
    """

    host: Host
    clock: HastyClock
    tools: list[Tool]
    watch: _Watch
    fault: str | None = None
    sending: asyncio.Event = field(default_factory=asyncio.Event)
    overdrawn: list[str] = field(default_factory=list[str])
    connections: list[str] = field(default_factory=list[str])
    log: list[EventDict] = field(default_factory=list[EventDict])
    _sent: list[Sent] = field(default_factory=list[Sent])

    @classmethod
    @asynccontextmanager
    async def open(
        cls, name: str, plugin: object, settings: Mapping[str, Any], *, cache: bool = True
    ) -> AsyncGenerator["Bench"]:
        """A gateway with one provider.

        Args:
            name: The provider's name.
            plugin: The provider.
            settings: Its section of the configuration.
            cache: Whether answers are kept.

        Raises:
            AssertionError: The provider does not serve; the text says why.
        """
        clock, watch = HastyClock(), _Watch()
        whole = Settings(
            offline=True,
            providers={name: dict(settings)},  # type: ignore[dict-item]  # validated by the model
            cache={"enabled": cache},  # type: ignore[arg-type]
        )
        with structlog.testing.capture_logs() as log:
            async with Host.open(whole, plugins={name: plugin, "conformance-kit": watch}, clock=clock) as host:
                status = next(each for each in host.providers if each.name == name)
                if status.state != "serving":
                    raise AssertionError(f"{name} does not serve: {status.reason}")
                tools = [tool for each in status.tools if isinstance(tool := host.catalogue.operation(each), Tool)]
                bench = cls(host, clock, tools, watch, log=log)
                for upstream in host.http_clients:
                    bench._tap(upstream, host.http_clients[upstream])
                with _connections(bench.connections):
                    yield bench

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], fault: str | None = None, action: str | None = "accept"
    ) -> Seen:
        """Call a tool, with every request of the call meeting `fault`, and every question `action`.

        Args:
            tool: The tool.
            arguments: Its arguments on the wire.
            fault: As `Bench.fault`.
            action: What a form is answered with; None for a client that cannot be asked.
        """
        asked: list[str] = []

        async def answer(key: str, request: InputRequest) -> dict[str, Any]:
            asked.append(key)
            if action != "accept":
                return {"action": action}
            return {"action": action, "content": filled_in(request.params["requestedSchema"])}

        self._sent, self.fault = [], fault
        whole = self.host.settings
        if fault == "hang":
            self.host.settings = whole.model_copy(update={"deadline_s": HANGING_S})
        try:
            reply = await concluded(
                lambda dialogue: self.host.call(tool.name, arguments, LOCAL, dialogue=dialogue),
                FORMS if action else None,
                answer,
            )
        finally:
            self.fault, self.host.settings = None, whole
        schema = next(each["outputSchema"] for each in self.host.catalogue.definitions if each["name"] == tool.name)
        outcome = self.watch.outcomes.pop(reply.meta["scigate/call"])
        return Seen(tool, arguments, schema, reply, outcome, tuple(self._sent), asked=tuple(asked))

    def recover(self) -> None:
        """Let so much time pass that no earlier fault has a say any more."""
        self.clock.skip(RECOVERY_S)

    def _tap(self, upstream: str, client: httpx.AsyncClient) -> None:
        send = client.send

        async def tapped(request: httpx.Request, **options: Any) -> httpx.Response:
            safe = request.method in ("GET", "HEAD", "OPTIONS") or bool(request.extensions.get("scigate.safe"))
            self._sent.append(Sent(upstream, request.method, safe))
            self.sending.set()
            if self.fault is not None:
                request.headers["X-Emulator-Fault"] = self.fault
            response = await send(request, **options)
            self._weigh(upstream)
            return response

        client.send = tapped  # type: ignore[method-assign]  # the provider holds this very object

    def _weigh(self, upstream: str) -> None:
        for status in self.host.upstreams:
            if status.name != upstream:
                continue
            for quota, used in zip(status.quotas, status.used, strict=True):
                if used > int(quota.split("/")[0]):
                    self.overdrawn.append(f"{upstream} has used {used} of {quota}")


_watchers: list[list[str]] = []
_hooked = threading.Event()


class _connections:  # noqa: N801  # reads as a function, and needs a place for its list
    """Notes every address that this process connects to meanwhile.

    An audit hook cannot be taken back, so one is set once and speaks to those who listen.
    """

    def __init__(self, found: list[str]) -> None:
        self._found = found

    def __enter__(self) -> None:
        if not _hooked.is_set():
            _hooked.set()
            sys.addaudithook(_on_audit)
        _watchers.append(self._found)

    def __exit__(self, *_: object) -> None:
        _watchers.remove(self._found)


def _on_audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and _watchers and isinstance(arguments[1], tuple):
        address = f"{arguments[1][0]}:{arguments[1][1]}"
        for found in list(_watchers):
            found.append(address)
