"""The settings of who may call: authentication, rules, limits and the audit log."""

import ipaddress
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_core import SchemaError, SchemaValidator, core_schema

from scigate.settings.value import STRICT_KEYS, Count, Quota

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures by a private key that only the issuer has; none and the HS family are not to be had."""

Effect = Literal["allow", "deny"]
Value = bool | int | float | str


def linear_pattern(text: str) -> SchemaValidator:
    """A validator of texts that a regular expression matches as a whole, in time that grows with their length alone.

    The engine is the one in pydantic's core: it has no backtracking, hence neither look-around nor references back.

    Raises:
        ValueError: It is no such expression.
    """
    try:
        # Compiled alone first, so that no bracket of the text can close the group around it.
        for pattern in (text, f"^(?:{text})$"):
            validator = SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError as error:
        raise ValueError("should be a regular expression without look-around or references back") from error
    return validator


def _as_pattern(text: str) -> str:
    linear_pattern(text)
    return text


def _as_address(url: str) -> str:
    """The URL, if nobody on the way can change what is read there."""
    parts = urlsplit(url)
    if parts.query or parts.fragment or not parts.hostname:
        raise ValueError("should be a URL without a query or a fragment")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname)):
        raise ValueError("should start with https:// (http:// is for this machine alone)")
    return url


def is_loopback(address: str) -> bool:
    """Whether a host's name or address is this machine's alone."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


Address = Annotated[str, AfterValidator(_as_address)]


class AuthSettings(BaseModel):
    """Who is let in over HTTP; on stdio it is whoever started the process."""

    model_config = STRICT_KEYS

    accept: list[Literal["keys", "jwt"]] = []
    """What a caller shows: keys made by `scigate keys`, jwt of an issuer, or both; empty lets everybody in."""
    keys_file: Path | None = None
    """The file of the keys' hashes; unset, keys.json in the user's configuration directory."""
    resource_url: Address | None = None
    """The public URL of the endpoint, which a token's audience must name (RFC 8707)."""
    issuer: Address | None = None
    """The issuer whose tokens are accepted, exactly as it writes itself."""
    jwks_url: Address | None = None
    """Where the issuer's keys are; unset, its metadata says so (RFC 8414, OpenID Connect Discovery)."""
    algorithms: Annotated[list[Algorithm], Field(min_length=1)] = ["RS256", "PS256", "ES256", "EdDSA"]
    """Signatures accepted on tokens."""
    leeway_s: Annotated[float, Field(ge=0, le=300)] = 30.0
    """Seconds by which the issuer's clock may differ from this one."""
    scopes: list[str] = []
    """Scopes that every token must carry."""
    caller_claim: str = "sub"
    """The claim that names the caller; one that its users cannot choose themselves."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if "jwt" in self.accept and not (self.issuer and self.resource_url):
            raise ValueError("should have issuer and resource_url where it accepts jwt")
        return self


class ConditionSettings(BaseModel):
    """What an argument must be; all conditions given hold."""

    model_config = ConfigDict(STRICT_KEYS, validate_by_name=False)

    equals: Value | None = None
    """It is this."""
    one_of: list[Value] | None = Field(default=None, alias="in")
    """It is one of these."""
    matches: Annotated[str, AfterValidator(_as_pattern)] | None = None
    """The regular expression matches all of it."""
    at_most: float | None = None
    """The number is no larger; a list has no more entries."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("should have one of equals, in, matches and at_most")
        return self


class RuleSettings(BaseModel):
    """One rule: the first one that fits a call decides it."""

    model_config = STRICT_KEYS

    name: str = ""
    """What the audit log and the caller see; unset, its number."""
    caller: str = "*"
    """Callers it is about, with * and ?: local, key:NAME, token:SUBJECT."""
    scope: str = ""
    """A scope that the caller's key or token must carry for it to fit."""
    tool: str = "*"
    """Tools it is about, with * and ?; a resource counts by its name."""
    arguments: dict[str, ConditionSettings] = {}
    """Conditions on arguments, by the argument's name on the wire."""
    effect: Effect = Field(examples=["deny"])
    """allow or deny."""
    message: str = ""
    """What a refused caller is told."""


class LimitSettings(BaseModel):
    """How much one caller may ask; of several, the first that fits the caller counts."""

    model_config = STRICT_KEYS

    caller: str = "*"
    """Callers it is about, with * and ?; each has an allowance of its own."""
    rates: list[Quota] = Field(default=[], examples=[["60/minute", "5000/day"]])
    """Calls allowed in a time, any start of it; all of them hold at once."""
    concurrency: Count | None = Field(default=None, examples=[16])
    """Calls in flight."""


class AuditSettings(BaseModel):
    """One line of JSON for each call, in a file that only grows."""

    model_config = STRICT_KEYS

    path: Path | None = None
    """The file; unset, no audit log is kept."""
    arguments: Literal["redacted", "hashed"] = "redacted"
    """redacted leaves out those marked as sensitive; hashed keeps a digest of all of them and no value."""
    chain: bool = False
    """On, each line carries the digest of the one before, so that `scigate audit verify` finds a changed one."""
    key: SecretStr | None = None
    """Makes the digests unforgeable for whoever does not know it."""
    max_bytes: Count = 64 * 1024 * 1024
    """The file's size at which a new one is begun; the old one keeps its name and a number."""
    keep: Annotated[int, Field(ge=0)] = 0
    """How many old files are kept, the newest; 0 keeps all."""
