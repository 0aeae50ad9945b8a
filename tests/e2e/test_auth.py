"""Who is let in over HTTP: keys, an issuer's tokens, forgeries of both, and what a refused client is told."""

import base64
import hashlib
import hmac
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from scigate.endpoint.http import create_app, running, serve_http
from scigate.gateway import Gateway
from scigate.host import Host
from scigate.keys import KeyRing
from scigate.settings import AuditSettings, AuthSettings, ServerSettings, Settings
from scigate.testing.clock import ManualClock

BOUND_S = 20
RESOURCE = "https://gate.example/mcp"
LIST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/list",
}

Ask = Callable[..., Awaitable[httpx.Response]]
Door = Callable[..., AbstractAsyncContextManager[Ask]]


class Issuer:
    """The issuer's process, seen from outside."""

    def __init__(self, url: str, http: httpx.Client) -> None:
        self.url = url
        self._http = http

    def set(self, **wanted: Any) -> list[str]:
        return self._http.post("/set", json=wanted).json()["asked"]

    def sign(self, kty: str = "RSA", header: dict[str, Any] | None = None, **claims: Any) -> str:
        given = {"alg": "RS256" if kty == "RSA" else "ES256", **(header or {})}
        known = {**self.claims(), **claims}
        claims = {name: value for name, value in known.items() if value is not None}
        return self._http.post("/sign", json={"kty": kty, "header": given, "claims": claims}).json()["token"]

    def claims(self) -> dict[str, Any]:
        now = int(time.time())
        return {"iss": self.url, "aud": RESOURCE, "sub": "ada", "iat": now, "nbf": now, "exp": now + 300}

    def published(self, kty: str) -> dict[str, Any]:
        return next(key for key in self._http.get("/jwks").json()["keys"] if key["kty"] == kty)


@pytest.fixture(scope="module")
def issuer_process() -> Iterator[Issuer]:
    program = [sys.executable, str(Path(__file__).with_name("issuer.py"))]
    with subprocess.Popen(program, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())
        with httpx.Client(base_url=url, timeout=BOUND_S) as http:
            yield Issuer(url, http)
        process.terminate()


@pytest.fixture
def issuer(issuer_process: Issuer) -> Issuer:
    """The issuer with new keys, answering."""
    issuer_process.set(reset=True)
    return issuer_process


@pytest.fixture
def door(lab: Any) -> Door:
    """The endpoint with some settings for auth, asked as by plain HTTP."""

    @asynccontextmanager
    async def opened(clock: ManualClock | None = None, audit: Path | None = None, **auth: Any) -> AsyncIterator[Ask]:
        settings = Settings(auth=AuthSettings(**auth), audit=AuditSettings(path=audit))
        with anyio.fail_after(BOUND_S):
            async with Host.open(settings, plugins={"lab": lab}, clock=clock) as host:
                app = create_app(Gateway(host))
                transport = httpx.ASGITransport(app)
                async with (
                    app.router.lifespan_context(app),
                    httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as http,
                ):

                    async def ask(token: str | None = None, path: str = "/mcp", **headers: Any) -> httpx.Response:
                        shown = [] if token is None else [("Authorization", f"Bearer {token}")]
                        return await http.post(path, json=LIST, headers=[*HEADERS.items(), *shown, *headers.items()])

                    yield ask

    return opened


@pytest.fixture
def by_token(door: Door, issuer: Issuer) -> Door:
    """The endpoint that accepts the issuer's tokens."""

    def opened(**more: Any) -> AbstractAsyncContextManager[Ask]:
        return door(**{"accept": ["jwt"], "issuer": issuer.url, "resource_url": RESOURCE, **more})

    return opened


async def test_a_key_lets_in_until_it_is_revoked(door: Door, tmp_path: Path) -> None:
    """A running gateway sees a new key and a revoked one with the next request."""
    ring = KeyRing(tmp_path / "keys.json")
    async with door(accept=["keys"], keys_file=ring.path) as ask:
        assert (await ask()).status_code == 401
        key = ring.new("ada", datetime.now(UTC))
        assert (await ask(key)).status_code == 200
        other = ring.new("ada", datetime.now(UTC))
        ring.revoke(key.split("_")[1])
        assert (await ask(key)).status_code == 401
        assert (await ask(other)).status_code == 200


