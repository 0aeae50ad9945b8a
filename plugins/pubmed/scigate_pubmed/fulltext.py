"""`pubmed_fetch_fulltext`: the text of articles, by section, from the first service that has it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator
from scigate import Call, Output, Record, Tool, tool

from scigate_pubmed.arguments import Arguments
from scigate_pubmed.europepmc_reasons import EUROPEPMC_REASONS
from scigate_pubmed.fulltext_budget import Budget, Fitted, Overflow, fitted, selected
from scigate_pubmed.fulltext_tiers import Outcome, Tier, Wanted, Why, look_for, wanted
from scigate_pubmed.idconv import IdType
from scigate_pubmed.jats import JatsArticle
from scigate_pubmed.jats import Section as JatsSection
from scigate_pubmed.reasons import INVALID_IDS, NCBI_REASONS
from scigate_pubmed.sources import Sources
from scigate_pubmed.unpaywall import UNPAYWALL_UNREACHABLE

_MOST: Final = 10
_MOST_CHARACTERS: Final = 1_000_000

Characters = Annotated[int, Field(ge=1, le=_MOST_CHARACTERS)]
Pmcid = Annotated[str, Field(pattern=r"^(?:[Pp][Mm][Cc])?\d+$")]
Pmid = Annotated[str, Field(pattern=r"^\d+$")]


class FetchFullText(Arguments):
    """Articles, by one kind of id."""

    pmcids: Annotated[list[Pmcid], Field(min_length=1, max_length=_MOST)] | None = None
    pmids: Annotated[list[Pmid], Field(min_length=1, max_length=_MOST)] | None = None
    dois: Annotated[list[Annotated[str, Field(min_length=3)]], Field(min_length=1, max_length=_MOST)] | None = None
    include_references: bool = False
    max_sections: Annotated[int, Field(ge=1, le=50)] | None = None
    sections: list[str] | None = Field(None, description='Words of their titles, as "method".')
    max_characters: Characters | None = Field(None, description="Per article.")
    max_characters_per_section: Characters | None = None
    overflow_mode: Overflow = Field("truncate", description="outline: an even share for each section.")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [name for name in ("pmcids", "pmids", "dois") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of pmcids, pmids and dois, not {' and '.join(given) or 'none'}")
        return self

    @property
    def asked(self) -> list[Wanted]:
        """The articles, each once."""
        if self.pmcids is not None:
            return wanted(self.pmcids, "pmcid")
        return wanted(self.pmids, "pmid") if self.pmids is not None else wanted(self.dois or [], "doi")


class Contributor(Record):
    """A person or a group."""

    last_name: str | None = None
    given_names: str | None = None
    collective_name: str | None = None


class Issue(Record):
    """Where it was published."""

    title: str | None = None
    issn: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None


class Published(Record):
    """A date."""

    year: str | None = None
    month: str | None = None
    day: str | None = None


class Subsection(Record):
    """A section's section, with all that is nested in it."""

    title: str | None = None
    label: str | None = None
    text: str


class Section(Subsection):
    """A section of the body."""

    subsections: list[Subsection] | None = None


class Cited(Record):
    """An entry of the reference list."""

    id: str | None = None
    label: str | None = None
    citation: str


class FullText(Record):
    """An article with its text. Tables, figures and formulas are marked in brackets where they stood."""

    source: Literal["pmc"]
    via_source: Literal["pmc", "europepmc"]
    pmc_id: str | None = None
    pmc_url: str | None = None
    pmid: str | None = None
    pubmed_url: str | None = None
    doi: str | None = None
    title: str | None = None
    abstract: str | None = None
    authors: list[Contributor] | None = None
    affiliations: list[str] | None = None
    journal: Issue | None = None
    keywords: list[str] | None = None
    article_type: str | None = None
    publication_date: Published | None = None
    sections: list[Section]
    references: list[Cited] | None = None
    epmc_id: str | None = None
    epmc_source: str | None = None


class Tried(Record):
    """One place where the text was looked for."""

    tier: Tier
    outcome: Outcome
    detail: str | None = None


class FreeCopy(Record):
    """Where Unpaywall says that the article can be read freely; the gateway does not fetch it."""

    url: str
    pdf_url: str | None = None
    license: str | None = None
    host_type: str | None = None
    version: str | None = None


class Unavailable(Record):
    """An id without text."""

    id: str
    id_type: IdType
    reason: Why
    tried_tiers: list[Tried]
    open_copy: FreeCopy | None = None


