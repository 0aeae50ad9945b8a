"""The prompt `research_plan`: a literature-grounded plan for a piece of biomedical research."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field
from scigate import Input, prompt


class ResearchPlan(Input):
    """What is to be found out."""

    title: str = Field(min_length=1, description="Working title.")
    goal: str = Field(min_length=1, description="The question, or what is to be shown.")
    keywords: str = Field(min_length=1, description="Terms separated by commas.")
    organism: str | None = Field(default=None, description="Species or model system.")
    include_agent_prompts: Literal["true", "false"] = Field(
        default="false", description="true adds a line of guidance for the assistant to each part."
    )


@dataclass(frozen=True)
class _Part:
    heading: str
    steps: tuple[str, ...]
    guidance: str


_PHASES: Final[tuple[tuple[str, tuple[_Part, ...]], ...]] = (
    (
        "Phase 1: conception and planning",
        (
            _Part(
                "Hypothesis",
                (
                    "State one hypothesis that an experiment could refute.",
                    "Name what would be observed if it were wrong.",
                ),
                "Ask for what is missing before you go on; do not fill gaps with guesses.",
            ),
            _Part(
                "Literature review",
                (
                    "List what is established, what is disputed, and who disputes it.",
                    "Name the gap that this work fills, with the papers that show it.",
                ),
                "Find the headings of the keywords with pubmed_lookup_mesh, then search with pubmed_search_articles; "
                "cite a PMID for every claim, and say where nothing was found.",
            ),
            _Part(
                "Design",
                (
                    "Choose design, controls, outcome measures and sample size, each with its reason.",
                    "List ethical approvals and what could stop the study.",
                ),
                "Look for the closest published design with pubmed_search_articles and say what you do differently.",
            ),
        ),
    ),
    (
        "Phase 2: data collection and processing",
        (
            _Part(
                "Collection",
                (
                    "Write the protocol: materials, measurements, units, order, blinding.",
                    "Say where raw data are kept.",
                ),
                "Name reagents and instruments only where a source supports the choice.",
            ),
            _Part(
                "Quality control",
                (
                    "Set criteria for exclusion before the first measurement.",
                    "Plan calibration, replicates and audits.",
                ),
                "Search for known artefacts of each method with pubmed_search_articles.",
            ),
        ),
    ),
    (
        "Phase 3: analysis and interpretation",
        (
            _Part(
                "Analysis",
                (
                    "Fix the main analysis, the corrections for multiple tests and the treatment of missing data.",
                    "Separate confirmatory from exploratory questions.",
                ),
                "Give formulas or code, and state assumptions so that they can be checked.",
            ),
            _Part(
                "Interpretation",
                ("Set the result against the hypothesis and against each earlier finding.", "List its limits."),
                "Look for contrary evidence with pubmed_search_articles before you conclude.",
            ),
        ),
    ),
    (
        "Phase 4: dissemination",
        (
            _Part(
                "Manuscript and data",
                ("Choose the reporting guideline, the journal and the repository.", "Plan authorship and preprint."),
                "Check with pubmed_search_articles which journals carry this subject.",
            ),
            _Part(
                "Review and next steps",
                ("Anticipate what reviewers will doubt.", "Name the next experiment for each possible outcome."),
                "Argue the reviewer's side first.",
            ),
        ),
    ),
)


@prompt("research_plan", title="Research Plan")
def research_plan(args: ResearchPlan) -> str:
    """A plan for biomedical research in four phases, grounded in the literature."""
    return "\n".join(_lines(args))


def _lines(args: ResearchPlan) -> Iterator[str]:
    keywords = ", ".join(filter(None, (word.strip() for word in args.keywords.split(","))))
    yield "Act as a critical planner of biomedical research. Ground each statement in PubMed by its tools, and fill in"
    yield "the plan below part by part."
    yield f"\n# Research plan: {_line(args.title)}\n"
    yield f"- Goal: {_line(args.goal)}"
    yield f"- Keywords: {keywords or 'Not specified'}"
    yield f"- Organism: {_line(args.organism or '') or 'Not specified'}"
    for phase, parts in _PHASES:
        yield f"\n## {phase}"
        for part in parts:
            yield f"\n### {part.heading}\n"
            yield from (f"- {step}" for step in part.steps)
            if args.include_agent_prompts == "true":
                yield f"\n> {part.guidance}"


def _line(text: str) -> str:
    return " ".join(text.split())
