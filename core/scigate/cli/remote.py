"""A server by its URL, and the key that a command shows to it."""

import os
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from scigate.cli.refusal import Refusal

if TYPE_CHECKING:
    import httpx2

__all__ = ["KeyFrom", "Remote"]

KeyFrom = Annotated[
    str | None,
    typer.Option(
        "--key-from",
        metavar="PLACE",
        help="Where the key or token for --url is kept: env:NAME, file:PATH or keyring:SERVICE/USER.",
    ),
]

_PLACES: Final = "env:NAME, file:PATH or keyring:SERVICE/USER"

_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""What a bearer token is made of (RFC 6750, section 2.1); the HTTP library would show anything else in its error."""

_WAIT_S: Final = 30.0

_ANSWER_S: Final = 300.0
"""Seconds between two parts of an answer: what the SDK's own client grants."""


@dataclass
class Remote:
    """A server that is asked over Streamable HTTP.

    Attributes:
        url: Its endpoint.
        key_from: Where the key is kept that it is shown; None shows none.
        refused: The statuses, 401 or 403, with which it has turned requests away.
    """

    url: str
    key_from: str | None = None
    refused: list[int] = field(default_factory=list[int])
    _key: str | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._key = None if self.key_from is None else _kept(self.key_from)

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[Any]:
        """A transport of the SDK's, for one client."""
        import httpx2  # for start-up time
        from mcp.client.streamable_http import streamable_http_client

        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        timeout = httpx2.Timeout(_WAIT_S, read=_ANSWER_S)
        async with httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks={"response": [self._look]}) as http:
            yield streamable_http_client(self.url, http_client=http)

    def refusal(self) -> Refusal | None:
        """Why the server has turned the command away, if it has for want of a key."""
        if not self.refused:
            return None
        if self.key_from is None:
            return Refusal(f"{self.url} asks who calls: say where a key is kept with --key-from {_PLACES}")
        if self.refused[-1] == 403:
            return Refusal(
                f"{self.url} knows the key from {self.key_from}, but it has not the scopes that are asked for"
            )
        return Refusal(
            f"{self.url} does not accept the key from {self.key_from}; where it runs, `scigate keys list` shows those "
            "that are accepted, and `scigate keys new NAME` makes one"
        )

    async def _look(self, response: "httpx2.Response") -> None:
        if response.status_code in (401, 403):
            self.refused.append(response.status_code)


def _kept(place: str) -> str:
    """The key from where it is kept.

    Raises:
        Refusal: It is not there; what was read is not told.
    """
    kind, colon, name = place.partition(":")
    if not colon or not name or kind not in ("env", "file", "keyring"):
        # Not repeated: it may be the key itself.
        raise Refusal(f"--key-from takes {_PLACES}; never the key itself, as others can see a command line")
    if kind == "env":
        key = os.environ.get(name, "").strip()
        if not key:
            raise Refusal(f"--key-from: the variable {name} is not set")
    else:
        from scigate.settings.secret import SecretUnreadable, read_secret  # for start-up time

        try:
            key = read_secret("file", str(Path(name).expanduser())) if kind == "file" else read_secret("keyring", name)
        except (SecretUnreadable, RuntimeError) as error:
            raise Refusal(f"--key-from: {error}") from error
    if not _TOKEN.fullmatch(key.strip()):
        raise Refusal(f"--key-from: what {place} holds is no key: it has characters that no key has")
    return key.strip()
