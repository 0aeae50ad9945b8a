"""The emulator's answers in NCBI's two forms, JSON and XML with the real document types."""

import json
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from scigate_pubmed.emulator.corpus import Record
from scigate_pubmed.emulator.language import Matches

_DTD = "https://eutils.ncbi.nlm.nih.gov/eutils/dtd"
_ESEARCH = f'<!DOCTYPE eSearchResult PUBLIC "-//NLM//DTD esearch 20060628//EN" "{_DTD}/20060628/esearch.dtd">'
_ESUMMARY_1 = (
    f'<!DOCTYPE eSummaryResult PUBLIC "-//NLM//DTD esummary v1 20041029//EN" "{_DTD}/20041029/esummary-v1.dtd">'
)
_ESUMMARY_2 = (
    '<!DOCTYPE eSummaryResult PUBLIC "-//NLM//DTD eSummaryResult//EN" '
    '"http://www.ncbi.nlm.nih.gov/entrez/query/DTD/eSummaryDTD/eSummary_pubmed.dtd">'
)
_ESPELL = (
    '<!DOCTYPE eSpellResult PUBLIC "-//NLM//DTD eSpellResult, 23 November 2004//EN" '
    '"https://www.ncbi.nlm.nih.gov/entrez/query/DTD/eSpell.dtd">'
)
_ELINK = f'<!DOCTYPE eLinkResult PUBLIC "-//NLM//DTD elink 20101123//EN" "{_DTD}/20101123/elink.dtd">'
_EINFO = f'<!DOCTYPE eInfoResult PUBLIC "-//NLM//DTD einfo 20190110//EN" "{_DTD}/20190110/einfo.dtd">'

_MISSING = "cannot get document summary"


