"""A gateway whose host is replaced while it serves."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import httpx
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from pydantic import BaseModel, SecretStr
from scigate import Input, Output, Upstream, tool
from scigate.call import LOCAL, Call, Caller
from scigate.catalogue import UnknownTool
from scigate.gateway import Gateway
from scigate.host import Host
from scigate.metrics import Metrics, Telemetry
from scigate.reply import Reply
from scigate.settings import Settings, SettingsError
from scigate.testing.clock import ManualClock
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from structlog.testing import capture_logs

BOUND_S = 20
UPSTREAM = Upstream("lab", "https://lab.example/", quotas=("60/hour",), emulator="replaced_lab:emulator", retries=0)

Made = Callable[..., ModuleType]


class Nothing(Input):
    pass


class Done(Output):
    done: bool = True


@tool("lab_ask", title="Ask")
async def ask(args: Nothing, client: httpx.AsyncClient, call: Call) -> Done:
    """Ask the upstream once."""
    (await client.get("/")).raise_for_status()
    return Done()


@tool("shop_look", title="Look")
async def look(args: Nothing, client: object, call: Call) -> Done:
    """Look."""
    return Done()


class Lab:
    """The upstream's emulator: answers with `status`, and counts."""

    def __init__(self) -> None:
        self.status = 200
        self.asked = 0

    def emulator(self) -> Starlette:
        return Starlette(routes=[Route("/", self._answer)])

    def _answer(self, request: Request) -> Response:
        self.asked += 1
        return PlainTextResponse("here", self.status, {"Retry-After": "600"} if self.status == 429 else None)


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Lab:
    lab = Lab()
    module = ModuleType("replaced_lab")
    module.emulator = lab.emulator  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, "replaced_lab", module)
    return lab


@pytest.fixture
def plugins(provider: Made, lab: Lab) -> dict[str, object]:
    """A provider that asks an upstream, and one that asks none."""
    asking = provider(ask, register_upstreams=lambda: [UPSTREAM], build_client=lambda upstreams: upstreams["lab"])
    return {"lab": asking, "shop": provider(look)}


def settings(**given: Any) -> Settings:
    return Settings.model_validate({"offline": True, "cache": {"enabled": False}, **given})


WITHOUT_SHOP = {"providers": {"shop": {"enabled": False}}}


def names(gateway: Gateway) -> list[str]:
    return list(gateway.host.catalogue.tools)


async def call(gateway: Gateway, tool: str, caller: Caller = LOCAL) -> Reply:
    with gateway.serving() as host:
        return await host.call(tool, {}, caller)


async def test_a_provider_turned_off_disappears_and_comes_back(plugins: dict[str, object]) -> None:
    """Its tools are neither listed nor called from then on."""
    async with Gateway.open(settings(), plugins=plugins) as gateway:
        assert await gateway.replace(settings(**WITHOUT_SHOP))
        assert names(gateway) == ["lab_ask"]
        with pytest.raises(UnknownTool):
            await call(gateway, "shop_look")
        await gateway.replace(settings())
        assert names(gateway) == ["lab_ask", "shop_look"]


async def test_a_changed_secret_is_read_with_a_reload(provider: Made, tmp_path: Path) -> None:
    """The client is built with it; one that is not to be had changes nothing."""

    class Keyed(BaseModel):
        key: SecretStr

    keys: list[str] = []

    def build_client(upstreams: object, settings: Keyed) -> object:
        keys.append(settings.key.get_secret_value())
        return object()

    plugins = {"shop": provider(look, settings_model=lambda: Keyed, build_client=build_client)}
    kept = tmp_path / "key"
    given = settings(providers={"shop": {"key": {"file": str(kept)}}})
    kept.write_text("first")
    async with Gateway.open(given, plugins=plugins) as gateway:
        kept.write_text("second")
        assert await gateway.replace(given, anew=True)
        kept.unlink()
        with pytest.raises(SettingsError, match="No such file"):
            await gateway.replace(given, anew=True)
        assert names(gateway) == ["shop_look"]
    assert keys == ["first", "second"]


