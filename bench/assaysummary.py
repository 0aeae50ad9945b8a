"""What a large bioactivity table costs: `python bench/assaysummary.py [ROWS]`.

A table of 20,000 rows is served by the emulator of PubChem in a process of its own. Here it is parsed and a page of it
cut, with the time and memory of `json.loads` of the same body beside it; then `pubchem_get_bioactivity` is called for
it through the whole gateway, once fetched and once from cache. Memory is the peak over what the process rests at.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import anyio
import scigate_pubchem
from scigate.call import LOCAL
from scigate.emulator import serving
from scigate.host import Host
from scigate.settings import LogSettings, Settings
from scigate.telemetry import configure_logging
from scigate_pubchem.assaysummary import AssayTable
from scigate_pubchem.emulator import create_app
from scigate_pubchem.emulator.large_table import large_table

CID = 1
ROUNDS = 5


def peak_mb(run: Callable[[], object]) -> float:
    """Megabytes that a run takes at its peak over what the process holds before (Linux)."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = _status("VmRSS")
    kept = run()
    peak = _status("VmHWM") - before
    del kept
    return peak / 1024


def _status(name: str) -> int:
    """A figure of this process in kilobytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def best_ms(run: Callable[[], object]) -> float:
    """Milliseconds of a run, the best of several."""
    times: list[float] = []
    for _ in range(ROUNDS):
        before = time.perf_counter()
        run()
        times.append(time.perf_counter() - before)
    return min(times) * 1000


def parse_and_page(body: bytes) -> list[object]:
    """What a call does with the body: all of it parsed, then one page."""
    table = AssayTable.parse(body)
    return [assay.pmids for assay in table.assays[:100]]


def serve(rows: int, pipe: Connection) -> None:
    """Serve the table in this process until the pipe's other end closes."""

    async def run() -> None:
        async with serving(create_app(tables={CID: large_table(rows, CID)})) as url:
            pipe.send(url)
            await anyio.to_thread.run_sync(pipe.recv)

    anyio.run(run)


async def call_twice(url: str) -> list[float]:
    """Milliseconds of the call that fetches the table, and of one for a later page of it."""
    settings = Settings.model_validate({"upstreams": {"pubchem": {"base_url": url}}})
    times: list[float] = []
    async with Host.open(settings, plugins={"pubchem": scigate_pubchem}) as host:
        for offset in (0, 5000):
            before = time.perf_counter()
            reply = await host.call("pubchem_get_bioactivity", {"cid": CID, "maxResults": 100, "offset": offset}, LOCAL)
            times.append((time.perf_counter() - before) * 1000)
            assert not reply.is_error, reply.structured
    return times


def main() -> None:
    """Measure and print."""
    configure_logging(LogSettings(level="warning"))
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    body = json.dumps(large_table(rows, CID), indent=2).encode()
    print(f"{rows:,} rows, {len(body) / 1e6:.1f} MB of JSON, {len(AssayTable.parse(body).assays):,} assays")
    # Memory first: what is freed here stays with the process and would hide what comes later.
    ours_mb, plain_mb = _apart(parse_and_page, body), _apart(json.loads, body)
    ours_ms, plain_ms = best_ms(lambda: parse_and_page(body)), best_ms(lambda: json.loads(body))
    print(f"parsed and paged   {ours_ms:6.0f} ms {ours_mb:6.1f} MB")
    print(f"json.loads alone   {plain_ms:6.0f} ms {plain_mb:6.1f} MB")
    print(f"ratio              {ours_ms / plain_ms:6.2f}    {ours_mb / plain_mb:6.2f}")
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve, args=(rows, theirs))
    server.start()
    try:
        fetched, cached = anyio.run(call_twice, ours.recv())
    finally:
        ours.send(None)
        server.join()
    print(f"whole call         {fetched:6.0f} ms fetched, {cached:.0f} ms from cache")


def _apart(run: Callable[[bytes], object], body: bytes) -> float:
    """The peak of a run in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak, (run, body))


def _peak(run: Callable[[bytes], object], body: bytes) -> float:
    return peak_mb(lambda: run(body))


if __name__ == "__main__":
    main()
