"""An authorization server for the tests, run as a program: metadata, keys that rotate, tokens with any content.

It signs with joserfc, another library than the one that checks. Its first line on standard output is its URL.
"""

import json
import socket
import sys
from typing import Any

import uvicorn
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


class Issuer:
    """Its state: the keys it signs with and publishes, whether it answers, and what it was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.generation = 0
        self.reset()

    def reset(self) -> None:
        self.down = False
        self.asked: list[str] = []
        self.named = self.url
        self.rotate()

    def rotate(self) -> None:
        self.generation += 1
        self.keys: list[Any] = [
            RSAKey.generate_key(2048, {"kid": f"rsa-{self.generation}", "use": "sig"}),
            ECKey.generate_key("P-256", {"kid": f"ec-{self.generation}", "alg": "ES256"}),
            # Published by mistake: no token signed with it may be accepted.
            OctKey.import_key("a secret of the issuer, long enough", {"kid": "shared"}),
        ]

    async def metadata(self, request: Request) -> JSONResponse:
        self.asked.append(request.url.path)
        return JSONResponse({"issuer": self.named, "jwks_uri": f"{self.url}/jwks"}, 503 if self.down else 200)

    async def jwks(self, request: Request) -> JSONResponse:
        self.asked.append(request.url.path)
        keys = [key.as_dict(private=key.key_type == "oct") for key in self.keys]
        return JSONResponse({"keys": keys}, 503 if self.down else 200)

    async def sign(self, request: Request) -> JSONResponse:
        wanted = await request.json()
        key = next(key for key in self.keys if key.key_type == wanted["kty"])
        header = {"kid": key.kid, **wanted["header"]}
        token = jwt.encode(header, wanted["claims"], key, algorithms=[header["alg"]])
        return JSONResponse({"token": token})

    async def set(self, request: Request) -> JSONResponse:
        wanted = await request.json()
        if wanted.get("reset"):
            self.reset()
        if wanted.get("rotate"):
            self.rotate()
        self.down = wanted.get("down", self.down)
        self.named = wanted.get("named", self.named)
        return JSONResponse({"asked": self.asked})


if __name__ == "__main__":
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    issuer = Issuer(f"http://127.0.0.1:{listener.getsockname()[1]}")
    app = Starlette(
        routes=[
            Route("/.well-known/oauth-authorization-server", issuer.metadata),
            Route("/jwks", issuer.jwks),
            Route("/sign", issuer.sign, methods=["POST"]),
            Route("/set", issuer.set, methods=["POST"]),
        ]
    )
    print(json.dumps(issuer.url), flush=True)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
    sys.exit(server.run([listener]))