async def test_a_call_under_way_finishes(provider: Made) -> None:
    """Its host is closed after it, and calls that come meanwhile do not wait for that."""
    started, go_on, closed = anyio.Event(), anyio.Event(), anyio.Event()

    class Connection:
        def close(self) -> None:
            closed.set()

    @tool("slow_wait", title="Wait")
    async def wait(args: Nothing, client: Connection, call: Call) -> Done:
        """Wait to be told."""
        started.set()
        await go_on.wait()
        return Done(done=not closed.is_set())

    plugins = {"slow": provider(wait, build_client=lambda upstreams: Connection()), "shop": provider(look)}
    replies: list[Reply] = []

    async with Gateway.open(settings(), plugins=plugins) as gateway:

        async def waiting() -> None:
            replies.append(await call(gateway, "slow_wait"))

        with anyio.fail_after(BOUND_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(waiting)
                await started.wait()
                await gateway.replace(settings(providers={"slow": {"enabled": False}}))
                assert names(gateway) == ["shop_look"]
                assert not (await call(gateway, "shop_look")).is_error
                assert not closed.is_set()
                go_on.set()
            await closed.wait()
    assert replies[0].structured == {"done": True}


async def test_a_client_is_closed_in_the_task_that_built_it(provider: Made) -> None:
    """Some clients' parts can be left only by the task that entered them."""
    built: dict[object, asyncio.Task[Any] | None] = {}
    closed: dict[object, asyncio.Task[Any] | None] = {}

    class Connection:
        async def aclose(self) -> None:
            closed[self] = asyncio.current_task()

    async def build_client(upstreams: object) -> Connection:
        connection = Connection()
        built[connection] = asyncio.current_task()
        return connection

    async with Gateway.open(settings(), plugins={"shop": provider(look, build_client=build_client)}) as gateway:
        await gateway.replace(settings(deadline_s=5))
    assert len(built) == 2
    assert closed == built


async def test_a_budget_is_not_given_again(plugins: dict[str, object], lab: Lab) -> None:
    """What was used of a quota before counts after, so that no reload doubles it."""
    tight = {"upstreams": {"lab": {"quotas": ["2/hour"]}}}
    async with Gateway.open(settings(**tight), plugins=plugins, clock=ManualClock()) as gateway:
        for _ in range(2):
            assert not (await call(gateway, "lab_ask")).is_error
        await gateway.replace(settings(**tight, **WITHOUT_SHOP))
        reply = await call(gateway, "lab_ask")
    assert reply.structured["error"]["data"]["reason"] == "quota_exhausted"
    assert lab.asked == 2


@pytest.mark.parametrize("upstreams", [{}, {"lab": {"timeout_s": 5}}], ids=["the same", "set differently"])
async def test_an_upstream_that_asked_for_a_pause_gets_it(
    plugins: dict[str, object], lab: Lab, upstreams: dict[str, Any]
) -> None:
    """A 429 before holds after, also where the upstream's own settings have changed."""
    lab.status = 429
    async with Gateway.open(settings(), plugins=plugins, clock=ManualClock()) as gateway:
        await call(gateway, "lab_ask")
        lab.status = 200
        await gateway.replace(settings(**WITHOUT_SHOP, upstreams=upstreams))
        reply = await call(gateway, "lab_ask")
    assert reply.structured["error"]["data"]["retryAfterMs"] == pytest.approx(600_000, rel=0.01)
    assert lab.asked == 1


async def test_figures_of_an_upstream_go_on(plugins: dict[str, object]) -> None:
    """What is shown of one that stays as it was is counted on, not from zero."""
    async with Gateway.open(settings(), plugins=plugins) as gateway:
        await call(gateway, "lab_ask")
        await gateway.replace(settings(**WITHOUT_SHOP))
        (status,) = gateway.host.upstreams
    assert status.requests == 1


@pytest.mark.parametrize("tried", [None, [{"caller": "*", "rates": ["9/hour"]}]], ids=["the same", "back again"])
async def test_what_a_caller_has_used_counts_on(plugins: dict[str, object], tried: list[dict[str, Any]] | None) -> None:
    """Limits that stay the same are not counted from zero, also when others were in force between."""
    limits: dict[str, Any] = {"limits": [{"caller": "*", "rates": ["1/hour"]}]}
    async with Gateway.open(settings(**limits), plugins=plugins) as gateway:
        await call(gateway, "shop_look")
        if tried:
            await gateway.replace(settings(limits=tried))
            assert not (await call(gateway, "shop_look")).is_error
        await gateway.replace(settings(**limits, deadline_s=5))
        reply = await call(gateway, "shop_look")
    assert reply.structured["error"]["data"]["reason"] == "caller_rate_limited"


async def test_the_audit_log_goes_on_in_one_file(plugins: dict[str, object], tmp_path: Any) -> None:
    """A line for each call, whichever host it was made by."""
    audit = {"audit": {"path": str(tmp_path / "audit.jsonl")}}
    async with Gateway.open(settings(**audit), plugins=plugins) as gateway:
        await call(gateway, "shop_look")
        await gateway.replace(settings(**audit, deadline_s=5))
        await call(gateway, "shop_look")
    (file,) = tmp_path.glob("*.jsonl")
    assert file.read_text(encoding="utf-8").count('"tool":"shop_look"') == 2


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"providers": {"shup": {}}}, "shup"),
        ({"upstreams": {"lob": {}}}, "lob"),
        ({"providers": {"shop": {"depth": 3}}}, "depth"),
    ],
    ids=["provider", "upstream", "key"],
)
async def test_wrong_settings_change_nothing(plugins: dict[str, object], wrong: dict[str, Any], named: str) -> None:
    """The host before goes on with its upstreams, and the error says what is wrong."""
    async with Gateway.open(settings(), plugins=plugins) as gateway:
        before = gateway.host
        with pytest.raises(SettingsError, match=named):
            await gateway.replace(settings(**wrong))
        assert gateway.host is before
        assert not (await call(gateway, "lab_ask")).is_error


