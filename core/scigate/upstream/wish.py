"""What one request wishes of the stack, told in httpx's request `extensions`.

| extension | value | meaning |
| --- | --- | --- |
| `scigate.cache` | False | neither read from nor written to the cache |
| `scigate.cache` | "refresh" | not read from the cache, but written to it |
| `scigate.cache` | "only" | read from the cache alone: 504 when it holds nothing fresh (RFC 9111, only-if-cached) |
| `scigate.safe` | True | this POST is a read: it may be retried, cached and shared |
| `scigate.stale` | False | rather a failure than an answer that is past its lifetime |
| `scigate.lifetime` | seconds | cache a 200 for so long, whatever the upstream declares; 0 for not at all |

and what the stack tells in the response's: `scigate.served`, "live" or "cache", `scigate.age_s`, and
`scigate.is_stale`, whether a cached answer is past its lifetime.
"""

from hashlib import blake2b

import httpx

CACHE = "scigate.cache"
REFRESH = "refresh"
ONLY_CACHED = "only"
SAFE = "scigate.safe"
STALE = "scigate.stale"
IS_STALE = "scigate.is_stale"
LIFETIME = "scigate.lifetime"
SERVED = "scigate.served"
AGE_S = "scigate.age_s"

_KEY = "scigate.key"


def is_safe(request: httpx.Request) -> bool:
    """Whether the request only reads, so that it may be repeated and its answer shared."""
    return request.method in ("GET", "HEAD") or bool(request.extensions.get(SAFE))


def is_private(request: httpx.Request) -> bool:
    """Whether the request carries someone's credentials, so that its answer is nobody else's."""
    return "authorization" in request.headers or "cookie" in request.headers


def identity(request: httpx.Request) -> str:
    """What makes two requests of one upstream ask for the same thing: method, accepted type, URL and body.

    Raises:
        httpx.RequestNotRead: the body is a stream.
    """
    key = request.extensions.get(_KEY)
    if key is None:
        body = blake2b(request.content, digest_size=16).hexdigest() if request.content else "-"
        key = f"{request.method} {request.headers.get('accept', '*/*')} {body} {request.url}"
        request.extensions[_KEY] = key
    return str(key)
