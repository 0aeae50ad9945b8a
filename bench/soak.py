"""Mixed faults for a long time: `python bench/soak.py [MINUTES] [--callers 32]`.

A gateway process serves callers that look up compounds whose CIDs are known, while the emulator meets a part of the
requests with every fault that it has. Printed are how many calls were answered rightly and how many failed with which
reason; wrong answers, failures without a reason and calls that outlived their deadline, of which there should be none;
and the gateway's memory and open files after the first fifth of the time and at its end. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from load import free_port, request
from quota_fleet import answering
from scigate.emulator import serving
from scigate_pubchem.emulator import create_app

TOOL = "pubchem_search_compounds"
KNOWN = {"aspirin": 2244, "caffeine": 2519, "ibuprofen": 3672, "acetaminophen": 1983, "ethanol": 702, "glucose": 5793}
# Refusals are rarer: after one, calls are refused for seconds, and nothing is looked up.
FAULTS = [
    *("latency;seconds=0.5", "latency;seconds=0.1", "504", "500", "truncated", "html", "wrong-type", "hang", "reset")
    * 4,
    *("429;retry-after=0.2", "503;retry-after=0.2", "503", "busy"),
]
FAULTS_A_SECOND = 2
DEADLINE_S = 6.0
GRACE_S = 2.0
"""Seconds over its deadline that a call may take on a busy machine."""
SETTINGS = {
    "SCIGATE_DEADLINE_S": str(DEADLINE_S),
    "SCIGATE_CACHE__ENABLED": "false",
    "SCIGATE_LOG__LEVEL": "error",
    "SCIGATE_UPSTREAMS__PUBCHEM__QUOTAS": "300/second",
    "SCIGATE_UPSTREAMS__PUBCHEM__TIMEOUT_S": "2",
}


@dataclass
class Report:
    """What a run saw.

    Attributes:
        right: calls that gave the right compound.
        failed: calls that failed, by reason.
        wrong: answers that are neither right nor a failure with a reason.
        late: seconds of calls that outlived their deadline.
        memory: bytes of the gateway after warm-up and at the end.
        files: its open files at these times, connections included.
    """

    right: int = 0
    failed: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    late: list[float] = field(default_factory=list[float])
    memory: tuple[int, int] = (0, 0)
    files: tuple[int, int] = (0, 0)


async def soak(seconds: float, callers: int, seed: int = 1) -> Report:
    """Run for a time and report."""
    report, chance, emulator = Report(), random.Random(seed), create_app()
    port = free_port()

    async def trouble() -> None:
        while True:
            emulator.faults.add(chance.choice(FAULTS))
            await asyncio.sleep(1 / FAULTS_A_SECOND)

    async def caller(client: httpx.AsyncClient) -> None:
        while True:
            name, cid = chance.choice(list(KNOWN.items()))
            begun = time.monotonic()
            judge(report, await client.post("/mcp", **call(port, name)), cid)
            took_s = time.monotonic() - begun
            if took_s > DEADLINE_S + GRACE_S:
                report.late.append(took_s)

    async with AsyncExitStack() as stack:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SCIGATE_")}
        none = stack.enter_context(tempfile.TemporaryDirectory())
        env = kept | SETTINGS | {"XDG_CONFIG_HOME": none}
        env["SCIGATE_UPSTREAMS__PUBCHEM__BASE_URL"] = await stack.enter_async_context(serving(emulator))
        command = [sys.executable, "-m", "scigate.cli", "serve", "--http", "--port", str(port)]
        process = await asyncio.create_subprocess_exec(*command, env=env)
        stack.push_async_callback(process.wait)
        stack.callback(process.terminate)
        await answering(port)
        client = await stack.enter_async_context(
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False, limits=httpx.Limits())
        )
        tasks = [asyncio.create_task(trouble()), *(asyncio.create_task(caller(client)) for _ in range(callers))]
        await asyncio.wait(tasks, timeout=seconds / 5, return_when=asyncio.FIRST_EXCEPTION)
        warm = footprint(process.pid)
        await asyncio.wait(tasks, timeout=seconds * 4 / 5, return_when=asyncio.FIRST_EXCEPTION)
        end = footprint(process.pid)
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                raise outcome
    report.memory, report.files = (warm[0], end[0]), (warm[1], end[1])
    return report


def call(port: int, name: str) -> dict[str, object]:
    """The body and the headers of one lookup."""
    arguments = {"searchType": "identifier", "identifierType": "name", "identifiers": [name]}
    headers, body = request(port, TOOL, arguments)
    return {"content": body, "headers": headers}


def judge(report: Report, response: httpx.Response, cid: int) -> None:
    """Count one answer."""
    text = response.text if response.status_code == 200 else ""
    line = next((line[6:] for line in text.splitlines() if line.startswith("data: ")), text)
    result = json.loads(line).get("result", {}) if line else {}
    structured = result.get("structuredContent", {})
    reason = structured.get("error", {}).get("data", {}).get("reason")
    found = [each.get("cid") for each in structured.get("results", [])]
    if reason:
        report.failed[reason] += 1
    elif cid in found:
        report.right += 1
    else:
        report.wrong.append(f"{response.status_code} {response.text[:300]}")


def footprint(pid: int) -> tuple[int, int]:
    """Bytes of memory and open files of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(list(Path(f"/proc/{pid}/fd").iterdir()))


def main() -> None:
    """Run and print; exit code 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", nargs="?", type=float, default=10.0)
    parser.add_argument("--callers", type=int, default=32)
    asked = parser.parse_args()
    report = asyncio.run(soak(asked.minutes * 60, asked.callers))
    print(f"right answers {report.right}, failures {dict(report.failed.most_common())}")
    print(f"wrong answers {len(report.wrong)}, past the deadline {len(report.late)}")
    for wrong in report.wrong[:5]:
        print(f"  {wrong}")
    (warm, end), (files_warm, files_end) = report.memory, report.files
    print(f"memory {warm / 2**20:.0f} MiB warm, {end / 2**20:.0f} MiB at the end ({100 * (end / warm - 1):+.1f} %)")
    print(f"open files {files_warm} warm, {files_end} at the end")
    sys.exit(1 if report.wrong or report.late else 0)


if __name__ == "__main__":
    main()
