"""calculate_molecular_descriptors: numbers of structures, each with its method."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from scigate import Batch, Call, Input, Output

from scigate_immunograph.chemistry import jobs
from scigate_immunograph.chemistry.findings import Described
from scigate_immunograph.chemistry.methods import methods
from scigate_immunograph.chemistry.software import software
from scigate_immunograph.reasons import CHEMISTRY_CRASHED
from scigate_immunograph.recording import step_tool
from scigate_immunograph.run import RunId
from scigate_immunograph.workbench import Workbench

__all__ = ["calculate_molecular_descriptors"]


class CalculateMolecularDescriptors(Input):
    run_id: RunId
    smiles: Annotated[list[Annotated[str, Field(max_length=100_000)]], Batch(cap=100)] = Field(
        description="Structures; 100 are served in a call."
    )


class MolecularDescriptors(Output):
    """Descriptors of a batch."""

    molecules: list[Described] = Field(description="One for each entry, in their order.")
    methods: dict[str, str] = Field(description="How each descriptor is computed, and by what.")
    software: str = Field(description="What computed them.")


@step_tool("calculate_molecular_descriptors", title="Calculate Molecular Descriptors", errors=[CHEMISTRY_CRASHED])
async def calculate_molecular_descriptors(
    args: CalculateMolecularDescriptors, bench: Workbench, call: Call
) -> MolecularDescriptors:
    """Compute descriptors of structures: weight, exact mass, formula, logP (Crippen), TPSA, hydrogen bond donors and
    acceptors, rotatable bonds, rings, Fsp3, QED, charge, heavy atoms, and Lipinski, Veber and Egan verdicts with the
    numbers behind them.

    Of validated structures (validate_compound); a salt is described as a whole, so give its parentSmiles. An entry that
    is no structure comes back with its problems instead of descriptors. They are computed, not looked up, and methods
    says how they differ from PubChem's. No request upstream; some milliseconds for each structure.
    """

    async def described(smiles: str) -> Described:
        return await bench.workers.run_in_batch(call, jobs.describe, smiles)

    found = await call.each(args.smiles, described)
    return MolecularDescriptors(molecules=[molecule for _, molecule in found], methods=methods(), software=software())