async def test_an_expired_key_is_refused(door: Door, tmp_path: Path) -> None:
    """From the second on which it names."""
    ring = KeyRing(tmp_path / "keys.json")
    clock = ManualClock()
    key = ring.new("ada", clock.now(), expires=clock.now() + timedelta(days=1))
    async with door(clock, accept=["keys"], keys_file=ring.path) as ask:
        assert (await ask(key)).status_code == 200
        await clock.advance(86_400)
        assert (await ask(key)).status_code == 401


async def test_a_client_without_a_key_is_told_that_one_is_wanted(door: Door, tmp_path: Path) -> None:
    """Without metadata of an issuer there is nothing to be found: the challenge names the scheme alone."""
    async with door(accept=["keys"], keys_file=tmp_path / "keys.json") as ask:
        answer = await ask()
        wrong = await ask("scigate_00000000_wrong")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="scigate"'
    assert 'error="invalid_token"' in wrong.headers["WWW-Authenticate"]


async def test_keys_and_tokens_can_be_accepted_side_by_side(by_token: Door, issuer: Issuer, tmp_path: Path) -> None:
    """People sign in, and scripts have keys."""
    ring = KeyRing(tmp_path / "keys.json")
    key = ring.new("nightly", datetime.now(UTC))
    async with by_token(accept=["keys", "jwt"], keys_file=ring.path) as ask:
        assert (await ask(key)).status_code == 200
        assert (await ask(issuer.sign())).status_code == 200
        assert (await ask("neither")).status_code == 401


AGO = object()
"""Five seconds ago."""


@pytest.mark.parametrize(
    ("kty", "header", "claims"),
    [
        ("RSA", {}, {}),
        ("RSA", {"alg": "PS256"}, {}),
        ("EC", {}, {}),
        ("RSA", {"typ": "at+jwt"}, {}),
        ("RSA", {}, {"aud": ["https://other.example", RESOURCE]}),
        ("RSA", {}, {"aud": RESOURCE + "/"}),
        ("RSA", {}, {"nbf": None, "iat": None}),
        ("RSA", {}, {"exp": AGO}),
    ],
    ids=["RS256", "PS256", "ES256", "typed", "two audiences", "slash", "no times but the end", "within the leeway"],
)
async def test_a_token_of_the_issuer_lets_in(
    by_token: Door, issuer: Issuer, kty: str, header: dict[str, Any], claims: dict[str, Any]
) -> None:
    """Signed by a key that the issuer publishes, for this resource, in its time."""
    # Read when the test runs: it may do so minutes after its cases were made.
    claims = {name: int(time.time()) - 5 if value is AGO else value for name, value in claims.items()}
    async with by_token() as ask:
        assert (await ask(issuer.sign(kty, header, **claims))).status_code == 200


def unpadded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def encoded(value: object) -> str:
    return unpadded(json.dumps(value).encode())


def pem_of(jwk: dict[str, Any]) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return jwt.PyJWK(jwk, "RS256").key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def hs(issuer: Issuer, secret: bytes, kid: str) -> str:
    signed = f"{encoded({'alg': 'HS256', 'typ': 'JWT', 'kid': kid})}.{encoded(issuer.claims())}"
    mac = base64.urlsafe_b64encode(hmac.new(secret, signed.encode(), hashlib.sha256).digest()).rstrip(b"=")
    return f"{signed}.{mac.decode()}"


def without_signature(issuer: Issuer, alg: str) -> str:
    return f"{encoded({'alg': alg, 'typ': 'JWT'})}.{encoded(issuer.claims())}."


def by_own_key(issuer: Issuer, **header: Any) -> str:
    key = rsa.generate_private_key(65537, 2048)
    jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    headers = {"kid": issuer.published("RSA")["kid"], **header}
    return jwt.encode(issuer.claims(), key, "RS256", headers={**headers, **({"jwk": jwk} if "jwk" in header else {})})


def with_other_claims(issuer: Issuer) -> str:
    head, _, signature = issuer.sign().split(".")
    return f"{head}.{encoded(issuer.claims() | {'sub': 'admin'})}.{signature}"


