"""How fast an upstream wishes to be asked, over and above its quota.

A refusal (429, 503) pauses the upstream for everybody; afterwards, and when a vendor's header asks for it, requests are
spaced out, and the spacing is halved step by step until the quota alone governs again. Nothing here waits.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import inf

import httpx

from scigate.clock import Clock

# Seconds without a further refusal after which the spacing is halved.
RECOVERY_STEP_S = 5.0
# A pause when the upstream does not say how long, doubled with each refusal in a row.
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
# A Retry-After beyond this is taken for this: a wrong clock over there must not stop us for a year.
LONGEST_RETRY_AFTER_S = 3600.0
# Two tellings of one pause differ by the time that telling takes.
_SAME_S = 0.05
# Where a number of seconds begins to be a date: 2001-09-09.
_UNIX_TIME_S = 1e9
# The slowest that refusals alone make us, as a multiple of the quota's own spacing.
SLOWEST = 8


def retry_after_s(headers: httpx.Headers, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for, given as seconds or as an HTTP date (RFC 9110, 10.2.3).

    None when the header is missing or unreadable; 0 for a date gone by. Where it is missing, `X-RateLimit-Reset` tells
    instead.
    """
    text = headers.get("retry-after", "").strip()
    if not text:
        return reset_s(headers, now)
    try:
        seconds = float(text)
    except ValueError:
        try:
            date = parsedate_to_datetime(text)
        except ValueError:
            return None
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER_S) if abs(seconds) < inf else None


def reset_s(headers: httpx.Headers, now: datetime) -> float | None:
    """Seconds until the limit is full again, by `X-RateLimit-Reset` or `RateLimit-Reset`; None where neither says.

    No standard fixes the first: some services send seconds from now, some a Unix time, which no wait is as long as.
    """
    text = headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset") or ""
    try:
        seconds = float(text)
    except ValueError:
        return None
    if not abs(seconds) < inf:
        return None
    if seconds > _UNIX_TIME_S:
        seconds -= now.timestamp()
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER_S)


def spent_for_s(headers: httpx.Headers, now: datetime) -> float:
    """Seconds for which an answer that was given says nothing more will be: its rate limit has 0 remaining."""
    left = headers.get("x-ratelimit-remaining") or headers.get("ratelimit-remaining") or ""
    return (reset_s(headers, now) or 0.0) if left.strip() == "0" else 0.0


@dataclass(frozen=True)
class Slowing:
    """How an upstream is slowed down, told in seconds from now, so that it means the same on any machine's clock.

    Attributes:
        pause_s: until requests are sent again; 0 when they are.
        spacing_s: between two starts, of whoever; 0 for none.
        recover_s: until the spacing is halved for the first time.
        cause: what the upstream said, such as "429" or "throttle".
    """

    pause_s: float
    spacing_s: float
    recover_s: float
    cause: str


class Pace:
    """The pause and the spacing of one upstream, as this process knows them.

    Args:
        interval_s: seconds a request at the full rate of the upstream's tightest quota; 0 for no quota.
    """

    def __init__(self, clock: Clock, interval_s: float) -> None:
        self._clock = clock
        self._interval_s = interval_s or 0.1
        self._paused_until = -inf
        self._pause_s = FIRST_PAUSE_S
        self._spacing_s = 0.0
        self._recover_at = -inf
        self._last_refusal = -inf
        self._last_start = -inf
        self._cause: str | None = None

    @property
    def paused_for_s(self) -> float:
        """Seconds until requests are sent again; 0 when they are."""
        return max(0.0, self._paused_until - self._clock.monotonic())

    @property
    def spacing_s(self) -> float:
        """Seconds from one start to the next, 0 when only the quota governs."""
        now = self._clock.monotonic()
        while self._spacing_s and now >= self._recover_at:
            self._recover_at += RECOVERY_STEP_S
            self._spacing_s /= 2
            if self._spacing_s <= self._interval_s:
                self._spacing_s = 0.0
        return self._spacing_s

    @property
    def slowed_by(self) -> str | None:
        """What the upstream said to be paused or spaced out, such as "429" or "throttle"; None at full rate."""
        return self._cause if self.paused_for_s or self.spacing_s else None

    @property
    def slowing(self) -> Slowing | None:
        """The pause and the spacing in force, to be told to others; None at full rate."""
        pause_s, spacing_s = self.paused_for_s, self.spacing_s
        if not pause_s and not spacing_s:
            return None
        recover_s = max(0.0, self._recover_at - self._clock.monotonic())
        return Slowing(pause_s, spacing_s, recover_s, self._cause or "elsewhere")

    def heed(self, slowing: Slowing) -> None:
        """Take over what somebody else was told by the same upstream, where it is slower than what is known here."""
        now = self._clock.monotonic()
        if slowing.pause_s > self.paused_for_s + _SAME_S:
            self._paused_until = now + slowing.pause_s
            # Requests that are under way here will be refused for the reason that is already heeded.
            self._last_refusal = now
            self._cause = slowing.cause
        if slowing.spacing_s > self.spacing_s:
            self._spacing_s = slowing.spacing_s
            self._recover_at = now + slowing.recover_s
            self._cause = slowing.cause

    def wait_s(self, ahead: int = 0) -> float:
        """Seconds until the start after `ahead` others, the first as soon as pause and spacing let it."""
        spacing = self.spacing_s
        first = max(self._paused_until, self._last_start + spacing) - self._clock.monotonic()
        return max(0.0, first) + ahead * spacing

    def started(self) -> None:
        """A request starts."""
        self._last_start = self._clock.monotonic()

    def refused(self, cause: str, started_at: float, retry_after_s: float | None) -> None:
        """The upstream refused a request that was started at `started_at` because it is asked too much.

        Refusals of requests that were under way together are one: they slow down once.
        """
        now = self._clock.monotonic()
        if started_at > self._last_refusal:
            repeated = self.spacing_s > 0
            self._pause_s = min(self._pause_s * 2, LONGEST_PAUSE_S) if repeated else FIRST_PAUSE_S
            slowest = max(SLOWEST * self._interval_s, self._spacing_s)
            self._spacing_s = min(max(self._spacing_s, self._interval_s) * 2, slowest)
            self._last_refusal = now
            self._cause = cause
        pause_s = self._pause_s if retry_after_s is None else retry_after_s
        self._paused_until = max(self._paused_until, now + pause_s)
        self._recover_at = max(self._recover_at, self._paused_until + RECOVERY_STEP_S)

    def spent(self, seconds: float) -> None:
        """The upstream says that its limit is used up for so long; nobody has been refused."""
        if seconds > self.paused_for_s:
            self._paused_until = self._clock.monotonic() + seconds
            self._cause = "limit used up"

    def asked(self, spacing_s: float) -> None:
        """A vendor's header asks for `spacing_s` seconds between requests; 0 asks for nothing."""
        if spacing_s > 0 and spacing_s >= self.spacing_s:
            self._spacing_s = spacing_s
            self._recover_at = self._clock.monotonic() + RECOVERY_STEP_S
            self._cause = "throttle"
