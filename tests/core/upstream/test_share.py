"""Shares of a budget."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate.upstream.share import Contact, Share, waited_out_s
from scigate.upstream.window import Window


@given(limit=st.integers(1, 500), members=st.integers(1, 60), unknown=st.integers(0, 60))
def test_shares_add_up_to_the_limit_at_most(limit: int, members: int, unknown: int) -> None:
    """However many members do not know their rank, all of them together send no more than the limit."""
    ranks = [None if rank < unknown else rank for rank in range(members)]
    shares = [Share(members, rank).of(limit) for rank in ranks]
    assert sum(shares) <= limit
    if unknown == 0:
        assert sum(shares) == limit


def test_a_share_of_nothing_is_told() -> None:
    """With more members than a window has places, those behind it may send nothing under any of the windows."""
    windows = (Window(3, 1.0), Window(100, 60.0))
    assert Share(4, 3).of_windows(windows) is None
    assert Share(4, 2).of_windows(windows) == (Window(1, 1.0), Window(25, 60.0))


@pytest.mark.parametrize(("span_s", "expected"), [(1.0, 1.025), (60.0, 0.0)])
def test_short_windows_are_waited_out(span_s: float, expected: float) -> None:
    """After the last contact the others may have used all of a short window; of a long one some is known to be left."""
    assert waited_out_s(Window(5, span_s)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("at", "refused_at", "expected"),
    [(100.0, inf, 103.0), (100.0, 101.0, 101.1), (100.0, 150.0, 103.0), (-inf, inf, -inf)],
)
def test_a_store_that_is_dead_grants_nothing(at: float, refused_at: float, expected: float) -> None:
    """One that only does not answer may serve others for a while; one that was never met need not be waited for."""
    contact = Contact(at, Share(2, 0), settled=True, refused_at=refused_at)
    assert contact.granted_until(3.0, 0.1) == pytest.approx(expected)