NOW = int(time.time())
FORGERIES: dict[str, Callable[[Issuer], str]] = {
    "alg none": lambda issuer: without_signature(issuer, "none"),
    "alg None": lambda issuer: without_signature(issuer, "None"),
    "no alg": lambda issuer: without_signature(issuer, ""),
    "RS key as HS secret": lambda issuer: hs(issuer, pem_of(issuer.published("RSA")), issuer.published("RSA")["kid"]),
    "JWK text as HS secret": lambda issuer: hs(
        issuer, json.dumps(issuer.published("RSA")).encode(), issuer.published("RSA")["kid"]
    ),
    "a published shared secret": lambda issuer: hs(issuer, b"a secret of the issuer, long enough", "shared"),
    "wrong audience": lambda issuer: issuer.sign(aud="https://other.example/mcp"),
    "audience of the host": lambda issuer: issuer.sign(aud="https://gate.example"),
    "no audience": lambda issuer: issuer.sign(aud=None),
    "other issuer": lambda issuer: issuer.sign(iss="https://evil.example"),
    "no issuer": lambda issuer: issuer.sign(iss=None),
    "expired": lambda issuer: issuer.sign(exp=NOW - 120),
    "no end": lambda issuer: issuer.sign(exp=None),
    "an end that is text": lambda issuer: issuer.sign(exp="never"),
    "not yet": lambda issuer: issuer.sign(nbf=NOW + 600),
    "issued in the future": lambda issuer: issuer.sign(iat=NOW + 600),
    "unknown kid": lambda issuer: issuer.sign(header={"kid": "unknown"}),
    "another key's kid": lambda issuer: issuer.sign(header={"kid": issuer.published("EC")["kid"]}),
    "a path for kid": lambda issuer: issuer.sign(header={"kid": "../../dev/null"}),
    "own key under a known kid": by_own_key,
    "own key in the header": lambda issuer: by_own_key(issuer, jwk=True),
    "own key by address": lambda issuer: by_own_key(issuer, jku="http://127.0.0.1:1/keys"),
    "changed claims": with_other_claims,
    "logout token": lambda issuer: issuer.sign(header={"typ": "logout+jwt"}),
    "unknown critical header": lambda issuer: jwt.encode(
        issuer.claims(), rsa.generate_private_key(65537, 2048), "RS256", headers={"crit": ["x"], "x": 1}
    ),
    "no subject": lambda issuer: issuer.sign(sub=None),
    "blank subject": lambda issuer: issuer.sign(sub=" "),
    "subject with a line end": lambda issuer: issuer.sign(sub="ada\nadmin"),
    "no token": lambda issuer: "",
    "five parts": lambda issuer: "a.b.c.d.e",
    "not base64": lambda issuer: "\u00e4.\u00f6.\u00fc",
    "deep header": lambda issuer: ".".join([unpadded(b'{"alg":' + b"[" * 8_000), "e30", "e30"]),
    "too long": lambda issuer: issuer.sign(padding="x" * 20_000),
}


@pytest.mark.parametrize("forgery", FORGERIES)
async def test_a_forgery_does_not_let_in(by_token: Door, issuer: Issuer, forgery: str) -> None:
    """Each is refused with 401, and the endpoint goes on to serve the true token."""
    token = FORGERIES[forgery](issuer)
    async with by_token() as ask:
        answer = await ask(Authorization=f"Bearer {token}".encode("latin-1"))
        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
        assert (await ask(issuer.sign())).status_code == 200


async def test_a_token_in_the_address_is_refused(by_token: Door, issuer: Issuer) -> None:
    """Addresses are logged on the way; the same token in its header does not make it good."""
    token = issuer.sign()
    async with by_token() as ask:
        assert (await ask(path=f"/mcp?access_token={token}")).status_code == 400
        assert (await ask(token, path=f"/mcp?access_token={token}")).status_code == 400


async def test_a_second_authorization_header_is_refused(by_token: Door, issuer: Issuer) -> None:
    """A proxy may have looked at the other one."""
    async with by_token() as ask:
        assert (await ask(issuer.sign(), authorization="Bearer other")).status_code == 400


