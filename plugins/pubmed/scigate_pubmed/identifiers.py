"""`pubmed_convert_ids`: DOI, PMID and PMCID of articles in PMC."""

import re
from typing import Annotated, Final

from pydantic import Field
from scigate import Call, Output, Record, tool

from scigate_pubmed.arguments import Arguments
from scigate_pubmed.idconv import Conversion, IdType
from scigate_pubmed.pmid import canonical
from scigate_pubmed.reasons import INVALID_IDS, NCBI_REASONS
from scigate_pubmed.sources import Sources

_FORMS: Final[dict[IdType, re.Pattern[str]]] = {
    "pmid": re.compile(r"[0-9]+"),
    "pmcid": re.compile(r"(?:PMC)?[0-9]+(?:\.[0-9]+)?", re.IGNORECASE),
    "doi": re.compile(r"10\.[^\s,]+"),
}
_DOI_PREFIX: Final = re.compile(r"(?:https?://)?(?:dx\.)?doi\.org/|doi:\s*", re.IGNORECASE)


class ConvertIds(Arguments):
    """Ids of one kind."""

    ids: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1, max_length=50)]
    id_type: IdType


class ConvertedId(Record):
    """An id and the others of the same article."""

    requested_id: str
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = Field(default=None, description="Compare without regard to case.")
    errmsg: str | None = Field(default=None, description="Present when nothing was converted.")


class ConvertedIds(Output):
    """One entry for each id, in order."""

    records: list[ConvertedId]
    total_converted: int
    total_submitted: int


@tool("pubmed_convert_ids", title="Pubmed Convert Ids", errors=[*NCBI_REASONS, INVALID_IDS])
async def convert_ids(args: ConvertIds, sources: Sources, call: Call) -> ConvertedIds:
    """Convert between DOI, PMID and PMCID.

    Only articles in PMC are known: for other PMIDs pubmed_fetch_articles gives the DOI, for other DOIs
    pubmed_search_articles takes "10.x/y"[doi]. One request; all ids are of one type.
    """
    forms = {one: _form(one, args.id_type) for one in args.ids}
    wanted = list(dict.fromkeys(form for form in forms.values() if form))
    if not wanted:
        raise INVALID_IDS.error(f"{args.ids[0][:80]!r} has not the form of a {args.id_type}")
    found = await sources.converter.convert(wanted, args.id_type)
    records = [_record(one, forms[one], found.get(forms[one]), args.id_type) for one in args.ids]
    return ConvertedIds(
        records=records,
        total_converted=sum(record.errmsg is None for record in records),
        total_submitted=len(records),
    )


def _form(text: str, kind: IdType) -> str:
    """The id as the converter takes it: PMCIDs with their prefix, since it refuses a list with both forms."""
    bare = text.strip()
    if kind == "doi":
        bare = _DOI_PREFIX.sub("", bare, count=1)
    if not _FORMS[kind].fullmatch(bare):
        return ""
    match kind:
        case "pmid":
            return canonical(bare)
        case "pmcid":
            return "PMC" + bare.upper().removeprefix("PMC")
        case "doi":
            return bare


def _record(asked: str, form: str, found: Conversion | None, kind: IdType) -> ConvertedId:
    if not form:
        return ConvertedId(requested_id=asked, errmsg=f"This has not the form of a {kind}.")
    if found is None:
        return ConvertedId(requested_id=asked, errmsg="The ID converter said nothing of this id.")
    return ConvertedId(
        requested_id=asked,
        pmid=found.pmid or None,
        pmcid=found.pmcid or None,
        doi=found.doi or None,
        errmsg=_explained(found.error) if found.error else None,
    )


def _explained(error: str) -> str:
    if "identifier not found in pmc" in error.lower():
        return (
            "Not in PMC, which is all that the converter knows; the article may well be in PubMed: "
            "ask pubmed_fetch_articles by PMID, or pubmed_search_articles."
        )
    return error
