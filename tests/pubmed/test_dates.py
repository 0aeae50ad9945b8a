"""Publication dates."""

import pytest
from scigate_pubmed.dates import iso_date


@pytest.mark.parametrize(
    ("printed", "date"),
    [
        ("2024", "2024"),
        ("2024 Jan", "2024-01"),
        ("2024 Jan 5", "2024-01-05"),
        ("2018 Jun", "2018-06"),
        ("1968/08/01 00:00", "1968-08-01"),
        ("2018 Jul-Aug", "2018 Jul-Aug"),
        ("2018 Jan/Feb", "2018 Jan/Feb"),
        ("2000 Spring", "2000 Spring"),
        ("1998 Dec-1999 Jan", "1998 Dec-1999 Jan"),
        ("2024 Foo 3", "2024 Foo 3"),
        ("2024 13", "2024 13"),
        ("", ""),
    ],
)
def test_no_part_of_a_date_is_invented(printed: str, date: str) -> None:
    """A month or day that NCBI does not give is not filled in, and what is no date stays as printed."""
    assert iso_date(printed) == date