async def test_a_provider_that_would_break_is_not_let_in(provider: Made, lab: Lab) -> None:
    """What serves goes on serving when its own start fails with the new settings; turning it off is another matter."""
    tries: list[int] = []

    def build_client(upstreams: object) -> object:
        tries.append(1)
        if len(tries) > 1:
            raise OSError("no room")
        return object()

    async with Gateway.open(settings(), plugins={"fragile": provider(look, build_client=build_client)}) as gateway:
        with pytest.raises(SettingsError, match=r"providers\.fragile: cannot serve \(OSError: no room\)"):
            await gateway.replace(settings(deadline_s=5))
        assert not (await call(gateway, "shop_look")).is_error
        await gateway.replace(settings(providers={"fragile": {"enabled": False}}))
        assert names(gateway) == []


async def test_what_cannot_be_shown_is_not_served(plugins: dict[str, object]) -> None:
    """A host of which an endpoint cannot make its lists does not take the other's place."""

    def make(host: Host) -> int:
        if len(host.catalogue.tools) == 1:
            raise ValueError("one tool is none")
        return len(host.catalogue.tools)

    async with Gateway.open(settings(), plugins=plugins) as gateway:
        view = gateway.view(make)
        with pytest.raises(SettingsError, match="one tool is none"):
            await gateway.replace(settings(**WITHOUT_SHOP))
        assert view.now == 2
        assert names(gateway) == ["lab_ask", "shop_look"]


async def test_what_is_read_at_start_only_stays_and_is_named(plugins: dict[str, object]) -> None:
    """The rest of the new settings is in force."""
    async with Gateway.open(settings(), plugins=plugins) as gateway:
        with capture_logs() as logs:
            await gateway.replace(settings(server={"port": 1}, deadline_s=5))
        assert gateway.host.settings.server.port != 1
        assert gateway.host.settings.deadline_s == 5
    assert [line["settings"] for line in logs if line["event"] == "restart needed"] == [["server"]]


async def test_equal_settings_replace_nothing_unless_told_to(plugins: dict[str, object]) -> None:
    """A file that was only touched costs no provider its client; who asks by name gets a new host."""
    async with Gateway.open(settings(), plugins=plugins) as gateway:
        before = gateway.host
        assert not await gateway.replace(settings())
        assert gateway.host is before
        assert await gateway.replace(settings(), anew=True)
        assert gateway.host is not before


async def test_a_gateway_around_a_host_serves_that_one(plugins: dict[str, object]) -> None:
    """It can be neither replaced nor closed by the gateway, which did not open it."""

    @asynccontextmanager
    async def around() -> AsyncIterator[Gateway]:
        async with Host.open(settings(), plugins=plugins) as host:
            yield Gateway(host)

    async with around() as gateway:
        assert not gateway.is_live
        with pytest.raises(TypeError):
            await gateway.replace(settings())
        assert not (await call(gateway, "shop_look")).is_error


