"""`scigate doctor`: what is wrong with this gateway, and the command or setting that mends it."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scigate.cli.options import AsJson, ConfigFile, Offline, load_settings, only_given
from scigate.cli.refusal import Refusal
from scigate.cli.terminal import write_json, write_table

if TYPE_CHECKING:
    from scigate.doctor import Finding


def doctor(
    online: Annotated[
        bool, typer.Option("--online", help="Ask each upstream too, at the price of one request of its quota.")
    ] = False,
    as_json: AsJson = False,
    offline: Offline = False,
    config: ConfigFile = None,
) -> None:
    """Look at the configuration, providers, keys, stores, clock and port, and say what mends what is wrong.

    Nothing is changed, and no upstream is asked without --online. Exit code: 1 where something does not work, else 0.
    """
    import anyio  # for start-up time

    if online and offline:
        raise Refusal("--online and --offline exclude each other")
    found = anyio.run(_examined, config, online, offline)
    if as_json:
        write_json([dataclasses.asdict(finding) for finding in found])
    else:
        rows = [(finding.subject, finding.state, finding.what, finding.remedy) for finding in found]
        write_table(("looked at", "state", "what was found", "what mends it"), rows)
    if any(finding.state == "problem" for finding in found):
        raise typer.Exit(1)


async def _examined(config: "Path | None", online: bool, offline: bool) -> "list[Finding]":
    from scigate.cli.gateway import opened_host  # for start-up time
    from scigate.clock import SystemClock
    from scigate.doctor import Finding, examine, examine_settings, reach

    found: list[Finding] = []
    try:
        settings = load_settings(config, **only_given(offline=offline))
        clock = SystemClock()
        found += examine_settings(settings, clock)
        async with opened_host(settings) as host:
            found.append(
                Finding("configuration", "ok", str(settings.origins.path or "no file: defaults and variables"))
            )
            found += examine(host)
            if online:
                found += [finding async for finding in reach(host, clock)]
    except Refusal as refusal:
        remedy = "mend it where it stands; `scigate config example` shows every setting"
        found += [Finding("configuration", "problem", line, remedy) for line in refusal.message.splitlines()]
    return found
