"""Where an article's full text is looked for: PMC, then Europe PMC, then Unpaywall, and what became of each try.

A tier that fails is noted and the next one asked; one id's misfortune is never another's. Above is the tool, below are
the clients of the services.
"""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeVar

import anyio
import httpx
from scigate import Call

from scigate_pubmed.document import document
from scigate_pubmed.errors import NcbiError, NcbiNotFound, NcbiUnavailable
from scigate_pubmed.europepmc import EuropePmc
from scigate_pubmed.europepmc_reasons import EuropePmcError
from scigate_pubmed.europepmc_records import EuropePmcRecord
from scigate_pubmed.idconv import IdType
from scigate_pubmed.jats import JatsArticle, articles, pmcid
from scigate_pubmed.sources import Sources
from scigate_pubmed.unpaywall import OpenCopy, Unpaywall, UnpaywallError, bare_doi

Tier = Literal["pmc", "europepmc", "unpaywall"]
Outcome = Literal["not-attempted", "miss", "no-fulltext", "no-body", "no-doi", "no-oa", "link-only", "service-error"]
Why = Literal[
    "not-found", "no-pmc-fallback-disabled", "no-epmc-fulltext", "no-body", "no-doi", "no-oa", "link-only",
    "service-error",
]  # fmt: skip

ResultT = TypeVar("ResultT")

_WHY: Final[dict[Outcome, Why]] = {
    "miss": "not-found",
    "no-fulltext": "no-epmc-fulltext",
    "no-body": "no-body",
    "no-doi": "no-doi",
    "no-oa": "no-oa",
    "link-only": "link-only",
    "service-error": "service-error",
}
# Every way in which a service can fail to answer; what remains is a fault of this code.
_NO_ANSWER: Final = (NcbiError, EuropePmcError, UnpaywallError, httpx.HTTPError)
# NCBI's retries can take a whole call; a share of what is left at its start leaves time to ask the others.
_CONVERTER_SHARE: Final = 0.3
_PMC_SHARE: Final = 0.5
_HELD_BACK: Final = "front matter and abstract only, the publisher holds the body back"


@dataclass(frozen=True)
class Attempt:
    """One tier, and what became of it."""

    tier: Tier
    outcome: Outcome
    detail: str = ""


@dataclass
class Wanted:
    """An article that is looked for, and what has been learnt of it; a name that is not known is empty."""

    id: str
    """As asked, PMCIDs with their prefix."""
    kind: IdType
    pmid: str = ""
    pmcid: str = ""
    doi: str = ""
    unconverted: str = ""
    """Why no PMCID is known."""
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    errors: list[Exception] = field(default_factory=list[Exception])
    article: JatsArticle | None = None
    record: EuropePmcRecord | None = None
    """The record of Europe PMC, where it was asked."""
    via: Tier = "pmc"
    copy: OpenCopy | None = None

    @property
    def why(self) -> Why:
        """The reason that the last tier asked gives; where another tier could not answer, no lack is certain."""
        asked: list[Outcome] = [attempt.outcome for attempt in self.attempts if attempt.outcome != "not-attempted"]
        if not asked:
            return "no-pmc-fallback-disabled"
        return "service-error" if "service-error" in asked and self.copy is None else _WHY[asked[-1]]

    @property
    def unanswered(self) -> bool:
        """Whether services were asked and not one of them answered."""
        silent = {"not-attempted", "service-error", "no-doi"}
        return bool(self.errors) and all(attempt.outcome in silent for attempt in self.attempts)

    def note(self, tier: Tier, outcome: Outcome, detail: str = "") -> None:
        """Write down what a tier had to say."""
        self.attempts.append(Attempt(tier, outcome, detail))

    def fail(self, tier: Tier, error: Exception, detail: str = "") -> None:
        """Write down that a tier gave no usable answer, and why."""
        self.errors.append(error)
        self.note(tier, "service-error", detail or "no usable answer")

    def take(self, article: JatsArticle | None, tier: Tier, otherwise: Outcome) -> None:
        """An answer of a tier: an article with a body ends the search."""
        if article is None:
            self.note(tier, otherwise)
        elif not article.sections:
            self.note(tier, "no-body", _HELD_BACK)
        else:
            self.article, self.via = article, tier


def wanted(ids: Sequence[str], kind: IdType) -> list[Wanted]:
    """What is looked for, each article once."""
    found: dict[str, Wanted] = {}
    for text in ids:
        match kind:
            case "pmcid":
                name = pmcid(text)
                one = Wanted(name, kind, pmcid=name)
            case "pmid":
                name = text.lstrip("0")
                one = Wanted(text, kind, pmid=name)
            case "doi":
                name = bare_doi(text).lower() or text
                one = Wanted(text, kind, doi=bare_doi(text))
        found.setdefault(name, one)
    return list(found.values())


async def look_for(ones: Sequence[Wanted], sources: Sources, call: Call) -> None:
    """Ask the tiers in turn for what is still without text; what is found stands in each `Wanted` afterwards."""
    await _convert([one for one in ones if one.kind != "pmcid"], sources, call)
    await _ask_pmc(ones, sources, call)
    europe, copies = sources.europepmc, sources.unpaywall
    if europe is not None:
        await call.each(_left(ones), lambda one: _ask_europe(one, europe))
    else:
        _skip(_left(ones), "europepmc", "switched off")
    if copies is not None:
        await _learn_dois(_left(ones), sources)
        asked = [one for one in _left(ones) if one.attempts[-1].tier != "unpaywall"]
        await call.each(asked, lambda one: _ask_unpaywall(one, copies))
    else:
        _skip(_left(ones), "unpaywall", "no e-mail address configured for it")


