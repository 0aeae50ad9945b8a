"""Transport: identical safe requests that are on their way together are one request.

The shared fetch belongs to no caller: it is a task that is cancelled when the last one waiting for it has gone.
"""

import asyncio
from collections.abc import Callable
from contextvars import copy_context

import httpx

from scigate.upstream import wish
from scigate.upstream.context import CURRENT, Demand, Usage, current


class _Fetch:
    """One request under way.

    Attributes:
        demand: the starter's, with a usage of its own and the latest deadline of those who wait.
        charged: whether somebody who waited has been given the usage.
    """

    def __init__(self, demand: Demand) -> None:
        self.demand = Demand(demand.deadline, demand.caller, demand.priority, Usage())
        self.waiting = 0
        self.charged = False
        self.task: asyncio.Task[httpx.Response]

    def charge(self, demand: Demand) -> None:
        """Count the fetch for whoever asks first and as shared for the others."""
        if self.charged:
            demand.usage.coalesced += 1
        else:
            self.charged = True
            demand.usage.add(self.demand.usage)


class CoalesceTransport(httpx.AsyncBaseTransport):
    """Lets a request join an identical one that has not been answered yet.

    A joiner may not need a cached answer: what is on its way down here is live. Each gets a response, or an exception,
    of its own.

    Args:
        on_urgent: told the demand of a background fetch that an interactive call has joined.
    """

    def __init__(
        self, inner: httpx.AsyncBaseTransport, *, upstream: str, on_urgent: Callable[[Demand], None] | None = None
    ) -> None:
        self._inner = inner
        self._upstream = upstream
        self._on_urgent = on_urgent
        self._fetches: dict[str, _Fetch] = {}
        # Cancelled fetches are held here until they have cleaned up.
        self._tasks: set[asyncio.Task[httpx.Response]] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if not wish.is_safe(request) or wish.is_private(request):
            return await self._inner.handle_async_request(request)
        demand = current()
        key = wish.identity(request)
        fetch = self._fetches.get(key)
        if fetch is None:
            fetch = self._start(key, request, demand)
        else:
            fetch.demand.deadline = max(fetch.demand.deadline, demand.deadline)
            if self._on_urgent and (demand.priority, fetch.demand.priority) == ("interactive", "background"):
                self._on_urgent(fetch.demand)
        return await self._join(key, fetch, demand)

    async def aclose(self) -> None:
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._inner.aclose()

    def _start(self, key: str, request: httpx.Request, demand: Demand) -> _Fetch:
        fetch = _Fetch(demand)
        context = copy_context()
        context.run(CURRENT.set, fetch.demand)
        fetch.task = asyncio.create_task(self._inner.handle_async_request(request), context=context)
        self._fetches[key] = fetch
        self._tasks.add(fetch.task)
        fetch.task.add_done_callback(lambda task: self._finished(key, fetch, task))
        return fetch

    def _finished(self, key: str, fetch: _Fetch, task: asyncio.Task[httpx.Response]) -> None:
        self._tasks.discard(task)
        if self._fetches.get(key) is fetch:
            del self._fetches[key]
        if not task.cancelled():
            task.exception()  # An unread exception would be logged when nobody waits any more.

    async def _join(self, key: str, fetch: _Fetch, demand: Demand) -> httpx.Response:
        fetch.waiting += 1
        try:
            await asyncio.wait({fetch.task})
        except asyncio.CancelledError:
            if fetch.waiting == 1 and not fetch.task.done():
                fetch.charge(demand)
                fetch.task.cancel()
                # What comes now must not join a request that is being given up.
                if self._fetches.get(key) is fetch:
                    del self._fetches[key]
            raise
        finally:
            fetch.waiting -= 1
        fetch.charge(demand)
        if fetch.task.cancelled():
            raise httpx.TransportError(f"{self._upstream} is closing")
        error = fetch.task.exception()
        if error is not None:
            raise _copied_error(error) from error
        return _copied(fetch.task.result())


def _copied(response: httpx.Response) -> httpx.Response:
    """A response of the same status, headers and (complete, decoded) body."""
    return httpx.Response(
        response.status_code,
        headers=response.headers.raw,
        content=response.content,
        extensions=dict(response.extensions),
    )


def _copied_error(error: BaseException) -> BaseException:
    """An exception of the same class and attributes; httpx later writes each waiter's own request into it."""
    copied = type(error).__new__(type(error), *error.args)
    copied.__dict__.update(error.__dict__)
    return copied
