"""`pubmed://database/info`: what PubMed holds, and the fields that a search can name."""

from scigate import Call, Input, Output, Record, resource

from scigate_pubmed.reasons import NCBI_REASONS
from scigate_pubmed.sources import Sources


class NoArguments(Input):
    """Nothing."""


class InfoField(Record):
    """A search field; its name is what stands in brackets behind a word."""

    name: str
    full_name: str | None = None
    description: str | None = None


class DatabaseInfo(Output):
    """PubMed as NCBI describes it."""

    db_name: str
    description: str | None = None
    count: str | None = None
    last_update: str | None = None
    fields: list[InfoField] | None = None


@resource("pubmed://database/info", name="database-info", title="PubMed Database Info", errors=NCBI_REASONS)
async def database_info(args: NoArguments, sources: Sources, call: Call) -> DatabaseInfo:
    """PubMed's number of records, its last update, and every field that a query can name."""
    found = await sources.entrez.database()
    return DatabaseInfo(
        db_name=found.name,
        description=found.description or None,
        count=found.count or None,
        last_update=found.last_update or None,
        fields=[
            InfoField(name=one.name, full_name=one.full_name or None, description=one.description or None)
            for one in found.fields
        ]
        or None,
    )
