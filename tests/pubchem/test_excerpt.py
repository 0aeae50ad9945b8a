"""Long text of third parties."""

from hypothesis import given
from hypothesis import strategies as st
from scigate_pubchem.excerpt import excerpt


def test_a_cut_says_how_much_there_is() -> None:
    """The reader sees that text is missing, and how much."""
    assert excerpt("word " * 1000, 100).endswith("word [cut: 100 of 5,000 characters]")


@given(st.text(), st.integers(1, 50))
def test_short_text_is_left_alone_and_long_text_is_bounded(text: str, most: int) -> None:
    """What fits is given to the letter, and nothing exceeds its length but for the remark."""
    shown = excerpt(text, most)
    assert shown == text if len(text) <= most else shown.startswith(text[:most].rstrip())
    assert len(shown) <= most + 45
