"""What ECitMatch is asked, and its lines back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate_pubmed.ecitmatch import Match, Reference, lines, parse_matches
from scigate_pubmed.errors import NcbiUnreadable


def test_each_citation_is_a_line_with_a_key_of_ours() -> None:
    """Empty fields stay empty, and the order is the key."""
    asked = [Reference("J Test Med", "2024", "3", "1", "Berg A"), Reference(year="1999")]
    assert lines(asked) == "J Test Med|2024|3|1|Berg A|1|\r|1999||||2|"


@given(st.lists(st.builds(Reference, *[st.text(max_size=20)] * 5), min_size=1, max_size=5))
def test_no_value_breaks_a_line_or_shifts_a_column(references: list[Reference]) -> None:
    """`|` and line breaks in a title or name would put key and PMID into each other's place."""
    rows = lines(references).split("\r")
    assert len(rows) == len(references)
    assert [row.split("|")[5] for row in rows] == [str(place) for place in range(1, len(references) + 1)]
    assert all(row.count("|") == 6 and "\n" not in row for row in rows)


def test_key_and_pmid_are_not_swapped() -> None:
    """The sixth field is the key, the seventh the outcome; both may be numbers."""
    answer = "nature|2020|1|9|zhang f|2|11111111\nj test|2024|3|1|berg a|1|22222222\n"
    assert parse_matches(answer, 2) == [Match(pmid="22222222"), Match(pmid="11111111")]


@pytest.mark.parametrize(
    ("said", "candidates", "ambiguous"),
    [
        ("AMBIGUOUS 11,12, 13", ("11", "12", "13"), True),
        ("AMBIGUOUS", (), True),
        ("AMBIGUOUS (7 citations)", (), True),
        ("NOT_FOUND", (), False),
        ("NOT_FOUND;INVALID_JOURNAL", (), False),
    ],
)
def test_what_is_no_match_says_why(said: str, candidates: tuple[str, ...], ambiguous: bool) -> None:
    """Candidates are PMIDs; a number of citations is not one."""
    (match,) = parse_matches(f"foo|1999||||1|{said}\n", 1)
    assert (match.pmid, match.candidates, match.ambiguous, match.said) == ("", candidates, ambiguous, said)


def test_a_missing_line_is_a_citation_not_found() -> None:
    """ECitMatch leaves out what it cannot classify; the others keep their places."""
    found = parse_matches("a|1||||3|33\r\nb|1||||1|11", 3)
    assert [match.pmid for match in found] == ["11", "", "33"]
    assert found[1].said == "NOT_FOUND"


@pytest.mark.parametrize("body", ["", "Service temporarily unavailable", "a|b|c"])
def test_a_body_without_an_outcome_is_not_an_answer(body: str) -> None:
    """Nothing found is a statement about the citations."""
    with pytest.raises(NcbiUnreadable):
        parse_matches(body, 2)
