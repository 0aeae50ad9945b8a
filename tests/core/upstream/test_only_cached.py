"""What a request can wish of the cache besides nothing and no cache at all."""

import httpx
import pytest
from scigate.testing.clock import ManualClock
from scigate.upstream.cache import CacheTransport, MemoryCache

URL = "https://lab.example/samples/1"


class Lab(httpx.AsyncBaseTransport):
    """Answers with the number of the request."""

    def __init__(self) -> None:
        self.requests = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        return httpx.Response(200, json=self.requests)


@pytest.fixture
def lab() -> Lab:
    return Lab()


@pytest.fixture
def http(lab: Lab, clock: ManualClock) -> httpx.AsyncClient:
    cache = CacheTransport(lab, upstream="lab", store=MemoryCache(), lifetime_s=lambda request, status: 60, clock=clock)
    return httpx.AsyncClient(transport=cache)


async def test_only_cached_asks_nobody(http: httpx.AsyncClient, lab: Lab) -> None:
    """Without a fresh answer the status is 504, as for HTTP's only-if-cached (RFC 9111, section 5.2.1.7)."""
    response = await http.get(URL, extensions={"scigate.cache": "only"})
    assert (response.status_code, lab.requests) == (504, 0)


async def test_only_cached_serves_a_fresh_answer_and_no_other(
    http: httpx.AsyncClient, lab: Lab, clock: ManualClock
) -> None:
    """Past its lifetime an answer is not served."""
    await http.get(URL)
    assert (await http.get(URL, extensions={"scigate.cache": "only"})).json() == 1
    await clock.advance(60)
    assert (await http.get(URL, extensions={"scigate.cache": "only"})).status_code == 504
    assert lab.requests == 1


async def test_refresh_asks_and_keeps_the_answer(http: httpx.AsyncClient, lab: Lab) -> None:
    """The stored answer is passed over and replaced."""
    await http.get(URL)
    response = await http.get(URL, extensions={"scigate.cache": "refresh"})
    assert (response.json(), response.extensions["scigate.served"]) == (2, "live")
    assert (await http.get(URL)).json() == 2
    assert lab.requests == 2


async def test_only_cached_is_kept_where_nothing_is_cached(lab: Lab, clock: ManualClock) -> None:
    """An upstream whose cache is turned off is not asked instead."""
    cache = CacheTransport(lab, upstream="lab", store=None, lifetime_s=lambda request, status: 60, clock=clock)
    async with httpx.AsyncClient(transport=cache) as http:
        assert (await http.get(URL, extensions={"scigate.cache": "only"})).status_code == 504
    assert lab.requests == 0