async def test_a_token_without_a_scope_is_told_of_with_its_caller(
    by_token: Door, issuer: Issuer, tmp_path: Path
) -> None:
    """The audit log can name whoever has signed in, and so it does."""
    path = tmp_path / "audit.jsonl"
    async with by_token(scopes=["tools"], audit=path) as ask:
        assert (await ask(issuer.sign(sub="ada"))).status_code == 403
        assert (await ask(issuer.sign(scope="tools"), authorization="Bearer other")).status_code == 400
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    told = [(line["event"], line["caller"], line["reason"]) for line in lines]
    assert told == [("sign_in", "token:ada", "insufficient_scope"), ("sign_in", None, "shown_twice")]


async def test_a_token_without_a_scope_is_told_which(by_token: Door, issuer: Issuer) -> None:
    """The challenge names all scopes that are needed, and where the metadata is (MCP 2026-07-28, RFC 6750)."""
    async with by_token(scopes=["tools", "data"]) as ask:
        assert (await ask(issuer.sign(scope="data tools more"))).status_code == 200
        assert (await ask(issuer.sign(scp=["tools", "data"]))).status_code == 200
        nobody, short = await ask(), await ask(issuer.sign(scope="tools"))
    metadata = 'resource_metadata="https://gate.example/.well-known/oauth-protected-resource/mcp"'
    assert nobody.status_code == 401
    assert nobody.headers["WWW-Authenticate"] == f'Bearer realm="scigate", scope="tools data", {metadata}'
    assert short.status_code == 403
    assert 'error="insufficient_scope"' in short.headers["WWW-Authenticate"]
    assert short.headers["WWW-Authenticate"].endswith(f'scope="tools data", {metadata}')


async def test_a_new_key_of_the_issuer_is_fetched_when_a_token_names_it(by_token: Door, issuer: Issuer) -> None:
    """After a rotation the new token lets in at once, and the old one does no more."""
    async with by_token() as ask:
        old = issuer.sign()
        assert (await ask(old)).status_code == 200
        issuer.set(rotate=True)
        assert (await ask(issuer.sign())).status_code == 200
        assert (await ask(old)).status_code == 401


async def test_made_up_key_ids_do_not_flood_the_issuer(by_token: Door, issuer: Issuer) -> None:
    """At most six fetches a minute, however many ids are made up."""
    clock = ManualClock()
    async with by_token(clock=clock) as ask:
        for number in range(20):
            assert (await ask(issuer.sign(header={"kid": f"made-up-{number}"}))).status_code == 401
        assert issuer.set().count("/jwks") == 6
        await clock.advance(60)
        assert (await ask(issuer.sign())).status_code == 200


async def test_an_issuer_that_is_down_is_not_the_callers_fault(by_token: Door, issuer: Issuer) -> None:
    """Without keys a token can be neither accepted nor refused: 503, and once they are back it lets in."""
    clock = ManualClock()
    token = issuer.sign()
    issuer.set(down=True)
    async with by_token(clock=clock) as ask:
        answer = await ask(token)
        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "5"
        issuer.set(down=False)
        assert (await ask(token)).status_code == 200


async def test_keys_at_hand_outlive_an_issuer_that_is_down_for_an_hour(by_token: Door, issuer: Issuer) -> None:
    """Callers do not notice a short outage; after an hour without news a withdrawn key could still be accepted."""
    clock = ManualClock()
    token = issuer.sign()
    async with by_token(clock=clock) as ask:
        assert (await ask(token)).status_code == 200
        issuer.set(down=True)
        await clock.advance(1_200)
        assert (await ask(token)).status_code == 200
        await clock.advance(2_400)
        assert (await ask(token)).status_code == 503


async def test_a_withdrawn_key_is_forgotten_within_ten_minutes(by_token: Door, issuer: Issuer) -> None:
    """The keys are fetched again although no token names an unknown one."""
    clock = ManualClock()
    token = issuer.sign()
    async with by_token(clock=clock) as ask:
        assert (await ask(token)).status_code == 200
        issuer.set(rotate=True)
        assert (await ask(token)).status_code == 200
        await clock.advance(600)
        assert (await ask(token)).status_code == 401


