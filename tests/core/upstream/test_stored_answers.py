"""Answers kept beyond the process: in a file, in a real Redis server, and both behind this process's memory."""

import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate.testing.clock import ManualClock
from scigate.upstream import CacheStore, MemoryCache
from scigate.upstream.cache import Entry
from scigate.upstream.redis_cache import RETRY_S, RedisCache
from scigate.upstream.sqlite_cache import SqliteCache
from scigate.upstream.tiers import LARGEST, TieredCache, packed, unpacked

KEY = "GET */* - https://example.org/cid/1?name=secret-compound"


class Server(Protocol):
    url: str

    def start(self) -> None: ...
    def kill(self) -> None: ...
    def say(self, *words: str) -> str: ...


def entry(clock: ManualClock, content: bytes = b"answer", lifetime_s: float = 60.0) -> Entry:
    now = clock.now().timestamp()
    return Entry(200, ((b"content-type", b"text/plain"),), content, now, now + lifetime_s, "pubchem")


def contents(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in directory.iterdir())


Open = Callable[..., CacheStore]


@pytest.fixture(params=["sqlite", "redis"])
async def opened(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Open]:
    """Opens one store, once more each time."""
    stores: list[CacheStore] = []
    url = request.getfixturevalue("redis").url if request.param == "redis" else ""

    def once_more(max_entries: int = 1000, max_bytes: int = 10**6) -> CacheStore:
        bounds = {"max_entries": max_entries, "max_bytes": max_bytes}
        stores.append(RedisCache(url, clock, stale_s=60) if url else SqliteCache(tmp_path, clock, stale_s=60, **bounds))
        return stores[-1]

    yield once_more
    for store in stores:
        await store.aclose()


@given(
    status=st.sampled_from([200, 404]),
    headers=st.lists(st.tuples(st.binary(max_size=5), st.binary(max_size=5)), max_size=3),
    content=st.binary(max_size=50),
    source=st.none() | st.text(max_size=5),
)
def test_an_entry_survives_being_packed(
    status: int, headers: list[tuple[bytes, bytes]], content: bytes, source: str | None
) -> None:
    """Whatever bytes an answer has, it comes out as it went in."""
    kept = Entry(status, tuple(headers), content, 1.5, 2.5, source)
    assert unpacked(packed(kept)) == kept


@pytest.mark.parametrize("content", [b"", b"{}\n", b"[1]\nx", b'[1,2,3,null,[["a"]]]\n', b"\xff\xfe\n"])
def test_what_is_no_entry_is_refused(content: bytes) -> None:
    """Bytes that another program left there are no answer."""
    with pytest.raises(ValueError):
        unpacked(content)


async def test_answers_are_shared_and_keep_their_age(opened: Open, clock: ManualClock) -> None:
    """What one process fetched another is served, with the time at which it was fetched, and past its lifetime too."""
    one, other, kept = opened(), opened(), entry(clock)
    await one.put("pubchem", KEY, kept)
    assert await other.get("pubchem", KEY) == kept
    assert await other.get("ncbi", KEY) is None
    await clock.advance(100.0)
    assert await other.get("pubchem", KEY) == kept
    assert (one.trouble, other.trouble) == (None, None)


async def test_what_was_asked_cannot_be_read_from_the_file(tmp_path: Path, clock: ManualClock) -> None:
    """Keys are digests, and only the user may read the file."""
    store = SqliteCache(tmp_path, clock, max_entries=10, max_bytes=10**6)
    await store.put("pubchem", KEY, entry(clock))
    await store.aclose()
    assert b"secret-compound" not in contents(tmp_path)
    assert store.path.stat().st_mode & 0o077 == 0


