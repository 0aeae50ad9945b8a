"""Writes the shipped fixtures from the sample data of scigate-pubchem.

    python plugins/immunograph/scripts/build_fixtures.py

Asks the offline emulator of PubChem, whose sample comes from the `chemicals` package, for each compound below. The
facts are real; the licence in each fixture is the sample's.
"""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from importlib.metadata import version

import httpx
from scigate_immunograph.fixtures import SHIPPED, FixtureFile, sealed
from scigate_immunograph.pubchem import PubChem
from scigate_immunograph.step import timestamp
from scigate_pubchem.emulator import create_app

LICENCE = f"Identifiers and structure from the chemicals package, MIT (scigate-pubchem {version('scigate-pubchem')})"

ORIGIN = "https://github.com/CalebBell/chemicals"

COMPOUNDS = {
    "acetaminophen": 1983, "adenosine": 60961, "ascorbic-acid": 54670067, "aspirin": 2244,
    "benzene": 241, "benzoic-acid": 243, "caffeine": 2519, "cholesterol": 5997, "cimetidine": 2756,
    "citric-acid": 311, "cortisol": 5754, "dexamethasone": 5743, "diazepam": 3016,
    "diclofenac": 3033, "dopamine": 681, "epinephrine": 5816, "estradiol": 5757, "ethanol": 702, "fluoxetine": 3386,
    "fluorouracil": 3385, "furosemide": 3440, "glucose": 5793, "glutamic-acid": 33032, "haloperidol": 3559,
    "histamine": 774, "ibuprofen": 3672, "indomethacin": 3715, "ketamine": 3821, "l-alanine": 5950,
    "l-tyrosine": 6057, "lidocaine": 3676, "metformin": 4091, "methotrexate": 126941, "morphine": 5288826,
    "naproxen": 156391, "penicillin-g": 5904, "phenol": 996, "prednisone": 5865,
    "propranolol": 4946, "salicylic-acid": 338, "serotonin": 5202, "sulfamethoxazole": 5329,
    "testosterone": 6013, "theophylline": 2153, "warfarin": 54678486,
}  # fmt: skip


async def main() -> None:
    """Write one file for each compound that the sample has."""
    SHIPPED.mkdir(exist_ok=True)
    transport = httpx.ASGITransport(create_app())
    base_url = "https://pubchem.ncbi.nlm.nih.gov/"
    async with httpx.AsyncClient(transport=transport, base_url=base_url) as http:
        for key, cid in COMPOUNDS.items():
            answer = await PubChem(http).compound(cid, "none")
            content = FixtureFile(
                key=key,
                source="pubchem",
                compound_ref=str(cid),
                url=ORIGIN,
                retrieved_at=timestamp(datetime.now(UTC).replace(microsecond=0)),
                licence=LICENCE,
                compound=answer.compound(cid),
            )
            text = json.dumps(sealed(content), indent=2, ensure_ascii=False)
            (SHIPPED / f"{key}.json").write_text(text + "\n", "utf-8")


asyncio.run(main())
