"""Building the term: what is cleaned, what is blank, and that no text leaves its place."""

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate_pubmed.emulator.corpus import load
from scigate_pubmed.emulator.language import search
from scigate_pubmed.query import DateRange, Filters, balanced, build, clean, is_blank

SAMPLE = load()
REVIEWS = Filters(publication_types=["Review"]).cleaned()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("  two \t words\n", "two words"),
        ("<b>CO</b><sub>2</sub> uptake", "CO2 uptake"),
        ("<p>one</p><p>two</p>", "one two"),
        ("<script>alert(1)</script>", "alert(1)"),
        ("P<0.05 and n<5", "P<0.05 and n<5"),
        ("Science & Nature", "Science & Nature"),
        ("a\x00b\ud800c", "a b c"),
        ("“heart attack”", '"heart attack"'),
        ("asthma[mh] (adult)", "asthma[mh] (adult)"),
        ("'; DROP TABLE articles; --", "'; DROP TABLE articles; --"),
        ("{{7*7}} ${x}", "{{7*7}} ${x}"),
    ],
)
def test_cleaning_takes_tags_and_control_characters_and_nothing_else(given: str, kept: str) -> None:
    """Ampersands and comparisons are text: escaped, they would find nothing."""
    assert clean(given) == kept


@pytest.mark.parametrize("query", ["[pdat]", "()", "( [ti] )", "[[ti]]", '""', " - * ", "<b></b>"])
def test_a_query_without_a_word_is_blank(query: str) -> None:
    """Field tags, parentheses, markup and punctuation are no search words."""
    assert is_blank(clean(query))


@pytest.mark.parametrize("query", ["a", "p53[ti]", "(中)", "β", "5-HT"])
def test_a_query_with_a_word_is_not_blank(query: str) -> None:
    """One letter or digit of any script is enough."""
    assert not is_blank(clean(query))


def test_without_filters_the_query_is_the_term() -> None:
    """Nothing is wrapped where nothing follows."""
    assert build("a OR b", Filters().cleaned()).text == "a OR b"


def test_every_filter_stands_behind_the_parenthesised_query_in_the_contracts_order() -> None:
    """PubMed reads from left to right, so parentheses make each filter hold for the whole query."""
    filters = Filters(
        date_range=DateRange(min_date="2020-01.01", max_date=" 2024 ", date_type="pdat"),
        publication_types=["Review", "Meta-Analysis"],
        author="Smith J",
        journal="Nature",
        mesh_terms=["Asthma", "Child"],
        language="english",
        has_abstract=True,
        free_full_text=True,
        species="humans",
    )
    assert build("a OR b", filters.cleaned()).text == (
        '(a OR b) AND (2020/01/01[pdat] : 2024[pdat]) AND ("Review"[Publication Type] OR '
        '"Meta-Analysis"[Publication Type]) AND Smith J[Author] AND "Nature"[Journal] AND '
        '("Asthma"[MeSH Terms] AND "Child"[MeSH Terms]) AND english[Language] AND hasabstract[text word] AND '
        "free full text[filter] AND humans[MeSH Terms]"
    )


def test_animals_are_the_heading_alone() -> None:
    """The exploded heading holds every study of man as well."""
    assert build("q", Filters(species="animals").cleaned()).text == "(q) AND animals[MeSH Terms:noexp]"


@pytest.mark.parametrize(
    "filters",
    [
        Filters(),
        Filters(publication_types=[], author="  ", journal='""', mesh_terms=["[]", ""], language="()"),
        Filters(has_abstract=False, free_full_text=False),
        Filters(date_range=DateRange(min_date="", max_date="2024", date_type="pdat")),
        Filters(date_range=DateRange(min_date="2020", max_date="", date_type="mdat")),
        Filters(date_range=DateRange(min_date="", max_date="", date_type="edat")),
    ],
)
def test_a_filter_with_nothing_in_it_is_no_filter(filters: Filters) -> None:
    """A clause such as `[Author]` alone, or a range with one end, would find nothing."""
    assert filters.cleaned() == Filters()


