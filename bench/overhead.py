"""What the gateway costs over the bare SDK server, in one run: `python bench/overhead.py [CALLS] [ROUNDS]`.

Four servers stand side by side and are loaded in turn by 16 clients: the SDK's low-level server with a constant answer,
the same tuned (no tracing middleware, no listing of tools before each call), scigate with a trivial tool of the same
answer, and scigate with a PubChem search that is answered from cache.
Printed are CPU seconds for 1,000 calls and calls a second, the median over the rounds, and the ratios to the first.
"""

from __future__ import annotations

import statistics
import sys

from load import Measured, measure, server

CLIENTS = 16
SEARCH = {"searchType": "identifier", "identifierType": "name", "identifiers": ["aspirin"]}


def main() -> None:
    """Measure and print."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with server("bare") as bare, server("tuned") as tuned, server("gateway") as gateway, server("pubchem") as pubchem:
        cases = {
            "bare SDK server, constant answer": (bare, "bench_rows", {"name": "x"}),
            "the same, tuned": (tuned, "bench_rows", {"name": "x"}),
            "scigate, trivial tool, same answer": (gateway, "bench_rows", {"name": "x"}),
            "scigate, PubChem search from cache": (pubchem, "pubchem_search_compounds", SEARCH),
        }
        found: dict[str, list[Measured]] = {name: [] for name in cases}
        for _ in range(rounds):
            for name, ((port, pid), tool, arguments) in cases.items():
                found[name].append(measure(port, pid, tool, arguments, calls=calls, clients=CLIENTS))
    floor_cpu = floor_rate = 0.0
    print(f"{calls} calls by {CLIENTS} clients, median of {rounds} rounds")
    for name, runs in found.items():
        cpu = statistics.median(run.cpu_per_thousand for run in runs)
        rate = statistics.median(run.per_second for run in runs)
        floor_cpu, floor_rate = floor_cpu or cpu, floor_rate or rate
        print(
            f"{name:36}  {cpu:6.3f} CPU s per 1,000 calls ({cpu / floor_cpu:.2f}x)"
            f"  {rate:7.0f} calls/s ({rate / floor_rate:.0%})"
        )


if __name__ == "__main__":
    main()
