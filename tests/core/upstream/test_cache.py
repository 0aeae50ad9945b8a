"""Answers that are kept."""

import httpx
import pytest
from scigate.testing.clock import ManualClock
from scigate.upstream import CircuitOpen, Demand, Lifetime, MemoryCache, QuotaExhausted, Upstream, wish
from scigate.upstream.cache import CacheTransport, Entry
from scigate.upstream.declaration import LifetimeTable

UPSTREAM = Upstream(
    "pubchem",
    "https://example.org/rest",
    lifetimes=(Lifetime(r"GET /cid/", 60.0, negative_s=5.0), Lifetime(r"(GET|POST) /search", 10.0)),
)


class Site:
    """A cache over an upstream that answers with the number of the request."""

    def __init__(self, clock: ManualClock, store: MemoryCache | None = None) -> None:
        self.count = 0
        self.status = 200
        self.headers = {"Content-Type": "application/json"}
        self.store = store or MemoryCache()
        self.transport = CacheTransport(
            httpx.MockTransport(self.answer),
            upstream="pubchem",
            store=self.store,
            lifetime_s=LifetimeTable(UPSTREAM).seconds,
            is_cacheable=lambda response: b"fault" not in response.content,
            clock=clock,
        )

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.count += 1
        return httpx.Response(self.status, headers=self.headers, text=f"{self.count} {request.url.query.decode()}")

    async def get(
        self, path: str = "/cid/1", method: str = "GET", content: bytes = b"", **more: object
    ) -> httpx.Response:
        extensions = {f"scigate.{name}": value for name, value in more.items() if name != "headers"}
        headers = more.get("headers", {})
        assert isinstance(headers, dict)
        request = httpx.Request(
            method, f"https://example.org/rest{path}", content=content, headers=headers, extensions=extensions
        )
        response = await self.transport.handle_async_request(request)
        await response.aread()
        return response


@pytest.fixture
def site(clock: ManualClock) -> Site:
    return Site(clock)


async def test_serves_what_is_fresh(site: Site, clock: ManualClock, demand: Demand) -> None:
    """Within its lifetime an answer is served again, whole, with its age."""
    live = await site.get()
    await clock.advance(59.0)
    kept = await site.get()
    assert (site.count, kept.text, kept.headers["content-type"]) == (1, live.text, "application/json")
    assert (live.extensions[wish.SERVED], live.extensions[wish.AGE_S]) == ("live", 0.0)
    assert (kept.extensions[wish.SERVED], kept.extensions[wish.AGE_S]) == ("cache", 59.0)
    assert (demand.usage.cached, demand.usage.oldest_age_s) == (1, 59.0)


async def test_fetches_what_is_stale(site: Site, clock: ManualClock) -> None:
    """At the end of its lifetime an answer is fetched anew and kept again."""
    await site.get()
    await clock.advance(60.0)
    assert (await site.get()).extensions[wish.SERVED] == "live"
    assert (await site.get()).extensions[wish.SERVED] == "cache"
    assert site.count == 2


@pytest.mark.parametrize(
    ("path", "method", "status", "kept"),
    [
        ("/cid/1", "GET", 200, True),
        ("/cid/1", "GET", 404, True),
        ("/search?q=x", "GET", 404, False),
        ("/cid/1", "GET", 202, False),
        ("/cid/1", "GET", 500, False),
        ("/other", "GET", 200, False),
        ("/cid/1", "POST", 200, False),
        ("/cid/fault?fault", "GET", 200, False),
    ],
)
async def test_keeps_only_what_is_declared(site: Site, path: str, method: str, status: int, kept: bool) -> None:
    """200 for a declared path, and 404 where a negative lifetime is declared, are all that is kept."""
    site.status = status
    for _ in range(2):
        await site.get(path, method)
    assert site.count == (1 if kept else 2)


async def test_nothing_found_is_kept_briefly(site: Site, clock: ManualClock) -> None:
    """A 404 has the shorter lifetime that is declared for it."""
    site.status = 404
    await site.get()
    await clock.advance(5.0)
    await site.get()
    assert site.count == 2