def search_json(
    matches: Matches, pmids: Sequence[str], start: int, history: tuple[str, str] | None, remarks: Sequence[str]
) -> str:
    """ESearch, `retmode=json`; lists of remarks are there only when one of them holds something."""
    result: dict[str, object] = {
        "count": str(len(matches.hits)),
        "retmax": str(len(pmids)),
        "retstart": str(start),
    }
    if history:
        result |= {"querykey": history[1], "webenv": history[0]}
    result |= {"idlist": list(pmids), "translationset": [], "querytranslation": matches.translation}
    if matches.unmatched or matches.unknown_fields:
        result["errorlist"] = {"phrasesnotfound": matches.unmatched, "fieldsnotfound": matches.unknown_fields}
    if matches.ignored or matches.unmatched_quotes or remarks:
        result["warninglist"] = {
            "phrasesignored": matches.ignored,
            "quotedphrasesnotfound": matches.unmatched_quotes,
            "outputmessages": list(remarks),
        }
    return _dumped({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": result})


def search_xml(
    matches: Matches, pmids: Sequence[str], start: int, history: tuple[str, str] | None, remarks: Sequence[str]
) -> str:
    """ESearch in XML, which is the default."""
    parts = [
        _element("Count", str(len(matches.hits))),
        _element("RetMax", str(len(pmids))),
        _element("RetStart", str(start)),
    ]
    if history:
        parts += [_element("QueryKey", history[1]), _element("WebEnv", history[0])]
    parts += [
        "<IdList>" + "".join(f"\n{_element('Id', pmid)}" for pmid in pmids) + "\n</IdList>",
        "<TranslationSet/>",
        _element("QueryTranslation", matches.translation),
    ]
    parts += _remark_list("ErrorList", PhraseNotFound=matches.unmatched, FieldNotFound=matches.unknown_fields)
    parts += _remark_list(
        "WarningList",
        PhraseIgnored=matches.ignored,
        QuotedPhraseNotFound=matches.unmatched_quotes,
        OutputMessage=remarks,
    )
    return _document(_ESEARCH, "eSearchResult", "".join(parts))


def search_error_json(text: str) -> str:
    """An error of ESearch; a line break in its text stands raw in the string, which is not JSON, as NCBI sends it."""
    error = _dumped({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": {"ERROR": text}})
    return error.replace("\\n", "\n")


def search_error_xml(text: str) -> str:
    """ESearch in XML, refused."""
    return _document(_ESEARCH, "eSearchResult", _element("ERROR", text))


def summary_json(asked: Sequence[str], records: dict[str, Record]) -> str:
    """ESummary, `retmode=json`: version 2.0 whatever was asked."""
    result: dict[str, object] = {"uids": list(asked)}
    for pmid in asked:
        record = records.get(pmid)
        result[pmid] = _summary(record) if record else {"uid": pmid, "error": _MISSING}
    return _dumped({"header": {"type": "esummary", "version": "0.3"}, "result": result})


def summary_error_json(text: str) -> str:
    """ESummary in JSON, refused."""
    return _dumped({"header": {"type": "esummary", "version": "0.3"}, "esummaryresult": [text], "error": text})


def summary_xml_2(asked: Sequence[str], records: dict[str, Record]) -> str:
    """ESummary in XML, `version=2.0`."""
    documents = [
        f"<DocumentSummary uid={quoteattr(pmid)}>"
        + (_summary_elements(records[pmid]) if pmid in records else _element("error", _MISSING))
        + "</DocumentSummary>"
        for pmid in asked
    ]
    body = '<DocumentSummarySet status="OK">\n' + "\n".join(documents) + "\n</DocumentSummarySet>"
    return _document(_ESUMMARY_2, "eSummaryResult", body)


def summary_xml_1(asked: Sequence[str], records: dict[str, Record]) -> str:
    """ESummary in XML without a version: `DocSum` with typed items."""
    parts = [
        _docsum(records[pmid]) if pmid in records else _element("ERROR", f"UID={pmid}: {_MISSING}") for pmid in asked
    ]
    return _document(_ESUMMARY_1, "eSummaryResult", "\n".join(parts))


def summary_error_xml(text: str) -> str:
    """ESummary in XML, refused."""
    return _document(_ESUMMARY_1, "eSummaryResult", _element("ERROR", text))


def spell_xml(query: str, corrected: str) -> str:
    """ESpell; `corrected` is empty when no word is misspelt."""
    spelled = f"<Original></Original>{_element('Replaced', corrected)}" if corrected else ""
    body = (
        _element("Database", "pubmed")
        + _element("Query", query)
        + _element("CorrectedQuery", corrected)
        + f"<SpelledQuery>{spelled}</SpelledQuery><ERROR/>"
    )
    return _document(_ESPELL, "eSpellResult", body)


def links_xml(source: str, name: str, pmids: Sequence[str]) -> str:
    """ELink, `cmd=neighbor`: without links there is no set of them, be the source known or not."""
    links = "".join(f"\n<Link>{_element('Id', pmid)}</Link>" for pmid in pmids)
    found = f"<LinkSetDb><DbTo>pubmed</DbTo>{_element('LinkName', name)}{links}</LinkSetDb>" if pmids else ""
    body = f"<LinkSet><DbFrom>pubmed</DbFrom><IdList>{_element('Id', source)}</IdList>{found}</LinkSet>"
    return _document(_ELINK, "eLinkResult", body)


def links_error_xml(text: str) -> str:
    """ELink, refused."""
    return _document(_ELINK, "eLinkResult", _element("ERROR", text))


def databases_xml(names: Sequence[str]) -> str:
    """EInfo without a database."""
    body = "<DbList>" + "".join(f"\n{_element('DbName', name)}" for name in names) + "\n</DbList>"
    return _document(_EINFO, "eInfoResult", body)


def database_xml(name: str, count: int, fields: Sequence[tuple[str, str]]) -> str:
    """EInfo of one database; `fields` are short and full names."""
    listed = "".join(
        "<Field>"
        + _element("Name", short)
        + _element("FullName", full)
        + _element("Description", full)
        + _element("TermCount", "")
        + "".join(_element(flag, "N") for flag in ("IsDate", "IsNumerical", "SingleToken", "Hierarchy", "IsHidden"))
        + "</Field>"
        for short, full in fields
    )
    body = (
        "<DbInfo>"
        + _element("DbName", name)
        + _element("MenuName", "PubMed")
        + _element("Description", "PubMed bibliographic record")
        + _element("DbBuild", "Build-sample")
        + _element("Count", str(count))
        + _element("LastUpdate", "2026/01/01 00:00")
        + f"<FieldList>{listed}</FieldList><LinkList></LinkList></DbInfo>"
    )
    return _document(_EINFO, "eInfoResult", body)


def info_error_xml(text: str) -> str:
    """EInfo, refused."""
    return _document(_EINFO, "eInfoResult", _element("ERROR", text))


def _summary(record: Record) -> dict[str, object]:
    year, month, day = record.date
    return {
        "uid": record.pmid,
        "pubdate": record.printed_date,
        "epubdate": "",
        "source": record.abbreviation,
        "authors": [{"name": name, "authtype": kind, "clusterid": ""} for name, kind in _contributors(record)],
        "lastauthor": record.authors[-1][0] if record.authors else "",
        "title": escape(record.title),
        "sorttitle": record.title.lower(),
        "volume": record.volume,
        "issue": record.issue,
        "pages": record.pages,
        "lang": list(record.languages),
        "nlmuniqueid": "",
        "issn": "",
        "essn": "",
        "pubtype": list(record.publication_types),
        "recordstatus": record.status,
        "pubstatus": "4",
        "articleids": [
            {"idtype": kind, "idtypen": number, "value": value} for kind, number, value in _article_ids(record)
        ],
        "history": [],
        "references": [],
        "attributes": ["Has Abstract"] if record.has_abstract else [],
        "fulljournalname": record.journal,
        "elocationid": f"doi: {record.doi}" if record.doi else "",
        "doctype": record.doc_type,
        "booktitle": record.book,
        "medium": "",
        "edition": "",
        "publisherlocation": "",
        "publishername": record.publisher,
        "bookname": "",
        "sortpubdate": f"{year}/{month:02}/{day:02} 00:00",
        "sortfirstauthor": record.authors[0][0] if record.authors else "",
        "vernaculartitle": "",
    }


_ELEMENTS = {
    "pubdate": "PubDate", "epubdate": "EPubDate", "source": "Source", "lastauthor": "LastAuthor", "title": "Title",
    "sorttitle": "SortTitle", "volume": "Volume", "issue": "Issue", "pages": "Pages", "nlmuniqueid": "NlmUniqueID",
    "issn": "ISSN", "essn": "ESSN", "recordstatus": "RecordStatus", "pubstatus": "PubStatus",
    "fulljournalname": "FullJournalName", "elocationid": "ELocationID", "doctype": "DocType",
    "booktitle": "BookTitle", "medium": "Medium", "edition": "Edition", "publisherlocation": "PublisherLocation",
    "publishername": "PublisherName", "bookname": "BookName", "sortpubdate": "SortPubDate",
    "sortfirstauthor": "SortFirstAuthor", "vernaculartitle": "VernacularTitle",
}  # fmt: skip


def _summary_elements(record: Record) -> str:
    facts = _summary(record)
    lists = {
        "Authors": "".join(
            f"<Author>{_element('Name', name)}{_element('AuthType', kind)}<ClusterID></ClusterID></Author>"
            for name, kind in _contributors(record)
        ),
        "Lang": "".join(_element("string", code) for code in record.languages),
        "PubType": "".join(_element("flag", name) for name in record.publication_types),
        "ArticleIds": "".join(
            "<ArticleId>"
            + _element("IdType", kind)
            + _element("IdTypeN", str(number))
            + _element("Value", value)
            + "</ArticleId>"
            for kind, number, value in _article_ids(record)
        ),
        "History": "",
        "References": "",
        "Attributes": _element("flag", "Has Abstract") if record.has_abstract else "",
    }
    parts = [f"\n\t{_element(name, str(facts[key]))}" for key, name in _ELEMENTS.items()]
    return "".join(parts) + "".join(f"\n\t<{name}>{content}</{name}>" for name, content in lists.items()) + "\n"


def _docsum(record: Record) -> str:
    ids = "".join(_item(kind, "String", value) for kind, _, value in _article_ids(record) if kind != "pmcid")
    return (
        "<DocSum>\n\t"
        + _element("Id", record.pmid)
        + _item("PubDate", "Date", record.printed_date)
        + _item("EPubDate", "Date", "")
        + _item("Source", "String", record.abbreviation)
        + _list("AuthorList", "".join(_item("Author", "String", name) for name, _ in record.authors))
        + _item("LastAuthor", "String", record.authors[-1][0] if record.authors else "")
        + _item("Title", "String", escape(record.title))
        + _item("Volume", "String", record.volume)
        + _item("Issue", "String", record.issue)
        + _item("Pages", "String", record.pages)
        + _list("LangList", "".join(_item("Lang", "String", code) for code in record.languages))
        + _list("PubTypeList", "".join(_item("PubType", "String", name) for name in record.publication_types))
        + _list("ArticleIds", ids)
        + _item("DOI", "String", record.doi)
        + _item("HasAbstract", "Integer", "1" if record.has_abstract else "0")
        + _item("FullJournalName", "String", record.journal)
        + "\n</DocSum>"
    )


def _contributors(record: Record) -> list[tuple[str, str]]:
    """Name and kind; a book's editors stand before a chapter's authors."""
    return [*((name, "Editor") for name in record.editors), *record.authors]


def _article_ids(record: Record) -> list[tuple[str, int, str]]:
    ids = [("pubmed", 1, record.pmid)]
    if record.accession:
        ids.append(("bookaccession", 4, record.accession))
    if record.doi:
        ids.append(("doi", 3, record.doi))
    if record.pmcid:
        ids += [("pmc", 8, record.pmcid), ("pmcid", 5, f"pmc-id: {record.pmcid};")]
    return ids


def _item(name: str, kind: str, value: str) -> str:
    return f'\n\t<Item Name="{name}" Type="{kind}">{escape(value)}</Item>'


def _list(name: str, items: str) -> str:
    return f'\n\t<Item Name="{name}" Type="List">{items}</Item>'


def _remark_list(name: str, **remarks: Sequence[str]) -> list[str]:
    found = "".join(_element(kind, text) for kind, texts in remarks.items() for text in texts)
    return [f"<{name}>{found}</{name}>"] if found else []


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>"


def _document(doctype: str, root: str, body: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8" ?>\n{doctype}\n<{root}>{body}</{root}>\n'


def _dumped(answer: object) -> str:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
