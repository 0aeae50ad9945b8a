"""The answer of EInfo for one database."""

from dataclasses import dataclass

from scigate_pubmed.document import children, document, text_of
from scigate_pubmed.errors import NcbiOtherDocument


@dataclass(frozen=True)
class SearchField:
    """A field that a search can name: its tag, its full name, what it holds."""

    name: str
    full_name: str
    description: str


@dataclass(frozen=True)
class Database:
    """What NCBI tells of a database; a text that it does not give is empty."""

    name: str
    description: str
    count: str
    last_update: str
    fields: tuple[SearchField, ...]


def parse_database(body: bytes) -> Database:
    """The record of a body.

    Raises:
        NcbiOtherDocument: The answer is not about one database.
        NcbiUnreadable: The body is damaged.
    """
    about = document("einfo", body).find("DbInfo")
    if about is None or not text_of(about, "DbName"):
        raise NcbiOtherDocument("einfo", "tells of no database")
    return Database(
        name=text_of(about, "DbName"),
        description=text_of(about, "Description"),
        count=text_of(about, "Count"),
        last_update=text_of(about, "LastUpdate"),
        fields=tuple(
            SearchField(name, text_of(one, "FullName"), text_of(one, "Description"))
            for one in children(about, "FieldList/Field")
            if (name := text_of(one, "Name"))
        ),
    )
