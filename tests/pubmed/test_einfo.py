"""EInfo's answer about one database."""

import pytest
from scigate_pubmed.einfo import parse_database
from scigate_pubmed.errors import NcbiOtherDocument


def test_a_database_and_its_fields_are_read() -> None:
    """The count stays text; a field without a name is none."""
    found = parse_database(
        b"<eInfoResult><DbInfo><DbName>pubmed</DbName><Description>PubMed</Description><Count>38000000</Count>"
        b"<LastUpdate>2026/07/29 09:13</LastUpdate><FieldList><Field><Name>TIAB</Name><FullName>Title/Abstract"
        b"</FullName><Description>Words</Description></Field><Field/></FieldList></DbInfo></eInfoResult>"
    )
    assert (found.name, found.count, found.last_update) == ("pubmed", "38000000", "2026/07/29 09:13")
    assert [(field.name, field.full_name, field.description) for field in found.fields] == [
        ("TIAB", "Title/Abstract", "Words")
    ]


def test_a_list_of_databases_is_not_about_one() -> None:
    """EInfo gives it when it is asked for none."""
    with pytest.raises(NcbiOtherDocument):
        parse_database(b"<eInfoResult><DbList><DbName>pubmed</DbName></DbList></eInfoResult>")