async def test_live_only_neither_reads_nor_writes(site: Site) -> None:
    """A request that wishes no cache is fetched, and its answer is not there for others."""
    await site.get(cache=False)
    await site.get()
    await site.get(cache=False)
    assert site.count == 3
    assert (await site.get()).text.startswith("2")


async def test_request_may_say_its_lifetime(site: Site, clock: ManualClock) -> None:
    """The lifetime that a request wishes goes before the declared one, 0 included."""
    await site.get("/other", lifetime=7.0)
    await clock.advance(6.9)
    await site.get("/other")
    await site.get("/cid/1", lifetime=0)
    await site.get("/cid/1")
    assert site.count == 3


async def test_reads_by_post_are_told_apart_by_body(site: Site) -> None:
    """A POST declared safe is kept, under its body."""
    for content in (b"smiles=CCO", b"smiles=CCN", b"smiles=CCO"):
        await site.get("/search", "POST", content, safe=True)
    assert site.count == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"path": "/cid/1"}, {"path": "/cid/2"}),
        ({"path": "/cid/1?a=1"}, {"path": "/cid/1?a=2"}),
        ({"headers": {"Accept": "text/csv"}}, {"headers": {"Accept": "application/json"}}),
    ],
)
async def test_different_questions_are_kept_apart(
    site: Site, first: dict[str, object], second: dict[str, object]
) -> None:
    """Path, query and accepted type each make another answer."""
    await site.get(**first)  # type: ignore[arg-type]  # A table of keyword arguments.
    await site.get(**second)  # type: ignore[arg-type]
    assert site.count == 2


@pytest.mark.parametrize("headers", [{"Authorization": "Bearer x"}, {"Cookie": "a=b"}])
async def test_credentials_keep_out(site: Site, headers: dict[str, str]) -> None:
    """What is asked with somebody's credentials is nobody else's."""
    for _ in range(2):
        await site.get(headers=headers)
    assert site.count == 2


async def test_html_is_not_kept(site: Site) -> None:
    """A maintenance page with status 200 is gone with the next request."""
    site.headers = {"Content-Type": "text/html; charset=utf-8"}
    await site.get()
    await site.get()
    assert site.count == 2


async def test_cookie_is_not_kept(site: Site) -> None:
    """A cookie was for the one who got it."""
    site.headers = {"Set-Cookie": "session=1", "X-Other": "1"}
    await site.get()
    kept = await site.get()
    assert "set-cookie" not in kept.headers
    assert kept.headers["x-other"] == "1"


async def test_sample_data_is_remembered(site: Site, demand: Demand) -> None:
    """The mark of an emulator's answer stays with it and reaches the usage of whoever is served it."""
    site.headers["X-Sample-Data"] = "pubchem"
    await site.get()
    assert demand.usage.sample_sources == {"pubchem"}
    demand.usage.sample_sources.clear()
    assert (await site.get()).headers["x-sample-data"] == "pubchem"
    assert demand.usage.sample_sources == {"pubchem"}


def entry(size: int) -> Entry:
    return Entry(200, (), b"x" * size, 0.0, 1.0, None)


async def test_least_recently_used_goes_first() -> None:
    """Beyond the bound on entries, what was not asked for longest is dropped."""
    store = MemoryCache(max_entries=2)
    await store.put("u", "a", entry(1))
    await store.put("u", "b", entry(1))
    await store.get("u", "a")
    await store.put("u", "c", entry(1))
    assert [key for key in "abc" if await store.get("u", key)] == ["a", "c"]


async def test_bytes_are_bounded() -> None:
    """Entries are dropped until their bytes fit, and one that is larger than the whole is not kept."""
    store = MemoryCache(max_bytes=10_000)
    for key in "abcdef":
        await store.put("u", key, entry(2000))
    assert store.held("u") == (3, 3 * entry(2000).size)
    await store.put("v", "g", entry(20_000))
    assert (store.held("u")[0], store.held("v")) == (3, (0, 0))


