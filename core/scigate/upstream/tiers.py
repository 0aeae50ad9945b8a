"""A cache in two tiers: this process's memory in front of a store that outlives it or that others share."""

import asyncio
import json
from contextvars import Context
from hashlib import blake2b

from scigate.clock import Clock
from scigate.upstream.cache import CacheStore, Entry, MemoryCache

LARGEST = 4 * 1024 * 1024
"""Bytes of the largest answer that goes into the shared tier."""


class TieredCache:
    """A `CacheStore` that asks the far tier for what memory does not have fresh, and writes to both.

    Writing to the far tier happens behind the caller's back.
    """

    def __init__(self, near: MemoryCache, far: CacheStore, clock: Clock) -> None:
        self._near = near
        self._far = far
        self._clock = clock
        self._writing: set[asyncio.Task[None]] = set()

    @property
    def kind(self) -> str:
        return self._far.kind

    @property
    def trouble(self) -> str | None:
        return self._far.trouble

    async def get(self, upstream: str, key: str) -> Entry | None:
        near = await self._near.get(upstream, key)
        if near is not None and near.fresh_until > self._clock.now().timestamp():
            return near
        far = await self._far.get(upstream, key)
        if far is None or (near is not None and near.stored_at >= far.stored_at):
            return near
        await self._near.put(upstream, key, far)
        return far

    async def put(self, upstream: str, key: str, entry: Entry) -> None:
        await self._near.put(upstream, key, entry)
        if entry.size <= LARGEST:
            writing = asyncio.create_task(self._far.put(upstream, key, entry), context=Context())
            self._writing.add(writing)
            writing.add_done_callback(self._writing.discard)

    def held(self, upstream: str) -> tuple[int, int]:
        return self._near.held(upstream)

    async def aclose(self) -> None:
        if self._writing:
            await asyncio.wait(self._writing)
        await self._far.aclose()


def digest(upstream: str, key: str) -> bytes:
    """A key as the far tiers know it: what was asked cannot be read from it."""
    return blake2b(f"{upstream} {key}".encode(), digest_size=16).digest()


def packed(entry: Entry) -> bytes:
    """An entry as bytes: one line of JSON, then the body."""
    headers = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in entry.headers]
    head = [entry.status, entry.stored_at, entry.fresh_until, entry.sample_source, headers]
    return json.dumps(head).encode() + b"\n" + entry.content


def unpacked(packed: bytes) -> Entry:
    """The entry again.

    Raises:
        ValueError: The bytes are no entry.
    """
    line, _, content = packed.partition(b"\n")
    try:
        status, stored_at, fresh_until, source, headers = json.loads(line)
        pairs = tuple((name.encode("latin-1"), value.encode("latin-1")) for name, value in headers)
        return Entry(int(status), pairs, content, float(stored_at), float(fresh_until), source)
    except (TypeError, AttributeError) as error:
        raise ValueError("not an entry of the cache") from error