class CutSection(Record):
    """The account of one section."""

    title: str | None = None
    original_characters: int
    returned_characters: int
    truncated: bool


class CutArticle(Record):
    """The account of one shortened article."""

    id: str
    source: Literal["pmc"]
    original_characters: int
    returned_characters: int
    sections: list[CutSection] | None = None


class Truncation(Record):
    """What a budget took away, over the shortened articles."""

    mode: Overflow
    max_characters: int | None = None
    max_characters_per_section: int | None = None
    original_characters: int
    returned_characters: int
    omitted_sections: int
    articles: list[CutArticle]


class FullTexts(Output):
    """Articles with text, and ids without."""

    articles: list[FullText]
    total_returned: int
    unavailable: list[Unavailable] | None = None
    truncation: Truncation | None = None


@tool(
    "pubmed_fetch_fulltext",
    title="Pubmed Fetch Fulltext",
    errors=[*NCBI_REASONS, INVALID_IDS, *EUROPEPMC_REASONS, UNPAYWALL_UNREACHABLE],
)
async def fetch_fulltext(args: FetchFullText, sources: Sources, call: Call) -> FullTexts:
    """Get the full text of up to 10 articles by section, by exactly one of pmcids, pmids or dois.

    PMC is asked, then Europe PMC, then Unpaywall for the address of an open copy, which is told and not fetched.
    Bound long texts by sections or maxCharacters. For ids without text, gives every place tried. For abstracts use
    pubmed_fetch_articles. Two requests, then up to four for each id that PMC lacks.
    """
    ones = args.asked
    await look_for(ones, sources, call)
    found = [(one, one.article) for one in ones if one.article is not None]
    missing = [one for one in ones if one.article is None]
    if not found and all(one.unanswered for one in missing):
        # Nobody could answer: that is a failure, not an empty result.
        raise missing[0].errors[0]
    budget = Budget(args.max_characters, args.max_characters_per_section, args.overflow_mode)
    kept = [(one, article, _fit(article, args, budget)) for one, article in found]
    truncation = _truncation(kept, budget)
    for sentence in _notices(args, kept, missing, truncation):
        call.notice(sentence)
    return FullTexts(
        articles=[_full_text(one, article, fit.sections, args.include_references) for one, article, fit in kept],
        total_returned=len(kept),
        unavailable=[_unavailable(one) for one in missing] or None,
        truncation=truncation,
    )


_ALL_TIERS: Final = (
    "PMC is asked, then Europe PMC, then Unpaywall for the address of an open copy, which is told and not fetched."
)


def fulltext_tool(*, europepmc: bool, unpaywall: bool) -> Tool:
    """The tool with a description that names only the services that this gateway asks."""
    tiers = ["PMC is asked"]
    if europepmc:
        tiers.append("then Europe PMC")
    if unpaywall:
        tiers.append("then Unpaywall for the address of an open copy, which is told and not fetched")
    described = fetch_fulltext.description.replace(_ALL_TIERS, ", ".join(tiers) + ".")
    return replace(fetch_fulltext, description=described)


Kept = tuple[Wanted, JatsArticle, Fitted]


def _fit(article: JatsArticle, args: FetchFullText, budget: Budget) -> Fitted:
    return fitted(selected(article.sections, args.sections or [], args.max_sections), budget)


def _full_text(one: Wanted, article: JatsArticle, sections: Sequence[JatsSection], references: bool) -> FullText:
    pmcid, pmid = article.pmcid or one.pmcid, article.pmid or one.pmid
    year, month, day = article.date
    record = one.record if one.via == "europepmc" else None
    journal = Issue(
        title=article.journal or None,
        issn=article.issn or None,
        volume=article.volume or None,
        issue=article.issue or None,
        pages=article.pages or None,
    )
    return FullText(
        source="pmc",
        via_source="europepmc" if one.via == "europepmc" else "pmc",
        pmc_id=pmcid or None,
        pmc_url=f"https://www.ncbi.nlm.nih.gov/pmc/articles/{pmcid}/" if pmcid else None,
        pmid=pmid or None,
        pubmed_url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else None,
        doi=article.doi or one.doi or None,
        title=article.title or None,
        abstract=article.abstract or None,
        authors=[
            Contributor(last_name=who.family or None, given_names=who.given or None, collective_name=who.group or None)
            for who in article.authors
        ]
        or None,
        affiliations=list(article.affiliations) or None,
        journal=journal if journal.model_dump(exclude_none=True) else None,
        keywords=list(article.keywords) or None,
        article_type=article.article_type or None,
        publication_date=Published(year=year, month=month or None, day=day or None) if year else None,
        sections=[_section(section) for section in sections],
        references=[
            Cited(id=entry.id or None, label=entry.label or None, citation=entry.citation)
            for entry in article.references
        ]
        or None
        if references
        else None,
        epmc_id=record.id if record else None,
        epmc_source=record.source if record else None,
    )


