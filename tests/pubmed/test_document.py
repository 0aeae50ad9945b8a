"""Reading XML that nobody vouches for."""

import subprocess
import sys
from pathlib import Path

import pytest
from scigate_pubmed.document import MAX_BYTES, children, document, records, text_of
from scigate_pubmed.errors import NcbiOtherDocument, NcbiUnreadable

ROOTS = frozenset({"Set"})
ITEMS = frozenset({"Item", "Other"})


def items(body: bytes) -> list[str]:
    return [text_of(element) for element in records("efetch", body, ROOTS, ITEMS)]


def test_the_text_of_an_element_is_all_text_below_it() -> None:
    """In document order, white space collapsed; what is absent is empty."""
    root = document("x", b"<a>one <b>two<c/></b>\n three<!-- not this --></a>")
    assert text_of(root) == "one two three"
    assert text_of(root, "b") == "two"
    assert (text_of(root, "z"), text_of(None)) == ("", "")
    assert [child.tag for child in children(root, "b")] == ["b"]
    assert children(None, "b") == []


def test_records_come_one_by_one_in_order() -> None:
    """Children of the root alone, of the tags asked for; an element of that name further down is no record."""
    body = b"<?xml version='1.0'?><Set><Item>1<Item>2</Item></Item><Skip>3</Skip><Other>4</Other></Set>"
    assert items(body) == ["12", "4"]


def test_an_empty_set_has_no_records() -> None:
    """PubMed answers so when it knows none of the ids."""
    assert items(b"<Set></Set>") == []


def test_another_root_is_another_document() -> None:
    """It is well-formed, so it is told apart from damage."""
    with pytest.raises(NcbiOtherDocument, match="has no Set at its root"):
        items(b"<Else><Item/></Else>")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"plain text",
        b"<Set><Item>",
        b"<Set><Item></Set>",
        b"<Set>\xff\xfe</Set>",
        b'<!DOCTYPE Set [<!ENTITY a "ha">]><Set><Item>&a;</Item></Set>',
        b'<!DOCTYPE Set [<!ENTITY a SYSTEM "file:///etc/hostname">]><Set><Item>&a;</Item></Set>',
        b"<Set>" + b"<Item>" * 300 + b"</Item>" * 300 + b"</Set>",
    ],
    ids=["empty", "text", "cut off", "crossed", "not utf-8", "entity", "external entity", "300 levels"],
)
def test_what_cannot_be_read_is_an_error_and_never_empty(body: bytes) -> None:
    """Damage, entities that grow or that read files, and depth beyond any record."""
    with pytest.raises(NcbiUnreadable):
        items(body)
    with pytest.raises(NcbiUnreadable):
        document("efetch", body)


def test_a_body_beyond_all_use_is_refused_unread() -> None:
    """The bound stands before the parser."""
    with pytest.raises(NcbiUnreadable, match="longer than"):
        items(b"<Set>" + b" " * MAX_BYTES + b"</Set>")


def test_thousands_of_character_references_are_text() -> None:
    """Long articles with many Greek letters have them; they are no entities."""
    assert items(b"<Set><Item>" + b"&#945;" * 5000 + b"</Item></Set>") == ["α" * 5000]


def test_a_document_type_is_not_fetched(tmp_path: Path) -> None:
    """NCBI's answers name theirs by URL; here a file that would define an entity is not read."""
    other = tmp_path / "other.dtd"
    other.write_text('<!ENTITY secret "read from a file">')
    body = f'<!DOCTYPE Set SYSTEM "{other.as_uri()}"><Set><Item>a&secret;b</Item></Set>'.encode()
    assert "read from a file" not in "".join(items(body))


def test_the_provider_starts_without_the_parser() -> None:
    """A gateway that lists its tools reads no XML yet."""
    script = "import sys, scigate_pubmed; sys.exit('lxml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