@pytest.mark.parametrize(
    ("filters", "clause"),
    [
        (Filters(journal='Nature" OR "cancer'), '"Nature OR cancer"[Journal]'),
        (Filters(journal="J Test (1905)"), '"J Test (1905)"[Journal]'),
        (Filters(publication_types=['Review"[pt] OR x[ti']), '("Review pt OR x ti"[Publication Type])'),
        (Filters(author="Smith J) OR (cancer"), "Smith J or cancer[Author]"),
        (Filters(author="Smith J[au] OR cancer"), "Smith J au or cancer[Author]"),
        (Filters(author="O'Neil-Nørgård A"), "O'Neil-Nørgård A[Author]"),
        (Filters(language="english NOT french"), "english not french[Language]"),
        (Filters(journal="Arch Dis Child & Fetal"), '"Arch Dis Child & Fetal"[Journal]'),
    ],
)
def test_a_filter_value_cannot_leave_its_clause(filters: Filters, clause: str) -> None:
    """Quotes, brackets and operators of a value would otherwise be read as the query's own."""
    assert build("q", filters.cleaned()).text == f"(q) AND {clause}"


@pytest.mark.parametrize(
    ("query", "kept", "dropped"),
    [
        ("(a) OR (b", "(a) OR b", ["("]),
        ("a) OR (b", "a OR b", [")", "("]),
        ('"a b', "a b", ['"']),
        ('"a b" "c', '"a b" c', ['"']),
        ('"a ) b" OR (c)', '"a b" OR (c)', [")"]),
        ('(a "b)" c)', '(a "b" c)', [")"]),
        ("a[ti", "a ti", ["["]),
        ("a]ti", "a ti", ["]"]),
        ("a[ti (b]", "a ti b", ["[", "(", "]"]),
        ("((a))[ti]", "((a))[ti]", []),
    ],
)
def test_unmatched_characters_are_dropped_before_a_filter(query: str, kept: str, dropped: list[str]) -> None:
    """`(a) OR (b` would take the filter behind it into its own last group."""
    assert balanced(query) == (kept, dropped)


@given(st.text(alphabet='ab ()[]"', max_size=40))
def test_a_balanced_text_is_balanced_for_every_reader(query: str) -> None:
    """Parentheses pair up whether a reader honours quotes or not, and balancing again changes nothing."""
    kept, _ = balanced(query)
    assert kept.count('"') % 2 == 0
    for text in (kept, "".join(kept.split('"')[::2])):
        depth = 0
        for letter in text:
            depth += (letter == "(") - (letter == ")")
            assert depth >= 0
        assert depth == 0
    assert balanced(kept) == (kept, [])


@given(
    st.lists(
        st.sampled_from(["hypertension", "humans[mh]", "cancer", "AND", "OR", "NOT", "(", ")", '"', "[", "]", "[ti]"]),
        max_size=14,
    )
)
def test_a_filter_holds_whatever_the_query_is(parts: list[str]) -> None:
    """Every record found passes the filter: no operator, parenthesis or quote of the query gets round it."""
    term = build(clean(" ".join(parts)), REVIEWS)
    reviews = search('"Review"[Publication Type]', SAMPLE).hits
    assert search(term.text, SAMPLE).hits <= reviews


@given(st.text(max_size=60))
def test_any_text_gives_a_link_to_the_same_term(query: str) -> None:
    """The link on PubMed's pages carries the effective query, not the one that was given."""
    term = build(clean(query), REVIEWS)
    assert unquote(term.search_url.removeprefix("https://pubmed.ncbi.nlm.nih.gov/?term=")) == term.text


def test_a_long_and_deeply_nested_query_is_kept_as_it_is() -> None:
    """4,000 characters and 200 parentheses are a query like any other."""
    query = "(" * 200 + " OR ".join(["asthma"] * 400) + ")" * 200
    assert build(query, REVIEWS).text == f'({query}) AND ("Review"[Publication Type])'
