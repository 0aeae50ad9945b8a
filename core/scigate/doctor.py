"""What is wrong with a gateway, and what mends it: one finding for each thing that was looked at.

Nothing is changed, and no upstream is asked unless wanted.
"""

from __future__ import annotations

import os
import platform
import shlex
import socket
import stat
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal

import httpx
from pydantic import BaseModel, SecretBytes, SecretStr

from scigate.annotation import holds_secret
from scigate.clock import Clock
from scigate.host import Host
from scigate.keys import KeyRing, KeysError, default_path
from scigate.settings import Settings
from scigate.settings.access import is_loopback

__all__ = ["Finding", "examine", "examine_settings", "reach"]

State = Literal["ok", "note", "problem"]

_CLOCK_TOLERANCE_S: Final = 30
"""Seconds by which this machine and an upstream may disagree: what tokens are given by default."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        subject: What was looked at, such as `provider mylab`.
        state: ok; note: it works, and may not be what is meant; problem: something does not work.
        what: How it stands.
        remedy: The setting or the command that changes it; empty where nothing needs to.
    """

    subject: str
    state: State
    what: str
    remedy: str = ""


def examine_settings(settings: Settings, clock: Clock) -> Iterator[Finding]:
    """What can be said without opening a host: versions, clock, address and who is let in."""
    found = f"scigate {version('scigate')}, mcp {version('mcp')}, Python {platform.python_version()}"
    yield Finding("versions", "ok", found)
    yield _clock(clock)
    yield from _extras(settings)
    yield from _doors(settings, clock)
    yield _port(settings)


def examine(host: Host) -> Iterator[Finding]:
    """What an open host knows: providers, their keys, stores, audit log."""
    for provider in host.providers:
        subject = f"provider {provider.name}"
        if provider.state == "quarantined":
            remedy = f"repair or upgrade {provider.distribution or provider.name}, or set "
            remedy += f"providers.{provider.name}.enabled = false"
            yield Finding(subject, "problem", provider.reason or "quarantined", remedy)
        elif provider.state == "disabled":
            remedy = f"set providers.{provider.name}.enabled = true"
            yield Finding(subject, "note", provider.reason or "disabled", remedy)
        else:
            origin = f" from {provider.distribution} {provider.version}" if provider.distribution else ""
            yield Finding(subject, "ok", f"{len(provider.tools)} tools{origin}")
        for sentence in provider.refused:
            yield Finding(subject, "problem", sentence)
    if not any(provider.state == "serving" for provider in host.providers):
        yield Finding("providers", "problem", "no provider serves", "install a provider beside scigate")
    for name, model in host.provider_settings.items():
        yield from _secrets(name, model)
    yield from _secret_files(host)
    stores = {upstream.store for upstream in host.upstreams}
    troubles = {upstream.trouble for upstream in host.upstreams if upstream.trouble}
    for trouble in sorted(troubles):
        yield Finding("stores", "problem", trouble, "`scigate config show` tells where quota.* and cache.* come from")
    if stores and not troubles:
        yield Finding("stores", "ok", f"budgets in {', '.join(sorted(stores))}")
    if host.audit is not None:
        lost = host.audit.lost
        yield Finding("audit", "problem" if lost else "ok", f"{host.audit.path}, {lost} lines lost")


async def reach(host: Host, clock: Clock) -> AsyncIterator[Finding]:
    """Ask each upstream for its root, at the price of one request of its quota; what answers is reached."""
    for upstream in host.upstreams:
        subject = f"upstream {upstream.name}"
        if upstream.offline:
            yield Finding(subject, "note", "sample data: it is not asked", "leave --offline and offline = true out")
            continue
        try:
            response = await host.http_clients[upstream.name].get("", extensions={"scigate.cache": False})
        except httpx.TransportError as error:
            remedy = f"see to the network, or set upstreams.{upstream.name}.base_url"
            yield Finding(subject, "problem", f"{upstream.base_url}: {type(error).__name__}", remedy)
            continue
        if response.status_code >= 500:
            yield Finding(subject, "problem", f"{upstream.base_url} answers {response.status_code}", "try again later")
            continue
        yield Finding(subject, "ok", f"{upstream.base_url} answers")
        told = response.headers.get("date")
        if told is not None and (away := _away_s(told, clock.now())) > _CLOCK_TOLERANCE_S:
            yield Finding("clock", "problem", f"{away:.0f} s away from that of {upstream.name}", _SET_CLOCK)


_SET_CLOCK: Final = "set the clock, on Linux with `timedatectl set-ntp true`"


