"""Third parties' text at a length that a model can afford, with the cut disclosed in its place."""

from __future__ import annotations

from typing import Final

__all__ = ["DESCRIPTION", "NAME", "excerpt"]

NAME: Final = 300
"""Characters of a name; a few names of assays are whole paragraphs."""

DESCRIPTION: Final = 2000
"""Characters of a description; protocols of assays run to tens of thousands."""


def excerpt(text: str, most: int) -> str:
    """The text, or its first `most` characters and how long the whole is.

    Example:
        >>> excerpt("abcdef", 3)
        'abc [cut: 3 of 6 characters]'
    """
    if len(text) <= most:
        return text
    return f"{text[:most].rstrip()} [cut: {most:,} of {len(text):,} characters]"
