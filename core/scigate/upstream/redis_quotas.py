"""Windows in Redis or Valkey, shared by every replica of a fleet.

The rules are in `quotas.lua`, which the server runs as one step and by its own time. Here are the connection, what this
member has sent (to be told again to a server that has forgotten it), and what it may send alone while the server is
away (`share.py`).

pyrate-limiter's Redis bucket stamps with each client's own clock and cannot give a place back.
"""

import asyncio
import errno
import socket
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any, Final, Protocol

import structlog

from scigate.clock import Clock
from scigate.upstream.pace import Slowing
from scigate.upstream.share import SHORT_S, Contact, Share, waited_out_s
from scigate.upstream.window import MemoryQuotas, Token, Window

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ["RedisQuotas", "redis_client", "redis_errors"]

_log: Final = structlog.get_logger("scigate.upstream")

BEAT_S: Final = 1.0
"""Seconds between two signs of life, and between two attempts to reach a server that does not answer."""
RETRY_S: Final = 0.1
"""Seconds between two attempts to reach a server whose address refuses connections."""
GAP_S: Final = 0.25
"""Seconds between two refusals within which a server cannot have granted anything; as in quotas.lua."""
FRESH_S: Final = 0.1
"""Seconds for which what the server said is taken to hold: a request may go out without asking it again."""
STALE_S: Final = 3.0
"""Seconds without a sign of life after which the server counts a member as silent; as in quotas.lua."""
GONE_S: Final = 60.0
"""Seconds for which a silent member's share is kept for it; as in quotas.lua."""
TIMEOUT_S: Final = 0.5
"""Seconds that one operation may take; a server that is slower is as good as away."""
LEASE_S: Final = 25.0
"""Seconds that a token may be out unsent: more than a connection may take to be made."""
ASK_AGAIN_S: Final = 1.0
"""Seconds after which asking again is worth it for a member that may send nothing."""

_PREFIX: Final = "scigate:{scigate}:"


def redis_client(url: str, *, patient: bool = False) -> "Redis":
    """A client with one connection, made when it is first used, that repeats nothing by itself.

    Args:
        patient: an answer may take for ever.

    Raises:
        ModuleNotFoundError: The extra is not installed; it names it.
        ValueError: The URL is none of Redis.
    """
    try:
        from redis.asyncio import Redis  # an extra
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("redis_url needs the extra: pip install 'scigate[redis]'") from error
    return Redis.from_url(  # pyright: ignore[reportUnknownMemberType]  # its options are not typed
        url,
        single_connection_client=True,
        retry=Retry(NoBackoff(), 0),
        socket_connect_timeout=TIMEOUT_S,
        **({"socket_timeout": None} if patient else {}),
        client_name="scigate",
    )


class Connect(Protocol):
    """Makes a client of the server at a URL, which connects when it is first used."""

    def __call__(self, url: str, *, patient: bool = False) -> "Redis":
        """As `redis_client` does."""
        ...


class _Taken(Token):
    """A token with its name in the store; `alone` is the store of the share that it was taken from, if it was.

    `era` numbers the times with a link and those without: what one granted is worth nothing in another.
    """

    __slots__ = ("alone", "era", "inner", "name")

    def __init__(self, upstream: str, name: str, era: int) -> None:
        super().__init__(upstream)
        self.name = name
        self.era = era
        self.alone: MemoryQuotas | None = None
        self.inner: Token | None = None


