"""Takes random real compounds through validate, descriptors and prepare, and says how fast and how it ended.

    python plugins/immunograph/scripts/run_sample.py [COUNT [SEED]]

The compounds are those of the PubChem emulator's sample. Exit code 1 when an answer is neither a result nor a failure
that the tools declare.
"""

from __future__ import annotations

import logging
import random
import sys
import time
from collections import Counter

import anyio
import scigate_immunograph
import structlog
from scigate import LOCAL, Host, Settings
from scigate_pubchem.emulator.sample import sample

EXPECTED = {
    "ok",
    "INVALID_STRUCTURE",
    "SEVERAL_COMPONENTS",
    "LIGAND_SIZE",
    "EMBEDDING_FAILED",
    "PDBQT_UNSUPPORTED",
    "TIMEOUT",
}


TOOLS = {
    "validate_compound": lambda text: {"smiles": text},
    "calculate_molecular_descriptors": lambda text: {"smiles": [text]},
    "prepare_ligand": lambda text: {"smiles": text, "largestComponent": True},
}


async def one(host: Host, tool: str, text: str, outcomes: Counter[str], times: dict[str, float]) -> None:
    """Call a tool with one compound, and count how it ended."""
    began = time.perf_counter()
    reply = await host.call(tool, {"runId": "sample", **TOOLS[tool](text)}, LOCAL)
    times[text] = time.perf_counter() - began
    error = reply.structured.get("error", {"code": "ok"})
    outcomes[error["code"]] += 1
    if error["code"] not in EXPECTED:
        print(tool, text, error)


async def every(host: Host, tool: str, smiles: list[str]) -> int:
    """Call a tool with all compounds, four at once; gives the number of answers that should not be."""
    outcomes: Counter[str] = Counter()
    times: dict[str, float] = {}
    limit = anyio.CapacityLimiter(4)

    async def limited(text: str) -> None:
        async with limit:
            await one(host, tool, text, outcomes, times)

    began = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for text in smiles:
            tasks.start_soon(limited, text)
    seconds = time.perf_counter() - began
    slowest = max(times, key=lambda text: times[text])
    print(f"{tool}: {len(smiles) / seconds:.1f}/s, {dict(outcomes)}, slowest {times[slowest]:.1f} s: {slowest[:80]}")
    return sum(number for code, number in outcomes.items() if code not in EXPECTED)


async def main(count: int, seed: int) -> int:
    """Run the sample; gives the number of answers that should not be."""
    known = sample()
    smiles = [known.text(cid, "SMILES") for cid in random.Random(seed).sample(known.cids, count)]
    settings = Settings.model_validate({"offline": True, "providers": {"immunograph": {"record": False}}})
    async with Host.open(settings, plugins={"immunograph": scigate_immunograph}) as host:
        return sum([await every(host, tool, smiles) for tool in TOOLS])


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    sys.exit(1 if anyio.run(main, *[*given, *(1_000, 1)[len(given) :]]) else 0)
