"""What traces and figures cost, in one run: `python bench/telemetry.py [CALLS] [ROUNDS]`.

Two gateways stand side by side, loaded in turn by 16 clients with a trivial tool: one measures nothing, the other
keeps every span and every figure. Printed are CPU seconds for 1,000 calls, the median over the rounds, and their ratio.
"""

from __future__ import annotations

import statistics
import sys

from load import measure, server

CLIENTS = 16


def main() -> None:
    """Measure and print."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with server("gateway") as off, server("observed") as on:
        found: dict[str, list[float]] = {"off": [], "on": []}
        for _ in range(rounds):
            for name, (port, pid) in {"off": off, "on": on}.items():
                run = measure(port, pid, "bench_rows", {"name": "x"}, calls=calls, clients=CLIENTS)
                found[name].append(run.cpu_per_thousand)
    print(f"{calls} calls by {CLIENTS} clients, median of {rounds} rounds")
    floor = statistics.median(found["off"])
    for name, runs in found.items():
        cpu = statistics.median(runs)
        print(f"telemetry {name:3}  {cpu:6.3f} CPU s per 1,000 calls ({cpu / floor:.2f}x)")


if __name__ == "__main__":
    main()