@dataclass
class _Site:
    """What is known of one upstream here.

    Attributes:
        windows: as last asked with.
        sends: monotonic time and name of what this member sent, for as long as the longest window holds it.
        used: of each window, by the whole fleet, at the last reply.
        next_at: monotonic time of the next free slot, as last told.
        closed_until: monotonic time before which the server grants nobody anything, as last told.
        newest_at: monotonic time by which all that it had granted then had been sent.
        alone: this member's share while the server is away.
        lost: names of tokens that the server may hold for this member, which is not going to send them.
    """

    windows: Sequence[Window]
    sends: deque[tuple[float, str]] = field(default_factory=deque[tuple[float, str]])
    used: tuple[int, ...] = ()
    next_at: float = 0.0
    closed_until: float = -inf
    newest_at: float = inf
    slowing: Slowing | None = None
    alone: MemoryQuotas | None = None
    lost: list[str] = field(default_factory=list[str])

    def sent(self, now: float, name: str) -> None:
        longest = max((window.held_s for window in self.windows), default=0.0)
        while self.sends and self.sends[0][0] + longest <= now:
            self.sends.popleft()
        self.sends.append((now, name))


@dataclass
class _Refusals:
    """A row of refused connections, too close for a server to have granted anything in between.

    Attributes:
        since: monotonic time at which the first was known.
        last: monotonic time before which the last connection was not tried.
    """

    since: float
    last: float


class _Link:
    """An open connection to a server whose run id and time are known."""

    def __init__(self, client: Any, script: str, run_id: str, ahead_s: float) -> None:
        self.client = client
        self.script = script
        self.run_id = run_id
        # What to add to our monotonic seconds to have the server's time, less what an answer takes to arrive.
        self.ahead_s = ahead_s


