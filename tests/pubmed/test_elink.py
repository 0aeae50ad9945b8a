"""ELink's sets of links."""

import pytest
from scigate_pubmed.elink import parse_links
from scigate_pubmed.errors import NcbiOtherDocument

SETS = (
    "<eLinkResult><LinkSet><DbFrom>pubmed</DbFrom><IdList><Id>1</Id></IdList>"
    "<LinkSetDb><LinkName>pubmed_pubmed_reviews</LinkName><Link><Id>9</Id></Link></LinkSetDb>"
    "<LinkSetDb><LinkName>pubmed_pubmed</LinkName><Link><Id>1</Id></Link><Link><Id>3</Id></Link><Link><Id>2</Id></Link>"
    "<Link><Id>0</Id></Link><Link><Id>3</Id></Link></LinkSetDb><ERROR/></LinkSet></eLinkResult>"
)


def test_links_are_those_of_the_set_asked_for() -> None:
    """In its order, without the source itself, without 0, each once; another set is another relation."""
    assert parse_links(SETS.encode(), source="1", name="pubmed_pubmed") == ("3", "2")


def test_without_the_set_there_are_no_links() -> None:
    """The first set that is there does not stand in for it."""
    assert parse_links(SETS.encode(), source="1", name="pubmed_pubmed_citedin") == ()


def test_another_document_is_not_an_answer() -> None:
    """No links would be a statement about the article."""
    with pytest.raises(NcbiOtherDocument):
        parse_links(b"<eSearchResult/>", source="1", name="pubmed_pubmed")
