"""Batches that run out of quota or time, steps that only add, and progress: through `host.call`."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Annotated, Any

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate import (
    Batch,
    Call,
    Code,
    DeadlineExceeded,
    Input,
    Lifetime,
    Output,
    QuotaExhausted,
    Reason,
    Upstream,
    tool,
)
from scigate.call import LOCAL
from scigate.testing.clock import ManualClock
from scigate.upstream.context import CURRENT

CAP = 6
UNKNOWN = Reason("unknown_sample", Code.NOT_FOUND, "no sample has the name", "Check name.")


class Ask(Input):
    names: Annotated[list[str], Batch(cap=CAP, accepts=20)]


class Found(Output):
    found: list[str]
    extra: str | None = None


class Client(SimpleNamespace):
    """What a test's handler asks: `answer(name)`."""


@tool("lab_find", title="Find", errors=[UNKNOWN])
async def find(args: Ask, client: Client, call: Call) -> Found:
    """Look each name up."""
    return Found(found=[f"{name}={value}" for name, value in await call.each(args.names, client.answer)])


def starving(short: set[str], error: Callable[[], Exception]) -> Client:
    async def answer(name: str) -> str:
        await anyio.lowlevel.checkpoint()
        if name in short:
            raise error()
        return name.upper()

    return Client(answer=answer)


def no_turn() -> Exception:
    return QuotaExhausted("full", upstream="lab", retry_after_s=12.4)


def no_time() -> Exception:
    return DeadlineExceeded("late", upstream="lab")


@given(
    names=st.lists(st.text("abcdefgh", min_size=1, max_size=2), min_size=1, max_size=12),
    short=st.sets(st.text("abcdefgh", min_size=1, max_size=2)),
)
async def test_served_and_unprocessed_are_the_input(
    hosting: Callable[..., Any], names: list[str], short: set[str]
) -> None:
    """In order: what was starved stands before what was over the cap, and nothing is in both or in neither."""
    async with hosting(find, build_client=lambda: starving(short, no_turn)) as host:
        reply = await host.call("lab_find", {"names": names}, LOCAL)
    served = [name for name in names[:CAP] if name not in short]
    starved = [name for name in names[:CAP] if name in short]
    if not served:
        assert reply.structured["error"]["data"]["reason"] == "quota_exhausted"
        return
    assert reply.structured["found"] == [f"{name}={name.upper()}" for name in served]
    assert reply.structured.get("unprocessed", []) == starved + names[CAP:]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            no_turn,
            "2 entries were not looked up, the upstream's quota leaves no turn for them before the deadline: "
            "ask again for those in unprocessed in about 12 s.",
        ),
        (
            no_time,
            "2 entries were not looked up, there is no time for them before the deadline: "
            "ask again for those in unprocessed.",
        ),
    ],
)
async def test_a_batch_that_runs_out_says_why_and_when_to_ask_again(
    hosting: Callable[..., Any], error: Callable[[], Exception], said: str
) -> None:
    """Finished work is handed over, the rest is named."""
    async with hosting(find, build_client=lambda: starving({"b", "d"}, error)) as host:
        result = (await host.call("lab_find", {"names": ["a", "b", "c", "d"]}, LOCAL)).structured
    assert result == {"found": ["a=A", "c=C"], "unprocessed": ["b", "d"], "notice": said}


@pytest.mark.parametrize(("error", "reason"), [(no_turn, "quota_exhausted"), (no_time, "deadline_exceeded")])
async def test_a_batch_of_which_nothing_is_served_is_a_failure(
    hosting: Callable[..., Any], error: Callable[[], Exception], reason: str
) -> None:
    """Want of turns is never an empty result."""
    async with hosting(find, build_client=lambda: starving({"a", "b"}, error)) as host:
        reply = await host.call("lab_find", {"names": ["a", "b"]}, LOCAL)
    assert reply.structured["error"]["data"]["reason"] == reason


