"""fetch_compound: a known reference into a compound's identity, with its provenance."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, Field
from scigate import Call, Input

from scigate_immunograph.compound import FetchedCompound, Source
from scigate_immunograph.reasons import (
    COMPOUND_NOT_FOUND,
    FIXTURE_HASH_MISMATCH,
    FIXTURE_INVALID,
    FIXTURE_NOT_FOUND,
    INVALID_COMPOUND_REF,
    POLICY_CONFLICT,
)
from scigate_immunograph.recording import EVIDENCE, step_tool
from scigate_immunograph.retrieval import ORDERS, FallbackPolicy
from scigate_immunograph.run import RunId
from scigate_immunograph.workbench import Workbench

__all__ = ["fetch_compound"]

LARGEST_CID: Final = 2**31 - 1
"""CIDs are signed 32-bit numbers upstream."""

_CID: Final = re.compile(r"[1-9][0-9]{0,9}")


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


class FetchCompound(Input):
    run_id: RunId
    source: Annotated[Source, BeforeValidator(_lower)] = Field(
        description="pubchem: the record of a CID; fixture: a recorded compound by its exact key."
    )
    compound_ref: str = Field(
        min_length=1,
        max_length=200,
        description="pubchem: a CID in digits, from 1 to 2147483647; fixture: a fixture's exact key, such as aspirin.",
    )
    fallback_policy: Annotated[FallbackPolicy, BeforeValidator(_upper)] = Field(
        description="Sources allowed, in order. LIVE_ONLY: PubChem now, neither cache nor fixture. LIVE_THEN_CACHE: "
        "PubChem now, else an earlier answer. LIVE_THEN_CACHE_THEN_FIXTURE: the same, else a fixture of this CID. "
        "CACHE_THEN_LIVE: an earlier answer, else PubChem now. FIXTURE_ONLY: a fixture, no connection."
    )


@step_tool(
    "fetch_compound",
    title="fetch_compound",
    open_world=True,
    errors=[
        INVALID_COMPOUND_REF,
        POLICY_CONFLICT,
        COMPOUND_NOT_FOUND,
        FIXTURE_NOT_FOUND,
        FIXTURE_HASH_MISMATCH,
        FIXTURE_INVALID,
    ],
)
async def fetch_compound(args: FetchCompound, bench: Workbench, call: Call) -> FetchedCompound:
    """Fetch a compound's identity by a reference that is already known: names, formula, weight, SMILES, InChI and
    InChIKey, with their provenance (what served them, address, time, hash, licence).

    The first step of a run. The reference must be known: pubchem_search_compounds finds CIDs. It computes no
    descriptors (calculate_molecular_descriptors does) and checks no chemistry (validate_compound does). LIVE_ONLY needs
    access to PubChem; provenance.mode and provenance.skipped tell every substitution. Costs one PubChem request at
    most.
    """
    if args.source == "fixture":
        if "fixture" not in ORDERS[args.fallback_policy]:
            raise POLICY_CONFLICT.error(f"source is fixture, and {args.fallback_policy} allows no fixture.")
        found = await bench.retrieval.fixture(args.compound_ref)
    else:
        found = await bench.retrieval.compound(_cid(args.compound_ref), args.fallback_policy, call)
    call.state[EVIDENCE] = found.evidence
    return FetchedCompound(
        **found.compound.model_dump(),
        source=args.source,
        compound_ref=args.compound_ref,
        provenance=found.provenance,
    )


def _cid(text: str) -> int:
    if _CID.fullmatch(text) is None or int(text) > LARGEST_CID:
        raise INVALID_COMPOUND_REF.error(f"compoundRef {text!r} is not a CID.")
    return int(text)
