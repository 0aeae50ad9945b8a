"""Cutting text without breaking a character that is written with several code points."""

import unicodedata

_JOINER = "\u200d"


def shortened(text: str, most: int) -> str:
    """At most `most` code points from the beginning, white space at the cut left out.

    An accent or a joined sign is never parted from its letter: the letter goes too.
    """
    if len(text) <= most:
        return text
    end = most
    while end > 0 and (unicodedata.combining(text[end]) or _JOINER in text[end - 1 : end + 1]):
        end -= 1
    return text[:end].rstrip()