async def test_file_is_bounded(tmp_path: Path, clock: ManualClock) -> None:
    """Over the number of entries, or of bytes, the oldest go; what is past any use goes first."""
    store = SqliteCache(tmp_path, clock, max_entries=150, max_bytes=10**6)
    for number in range(201):
        await store.put("pubchem", str(number), entry(clock))
        await clock.advance(0.01)
    found = [number for number in range(201) if await store.get("pubchem", str(number))]
    assert found == list(range(51, 201))
    await clock.advance(100.0)
    for number in range(100):
        await store.put("pubchem", f"new {number}", entry(clock))
    assert await store.get("pubchem", "150") is None
    await store.aclose()


async def test_corrupt_file_is_begun_anew(tmp_path: Path, clock: ManualClock) -> None:
    """A cache is no loss: the file is replaced and filled again."""
    store = SqliteCache(tmp_path, clock, max_entries=10, max_bytes=10**6)
    store.path.write_bytes(b"no database at all" * 500)
    assert await store.get("pubchem", KEY) is None
    await store.put("pubchem", KEY, entry(clock))
    assert await store.get("pubchem", KEY) is not None
    assert store.trouble is None
    await store.aclose()


async def test_without_a_file_nothing_is_kept(tmp_path: Path, clock: ManualClock) -> None:
    """Where no file can be made the gateway goes on without, says so, and tries again after a while."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    store = SqliteCache(blocked, clock, max_entries=10, max_bytes=10**6)
    await store.put("pubchem", KEY, entry(clock))
    assert await store.get("pubchem", KEY) is None
    assert store.trouble is not None
    blocked.unlink()
    await clock.advance(31.0)
    await store.put("pubchem", KEY, entry(clock))
    assert await store.get("pubchem", KEY) is not None
    assert store.trouble is None
    await store.aclose()


async def test_server_that_is_away_keeps_nothing(redis: Server, clock: ManualClock) -> None:
    """A Redis that is down costs a miss, is left alone for some seconds, and is used again when it is back."""
    store, kept = RedisCache(redis.url, clock), entry(clock)
    await store.put("pubchem", KEY, kept)
    redis.kill()
    try:
        assert await store.get("pubchem", KEY) is None
        assert store.trouble is not None
    finally:
        redis.start()
    assert await store.get("pubchem", KEY) is None
    await clock.advance(RETRY_S)
    await store.put("pubchem", KEY, kept)
    assert await store.get("pubchem", KEY) == kept
    assert store.trouble is None
    await store.aclose()


async def test_memory_is_asked_first(opened: Open, clock: ManualClock) -> None:
    """The far tier is read for what memory does not have fresh, which then is in memory."""
    far = opened()
    one, other = (TieredCache(MemoryCache(), store, clock) for store in (far, opened()))
    await one.put("pubchem", KEY, entry(clock, b"first"))
    await one.aclose()
    found = await other.get("pubchem", KEY)
    assert found is not None
    assert (found.content, other.held("pubchem")[0]) == (b"first", 1)
    await opened().put("pubchem", KEY, entry(clock, b"second"))
    assert await other.get("pubchem", KEY) == found
    await clock.advance(61.0)
    await opened().put("pubchem", KEY, entry(clock, b"third"))
    renewed = await other.get("pubchem", KEY)
    assert renewed is not None
    assert renewed.content == b"third"


async def test_large_answers_stay_in_memory(opened: Open, clock: ManualClock) -> None:
    """An answer of megabytes is not sent around the fleet."""
    far = opened(max_bytes=10**9)
    store = TieredCache(MemoryCache(), far, clock)
    await store.put("pubchem", KEY, entry(clock, b"x" * LARGEST))
    assert await store.get("pubchem", KEY) is not None
    assert await far.get("pubchem", KEY) is None


def test_no_server_is_asked_before_it_is_needed(clock: ManualClock) -> None:
    """Making the store opens no connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        RedisCache(f"redis://127.0.0.1:{listener.getsockname()[1]}/0", clock)
        listener.settimeout(0)
        with pytest.raises(BlockingIOError):
            listener.accept()
