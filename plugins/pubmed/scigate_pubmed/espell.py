"""The answer of ESpell."""

from dataclasses import dataclass

from scigate_pubmed.document import document, text_of
from scigate_pubmed.errors import NcbiOtherDocument


@dataclass(frozen=True)
class Spelling:
    """A query as NCBI read it, and its correction; each is empty where NCBI gives none."""

    query: str
    corrected: str


def parse_spelling(body: bytes) -> Spelling:
    """The record of a body; an empty ERROR element is part of a good answer.

    Raises:
        NcbiOtherDocument: The root is not an ESpell result.
        NcbiUnreadable: The body is damaged.
    """
    root = document("espell", body)
    if root.tag != "eSpellResult":
        raise NcbiOtherDocument("espell", "has no eSpellResult at its root")
    return Spelling(text_of(root, "Query"), text_of(root, "CorrectedQuery"))
