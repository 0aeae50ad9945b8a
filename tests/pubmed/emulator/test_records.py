"""The emulator's records in full, against the rules that NLM publishes for them."""

from pathlib import Path

from Bio import Entrez
from lxml import etree
from scigate_pubmed.emulator.corpus import load
from scigate_pubmed.emulator.records import set_xml

DTDS = Path(Entrez.__file__).parent / "DTDs"


def test_every_record_is_valid_by_nlms_document_type() -> None:
    """The document type is the one that the answer itself names; Biopython ships a copy."""
    xml = set_xml(load())
    assert "pubmed_250101.dtd" in xml
    rules = etree.DTD(str(DTDS / "pubmed_250101.dtd"))
    tree = etree.fromstring(xml.encode(), etree.XMLParser(load_dtd=False, no_network=True))
    assert rules.validate(tree), rules.error_log.filter_from_errors()[:5]
    assert len(tree) == len(load())


def test_an_abstract_is_marked_as_sample_text() -> None:
    """Nobody takes it for the article's."""
    xml = set_xml(load())
    with_abstract = sum(record.has_abstract for record in load())
    assert xml.count("sample text of scigate's emulator and not the abstract") == with_abstract