def _clock(clock: Clock) -> Finding:
    now = clock.now()
    told = now.strftime("%Y-%m-%d %H:%M:%S UTC")
    try:
        record = Path(str(distribution("scigate").locate_file(""))).stat().st_mtime
    except (PackageNotFoundError, OSError):
        return Finding("clock", "ok", told)
    if now < datetime.fromtimestamp(record, UTC):
        # Keys and tokens would be refused as not valid yet, and answers kept for too long.
        return Finding("clock", "problem", f"{told}, which is before scigate was installed", _SET_CLOCK)
    return Finding("clock", "ok", told)


def _extras(settings: Settings) -> Iterator[Finding]:
    """Libraries that what is turned on needs and that are not there: without them `serve` does not start."""
    telemetry = settings.telemetry
    wanted = [
        ("prometheus", "telemetry.prometheus", telemetry.prometheus, "prometheus_client"),
        ("otlp", "telemetry.otlp_endpoint", telemetry.otlp_endpoint is not None, "opentelemetry.exporter"),
        ("redis", "quota.redis_url", settings.quota.redis_url is not None, "redis"),
    ]
    for extra, setting, is_on, module in wanted:
        if is_on and find_spec(module) is None:
            yield Finding(f"extra {extra}", "problem", f"{setting} needs it", f'pip install "scigate[{extra}]"')


def _doors(settings: Settings, clock: Clock) -> Iterator[Finding]:
    server, auth = settings.server, settings.auth
    if not auth.accept and not is_loopback(server.host):
        if server.insecure:
            what = f"server.host is {server.host}, and everybody is let in (server.insecure)"
            yield Finding("auth", "note", what, 'set auth.accept = ["keys"] unless a proxy in front asks who calls')
        else:
            what = f"server.host is {server.host}, and nobody is asked who calls: `serve --http` refuses to start"
            yield Finding("auth", "problem", what, 'set auth.accept = ["keys"], then `scigate keys new NAME`')
        return
    if "keys" in auth.accept:
        path = auth.keys_file or default_path()
        try:
            valid = [key for key in KeyRing(path).all() if not key.is_expired(clock.now())]
        except KeysError as error:
            yield Finding("auth", "problem", str(error), "make it anew with `scigate keys new NAME`")
        else:
            state: State = "ok" if valid else "problem"
            yield Finding("auth", state, f"{len(valid)} valid keys", "" if valid else "`scigate keys new NAME`")
    if "jwt" in auth.accept:
        yield Finding("auth", "ok", f"tokens of {auth.issuer} for {auth.resource_url}")
    if not auth.accept:
        yield Finding("auth", "ok", f"everybody on this machine; server.host is {server.host}")


def _port(settings: Settings) -> Finding:
    address, port = settings.server.host, settings.server.port
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            what = f"{address}:{port} cannot be bound: {error.strerror or error}"
            return Finding(
                "port", "note", what, "a gateway may run there already; else `scigate serve --http --port 0`"
            )
    return Finding("port", "ok", f"{address}:{port} is free")


def _secrets(provider: str, model: BaseModel) -> Iterator[Finding]:
    """Which of a provider's keys are set; never what they are."""
    for name, field in type(model).model_fields.items():
        if not holds_secret(field.annotation):
            continue
        value = getattr(model, name)
        is_set = bool(value.get_secret_value() if isinstance(value, SecretStr | SecretBytes) else value)
        variable = f"SCIGATE_PROVIDERS__{provider.upper()}__{name.upper()}"
        subject = f"key {provider}.{name}"
        yield Finding(subject, "ok", "set") if is_set else Finding(subject, "note", "not set", f"set {variable}")


def _secret_files(host: Host) -> Iterator[Finding]:
    """Files of secrets that others on this machine can read or write."""
    if os.name != "posix":
        return
    models = {name: type(section) for name, section in host.provider_settings.items()}
    for reference in host.settings.references(models):
        if reference.kind != "file":
            continue
        try:
            mode = Path(reference.place).stat().st_mode
        except OSError:
            continue  # gone since the settings were read, which the next start will say
        if mode & (stat.S_IROTH | stat.S_IWOTH):
            verb = "write" if mode & stat.S_IWOTH else "read"
            what = f"{reference.place}: every user of this machine can {verb} it"
            remedy = f"`chmod o-rwx {shlex.quote(reference.place)}`"
            yield Finding(f"file of {'.'.join(reference.keys)}", "note", what, remedy)


def _away_s(told: str, now: datetime) -> float:
    try:
        return abs((parsedate_to_datetime(told) - now).total_seconds())
    except (TypeError, ValueError):
        return 0.0
