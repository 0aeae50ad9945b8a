"""Publication dates as NCBI prints them."""

import re

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_PRINTED = re.compile(r"(\d{4})(?:[ /]([A-Za-z]{3}|\d{1,2})(?:[ /](\d{1,2}))?)?(?: 00:00)?")


def iso_date(printed: str) -> str:
    """`2024 Jan 15` as `2024-01-15`, `2024 Jan` as `2024-01`: no part is added that is not given.

    A season, a range or anything else (`2000 Spring`, `2018 Jul-Aug`, `1998 Dec-1999 Jan`) stays as it is printed.
    """
    printed = " ".join(printed.split())
    match = _PRINTED.fullmatch(printed)
    if match is None:
        return printed
    year, month, day = match.groups()
    if month is None:
        return year
    number = int(month) if month.isdigit() else _MONTHS.get(month.lower(), 0)
    if not 1 <= number <= 12:
        return printed
    return f"{year}-{number:02}" if day is None else f"{year}-{number:02}-{int(day):02}"
