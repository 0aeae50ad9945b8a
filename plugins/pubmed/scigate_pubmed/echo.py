"""What a caller sent, told back in a result: a text as an echo, a search as an address."""

from typing import Final
from urllib.parse import quote

__all__ = ["LONGEST_ECHO", "echo", "search_address"]

LONGEST_ECHO: Final = 4_000
"""Characters of a query that is told back whole: the longest searches of systematic reviews."""

_BEGINNING: Final = 300
"""Characters of a longer one: the caller has it, and each repetition costs a reader its tokens."""

_LONGEST_ADDRESS: Final = 8_000
"""Characters of an address that web servers take; Apache's limit is 8,190 with the method
(https://httpd.apache.org/docs/2.4/mod/core.html#limitrequestline).
"""


def echo(text: str) -> str:
    """The text as it was sent, or its beginning and an ellipsis where it is long."""
    return text if len(text) <= LONGEST_ECHO else text[: _BEGINNING - 1].rstrip() + "…"


def search_address(page: str, parameter: str, text: str) -> str:
    """The address of a search on a service's own pages; of the page alone where the text is too long for one."""
    # The characters that JavaScript's encodeURIComponent leaves alone.
    whole = f"{page}?{parameter}=" + quote(text, safe="!'()*~-._")
    return whole if len(whole) <= _LONGEST_ADDRESS else page