async def test_any_other_fault_fails_the_batch_and_cancels_the_rest(hosting: Callable[..., Any]) -> None:
    """A lookup that is wrong, not late, is the whole call's failure; others do not run on."""
    cancelled: list[str] = []

    async def answer(name: str) -> str:
        if name == "bad":
            raise UNKNOWN.error("no sample 'bad'")
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            cancelled.append(name)
            raise
        return name

    async with hosting(find, build_client=lambda: Client(answer=answer)) as host:
        reply = await host.call("lab_find", {"names": ["a", "bad", "c"]}, LOCAL)
    assert reply.structured["error"]["message"] == "no sample 'bad'"
    assert cancelled == ["a", "c"]


def shouting() -> Callable[..., Any]:
    """An upstream that answers with its path in capitals."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": scope["path"].removeprefix("/").upper().encode()})

    return app


def lab_upstream(*quotas: str, lifetime_s: float = 0) -> dict[str, Any]:
    """Hooks of a provider whose client asks the shouting upstream."""

    def build_client(upstreams: Any) -> Client:
        async def answer(name: str) -> str:
            return (await upstreams["shouting"].get(f"/{name}")).text

        return Client(answer=answer)

    declared = Upstream(
        "shouting",
        "https://lab.example/",
        quotas=quotas,
        emulator=f"{__name__}:shouting",
        lifetimes=(Lifetime("GET /", lifetime_s),),
    )
    return {"build_client": build_client, "register_upstreams": lambda: [declared]}


async def test_a_quota_that_ends_in_the_middle_gives_a_partial_batch(hosting: Callable[..., Any]) -> None:
    """Two requests an hour: two entries are served, four come back, and the wait is the window's rest."""
    settings = {"offline": True}
    async with hosting(find, settings=settings, clock=ManualClock(), **lab_upstream("2/hour")) as host:
        result = (await host.call("lab_find", {"names": list("abcdefg")}, LOCAL)).structured
        later = (await host.call("lab_find", {"names": ["a"]}, LOCAL)).structured
    assert result["found"] == ["a=A", "b=B"]
    assert result["unprocessed"] == ["c", "d", "e", "f", "g"]
    assert "4 entries were not looked up, the upstream's quota leaves no turn" in result["notice"]
    assert "in unprocessed in about 3600 s." in result["notice"]
    assert later["error"]["data"]["reason"] == "quota_exhausted"
    assert 3_600_000 <= later["error"]["data"]["retryAfterMs"] < 3_601_000


async def test_an_answer_from_the_cache_says_how_old_it_is(hosting: Callable[..., Any]) -> None:
    """From a minute on in the notice, and always in `_meta`; nothing is asked upstream for it."""
    clock = ManualClock()
    async with hosting(find, settings={"offline": True}, clock=clock, **lab_upstream(lifetime_s=3600)) as host:
        fresh = await host.call("lab_find", {"names": ["a"]}, LOCAL)
        await clock.advance(100)
        aged = await host.call("lab_find", {"names": ["a"]}, LOCAL)
    assert "cache" not in fresh.structured["notice"]
    assert aged.structured["notice"].endswith("Served in part from cache, up to 100 s old.")
    assert aged.meta["scigate/usage"] == {
        "requests": 0,
        "attempts": 0,
        "cached": 1,
        "waitedMs": 0,
        "oldestAgeMs": 100_000,
    }


async def test_a_batch_leaves_time_for_what_follows_it(hosting: Callable[..., Any]) -> None:
    """Its requests must be done when 85 % of the remaining time is over; the handler's next step has it all."""
    deadlines: list[float] = []

    @tool("lab_two", title="Two")
    async def two(args: Ask, client: object, call: Call) -> Found:
        """A batch, then a step."""

        async def one(name: str) -> str:
            deadlines.append(CURRENT.get().deadline)  # type: ignore[union-attr]
            return name

        found = await call.each(args.names, one)
        await one("after")
        return Found(found=[name for name, _ in found])

    async with hosting(two, settings={"deadline_s": 100}, clock=ManualClock()) as host:
        await host.call("lab_two", {"names": ["a", "b"]}, LOCAL)
    assert deadlines[:2] == [85.0, 85.0]
    assert deadlines[2] > 99


