"""Which of the sample's records resemble and cite each other."""

from scigate_pubmed.emulator.corpus import load
from scigate_pubmed.emulator.neighbours import Neighbours

SAMPLE = {record.pmid: record for record in load()}
LINKS = Neighbours(load())


def test_a_record_is_its_own_nearest_neighbour() -> None:
    """As in PubMed's own list, which clients have to know."""
    assert LINKS.similar("2")[0] == "2"
    assert LINKS.similar("999999999") == []


def test_an_article_cites_older_ones_and_only_one_in_pmc_has_a_list() -> None:
    """PubMed has no reference lists of the others."""
    for pmid, record in SAMPLE.items():
        references = LINKS.references(pmid)
        assert all(SAMPLE[other].date < record.date for other in references)
        assert record.pmcid or not references


def test_citing_is_the_reverse_of_citing() -> None:
    """Newest first."""
    cited = LINKS.references("26158728")[0]
    citing = LINKS.citing(cited)
    assert "26158728" in citing
    assert citing == sorted(citing, key=lambda pmid: SAMPLE[pmid].date, reverse=True)