async def test_replaced_entry_is_counted_once() -> None:
    """Putting an answer anew leaves one entry of the new size."""
    store = MemoryCache()
    await store.put("u", "a", entry(5000))
    await store.put("u", "a", entry(10))
    assert store.held("u") == (1, entry(10).size)


def stale(clock: ManualClock, failure: Exception | httpx.Response) -> tuple[CacheTransport, MemoryCache]:
    """A cache over an upstream that answers once and fails from then on."""
    outcomes: list[Exception | httpx.Response] = [
        httpx.Response(200, text="first", headers={"X-Sample-Data": "pubchem"})
    ]

    def answer(request: httpx.Request) -> httpx.Response:
        outcome = outcomes.pop() if outcomes else failure
        if isinstance(outcome, Exception):
            raise outcome
        return httpx.Response(outcome.status_code, headers=outcome.headers, content=outcome.content)

    store = MemoryCache()
    transport = CacheTransport(
        httpx.MockTransport(answer),
        upstream="pubchem",
        store=store,
        lifetime_s=LifetimeTable(UPSTREAM).seconds,
        is_transient=lambda response: response.status_code in (429, 503),
        stale_s=100.0,
        clock=clock,
    )
    return transport, store


def get(**extensions: object) -> httpx.Request:
    return httpx.Request("GET", "https://example.org/rest/cid/1", extensions=dict(extensions))


@pytest.mark.parametrize(
    "failure",
    [
        httpx.Response(503),
        httpx.Response(429),
        httpx.ReadTimeout("late"),
        CircuitOpen("down", upstream="pubchem", retry_after_s=5.0),
        QuotaExhausted("full", upstream="pubchem", retry_after_s=5.0),
    ],
)
async def test_serves_what_is_past_its_lifetime_when_the_upstream_fails(
    clock: ManualClock, demand: Demand, failure: Exception | httpx.Response
) -> None:
    """An earlier answer is better than none, where it is said to be one, with its age."""
    transport, _ = stale(clock, failure)
    await transport.handle_async_request(get())
    await clock.advance(70.0)
    response = await transport.handle_async_request(get())
    assert (await response.aread(), response.status_code) == (b"first", 200)
    assert (response.extensions[wish.IS_STALE], response.extensions[wish.AGE_S]) == (True, 70.0)
    assert (demand.usage.stale, demand.usage.cached, demand.usage.oldest_age_s) == (1, 1, 70.0)
    assert demand.usage.sample_sources == {"pubchem"}


@pytest.mark.parametrize(
    ("wait_s", "wished"),
    [(170.0, {}), (70.0, {wish.STALE: False}), (70.0, {wish.CACHE: False}), (70.0, {wish.CACHE: "refresh"})],
)
async def test_too_old_or_unwanted_answers_are_not_served(
    clock: ManualClock, wait_s: float, wished: dict[str, object]
) -> None:
    """Past the bound, or where the request wants it live, the failure is told."""
    transport, _ = stale(clock, httpx.Response(503))
    await transport.handle_async_request(get())
    await clock.advance(wait_s)
    assert (await transport.handle_async_request(get(**wished))).status_code == 503


@pytest.mark.parametrize("failure", [httpx.Response(404), httpx.Response(400), httpx.Response(500)])
async def test_an_answer_about_the_question_is_handed_on(clock: ManualClock, failure: httpx.Response) -> None:
    """What the upstream does not call a failure of its own is no reason to serve an earlier answer."""
    transport, _ = stale(clock, failure)
    await transport.handle_async_request(get())
    await clock.advance(70.0)
    assert (await transport.handle_async_request(get())).status_code == failure.status_code


async def test_failure_keeps_the_earlier_answer(clock: ManualClock) -> None:
    """While the upstream is down the answer is served again and again, and grows no younger."""
    transport, store = stale(clock, httpx.Response(503))
    await transport.handle_async_request(get())
    await clock.advance(70.0)
    for _ in range(3):
        assert (await transport.handle_async_request(get())).status_code == 200
    assert (transport.stale, store.held("pubchem")[0]) == (3, 1)