def _section(section: JatsSection) -> Section:
    return Section(
        title=section.title or None,
        label=section.label or None,
        text=section.text,
        subsections=[
            Subsection(title=inner.title or None, label=inner.label or None, text=inner.text)
            for inner in section.subsections
        ]
        or None,
    )


def _unavailable(one: Wanted) -> Unavailable:
    copy = one.copy
    return Unavailable(
        id=one.id,
        id_type=one.kind,
        reason=one.why,
        tried_tiers=[
            Tried(tier=attempt.tier, outcome=attempt.outcome, detail=attempt.detail or None) for attempt in one.attempts
        ],
        open_copy=None
        if copy is None
        else FreeCopy(
            url=copy.url,
            pdf_url=copy.pdf_url or None,
            license=copy.licence or None,
            host_type=copy.host or None,
            version=copy.version or None,
        ),
    )


def _truncation(kept: Sequence[Kept], budget: Budget) -> Truncation | None:
    """The account of what the budget took away; None when it took nothing."""
    shortened = [(_name(one, article), fit) for one, article, fit in kept if fit.after < fit.before]
    if not shortened:
        return None
    return Truncation(
        mode=budget.overflow,
        max_characters=budget.article,
        max_characters_per_section=budget.section,
        original_characters=sum(fit.before for _, fit in shortened),
        returned_characters=sum(fit.after for _, fit in shortened),
        omitted_sections=sum(fit.omitted for _, fit in shortened),
        articles=[
            CutArticle(
                id=name,
                source="pmc",
                original_characters=fit.before,
                returned_characters=fit.after,
                sections=[
                    CutSection(
                        title=cut.title or None,
                        original_characters=cut.before,
                        returned_characters=cut.after,
                        truncated=cut.after < cut.before,
                    )
                    for cut in fit.cuts
                ],
            )
            for name, fit in shortened
        ],
    )


def _name(one: Wanted, article: JatsArticle) -> str:
    """The first id that is known of an article."""
    return article.pmcid or one.pmcid or article.pmid or one.pmid or article.doi or one.doi or one.id


def _notices(
    args: FetchFullText, kept: Sequence[Kept], missing: Sequence[Wanted], truncation: Truncation | None
) -> Iterator[str]:
    """What a reader must know: sections not found, text held back, open copies, then what a budget cut."""
    if args.sections and (bare := [_name(one, article) for one, article, fit in kept if not fit.cuts]):
        headings = ", ".join(f'"{title}"' for title in args.sections)
        yield (
            f"No section of {', '.join(bare)} has {headings} in its title, so the body is empty: leave sections out, "
            "or try broader words (introduction, method, result, discussion)."
        )
    if held := [one.id for one in missing if any(attempt.outcome == "no-body" for attempt in one.attempts)]:
        yield (
            f"Of {', '.join(held)} only front matter and abstract can be had (see triedTiers): "
            "pubmed_fetch_articles gives the abstract."
        )
    if linked := [one.id for one in missing if one.copy is not None]:
        yield (
            f"An open copy of {', '.join(linked)} is elsewhere on the web: its address is in openCopy, "
            "and this tool does not fetch it."
        )
    if truncation is not None:
        yield _cut(args, truncation)


def _cut(args: FetchFullText, truncation: Truncation) -> str:
    bounds = {"maxCharacters": args.max_characters, "maxCharactersPerSection": args.max_characters_per_section}
    count, gone = len(truncation.articles), truncation.omitted_sections
    omitted = f", {gone} {'section' if gone == 1 else 'sections'} omitted" if gone else ""
    return (
        f"{truncation.returned_characters:,} of {truncation.original_characters:,} characters of "
        f"{count} {'article' if count == 1 else 'articles'} are given ({truncation.mode} mode{omitted}; "
        f"see truncation): raise {' or '.join(name for name, bound in bounds.items() if bound is not None)}, "
        "or ask for single sections."
    )
