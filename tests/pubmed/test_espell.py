"""ESpell's answer."""

import pytest
from scigate_pubmed.errors import NcbiOtherDocument
from scigate_pubmed.espell import parse_spelling


def test_a_correction_is_read() -> None:
    """An empty ERROR element goes with every good answer."""
    found = parse_spelling(
        b"<eSpellResult><Database>pubmed</Database><Query>asthmaa</Query><CorrectedQuery>asthma</CorrectedQuery>"
        b"<SpelledQuery><Replaced>asthma</Replaced></SpelledQuery><ERROR/></eSpellResult>"
    )
    assert (found.query, found.corrected) == ("asthmaa", "asthma")


def test_no_correction_is_an_empty_one() -> None:
    """The word is spelt as NCBI knows it."""
    assert parse_spelling(b"<eSpellResult><Query>x</Query><CorrectedQuery/></eSpellResult>").corrected == ""


def test_another_document_is_not_an_answer() -> None:
    """It would read as nothing to correct."""
    with pytest.raises(NcbiOtherDocument):
        parse_spelling(b"<html/>")
