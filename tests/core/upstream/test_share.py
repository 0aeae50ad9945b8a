"""Shares of a budget."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scigate.upstream.share import Contact, Share
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


@pytest.mark.parametrize(("span_s", "expected"), [(1.0, 104.025), (60.0, 103.0)])
def test_short_windows_are_waited_out(span_s: float, expected: float) -> None:
    """After the last contact the others may have used all of a short window; of a long one some is known to be left."""
    contact = Contact(100.0, Share(2, 0), settled=True)
    assert contact.quiet_until(Window(5, span_s), 3.0) == pytest.approx(expected)


def test_who_never_had_contact_need_not_wait() -> None:
    """A gateway that starts while the store is away has nothing to wait out."""
    assert Contact(-inf, Share(2), settled=True).quiet_until(Window(5, 1.0), 3.0) == -inf
