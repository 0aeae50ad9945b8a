"""How accessions are written before they are compared."""

import pytest
from scigate_pubchem.accession import normalized


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("p00533", "P00533"),
        (" P00533\n", "P00533"),
        ("np_000116.2", "NP_000116.2"),
        ("1zhh_a", "1ZHH_a"),
        ("1ZHH_A", "1ZHH_A"),
        ("5f19_aB", "5F19_aB"),
        ("egfr_human", "EGFR_HUMAN"),
        ("", ""),
    ],
)
def test_case_is_kept_only_in_the_chain_of_a_pdb_entry(given: str, expected: str) -> None:
    """Chains A and a of one PDB entry are two; only a PDB entry begins with a digit."""
    assert normalized(given) == expected
