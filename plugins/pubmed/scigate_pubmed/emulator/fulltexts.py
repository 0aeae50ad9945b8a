"""Full text of the sample's articles in PMC, as JATS: facts of the record, and a body that says it is sample text."""

from xml.sax.saxutils import escape

from scigate_pubmed.emulator.corpus import Record

_SECTIONS = (
    ("Introduction", "This is sample text of scigate's emulator. The words of the article are not in it."),
    ("Methods", "Title, authors, journal, date and identifiers in front of this text are facts of PubMed."),
    ("Results", "A table and a formula would stand here: x<sup>2</sup> is all that there is."),
    ("Discussion", "Ask the live service for the article itself."),
)


def articleset(records: list[Record], missing: list[str]) -> str:
    """EFetch of PMC; an article that is not there has an error of its own, in lower case."""
    articles = "\n".join(article(one) for one in records)
    errors = "".join(
        f'<error id="{number}">The following PMCID is not available: {number}</error>' for number in missing
    )
    return f'<?xml version="1.0" ?>\n<pmc-articleset>{articles}{errors}</pmc-articleset>\n'


def article(record: Record) -> str:
    """One article as an element, without a document around it."""
    number = record.pmcid.removeprefix("PMC")
    ids = [("pmcid", f"PMC{number}"), ("pmid", record.pmid), ("doi", record.doi)]
    pages = record.pages.split("-")[0]
    front = (
        f"<journal-meta><journal-title-group>{_element('journal-title', record.journal)}</journal-title-group>"
        "</journal-meta><article-meta>"
        + "".join(f'<article-id pub-id-type="{kind}">{escape(value)}</article-id>' for kind, value in ids if value)
        + f"<title-group>{_element('article-title', record.title)}</title-group>"
        + f"<contrib-group>{''.join(_contributors(record))}</contrib-group>"
        + f'<pub-date pub-type="ppub"><year>{record.date[0]}</year></pub-date>'
        + _element("volume", record.volume)
        + _element("issue", record.issue)
        + _element("fpage", pages)
        + "<abstract><p>This is sample text of scigate's emulator and not the abstract of the article.</p></abstract>"
        + "</article-meta>"
    )
    body = "".join(f"<sec><title>{title}</title><p>{text}</p></sec>" for title, text in _SECTIONS)
    return f'<article article-type="research-article"><front>{front}</front><body>{body}</body></article>'


def _contributors(record: Record) -> list[str]:
    return [
        f'<contrib contrib-type="author">{_element("collab", name)}</contrib>'
        if kind == "CollectiveName"
        else f'<contrib contrib-type="author"><name>{_element("surname", surname)}'
        f"{_element('given-names', name[len(surname) :].strip())}</name></contrib>"
        for (name, kind), surname in zip(record.authors, record.surnames, strict=True)
    ]


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>"