async def test_what_is_refused_leaves_the_figures_to_what_serves(plugins: dict[str, object]) -> None:
    """A host that was opened and not served is read by nobody afterwards."""
    clock = ManualClock()
    reader = InMemoryMetricReader()
    telemetry = Telemetry(Metrics(MeterProvider([reader], shutdown_on_exit=False), clock))

    def make(host: Host) -> int:
        if len(host.catalogue.tools) == 1:
            raise ValueError("one tool is none")
        return 0

    async with Gateway.open(settings(), plugins=plugins, clock=clock, telemetry=telemetry) as gateway:
        gateway.view(make)
        with pytest.raises(SettingsError):
            await gateway.replace(settings(**WITHOUT_SHOP))
        telemetry.metrics.look()
        read = reader.get_metrics_data()
    assert read is not None
    points = [
        (point.attributes or {}).get("scigate.provider")
        for resource in read.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == "scigate.provider.serving"
        for point in metric.data.data_points
        if getattr(point, "value", 0)
    ]
    assert sorted(str(name) for name in points) == ["lab", "shop"]


async def test_a_listener_that_fails_keeps_nothing_from_the_others(plugins: dict[str, object]) -> None:
    """The new host serves, the log has the fault, and whoever else listens is told."""
    told: list[str] = []

    async def broken() -> None:
        raise RuntimeError("no")

    async def tell() -> None:
        told.append("told")

    async with Gateway.open(settings(), plugins=plugins) as gateway:
        gateway.on_replaced(broken)
        gateway.on_replaced(tell)
        with capture_logs() as logs:
            assert await gateway.replace(settings(**WITHOUT_SHOP))
    assert told == ["told"]
    assert "telling failed" in [line["event"] for line in logs]


@pytest.mark.parametrize(("before", "after", "served"), [("10/hour", "2/hour", 0), ("2/hour", "5/hour", 3)])
async def test_another_quota_counts_what_was_sent_before(
    plugins: dict[str, object], lab: Lab, before: str, after: str, served: int
) -> None:
    """It holds from then on, and is shown so."""
    async with Gateway.open(
        settings(upstreams={"lab": {"quotas": [before]}}), plugins=plugins, clock=ManualClock()
    ) as gateway:
        for _ in range(2):
            assert not (await call(gateway, "lab_ask")).is_error
        await gateway.replace(settings(upstreams={"lab": {"quotas": [after]}}))
        replies = [await call(gateway, "lab_ask") for _ in range(6)]
        (status,) = gateway.host.upstreams
    assert sum(not reply.is_error for reply in replies) == served
    assert (status.quotas, status.used) == ((after,), (2 + served,))


async def cancelled() -> None:
    """Wait for a task that is cancelled."""
    task = asyncio.create_task(asyncio.sleep(BOUND_S))
    task.cancel()
    await task


async def leaving() -> None:
    """Ask the process to end."""
    raise SystemExit(3)


@pytest.mark.parametrize("ending", [cancelled, leaving])
async def test_a_client_that_ends_strangely_breaks_its_own_provider(
    provider: Made, plugins: dict[str, object], ending: Callable[[], Any]
) -> None:
    """Built so it is not let in, and closed so it keeps nothing else from being closed; the gateway goes on."""
    tries: list[int] = []

    class Strange:
        async def aclose(self) -> None:
            await ending()

    async def build_client(upstreams: object) -> object:
        tries.append(1)
        if len(tries) == 2:
            await ending()
        return Strange()

    both = {"lab": plugins["lab"], "strange": provider(look, build_client=build_client)}
    async with Gateway.open(settings(), plugins=both) as gateway:
        with pytest.raises(SettingsError, match=r"providers\.strange: cannot serve"):
            await gateway.replace(settings(deadline_s=5))
        with capture_logs() as logs:
            await gateway.replace(settings(deadline_s=6))
            assert not (await call(gateway, "lab_ask")).is_error
    assert "client did not close" in [line["event"] for line in logs]


async def test_an_upstreams_client_is_not_closed_with_a_host(plugins: dict[str, object]) -> None:
    """Although the provider gave it as its own, another host uses it."""
    async with Gateway.open(settings(), plugins=plugins) as gateway:
        await gateway.replace(settings(**WITHOUT_SHOP))
        await anyio.wait_all_tasks_blocked()
        assert not (await call(gateway, "lab_ask")).is_error