class RedisQuotas:
    """A `QuotaStore` in Redis.

    A server that is away or slow costs nothing but the part of the budget that is nobody's share: this member
    sends its own share, says so once, and comes back by itself.

    Args:
        replicas: members that the fleet has at least, whether or not they have been seen.
        connect: makes a client of the server at a URL; `patient`, one that waits for an answer for ever.
    """

    kind = "redis"

    def __init__(self, url: str, clock: Clock, *, replicas: int = 1, connect: "Connect | None" = None) -> None:
        self._connect = partial(connect or redis_client, url)
        self._clock = clock
        self._replicas = replicas
        self._member = uuid.uuid4().hex
        self._ids = count()
        self._sites: dict[str, _Site] = {}
        self._report: Callable[[], str] = str
        self._link: _Link | None = None
        self._trouble: str | None = None
        self._cut_off = False
        self._refusals: _Refusals | None = None
        self._last_run: str | None = None
        self._era = 0
        self._joining = False
        self._closing = False
        self._heard_at = -inf
        self._fleet: list[str] = []
        self._joined_at = inf
        self._contact = Contact(-inf, Share(replicas), settled=True)
        self._beat: asyncio.Task[None] | None = None
        self._meeting = asyncio.Lock()
        self._wake = asyncio.Event()
        self._watches: set[asyncio.Task[None]] = set()
        self._tried = asyncio.Event()
        self._outbox: deque[tuple[str, list[object]]] = deque()
        self._postman: asyncio.Task[None] | None = None
        self._connect()  # A wrong URL or a missing extra is told at start.

    @property
    def trouble(self) -> str | None:
        return self._trouble

    @property
    def members(self) -> int:
        return max(len(self._fleet), 1)

    async def take(self, upstream: str, windows: Sequence[Window]) -> Token | float:
        await self._begun()
        # A task of its own: a caller that goes away must not leave half a conversation, nor a token that nobody has.
        asking = asyncio.create_task(self._take(upstream, windows))
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            asking.add_done_callback(self._discard)
            raise

    async def may_go(self, token: Token) -> bool:
        assert isinstance(token, _Taken)
        # The others begin to send their shares when a server that died cannot have let anything out any more.
        if token.alone is None and token.era == self._era and self._clock.monotonic() > self._heard_at + FRESH_S:
            link = self._link
            try:
                await self._run(token.upstream, "free")
            except redis_errors() as error:
                await self._lost(error, link)
        return token.era == self._era

    def sent(self, token: Token) -> None:
        assert isinstance(token, _Taken)
        if token.spent:
            return
        token.spent = True
        now = self._clock.monotonic()
        site = self._sites[token.upstream]
        site.sent(now, token.name)
        if token.alone is not None and token.inner is not None:
            token.alone.sent(token.inner)
        if site.alone is not None and site.alone is not token.alone:
            site.alone.recall(token.upstream, site.windows, [now])
        self._post(token.upstream, ["count", token.name, now])

    def give_back(self, token: Token) -> None:
        assert isinstance(token, _Taken)
        if token.spent:
            return
        token.spent = True
        if token.alone is not None and token.inner is not None:
            token.alone.give_back(token.inner)
        elif self._link is None:
            self._sites[token.upstream].lost.append(token.name)
        else:
            self._post(token.upstream, ["free", token.name])

    def slow(self, upstream: str, windows: Sequence[Window], slowing: Slowing) -> None:
        told = [slowing.pause_s, slowing.spacing_s, slowing.recover_s, slowing.cause, _interval_s(windows)]
        self._post(upstream, ["slow", *told])

    def slowing(self, upstream: str) -> Slowing | None:
        site = self._sites.get(upstream)
        return site.slowing if site else None

    async def look(self, upstream: str, windows: Sequence[Window]) -> None:
        try:
            if await self._looks():
                await self._asked(upstream, windows, "")
        except redis_errors() as error:
            await self._lost(error, self._link)

    def forecast(self, upstream: str, windows: Sequence[Window], ahead: int) -> float:
        site, now = self._site(upstream, windows), self._clock.monotonic()
        if self._link is None and self._tried.is_set():
            return self._alone_wait_s(site, upstream, ahead)
        longest = 0.0
        for window, used in zip(windows, site.used, strict=False):
            over = ahead - max(window.limit - used, 0)
            if over >= 0:
                longest = max(longest, site.next_at - now + over // window.limit * window.held_s)
        return max(longest, 0.0)

    def used(self, upstream: str, windows: Sequence[Window]) -> tuple[int, ...]:
        site = self._sites.get(upstream)
        return (site.used if site else ()) or (0,) * len(windows)

    def tell(self, report: Callable[[], str]) -> None:
        self._report = report

    async def reports(self) -> list[str]:
        try:
            if await self._looks():
                return [_text(each) for each in await self._run("", "survey")]
        except redis_errors() as error:
            await self._lost(error, self._link)
        return []

    async def aclose(self) -> None:
        # The library swallows a cancellation that meets it while it closes a connection.
        self._closing = True
        if self._beat is not None:
            self._beat.cancel()
            await asyncio.wait({self._beat})
        while self._watches:
            for watch in self._watches:
                watch.cancel()
            await asyncio.wait(self._watches, timeout=TIMEOUT_S)
        if self._postman is not None:
            await asyncio.wait({self._postman})
        if (link := self._link) is not None:
            self._link = None
            with suppress(*redis_errors()):  # Else the others keep our share for a while: no harm done.
                if self._beat is not None:
                    await self._run("", "part", link=link)
            await link.client.aclose()

    async def meet(self) -> None:
        """Give a sign of life, and learn who else is there; reach out for a server that was away."""
        async with self._meeting:
            link = self._link
            try:
                if link is None:
                    await self._join()
                else:
                    await self._met()
            except redis_errors() as error:
                await self._lost(error, link)
        self._tried.set()

    def _site(self, upstream: str, windows: Sequence[Window]) -> _Site:
        site = self._sites.get(upstream)
        if site is None:
            site = self._sites[upstream] = _Site(windows)
        return site

    async def _looks(self) -> bool:
        """Whether there is a link; who only asks makes one without becoming a member."""
        if self._link is None and self._beat is None:
            self._link = await self._linked()
        return self._link is not None

    async def _begun(self) -> None:
        if self._beat is None:
            self._beat = asyncio.create_task(self._keep_beating(), name="quota store", context=Context())
        if not self._tried.is_set():
            await self._tried.wait()

    async def _keep_beating(self) -> None:
        while True:
            self._wake.clear()
            await self.meet()
            if self._closing:
                return
            with suppress(TimeoutError):
                async with self._clock.timeout(RETRY_S if self._refusals else BEAT_S):
                    await self._wake.wait()

    async def _watch(self) -> None:
        """Wait for what never comes: the connection ends when the server does, and then it is asked for at once."""
        client: Any = self._connect(patient=True)
        try:
            await client.blpop([f"{_PREFIX}never"], timeout=0)
        except redis_errors():
            self._wake.set()
        finally:
            await client.aclose()

    async def _take(self, upstream: str, windows: Sequence[Window]) -> Token | float:
        token = _Taken(upstream, f"{self._member}:{next(self._ids)}", self._era)
        site = self._site(upstream, windows)
        if (link := self._link) is not None:
            try:
                wait_s = await self._asked(upstream, windows, token.name)
                return wait_s or token
            except redis_errors() as error:
                site.lost.append(token.name)
                await self._lost(error, link)
        wait_s = self._alone_wait_s(site, upstream)
        parts = self._contact.share.of_windows(windows)
        if wait_s > 0 or site.alone is None or parts is None:
            return wait_s or ASK_AGAIN_S
        inner = site.alone.take_now(upstream, parts)
        if not isinstance(inner, Token):
            return inner
        token.alone, token.inner, token.era = site.alone, inner, self._era
        return token

    def _discard(self, asking: "asyncio.Task[Token | float]") -> None:
        if not asking.cancelled() and asking.exception() is None and isinstance(token := asking.result(), Token):
            self.give_back(token)

    async def _asked(self, upstream: str, windows: Sequence[Window], name: str, link: _Link | None = None) -> float:
        """Ask the server for a token, or only where the upstream stands for an empty name; seconds to wait."""
        asked_at = self._clock.monotonic()
        bounds = [bound for window in windows for bound in (window.limit, window.held_s)]
        told = await self._run(
            upstream, "take", name, LEASE_S, _interval_s(windows), self._replicas, *bounds, link=link
        )
        if not told:
            raise TimeoutError("the answer came too late")
        wait_s, pause_s, spacing_s, recover_s = map(float, told[:4])
        site = self._site(upstream, windows)
        closed_s, newest_s = float(told[5]), float(told[6])
        site.windows, site.used = windows, tuple(map(int, told[7:]))
        site.slowing = Slowing(pause_s, spacing_s, recover_s, _text(told[4])) if pause_s or spacing_s else None
        told_at = self._clock.monotonic()
        site.next_at = told_at + wait_s
        site.closed_until = asked_at + closed_s if closed_s > 0 else -inf
        site.newest_at = told_at - newest_s
        # A token that is out is soon sent or given back: the next answer says more.
        return min(wait_s, FRESH_S) if closed_s < 0 else wait_s

    def _alone_wait_s(self, site: _Site, upstream: str, ahead: int = 0) -> float:
        """Seconds until this member may send without the server's leave; makes `site.alone` where it ever may."""
        now, contact = self._clock.monotonic(), self._contact
        if self._joining:
            return RETRY_S
        parts = contact.share.of_windows(site.windows)
        # The server keeps our share for us for a while; if it serves the others, it is then theirs.
        forfeited = self._cut_off and now > contact.at + GONE_S
        if parts is None or forfeited or not contact.settled:
            return ASK_AGAIN_S * (1 + ahead)
        granted_until = contact.granted_until(STALE_S, FRESH_S)
        if contact.refused_at <= site.closed_until:
            # It died before it could grant anything that is not known here.
            granted_until = min(granted_until, site.newest_at)
        quiet_s = granted_until + max(map(waited_out_s, site.windows), default=0.0) - now
        # What is not known of the others' use is taken for all there is.
        known = site.used or tuple(window.limit for window in site.windows)
        for window, used in zip(site.windows, known, strict=True):
            until = contact.at + window.held_s
            since = sum(at > min(contact.at, contact.refused_at) for at, _ in site.sends)
            if window.span_s > SHORT_S and now < until and since >= (window.limit - used) // contact.share.members:
                quiet_s = max(quiet_s, until - now)
        if site.alone is None:
            site.alone = MemoryQuotas(self._clock)
            site.alone.recall(upstream, parts, [at for at, _ in site.sends])
        return max(quiet_s, site.alone.forecast(upstream, parts, ahead), 0.0)

    async def _linked(self) -> _Link:
        """Connect, and learn the server's run id and time."""
        client: Any = self._connect()  # The library types its commands for its blocking client too.
        try:
            async with self._clock.timeout(4 * TIMEOUT_S):
                run_id = (await client.info("server")).get("run_id", "")
                script = await client.script_load(_script())
                seconds, microseconds = await client.time()
        except BaseException:
            await client.aclose()
            raise
        return _Link(client, script, run_id, seconds + microseconds / 1e6 - self._clock.monotonic())

    async def _join(self) -> None:
        asked_at = self._clock.monotonic()
        try:
            link = await self._linked()
        except redis_errors() as error:
            self._refused(asked_at, error)
            raise
        idle_s = self._idle_s(link)
        # What this member granted itself is not known to the server before it is sent: from here on it is void.
        self._era += 1
        self._joining = True
        now = self._clock.monotonic()
        try:
            # What was sent is told before the sign of life that gives our share back to everybody.
            for upstream, site in self._sites.items():
                site.alone = None
                if site.sends:
                    ages = [each for at, name in site.sends for each in (name, now - at)]
                    await self._run(upstream, "count", *ages, link=link)
                if lost := site.lost:
                    site.lost = []
                    await self._run(upstream, "free", *lost, link=link)
            await self._met(link, idle_s)
        except BaseException:
            await link.client.aclose()
            raise
        finally:
            self._joining = False
        self._link, self._last_run, self._refusals = link, link.run_id, None
        watch = asyncio.create_task(self._watch(), context=Context())
        self._watches.add(watch)
        watch.add_done_callback(self._watches.discard)
        for upstream, site in self._sites.items():
            for at, name in site.sends:
                if at >= now:
                    self._post(upstream, ["count", name, at])
        if self._trouble is not None:
            _log.warning("quota_store_back", store=self.kind, members=self.members)
        self._trouble = None

    def _refused(self, asked_at: float, error: BaseException) -> None:
        """Take note of an attempt to connect that failed: a refusal says that there is no server any more."""
        now, row = self._clock.monotonic(), self._refusals
        if not _is_refusal(error):
            self._refusals = None
        elif row is not None and now <= row.last + GAP_S:
            row.last = asked_at
        else:
            self._refusals = _Refusals(now, asked_at)
        if self._refusals and self._contact.refused_at == inf:
            self._contact = replace(self._contact, refused_at=self._refusals.since)

    def _idle_s(self, link: _Link) -> float | None:
        """Seconds for which no request went out that a former server granted; None where that is not known."""
        now, row, contact = self._clock.monotonic(), self._refusals, self._contact
        another = self._last_run is not None and self._last_run != link.run_id
        if row is None or not another or not contact.settled or now > row.last + GAP_S:
            return None
        return now - row.since - FRESH_S

    async def _met(self, link: _Link | None = None, idle_s: float | None = None) -> None:
        asked_at = self._clock.monotonic()
        # As the server may see it: a beat that it takes note of but that we learn nothing of counts as well.
        self._contact = Contact(asked_at + TIMEOUT_S, self._contact.share, self._contact.settled)
        # A server that was started anew does not know who else may be sending alone.
        known = self._fleet if link else []
        idle = "" if idle_s is None else f"{idle_s:.6f}"
        told = await self._run("", "meet", self._report(), idle, *known, link=link)
        if not told:
            raise TimeoutError("the answer came too late")
        at_server, *members = [_text(each) for each in told]
        if current := link or self._link:
            # The two clocks drift apart.
            current.ahead_s = float(at_server) - self._clock.monotonic()
        self._fleet = members
        self._joined_at = min(self._joined_at, asked_at)
        share = Share(max(len(self._fleet), self._replicas), self._fleet.index(self._member))
        for upstream, site in self._sites.items():
            if any(window.span_s > SHORT_S for window in site.windows):
                await self._asked(upstream, site.windows, "", link)
        settled = asked_at - self._joined_at >= 2 * BEAT_S
        self._contact = Contact(asked_at + TIMEOUT_S, share, settled or len(self._fleet) == 1)

    async def _run(self, upstream: str, operation: str, *arguments: object, link: _Link | None = None) -> Any:
        link = link or self._link
        if link is None:
            raise ConnectionError("not connected")
        keys = [f"{_PREFIX}{upstream}:{part}" for part in ("sent", "out", "pace")]
        keys += [f"{_PREFIX}{part}" for part in ("fleet", "reports", "birth")]
        asked_at = self._clock.monotonic()
        valid_until = f"{asked_at + link.ahead_s + TIMEOUT_S:.6f}"
        async with self._clock.timeout(TIMEOUT_S):
            told = await link.client.evalsha(
                link.script, len(keys), *keys, operation, self._member, link.run_id, valid_until, *arguments
            )
        self._heard_at = max(self._heard_at, asked_at)
        return told

    async def _lost(self, error: BaseException, failed: _Link | None = None) -> None:
        """Go on alone; nothing for a link that failed before and has been replaced."""
        if failed is not self._link:
            return
        self._cut_off = _is_cut_off(error)
        reason = f"{type(error).__name__}: {error}".rstrip(": ")[:200]
        if self._trouble is None:
            _log.warning("quota_store_lost", store=self.kind, reason=reason, members=self._contact.share.members)
        self._trouble = f"Redis is away ({reason}): serving this gateway's share of each quota"
        link, self._link = self._link, None
        if link is not None:
            self._era += 1
            for site in self._sites.values():
                site.alone = None
            for watch in self._watches:
                watch.cancel()
            self._wake.set()
            await link.client.aclose()

    def _post(self, upstream: str, told: list[object]) -> None:
        """Tell the server behind the caller's back; what is not told for want of a link is told when one is made."""
        self._outbox.append((upstream, told))
        if self._postman is None:
            self._postman = asyncio.create_task(self._deliver(), context=Context())

    async def _deliver(self) -> None:
        try:
            while self._outbox and (link := self._link) is not None:
                upstream, (operation, *told) = self._outbox.popleft()
                if operation == "count":
                    told[1] = self._clock.monotonic() - float(str(told[1]))
                try:
                    await self._run(upstream, str(operation), *told)
                except redis_errors() as error:
                    await self._lost(error, link)
        finally:
            self._outbox.clear()
            self._postman = None


def _interval_s(windows: Sequence[Window]) -> float:
    return max((window.span_s / window.limit for window in windows), default=0.1)


def _text(told: object) -> str:
    return told.decode() if isinstance(told, bytes) else str(told)


def _script() -> str:
    return files("scigate.upstream").joinpath("quotas.lua").read_text(encoding="utf-8")


def redis_errors() -> tuple[type[Exception], ...]:
    """What a server that is away or out of order makes the library raise."""
    from redis.exceptions import RedisError  # an extra

    return (RedisError, OSError, TimeoutError)


def _is_refusal(error: BaseException | None) -> bool:
    """Whether the machine at the address answers that nothing serves there."""
    while error is not None:
        if isinstance(error, ConnectionRefusedError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_cut_off(error: BaseException | None) -> bool:
    """Whether the server may be serving others: nothing answers at its address, not even a refusal."""
    from redis.exceptions import TimeoutError as ConnectTimeout  # an extra

    while error is not None:
        if isinstance(error, ConnectTimeout | socket.gaierror):
            return True
        if isinstance(error, OSError) and error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH):
            return True
        error = error.__cause__ or error.__context__
    return False
