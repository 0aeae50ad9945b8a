"""What traces and figures cost, in one run: `python bench/telemetry.py [CALLS] [ROUNDS]`.

Gateways stand side by side, loaded in turn by 16 clients, with a trivial tool and with a PubChem search answered
from cache: one has neither trace nor measurement in its chain, one has them turned off, as by default, one keeps the
figures, and two send traces as well over OTLP/HTTP to a collector on this machine: as many in a second as the settings'
default, and of every call.
Printed are CPU seconds for 1,000 calls, the exporting threads' included and the collector's not, the median over the
rounds; and the median of the rounds' own ratios to the gateway that is turned off, with the quartiles beside it.
"""

from __future__ import annotations

import statistics
import sys
from contextlib import ExitStack

from load import measure, server

CLIENTS = 16
SEARCH = {"searchType": "identifier", "identifierType": "name", "identifiers": ["aspirin"]}
TOOLS = {
    "gateway": ("trivial tool", "bench_rows", {"name": "x"}),
    "pubchem": ("PubChem search from cache", "pubchem_search_compounds", SEARCH),
}
TELEMETRY = {
    "none": "not in the chain",
    "off": "off",
    "figures": "figures",
    "usual": "figures and traces, as by default",
    "every": "figures, every call traced",
}


def main() -> None:
    """Measure and print."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    print(f"{calls} calls by {CLIENTS} clients, median of {rounds} rounds")
    with ExitStack() as stack:
        port, _ = stack.enter_context(server("collector"))
        for kind, (title, tool, arguments) in TOOLS.items():
            found: dict[str, list[float]] = {telemetry: [] for telemetry in TELEMETRY}
            with ExitStack() as servers:
                places = {
                    telemetry: servers.enter_context(server(f"{kind}-{telemetry}", f"http://127.0.0.1:{port}"))
                    for telemetry in TELEMETRY
                }
                for turn in range(rounds):
                    order = list(places)
                    # Each has each place in the round in turn, as a machine's speed drifts.
                    for telemetry in order[turn % len(order) :] + order[: turn % len(order)]:
                        run = measure(*places[telemetry], tool, arguments, calls=calls, clients=CLIENTS)
                        found[telemetry].append(run.cpu_per_thousand)
            print(title)
            for telemetry, runs in found.items():
                ratios = [run / off for run, off in zip(runs, found["off"], strict=True)]
                low, middle, high = statistics.quantiles(ratios, n=4)
                print(
                    f"  {TELEMETRY[telemetry]:32} {statistics.median(runs):6.3f} CPU s per 1,000 calls"
                    f"  {middle - 1:+6.1%} ({low - 1:+.1%} to {high - 1:+.1%})"
                )


if __name__ == "__main__":
    main()
