"""What each policy costs, stage by stage: `python bench/stages.py [CALLS]`.

A PubChem search that is answered from cache is called in this process with none of the policies, then with one more
each time, from the innermost to the outermost; what a stage adds is the difference, in microseconds of CPU, the best of
several rounds. Below stand the parts that are no policies: the handler with the upstream's cache, and the envelope.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Awaitable, Callable

import anyio
from scigate.call import LOCAL, Call
from scigate.envelope import StandardEnvelope
from scigate.host import Host
from scigate.output import Success
from scigate.policy import Outcome, chain, core_policies
from scigate.policy.deadline import deadline
from scigate.policy.handler import handler_step
from scigate.settings import LogSettings, Settings
from scigate.telemetry import configure_logging

TOOL = "pubchem_search_compounds"
SEARCH = {"searchType": "identifier", "identifierType": "name", "identifiers": ["aspirin"]}
ROUNDS = 7


async def best(calls: int, step: Callable[[], Awaitable[object]]) -> float:
    """Microseconds of CPU for one step, the best of the rounds."""
    found: list[float] = []
    for _ in range(ROUNDS):
        before = time.process_time()
        for _ in range(calls):
            await step()
        found.append((time.process_time() - before) / calls * 1e6)
    return min(found)


async def measure(calls: int) -> None:
    """Measure and print."""
    plugin = importlib.import_module("scigate_pubchem")
    async with Host.open(Settings(offline=True), plugins={"pubchem": plugin}) as host:
        await host.call(TOOL, SEARCH, LOCAL)  # fills the cache
        operation, client = plugin.search_compounds, plugin.build_client(host.http_clients)
        handler = handler_step(operation, client, plugin.map_error)
        policies = core_policies(1000)
        arguments = operation.input_model.model_validate(SEARCH)

        def begin() -> Call:
            call = host.begin(operation, SEARCH, LOCAL)
            call.arguments, call.page.size = arguments.model_copy(), 20
            return call

        success = await chain([policies[-2]], handler)(begin())
        assert isinstance(success, Success)
        call = begin()
        bare = await best(calls, lambda: _nothing(begin))
        print(f"{'making the call':28}{bare:8.1f} us")
        total, before = 0.0, bare
        for index in range(len(policies) - 1, -1, -1):
            # The page policy wants a page that a handler has cut, so it is measured around one that cuts it.
            run = chain(policies[index:], _cutting(success))
            now = await best(calls, lambda run=run: run(begin()))
            print(f"  policy {policies[index].name:19}{now - before:8.1f} us")
            total, before = total + now - before, now
        print(f"{'all policies':28}{total:8.1f} us")
        inner = await best(calls, lambda: deadline(begin(), handler))
        print(f"{'handler, answered from cache':28}{inner - bare:8.1f} us (policy deadline included)")
        envelope = StandardEnvelope()
        print(f"{'envelope':28}{await best(calls, lambda: _rendered(envelope, call, success)):8.1f} us")
        whole = await best(calls, lambda: host.call(TOOL, SEARCH, LOCAL))
        print(f"{'host.call, all of it':28}{whole:8.1f} us")


def _cutting(success: Success) -> Callable[[Call], Awaitable[Outcome]]:
    async def handler(call: Call) -> Outcome:
        call.page.whole([2244])
        return success

    return handler


async def _nothing(begin: Callable[[], Call]) -> None:
    begin()


async def _rendered(envelope: StandardEnvelope, call: Call, success: Success) -> None:
    envelope.success(call, success)


def main() -> None:
    """Run on the system's event loop."""
    configure_logging(LogSettings(level="warning"))
    anyio.run(measure, int(sys.argv[1]) if len(sys.argv) > 1 else 3000)


if __name__ == "__main__":
    main()
