"""Whether the doctor reaches an upstream, and what it makes of the upstream's clock."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from scigate import Upstream
from scigate.doctor import Finding, reach
from scigate.emulator import serving
from scigate.host import Host
from scigate.testing.clock import ManualClock
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

Opened = Callable[..., AbstractAsyncContextManager[Host]]


async def reached(hosting: Opened, status: int | None, clock: ManualClock) -> list[Finding]:
    """What is found of an upstream that answers its root with a status; None for one that is not there."""
    upstream = Upstream("lab", "https://lab.example/", quotas=("5/second",))
    app = Starlette(routes=[Route("/", lambda request: PlainTextResponse("", status or 200))])
    async with serving(app) as address:
        settings = {
            "upstreams": {"lab": {"base_url": "http://127.0.0.1:9" if status is None else address, "retries": 0}}
        }
        async with hosting(
            settings=settings,
            clock=clock,
            register_upstreams=lambda: [upstream],
            build_client=lambda upstreams: upstreams["lab"],
        ) as host:
            return [finding async for finding in reach(host, clock)]


async def test_an_upstream_that_answers_is_reached(hosting: Opened) -> None:
    """What it answers does not matter, since its root need not be an address of its service."""
    reached_at, clock_away = await reached(hosting, 404, ManualClock())
    assert (reached_at.subject, reached_at.state) == ("upstream lab", "ok")
    # The upstream tells the time of this machine, and the manual clock another one.
    assert (clock_away.subject, clock_away.state) == ("clock", "problem")
    assert "timedatectl" in clock_away.remedy


async def test_an_upstream_that_is_not_there_is_a_problem(hosting: Opened) -> None:
    """The address is named, and the setting that gives another one."""
    (found,) = await reached(hosting, None, ManualClock())
    assert (found.state, "127.0.0.1:9" in found.what) == ("problem", True)
    assert "upstreams.lab.base_url" in found.remedy


async def test_an_upstream_in_trouble_is_a_problem(hosting: Opened) -> None:
    """It is there, and serves nobody."""
    (found,) = await reached(hosting, 500, ManualClock())
    assert (found.state, found.what.endswith("answers 500")) == ("problem", True)
