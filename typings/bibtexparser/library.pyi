from collections.abc import Iterable

from bibtexparser.model import Entry

class Library:
    def __init__(self, blocks: Iterable[Entry] | None = None) -> None: ...