async def test_metadata_of_another_issuer_is_not_believed(by_token: Door, issuer: Issuer) -> None:
    """Its keys would be accepted for the issuer's own (RFC 8414, section 3.3)."""
    issuer.set(named="https://evil.example")
    async with by_token() as ask:
        assert (await ask(issuer.sign())).status_code == 503


async def test_the_metadata_says_where_to_sign_in(issuer: Issuer, lab: Any) -> None:
    """RFC 9728: at the path of the resource and at the root, to anybody, and to no page's script."""
    auth = AuthSettings(accept=["jwt"], issuer=issuer.url, resource_url=RESOURCE, scopes=["tools"])
    async with Host.open(Settings(auth=auth), plugins={"lab": lab}) as host:
        transport = httpx.ASGITransport(create_app(Gateway(host)))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as http:
            answers = [await http.get(f"/.well-known/oauth-protected-resource{path}") for path in ("", "/mcp")]
    for answer in answers:
        assert answer.json() == {
            "resource": RESOURCE,
            "authorization_servers": [issuer.url],
            "scopes_supported": ["tools"],
            "bearer_methods_supported": ["header"],
            "resource_name": "scigate",
        }
        assert "Access-Control-Allow-Origin" not in answer.headers


async def test_the_public_name_of_the_resource_is_a_host_of_this_server(by_token: Door, issuer: Issuer) -> None:
    """It need not be set twice."""
    async with by_token() as ask:
        assert (await ask(issuer.sign(), Host="gate.example")).status_code == 200
        assert (await ask(issuer.sign(), Host="evil.example")).status_code == 421


async def test_a_body_is_not_read_before_its_sender_is_known(lab: Any, tmp_path: Path) -> None:
    """Nobody unknown has megabytes held in memory."""
    auth = AuthSettings(accept=["keys"], keys_file=tmp_path / "keys.json")
    async with Host.open(Settings(auth=auth), plugins={"lab": lab}) as host:
        app = create_app(Gateway(host))
        sent: list[dict[str, Any]] = []
        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [], "query_string": b"", "root_path": ""}

        async def receive() -> Any:
            raise AssertionError("the body was read")

        async def send(message: Any) -> None:
            sent.append(message)

        await app(scope, receive, send)
    assert sent[0]["status"] == 401


@pytest.mark.parametrize("era", ["legacy", "auto"], ids=["handshake", "stateless"])
async def test_the_sdks_client_signs_in_and_rules_know_its_name(lab: Any, tmp_path: Path, era: str) -> None:
    """Over a socket, in both eras: the caller of the rules is the one of the key."""
    ring = KeyRing(tmp_path / "keys.json")
    rules = [
        {"caller": "key:ada", "tool": "lab_echo", "effect": "allow"},
        {"tool": "*", "effect": "deny"},
    ]
    settings = Settings.model_validate({"auth": {"accept": ["keys"], "keys_file": ring.path}, "rules": rules})
    async with Host.open(settings, plugins={"lab": lab}) as host, running(host) as url:
        for name, listed in (("ada", ["lab_echo"]), ("bob", [])):
            key = ring.new(name, datetime.now(UTC))
            async with (
                httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http,
                Client(streamable_http_client(url, http_client=http), mode=era) as client,
            ):
                assert [tool.name for tool in (await client.list_tools()).tools] == listed
                assert (await client.list_resource_templates()).resource_templates == []
                result = await client.call_tool("lab_echo", {"text": "hello"})
                assert result.is_error is (name == "bob")
                with pytest.raises(MCPError, match="may not make this call"):
                    await client.read_resource("lab://sample/1")


async def test_another_address_may_be_bound_where_callers_are_asked(lab: Any, tmp_path: Path) -> None:
    """Auth is what makes it safe; nothing else has to be set."""
    auth = AuthSettings(accept=["keys"], keys_file=tmp_path / "keys.json")
    async with Host.open(Settings(auth=auth), plugins={"lab": lab}) as host:
        # An address of documentation, which no machine has: it got as far as binding.
        with pytest.raises(OSError):
            await serve_http(Gateway(host), ServerSettings(host="192.0.2.1", port=0))
