"""PubMed's query language in the emulator."""

import pytest
from scigate_pubmed.emulator.corpus import Record, load
from scigate_pubmed.emulator.language import Matches, date_bounds, search

SAMPLE = load()


def found(term: str) -> list[Record]:
    return [SAMPLE[hit] for hit in sorted(search(term, SAMPLE).hits)]


def pmids(term: str) -> set[str]:
    return {record.pmid for record in found(term)}


def test_operators_apply_strictly_from_left_to_right() -> None:
    """`a OR b AND c` is `(a OR b) AND c`, and parentheses change that."""
    flat = pmids("hypertension OR cancer AND review[pt]")
    assert flat == pmids("(hypertension OR cancer) AND review[pt]")
    assert flat != pmids("hypertension OR (cancer AND review[pt])")


def test_words_side_by_side_are_joined_by_and() -> None:
    """Lower-case `and` is a word, and a stop word at that."""
    assert pmids("carbonic anhydrase") == pmids("carbonic AND anhydrase") == pmids("carbonic and anhydrase") == {"3"}


def test_not_takes_away() -> None:
    """What is left has none of it."""
    assert pmids("cancer") - pmids("humans[mh]") == pmids("cancer NOT humans[mh]")


def test_a_phrase_is_looked_for_as_it_stands() -> None:
    """An unknown one is searched word by word, and reported."""
    assert pmids('"halide ion probe"') == {"3"}
    matches = search('"probe ion halide"', SAMPLE)
    assert matches.unmatched_quotes == ['"probe ion halide"']
    assert len(matches.hits) == 1


@pytest.mark.parametrize(
    ("term", "test"),
    [
        ("cancer[ti]", lambda record: "cancer" in record.title.lower()),
        ("Smith[au]", lambda record: any(name.startswith("Smith ") for name, _ in record.authors)),
        ("Smith RJ[1au]", lambda record: any(name.startswith("Smith RJ") for name, _ in record.authors[:1])),
        ('"Humans"[MeSH Terms]', lambda record: any(heading.name == "Humans" for heading in record.headings)),
        ("NADP[majr]", lambda record: any(heading.name == "NADP" and heading.major for heading in record.headings)),
        ("methanol/blood[mh]", lambda record: record.pmid == "1"),
        ("review[pt]", lambda record: "Review" in record.publication_types),
        ("french[la]", lambda record: "fre" in record.languages),
        ("fre[la]", lambda record: "fre" in record.languages),
        ("Biochem Med[ta]", lambda record: record.journal == "Biochemical medicine"),
        ('"biochemical medicine"[Journal]', lambda record: record.journal == "Biochemical medicine"),
        ("1975[dp]", lambda record: record.date[0] == 1975),
        ("1975/06[dp]", lambda record: record.date[:2] == (1975, 6)),
        ("1975:1976[dp]", lambda record: 1975 <= record.date[0] <= 1976),
        ("1975/07/01[pdat] : 1976[pdat]", lambda record: (1975, 7, 1) <= record.date <= (1976, 12, 31)),
        ("hasabstract[text word]", lambda record: record.has_abstract),
        ("hasabstract", lambda record: record.has_abstract),
        ("free full text[filter]", lambda record: bool(record.pmcid)),
        ("20301577[pmid]", lambda record: record.pmid == "20301577"),
        ("hyperten*[ti]", lambda record: " hyperten" in f" {record.title.lower()}"),
    ],
)
def test_a_tag_looks_into_its_field(term: str, test: object) -> None:
    """Names and abbreviations of a field mean the same."""
    expected = {record.pmid for record in SAMPLE if test(record)}  # type: ignore[operator]  # parametrized
    assert expected
    assert pmids(term) == expected


def test_animals_explode_unless_told_not_to() -> None:
    """The heading stands above man; `noexp` leaves it alone."""
    assert pmids("humans[mh]") < pmids("animals[mh]")
    assert not pmids("animals[mh:noexp]") >= pmids("humans[mh]")


def test_what_is_nowhere_is_dropped_and_reported() -> None:
    """The rest is searched, as recorded of PubMed: 5,163 hits beside a PhraseNotFound."""
    matches = search("zzqq cancer AND fleegle[mh]", SAMPLE)
    assert matches.unmatched == ["zzqq", "fleegle[MeSH Terms]"]
    assert matches.hits == search("cancer", SAMPLE).hits


def test_an_unknown_tag_is_dropped_and_reported() -> None:
    """Its words are searched in all fields."""
    matches = search("cancer[foo]", SAMPLE)
    assert matches.unknown_fields == ["foo"]
    assert matches.hits == search("cancer", SAMPLE).hits


def test_only_stop_words_find_nothing() -> None:
    """They are reported as ignored."""
    assert search("the of", SAMPLE) == Matches(ignored=["the", "of"])


@pytest.mark.parametrize(
    "term", ["", "(", ")))", "AND", "a AND", "NOT", '"', "[", "[ti]", "zzqq[", ": :", "(" * 20_000, "[ti][ti]"]
)
def test_broken_terms_are_read_without_complaint(term: str) -> None:
    """Nothing that a caller types breaks the reader, however deep."""
    assert search(term, SAMPLE).hits == frozenset()


def test_dates_span_what_they_leave_open() -> None:
    """A year is all of its days."""
    assert date_bounds("2020") == ((2020, 1, 1), (2020, 12, 31))
    assert date_bounds("2020/02") == ((2020, 2, 1), (2020, 2, 31))
    assert date_bounds("soon") is None