def _left(ones: Sequence[Wanted]) -> list[Wanted]:
    return [one for one in ones if one.article is None]


def _skip(ones: Sequence[Wanted], tier: Tier, detail: str) -> None:
    for one in ones:
        one.note(tier, "not-attempted", detail)


async def _within(call: Call, share: float, step: Awaitable[ResultT]) -> ResultT:
    """Await a step for a share of the call's remaining time.

    Raises:
        NcbiUnavailable: It took longer.
    """
    with anyio.move_on_after(call.remaining_s * share):
        return await step
    raise NcbiUnavailable("NCBI had not answered in its share of the call's time")


async def _convert(ones: Sequence[Wanted], sources: Sources, call: Call) -> None:
    """PMCIDs of PMIDs or DOIs from the ID converter: ELink, the other way to them, has outages of its own."""
    # A comma parts the converter's ids.
    names: dict[str, Wanted] = {name: one for one in ones if (name := one.pmid or one.doi) and "," not in name}
    for one in ones:
        one.unconverted = "no DOI" if one.kind == "doi" and not one.doi else "no counterpart in PMC"
    if not names:
        return
    try:
        known = await _within(call, _CONVERTER_SHARE, sources.converter.convert(list(names), ones[0].kind))
    except _NO_ANSWER as error:
        for one in names.values():
            one.errors.append(error)
            one.unconverted = "the ID converter gave no usable answer"
        return
    for name, one in names.items():
        if (record := known.get(name)) is not None and not record.error:
            one.pmcid, one.pmid, one.doi = record.pmcid, one.pmid or record.pmid, one.doi or record.doi


async def _ask_pmc(ones: Sequence[Wanted], sources: Sources, call: Call) -> None:
    """One request for all."""
    for one in ones:
        if not one.pmcid:
            one.note("pmc", "service-error" if one.errors else "not-attempted", one.unconverted)
    asked = [one for one in ones if one.pmcid]
    if not asked:
        return
    try:
        body = await _within(call, _PMC_SHARE, sources.entrez.full_texts([one.pmcid for one in asked]))
        found = articles(document("efetch", body))
    except NcbiNotFound:
        found = []
    except _NO_ANSWER as error:
        for one in asked:
            one.fail("pmc", error)
        return
    by_pmcid = {article.pmcid: article for article in found}
    for one in asked:
        # An article without a PMCID of its own can only be the one that was asked for.
        alone = found[0] if len(asked) == len(found) == 1 and not found[0].pmcid else None
        one.take(by_pmcid.get(one.pmcid, alone), "pmc", "miss")


async def _ask_europe(one: Wanted, europe: EuropePmc) -> None:
    query = _clause(one)
    if not query:
        one.note("europepmc", "not-attempted", "no identifier to search by")
        return
    try:
        page = await europe.search(query, page_size=1)
        one.record = next(iter(page.records), None)
        if one.record is None:
            one.note("europepmc", "miss")
            return
        one.pmid, one.doi = one.pmid or one.record.pmid, one.doi or one.record.doi
        name = one.record.pmcid or pmcid(one.record.id if one.record.source == "PMC" else "")
        article = await europe.full_text(name) if name else None
    except _NO_ANSWER as error:
        one.fail("europepmc", error)
        return
    one.take(article, "europepmc", "no-fulltext")


def _clause(one: Wanted) -> str:
    """The search for one id, in the forms that Europe PMC matches: numbers unquoted, DOIs quoted."""
    match one.kind:
        case "pmid":
            return f"EXT_ID:{one.pmid} AND SRC:MED"
        case "pmcid":
            return f"PMCID:{one.pmcid}"
        case "doi":
            doi = one.doi.replace("\\", "").replace('"', "")
            return f'DOI:"{doi}"' if doi else ""


async def _learn_dois(ones: Sequence[Wanted], sources: Sources) -> None:
    """DOIs of PubMed records that neither the converter nor Europe PMC knew."""
    unknown = [one for one in ones if one.pmid and not one.doi]
    if not unknown:
        return
    try:
        found = await sources.entrez.articles([one.pmid for one in unknown])
    except _NO_ANSWER as error:
        for one in unknown:
            one.fail("unpaywall", error, "PubMed could not be asked for the DOI")
        return
    dois = {article.pmid: article.doi for article in found.articles}
    for one in unknown:
        one.doi = dois.get(one.pmid) or ""


async def _ask_unpaywall(one: Wanted, copies: Unpaywall) -> None:
    doi = bare_doi(one.doi)
    if not doi:
        one.note("unpaywall", "no-doi")
        return
    try:
        one.copy = await copies.locate(doi)
    except _NO_ANSWER as error:
        one.fail("unpaywall", error)
        return
    if one.copy is None:
        one.note("unpaywall", "no-oa")
    else:
        one.note("unpaywall", "link-only", "an open copy is elsewhere on the web, see openCopy")
