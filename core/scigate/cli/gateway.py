"""The gateway that a command talks to: a host in this process, or another process's endpoint by its URL."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from scigate.cli.refusal import Refusal
from scigate.cli.remote import Remote

if TYPE_CHECKING:
    from mcp import Client, StdioServerParameters
    from mcp.client.session import ElicitationFnT

    from scigate import gateway
    from scigate.cli.form import Terminal
    from scigate.clock import Clock
    from scigate.host import Host
    from scigate.metrics import Telemetry
    from scigate.settings import Settings
    from scigate.stores import AutoStore

Definition = Mapping[str, Any]


class Progress(Protocol):
    """Takes how far a call is: `progress` of `total`, in the tool's own unit."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None: ...


@dataclass(frozen=True)
class Answer:
    """What one tool call gave, as a client sees it.

    Attributes:
        structured: The structured content.
        text: The text blocks, joined by an empty line.
        is_error: Whether it is a failure.
        meta: The result's `_meta`; core's own key there is `scigate/usage`.
    """

    structured: dict[str, Any]
    text: str
    is_error: bool
    meta: Mapping[str, Any]

    @property
    def upstream_requests(self) -> int | None:
        """Requests that the call put on the wire; None where the gateway does not say."""
        usage = self.meta.get("scigate/usage", {})
        return usage.get("requests")


class Gateway(Protocol):
    """Lists tools and calls them."""

    async def definitions(self) -> list[Definition]:
        """The tools as they are on the wire, in their order."""
        ...

    async def call(self, tool: str, arguments: dict[str, object], progress: Progress | None = None) -> Answer:
        """Call a tool."""
        ...


class LocalGateway:
    """A host in this process.

    Args:
        host: The host.
        terminal: Where what a call asks is answered; None where nobody is there.
    """

    def __init__(self, host: "Host", terminal: "Terminal | None" = None) -> None:
        self._host = host
        self._terminal = terminal

    async def definitions(self) -> list[Definition]:
        """The host's tools."""
        return list(self._host.catalogue.definitions)

    async def call(self, tool: str, arguments: dict[str, object], progress: Progress | None = None) -> Answer:
        """Call through the host, as the local caller."""
        from scigate.call import LOCAL  # for start-up time
        from scigate.cli.form import unanswerable
        from scigate.dialogue import InputRequest, concluded
        from scigate.failure import INPUT_UNAVAILABLE

        terminal = self._terminal

        async def answer(key: str, request: InputRequest) -> Mapping[str, Any]:
            assert terminal is not None
            return terminal.fill_in(request.params["message"], request.params["requestedSchema"])

        reply = await concluded(
            lambda dialogue: self._host.call(tool, arguments, LOCAL, progress=progress, dialogue=dialogue),
            {"elicitation": {"form": {}}} if terminal else None,
            answer,
        )
        if not terminal and reply.failure is not None and reply.failure.reason == INPUT_UNAVAILABLE.name:
            raise unanswerable(tool)
        text = "\n\n".join(block["text"] for block in reply.content if block.get("type") == "text")
        return Answer(reply.structured, text, reply.is_error, reply.meta)


