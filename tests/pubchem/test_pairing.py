"""Which targets a gene and an accession mean in a compound's own table."""

from hypothesis import given
from hypothesis import strategies as st
from scigate_pubchem.assaysummary import AssayTable, Target
from scigate_pubchem.pairing import TargetFilter

Pair = tuple[str | None, int | None]


def table(*pairs: Pair) -> AssayTable:
    found = AssayTable()
    for accession, gene in pairs:
        if accession is not None and gene is not None:
            found.accessions_of.setdefault(gene, {})[accession] = None
            found.genes_of.setdefault(accession, {})[gene] = None
    return found


def matched(pairs: list[Pair], gene: int | None, accession: str | None) -> list[Pair]:
    wanted = TargetFilter.of(table(*pairs), gene, accession)
    assert wanted is not None
    return [pair for pair in pairs if wanted.matches(Target(*pair, "Active"))]


def test_a_gene_finds_what_is_recorded_under_its_accession_alone() -> None:
    """5742 and P23219 stand in one row, so a row with P23219 alone is of the same target."""
    pairs: list[Pair] = [("P23219", 5742), ("P23219", None), (None, 5742), ("P35354", 5743), (None, None)]
    assert matched(pairs, 5742, None) == pairs[:3]
    assert matched(pairs, None, " p23219 ") == pairs[:3]


def test_an_accession_reaches_the_further_accessions_of_its_gene() -> None:
    """Two accessions of one gene are one target, also where a row names the second alone."""
    pairs: list[Pair] = [("P03372", 2099), ("NP_000116", 2099), ("NP_000116", None), ("P10275", 367)]
    assert matched(pairs, None, "P03372") == pairs[:3]
    assert str(TargetFilter.of(table(*pairs), None, "P03372")) == "GeneID:2099 accession:P03372 accession:NP_000116"


def test_another_gene_with_a_shared_accession_is_another_target() -> None:
    """An explicit gene decides over a shared accession."""
    pairs: list[Pair] = [("P1", 11), ("P1", 12), ("P1", None)]
    assert matched(pairs, 11, None) == [("P1", 11), ("P1", None)]
    assert matched(pairs, 11, "P1") == [("P1", 11), ("P1", None)]
    assert matched(pairs, None, "P1") == pairs


def test_a_gene_and_an_accession_of_one_target_are_that_target() -> None:
    """Both given and paired by the table: nothing is lost against giving one."""
    pairs: list[Pair] = [("P23219", 5742), ("P23219", None), (None, 5742), ("P35354", 5743)]
    assert matched(pairs, 5742, "p23219") == pairs[:3]
    assert str(TargetFilter.of(table(*pairs), 5742, "p23219")) == "GeneID:5742 accession:P23219"


def test_a_gene_and_an_accession_of_different_targets_match_nothing() -> None:
    """The filter names the two that were given, and nothing that either is paired with."""
    pairs: list[Pair] = [("P23219", 5742), ("P35354", 5743), ("P23219", None)]
    wanted = TargetFilter.of(table(*pairs), 5743, "P23219")
    assert wanted is not None
    assert (str(wanted), wanted.conflict) == ("GeneID:5743 accession:P23219", "different")
    assert matched(pairs, 5743, "P23219") == []


def test_a_gene_and_an_accession_that_no_row_pairs_match_nothing() -> None:
    """No row can satisfy both."""
    pairs: list[Pair] = [("P1", None), (None, 11)]
    wanted = TargetFilter.of(table(*pairs), 11, "P1")
    assert wanted is not None
    assert wanted.conflict == "unpaired"
    assert matched(pairs, 11, "P1") == []


def test_identifiers_that_the_table_does_not_know_stand_for_themselves() -> None:
    """The filter is told as it was given."""
    assert str(TargetFilter.of(table(), 11, None)) == "GeneID:11"
    assert str(TargetFilter.of(table(), None, "1zhh_a")) == "accession:1ZHH_a"
    assert TargetFilter.of(table(), None, None) is None


PAIRS = st.lists(st.tuples(st.sampled_from([None, "P1", "P2", "P3"]), st.sampled_from([None, 11, 12, 13])), max_size=8)


@given(PAIRS, st.sampled_from([11, 12, 14]), st.sampled_from(["P1", "P2", "P4"]))
def test_what_a_filter_keeps(pairs: list[Pair], gene: int, accession: str) -> None:
    """A filter keeps what names its identifier and drops other genes; both together keep what each of them keeps."""
    by_gene, by_accession = matched(pairs, gene, None), matched(pairs, None, accession)
    assert [pair for pair in pairs if pair[1] == gene] == [pair for pair in by_gene if pair[1] is not None]
    assert all(pair in by_accession for pair in pairs if pair[0] == accession)
    assert not any(pair == (None, None) for pair in [*by_gene, *by_accession])
    both = matched(pairs, gene, accession)
    if (accession, gene) in pairs:
        assert both == [pair for pair in by_gene if pair in by_accession]
    else:
        assert both == []


@given(PAIRS, st.sampled_from([11, 12]), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(pairs: list[Pair], gene: int, chance: object) -> None:
    """Pairs are looked for in the whole table, before and after a row."""
    shuffled = list(pairs)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert set(matched(pairs, gene, None)) == set(matched(shuffled, gene, None))
