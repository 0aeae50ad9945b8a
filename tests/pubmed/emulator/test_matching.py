"""ECitMatch over the sample."""

import pytest
from scigate_pubmed.emulator.corpus import load
from scigate_pubmed.emulator.matching import matched

BBRC = "Biochem Biophys Res Commun"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (f"{BBRC}|1975|66|1173|Bose KS|Art1|", "biochem biophys res commun|1975|66|1173|bose ks|Art1|2"),
        (f"{BBRC}|1999|66|1173|Nobody X|k|", "biochem biophys res commun|1999|66|1173|nobody x|k|2"),
        ("fake journal|2000|1|1||ref2|", "fake journal|2000|1|1||ref2|NOT_FOUND;INVALID_JOURNAL"),
        (f"{BBRC}|1975|66|1||k|", "biochem biophys res commun|1975|66|1||k|NOT_FOUND"),
        ("|1700||||k|", "|1700||||k|NOT_FOUND"),
    ],
)
def test_a_line_comes_back_with_its_outcome(line: str, answer: str) -> None:
    """In lower case but for the key; journal, volume and page decide, a wrong year or author does not."""
    assert matched(line, load()).splitlines() == [answer]


def test_what_cannot_be_classified_has_no_line() -> None:
    """Which is how ECitMatch treats a line without journal and year."""
    assert matched(f"||||Smith J|1|\r{BBRC}|1975|66|1173||2|", load()).splitlines()[0].endswith("|2|2")


def test_many_candidates_are_counted_and_few_are_listed() -> None:
    """Both forms occur."""
    many = matched(f"{BBRC}|1975||||k|", load()).strip()
    few = matched(f"{BBRC}|1975|66|||k|", load()).strip()
    assert "AMBIGUOUS" in few
    assert "AMBIGUOUS" in many
