"""Why a step of a run fails: the provider's reasons, and how every reason looks in `error` of the run envelope.

`error.code` is the reason in upper case, except for core's reasons in `_CODES`, which have names of their own in this
contract; `error.category` follows from the kind of failure. `error.details.reason` keeps the reason as it is.
"""

from __future__ import annotations

from typing import Final, Literal

from scigate import Code, Failure, Reason

__all__ = [
    "CHEMISTRY",
    "CHEMISTRY_CRASHED",
    "COMPOUND_NOT_FOUND",
    "EMBEDDING_FAILED",
    "FIXTURE_HASH_MISMATCH",
    "FIXTURE_INVALID",
    "FIXTURE_NOT_FOUND",
    "INVALID_COMPOUND_REF",
    "INVALID_STRUCTURE",
    "LEDGER_UNREADABLE",
    "LIGAND_SIZE",
    "MISSING_STRUCTURE",
    "PDBQT_UNSUPPORTED",
    "POLICY_CONFLICT",
    "RUN_NOT_FOUND",
    "SEVERAL_COMPONENTS",
    "Category",
    "category",
    "code",
]

Category = Literal["validation", "not_found", "policy", "upstream", "rate_limit", "timeout", "internal"]

INVALID_COMPOUND_REF: Final = Reason(
    "invalid_compound_ref",
    Code.VALIDATION_ERROR,
    "source is pubchem and compoundRef is not a CID",
    "Give compoundRef as the digits of a CID, from 1 to 2147483647; pubchem_search_compounds finds it for a name.",
)
COMPOUND_NOT_FOUND: Final = Reason(
    "compound_not_found",
    Code.NOT_FOUND,
    "PubChem has no compound of this CID",
    "Check the CID in compoundRef; pubchem_search_compounds finds the CID of a name or a structure.",
)
FIXTURE_NOT_FOUND: Final = Reason(
    "fixture_not_found",
    Code.NOT_FOUND,
    "no fixture has exactly this key, or none stands for this CID, and the policy leaves no other source",
    "Give compoundRef exactly as a fixture's key, or choose a fallbackPolicy that allows a live call.",
)
FIXTURE_HASH_MISMATCH: Final = Reason(
    "fixture_hash_mismatch",
    Code.FORBIDDEN,
    "the fixture's content is not what its recorded hash was made of",
    "Use another source or fixture; the gateway's operator restores the file or records it anew.",
)
FIXTURE_INVALID: Final = Reason(
    "fixture_invalid",
    Code.VALIDATION_ERROR,
    "the fixture's file cannot be read, or is not of the documented form",
    "Use another source or fixture; the gateway's operator mends the file.",
)
POLICY_CONFLICT: Final = Reason(
    "policy_conflict",
    Code.FORBIDDEN,
    "source is fixture and fallbackPolicy does not allow fixtures",
    "Set fallbackPolicy to FIXTURE_ONLY, or source to pubchem with a CID in compoundRef.",
)

MISSING_STRUCTURE: Final = Reason(
    "missing_structure",
    Code.VALIDATION_ERROR,
    "neither smiles nor inchi is given",
    "Give smiles, or inchi; fetch_compound gives both for a CID.",
)
INVALID_STRUCTURE: Final = Reason(
    "invalid_structure",
    Code.VALIDATION_ERROR,
    "smiles is not the SMILES of one defined structure",
    "Correct smiles; validate_compound lists every problem with its place.",
)
SEVERAL_COMPONENTS: Final = Reason(
    "several_components",
    Code.VALIDATION_ERROR,
    "the structure is a salt, a solvate or a mixture, and a ligand is one molecule",
    "Set largestComponent to true, or give parentSmiles of validate_compound as smiles.",
)
LIGAND_SIZE: Final = Reason(
    "ligand_size",
    Code.VALIDATION_ERROR,
    "the structure has no heavy atom, or more than a ligand may have",
    "Give a smaller molecule, or the part of it that binds.",
)
EMBEDDING_FAILED: Final = Reason(
    "embedding_failed",
    Code.VALIDATION_ERROR,
    "no 3D coordinates were found for the structure",
    "Try another seed; if that fails too, check the structure with validate_compound for impossible rings or stereo.",
)
PDBQT_UNSUPPORTED: Final = Reason(
    "pdbqt_unsupported",
    Code.VALIDATION_ERROR,
    "PDBQT has no atom type for an element or a bonding of the structure",
    "Leave pdbqt out of formats to get the SDF alone, or give a ligand without the named elements.",
)
CHEMISTRY_CRASHED: Final = Reason(
    "chemistry_crashed",
    Code.INTERNAL_ERROR,
    "the worker process ended while it worked on the structure",
    "Do not send this structure again; tell the gateway's operator the call id. Others are served on.",
)
RUN_NOT_FOUND: Final = Reason(
    "run_not_found",
    Code.NOT_FOUND,
    "the ledger has no step of this run by this caller",
    "Call list_runs for the runs that are recorded.",
)
LEDGER_UNREADABLE: Final = Reason(
    "ledger_unreadable",
    Code.INTERNAL_ERROR,
    "the ledger's file cannot be opened or read",
    "Nothing in the arguments mends this; tell the gateway's operator, who finds the cause in the log.",
)

CHEMISTRY: Final = {
    reason.name: reason
    for reason in (
        INVALID_STRUCTURE,
        SEVERAL_COMPONENTS,
        LIGAND_SIZE,
        EMBEDDING_FAILED,
        PDBQT_UNSUPPORTED,
        CHEMISTRY_CRASHED,
    )
}
"""Reasons that a `ChemistryError` names."""

_CODES: Final = {
    "quota_exhausted": "RATE_LIMITED",
    "caller_rate_limited": "RATE_LIMITED",
    "upstream_rate_limited": "RATE_LIMITED",
    "deadline_exceeded": "TIMEOUT",
    "upstream_timeout": "TIMEOUT",
    "upstream_unavailable": "SOURCE_UNAVAILABLE",
    "upstream_invalid_response": "MALFORMED_UPSTREAM",
    "upstream_rejected": "SOURCE_REJECTED",
}

_CATEGORIES: Final[dict[Code, Category]] = {
    Code.INVALID_PARAMS: "validation",
    Code.VALIDATION_ERROR: "validation",
    Code.NOT_FOUND: "not_found",
    Code.FORBIDDEN: "policy",
    Code.UNAUTHORIZED: "policy",
    Code.SERVICE_UNAVAILABLE: "upstream",
    Code.SERIALIZATION_ERROR: "upstream",
    Code.RATE_LIMITED: "rate_limit",
    Code.TIMEOUT: "timeout",
    Code.INTERNAL_ERROR: "internal",
}


def code(failure: Failure) -> str:
    """`error.code` of a failure: upper snake case, stable."""
    return _CODES.get(failure.reason, failure.reason.upper())


def category(failure: Failure) -> Category:
    """`error.category` of a failure."""
    return "internal" if failure.reason == "result_too_large" else _CATEGORIES[failure.code]