class RemoteGateway:
    """A running gateway, through the MCP SDK's client."""

    def __init__(self, client: "Client") -> None:
        self._client = client

    async def definitions(self) -> list[Definition]:
        """The server's tools, all pages of its list."""
        found: list[Definition] = []
        cursor: str | None = None
        while True:
            page = await self._client.list_tools(cursor=cursor)
            found += [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def call(self, tool: str, arguments: dict[str, object], progress: Progress | None = None) -> Answer:
        """Call over the wire."""
        from mcp import MCPError  # for start-up time
        from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY

        from scigate.cli.form import unanswerable

        try:
            result = await self._client.call_tool(tool, arguments, progress_callback=progress)
        except MCPError as error:
            if error.code == MISSING_REQUIRED_CLIENT_CAPABILITY:
                raise unanswerable(tool) from error
            raise
        text = "\n\n".join(block.text for block in result.content if block.type == "text")
        content: object = result.structured_content
        structured = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
        return Answer(structured, text, result.is_error, result.meta or {})


@asynccontextmanager
async def opened_host(
    settings: "Settings",
    *,
    auto_store: "AutoStore" = "sqlite",
) -> AsyncGenerator["Host"]:
    """The host of a command; wrong settings of a provider are refused like any others.

    Args:
        settings: What it is opened with.
        auto_store: Where budgets live when the settings leave it open: a file, as other commands and editors may run
            beside this one.
    """
    from scigate.host import Host  # for start-up time
    from scigate.settings import SettingsError
    from scigate.telemetry import configure_logging

    configure_logging(settings.log, brief=True)
    try:
        async with Host.open(settings, auto_store=auto_store) as host:
            yield host
    except SettingsError as error:
        raise Refusal(str(error)) from error


@asynccontextmanager
async def serving(
    settings: "Settings",
    options: Mapping[str, object],
    *,
    auto_store: "AutoStore" = "sqlite",
    objection: "Callable[[Definition], str | None] | None" = None,
) -> AsyncGenerator["gateway.Gateway"]:
    """The gateway that clients are served by: it follows its configuration file, and logs each call.

    Args:
        settings: What it starts with.
        options: What the command line gave of them, which goes before the file whenever that is read again.
        auto_store: As in `opened_host`.
        objection: Says of a tool's definition why it is not to be served, or None.
    """
    from scigate import gateway  # for start-up time
    from scigate.clock import SystemClock
    from scigate.reload import keeping_current
    from scigate.settings import Settings, SettingsError
    from scigate.telemetry import configure_logging

    configure_logging(settings.log)
    path, clock = settings.origins.path, SystemClock()
    try:
        with _exporting(settings, clock) as telemetry:
            async with gateway.Gateway.open(
                settings, clock=clock, auto_store=auto_store, telemetry=telemetry, objection=objection
            ) as served:

                async def follow_log() -> None:
                    configure_logging(served.host.settings.log)

                served.on_replaced(follow_log)
                async with keeping_current(served, lambda: Settings.load(path, **options), path):
                    yield served
    except SettingsError as error:
        raise Refusal(str(error)) from error


def _exporting(settings: "Settings", clock: "Clock") -> "AbstractContextManager[Telemetry | None]":
    if not settings.telemetry.wanted:
        return nullcontext()
    from scigate.exporters import exporting  # for start-up time: it brings OpenTelemetry's SDK

    return exporting(settings.telemetry, clock)


@asynccontextmanager
async def connected(
    server: "Remote | StdioServerParameters", terminal: "Terminal | None" = None
) -> AsyncGenerator[RemoteGateway]:
    """A running gateway by its URL, or any MCP server by the command that starts it; refuses when none answers.

    Args:
        server: Where it is, or the command.
        terminal: Where what a call asks is answered; None where nobody is there.
    """
    from mcp import Client, MCPError  # for start-up time

    if isinstance(server, Remote):
        place, hint = server.url, "`scigate serve --http` starts one and says its URL"
    else:
        place, hint = (
            " ".join([server.command, *server.args]),
            "the command has to serve MCP on standard input and output",
        )
    try:
        async with AsyncExitStack() as stack:
            try:
                opened = server.opened() if isinstance(server, Remote) else nullcontext(server)
                transport = await stack.enter_async_context(opened)
                client = await stack.enter_async_context(Client(transport, elicitation_callback=_answers(terminal)))
            except Exception as error:  # the SDK raises its HTTP library's errors, in groups
                if isinstance(server, Remote) and (refusal := server.refusal()):
                    raise refusal from error
                raise Refusal(f"no gateway answers at {place} ({_first(error)}); {hint}") from error
            yield RemoteGateway(client)
    except MCPError as error:
        raise Refusal(f"{place} answers with an error: {error}") from error
    except BaseExceptionGroup as group:
        # The client's task group wraps what the block raises.
        raise _first(cast("BaseException", group)) from group


def _answers(terminal: "Terminal | None") -> "ElicitationFnT | None":
    if terminal is None:
        return None
    from mcp_types import INVALID_REQUEST, ElicitRequestFormParams, ElicitRequestParams, ElicitResult, ErrorData

    async def answer(context: object, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        if not isinstance(params, ElicitRequestFormParams):
            return ErrorData(code=INVALID_REQUEST, message="only forms can be answered here")
        return ElicitResult.model_validate(terminal.fill_in(params.message, params.requested_schema))

    return answer


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
