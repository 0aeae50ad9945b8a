"""Which sections are shown, and how a budget of characters is spent on them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate_pubmed.fulltext_budget import Budget, fitted, in_order, selected, shared_out, size
from scigate_pubmed.fulltext_excerpt import shortened
from scigate_pubmed.jats import Section

words = st.text(alphabet="ab cé\u0301👩\u200d🔬", max_size=40)
subsections = st.builds(Section, st.just("s"), st.just(""), words)
sections = st.lists(
    st.builds(Section, words, st.just(""), words, st.lists(subsections, max_size=3).map(tuple)), max_size=6
)
budgets = st.builds(
    Budget,
    st.none() | st.integers(1, 200),
    st.none() | st.integers(1, 80),
    st.sampled_from(["truncate", "outline"]),
)


def plain(*sizes: int) -> list[Section]:
    return [Section(f"S{number}", "", "x" * each) for number, each in enumerate(sizes, start=1)]


def shown(sections: list[Section], budget: Budget) -> list[int]:
    return [size(section) for section in fitted(sections, budget).sections]


def test_sections_are_chosen_by_a_part_of_their_title() -> None:
    """In any letter case; a blank word chooses nothing, and no title at all means no choice."""
    found = [Section("Materials and Methods", "", "a"), Section("Results", "", "b"), Section("", "", "c")]
    assert [one.title for one in selected(found, ["METHOD", " "], None)] == ["Materials and Methods"]
    assert selected(found, [], None) == selected(found, [" "], None) == tuple(found)
    assert [one.title for one in selected(found, [], 2)] == ["Materials and Methods", "Results"]
    assert selected(found, ["discussion"], None) == ()


@pytest.mark.parametrize(
    ("sizes", "budget", "left"),
    [
        ((10, 10, 10), Budget(15), [10, 5]),
        ((10, 10, 10), Budget(20), [10, 10]),
        ((10, 10, 10), Budget(100), [10, 10, 10]),
        ((10, 0, 10), Budget(10), [10, 0]),
        ((10, 10, 10), Budget(15, overflow="outline"), [5, 5, 5]),
        ((2, 10, 10), Budget(12, overflow="outline"), [2, 5, 5]),
        ((10, 10, 10), Budget(2, overflow="outline"), [1, 1, 0]),
        ((10, 3, 10), Budget(section=4), [4, 3, 4]),
        ((10, 10, 10), Budget(7, section=4), [4, 3]),
        ((10, 10), Budget(7, section=3, overflow="outline"), [3, 3]),
    ],
)
def test_a_budget_is_spent_in_order_or_shared_out(sizes: tuple[int, ...], budget: Budget, left: list[int]) -> None:
    """`truncate` drops what gets nothing; `outline` keeps every heading and gives unused shares back."""
    assert shown(plain(*sizes), budget) == left


def test_a_sections_own_text_comes_before_its_subsections() -> None:
    """Subsections keep their headings when their text is gone."""
    section = Section("A", "", "x" * 6, (Section("B", "", "y" * 4), Section("C", "", "z" * 4)))
    (cut,) = fitted([section], Budget(8)).sections
    assert (cut.text, [inner.text for inner in cut.subsections]) == ("x" * 6, ["yy", ""])


def test_the_account_names_every_section() -> None:
    """Dropped ones too, with their characters before and after."""
    fit = fitted(plain(10, 10, 10), Budget(15))
    assert [(cut.title, cut.before, cut.after) for cut in fit.cuts] == [("S1", 10, 10), ("S2", 10, 5), ("S3", 10, 0)]
    assert (fit.before, fit.after, fit.omitted) == (30, 15, 1)


@given(sections, budgets)
def test_a_budget_holds_and_its_account_is_true(sections: list[Section], budget: Budget) -> None:
    """Counts are of what is returned; nothing is reordered, and what is shown is a beginning of what there was."""
    fit = fitted(sections, budget)
    assert fit.after == sum(map(size, fit.sections)) <= fit.before == sum(map(size, sections))
    assert budget.article is None or fit.after <= budget.article
    assert budget.section is None or all(size(section) <= budget.section for section in fit.sections)
    remaining = iter(sections)
    for section in fit.sections:
        whole = next(one for one in remaining if one.title == section.title and one.text.startswith(section.text))
        assert [inner.title for inner in section.subsections] == [inner.title for inner in whole.subsections]
    if budget.overflow == "outline" or not budget.bounded:
        assert fit.omitted == 0


@given(st.lists(st.integers(0, 50), max_size=8), st.integers(0, 200))
def test_shares_add_up(wishes: list[int], total: int) -> None:
    """Everything that can be used is given out, and never more than is wished for."""
    for shares in (shared_out(wishes, total), in_order(wishes, total)):
        assert sum(shares) == min(total, sum(wishes))
        assert all(share <= wish for share, wish in zip(shares, wishes, strict=True))
    even = shared_out(wishes, total)
    hungry = [share for share, wish in zip(even, wishes, strict=True) if share < wish]
    assert not hungry or max(even) - min(hungry) <= 1


@given(words, st.integers(0, 45))
def test_a_cut_never_parts_a_character(text: str, most: int) -> None:
    """An accent goes with its letter, and joined signs go together."""
    cut = shortened(text, most)
    assert len(cut) <= most or cut == text
    assert text.startswith(cut)
    rest = text[len(cut) :]
    assert not cut or not rest or not unicodedata.combining(rest[0])
    assert not rest or rest[0].isspace() or not cut.endswith("\u200d")