@tool("lab_enrich", title="Enrich", errors=[UNKNOWN])
async def enrich(args: Ask, client: Client, call: Call) -> Found:
    """Names, with an extra that may be missing."""
    return Found(found=args.names, extra=await call.enrich("extras", client.answer("x"), None))


@pytest.mark.parametrize("error", [no_turn, no_time, lambda: httpx.ReadTimeout(""), lambda: httpx.ConnectError("")])
async def test_a_step_that_only_adds_may_be_left_out(
    hosting: Callable[..., Any], error: Callable[[], Exception]
) -> None:
    """Finished work stands; what is missing is named, and how to get it."""
    async with hosting(enrich, build_client=lambda: starving({"x"}, error)) as host:
        result = (await host.call("lab_enrich", {"names": ["a"]}, LOCAL)).structured
    assert result["found"] == ["a"]
    assert result["notice"].startswith("The extras are left out (")
    assert "Ask for them again" in result["notice"]


async def test_a_step_that_only_adds_is_in_the_result_when_it_succeeds(hosting: Callable[..., Any]) -> None:
    """Without a notice; and a fault that is not want of time fails the call."""
    async with hosting(enrich, build_client=lambda: starving(set(), no_time)) as host:
        assert (await host.call("lab_enrich", {"names": ["a"]}, LOCAL)).structured == {"found": ["a"], "extra": "X"}
    wrong = starving({"x"}, lambda: UNKNOWN.error("no x"))
    async with hosting(enrich, build_client=lambda: wrong) as host:
        reply = await host.call("lab_enrich", {"names": ["a"]}, LOCAL)
    assert reply.structured["error"]["data"]["reason"] == "unknown_sample"


async def test_progress_counts_a_batch_s_entries(hosting: Callable[..., Any]) -> None:
    """It grows to the total, starved entries included; a caller that did not ask is not told."""
    reports: list[tuple[float, float | None, str | None]] = []

    async def sink(done: float, total: float | None, message: str | None) -> None:
        reports.append((done, total, message))

    async with hosting(find, build_client=lambda: starving({"b"}, no_turn)) as host:
        await host.call("lab_find", {"names": ["a", "b", "c"]}, LOCAL, progress=sink)
        silent = await host.call("lab_find", {"names": ["a", "b", "c"]}, LOCAL)
    assert reports == [(1, 3, None), (2, 3, None), (3, 3, None)]
    assert not silent.is_error


async def test_a_batch_is_bounded_in_width(hosting: Callable[..., Any]) -> None:
    """At most 32 entries are under way at once, however long the list."""
    under_way, most = 0, 0

    @tool("lab_wide", title="Wide")
    async def wide(args: Ask, client: object, call: Call) -> Found:
        """A wide batch."""

        async def one(number: int) -> int:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await anyio.lowlevel.checkpoint()
            under_way -= 1
            return number

        return Found(found=[str(number) for number, _ in await call.each(range(200), one)])

    async with hosting(wide) as host:
        result = (await host.call("lab_wide", {"names": ["a"]}, LOCAL)).structured
    assert result["found"] == [str(number) for number in range(200)]
    assert most == 32


@tool("lab_apart", title="Apart")
async def apart(args: Ask, client: Client, call: Call) -> Found:
    """Look every name up; a fault costs its own entry."""
    return Found(found=[name for name, _ in await call.each(args.names, client.answer, apart=True)])


async def test_a_fault_costs_its_own_entry_when_entries_stand_apart(hosting: Callable[..., Any]) -> None:
    """The others are served; what was not is listed in input order, and the notice says by which fault."""
    lab = starving({"b", "d"}, lambda: httpx.ConnectError(""))
    async with hosting(apart, build_client=lambda: lab) as host:
        result = (await host.call("lab_apart", {"names": ["a", "b", "c", "d"]}, LOCAL)).structured
        none = await host.call("lab_apart", {"names": ["b", "d"]}, LOCAL)
    assert (result["found"], result["unprocessed"]) == (["a", "c"], ["b", "d"])
    assert "by a fault of the upstream (upstream_unavailable): b, d" in result["notice"]
    assert none.structured["error"]["data"]["reason"] == "upstream_unavailable"
