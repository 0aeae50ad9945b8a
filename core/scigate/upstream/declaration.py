"""What a provider says of an upstream, and what an operator's settings change in it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from ipaddress import ip_address
from typing import Any, Protocol

import httpx

from scigate.upstream.window import Window

TRANSIENT = frozenset({429, 502, 503, 504})


@dataclass(frozen=True)
class Lifetime:
    """How long answers are kept.

    Attributes:
        pattern: regular expression matched from the start of "METHOD path", the path decoded and without that of
            `base_url`, such as `r"GET /compound/cid/\\d+/property/"`.
        seconds: for a 200 answer.
        negative_s: for a 404 answer.
    """

    pattern: str
    seconds: float
    negative_s: float = 0.0


def _is_transient(response: httpx.Response) -> bool:
    return response.status_code in TRANSIENT


@dataclass(frozen=True)
class Upstream:
    """A remote HTTP service.

    Two providers that declare the same name share its quota, cache and breaker; see `merged`.

    Attributes:
        name: lower-case, as in settings and results.
        base_url: https, or http to a loopback address.
        quotas: such as ("5/second", "400/minute"); all of them are kept, as sliding windows.
        concurrency: requests under way at most.
        timeout_s: seconds that one attempt may take, waiting for a slot not counted.
        emulator: "package.module:factory"; `factory()` returns an ASGI app; imported only when used.
        lifetimes: the first that matches a request says how long its answer is kept; without a match it is not.
        is_transient: whether an answer is to be tried again; its body has been read. None for 429, 502, 503 and 504.
        throttle: seconds to leave between requests, as a vendor's header asks; 0 for none, None when it says nothing.
        is_cacheable: whether a 200 answer is worth keeping, for upstreams that tell of a fault with status 200.
        sign: adds a key to the request that goes on the wire, which nothing else sees.
        headers: sent with every request.
        licence: of the data, as shown to operators.
        retries: repetitions of a failed safe request at most.
        max_response_bytes: bound of a decoded body.
    """

    name: str
    base_url: str
    quotas: tuple[str, ...] = ()
    concurrency: int = 10
    timeout_s: float = 30.0
    emulator: str | None = None
    lifetimes: tuple[Lifetime, ...] = ()
    is_transient: Callable[[httpx.Response], bool] | None = None
    throttle: Callable[[httpx.Headers], float | None] | None = None
    is_cacheable: Callable[[httpx.Response], bool] | None = None
    sign: Callable[[httpx.Request], None] | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    licence: str | None = None
    retries: int = 1
    max_response_bytes: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_-]*", self.name):
            raise ValueError(f"upstream name {self.name!r} is not lower-case letters, digits, - and _")
        _check_url(self.name, self.base_url)
        for quota in self.quotas:
            Window.parse(quota)
        for lifetime in self.lifetimes:
            re.compile(lifetime.pattern)
        if self.concurrency < 1 or self.timeout_s <= 0 or self.retries < 0 or self.max_response_bytes < 1:
            raise ValueError(
                f"upstream {self.name!r}: concurrency and max_response_bytes are 1 or more, timeout_s above 0, "
                "retries 0 or more"
            )

    @property
    def windows(self) -> tuple[Window, ...]:
        """The quotas, read."""
        return tuple(Window.parse(quota) for quota in self.quotas)

    @property
    def transient(self) -> Callable[[httpx.Response], bool]:
        """`is_transient`, or the default."""
        return self.is_transient or _is_transient

    def merged(self, other: "Upstream") -> "Upstream":
        """Both declarations of one upstream in one.

        What only one of them sets is taken from it; lifetimes are joined, this one's first; of two functions this one's
        is kept.

        Raises:
            ValueError: both set the same thing differently; names it and both values.
        """
        found: dict[str, object] = {}
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            if each.name == "lifetimes":
                found[each.name] = (*mine, *(lifetime for lifetime in theirs if lifetime not in mine))
            elif mine == theirs or theirs == _default(each):
                found[each.name] = mine
            elif mine == _default(each):
                found[each.name] = theirs
            elif callable(mine):
                found[each.name] = mine
            else:
                raise ValueError(f"upstream {self.name!r} is declared with {each.name} {mine!r} and with {theirs!r}")
        return replace(self, **found)  # type: ignore[arg-type]  # Built from this class's own fields.

    def overridden(self, overrides: "Overrides") -> "Upstream":
        """The declaration with an operator's settings in place of its own, where they are not None."""
        names = ("base_url", "quotas", "concurrency", "timeout_s", "retries")
        values: dict[str, Any] = {name: getattr(overrides, name) for name in names}
        if values["quotas"] is not None:
            values["quotas"] = tuple(values["quotas"])
        return replace(self, **{name: value for name, value in values.items() if value is not None})


class Overrides(Protocol):
    """What settings may change in an upstream; None leaves what the provider declares."""

    @property
    def base_url(self) -> str | None: ...
    @property
    def quotas(self) -> "tuple[str, ...] | list[str] | None": ...
    @property
    def concurrency(self) -> int | None: ...
    @property
    def timeout_s(self) -> float | None: ...
    @property
    def retries(self) -> int | None: ...
    @property
    def cache(self) -> bool | None: ...


class LifetimeTable:
    """Which lifetime is an answer's."""

    def __init__(self, upstream: Upstream) -> None:
        self._prefix = httpx.URL(upstream.base_url).path.rstrip("/")
        self._rows = [(re.compile(each.pattern), each) for each in upstream.lifetimes]

    def seconds(self, request: httpx.Request, status: int) -> float:
        """Seconds to keep an answer of this status to this request; 0 for not at all."""
        text = f"{request.method} {request.url.path.removeprefix(self._prefix)}"
        for pattern, lifetime in self._rows:
            if pattern.match(text):
                return lifetime.seconds if status == 200 else lifetime.negative_s
        return 0.0


def _default(each: Field[Any]) -> object:
    if each.default is not MISSING:
        return each.default
    return each.default_factory() if each.default_factory is not MISSING else MISSING


def _check_url(name: str, text: str) -> None:
    url = httpx.URL(text)
    if url.scheme == "https" and url.host:
        return
    if url.scheme == "http" and _is_loopback(url.host):
        return
    raise ValueError(f"upstream {name!r}: base_url {text!r} is neither https nor http to a loopback address")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
