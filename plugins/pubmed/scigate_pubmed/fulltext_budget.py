"""How much of an article is shown: sections by title, by number, and by a budget of characters.

Pure arithmetic on sections. Characters are those of the text alone, counted on what is returned; headings are free.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from scigate_pubmed.fulltext_excerpt import shortened
from scigate_pubmed.jats import Section

Overflow = Literal["truncate", "outline"]


@dataclass(frozen=True)
class Budget:
    """What a caller allows; None is no bound."""

    article: int | None = None
    section: int | None = None
    overflow: Overflow = "truncate"

    @property
    def bounded(self) -> bool:
        """Whether anything may have to be cut."""
        return self.article is not None or self.section is not None


@dataclass(frozen=True)
class Cut:
    """One section: its characters before and after."""

    title: str
    before: int
    after: int


@dataclass(frozen=True)
class Fitted:
    """An article's sections within the budget, with an account of every section there was."""

    sections: tuple[Section, ...]
    cuts: tuple[Cut, ...]

    @property
    def before(self) -> int:
        """Characters of all sections as they came."""
        return sum(cut.before for cut in self.cuts)

    @property
    def after(self) -> int:
        """Characters of all sections that are left."""
        return sum(cut.after for cut in self.cuts)

    @property
    def omitted(self) -> int:
        """How many sections are gone, heading and all."""
        return len(self.cuts) - len(self.sections)


def selected(sections: Sequence[Section], titles: Sequence[str], most: int | None) -> tuple[Section, ...]:
    """The first `most` sections whose title contains one of `titles` in any letter case; without titles, of all."""
    words = [word.casefold() for title in titles if (word := " ".join(title.split()))]
    kept = [one for one in sections if not words or any(word in one.title.casefold() for word in words)]
    return tuple(kept[:most])


def size(section: Section) -> int:
    """The characters of a section and its subsections."""
    return len(section.text) + sum(map(size, section.subsections))


def fitted(sections: Sequence[Section], budget: Budget) -> Fitted:
    """Cut the sections to the budget.

    `truncate` serves them in order until the budget is spent, and drops those that get nothing; `outline` shares it
    among all of them and keeps every heading.
    """
    sizes = [size(section) for section in sections]
    ceilings = [each if budget.section is None else min(each, budget.section) for each in sizes]
    if budget.article is None:
        shares = ceilings
    elif budget.overflow == "outline":
        shares = shared_out(ceilings, budget.article)
    else:
        shares = in_order(ceilings, budget.article)
    cut = [_shortened(section, share) for section, share in zip(sections, shares, strict=True)]
    cuts = tuple(Cut(one.title, before, size(one)) for one, before in zip(cut, sizes, strict=True))
    gone = [budget.overflow == "truncate" and share == 0 < before for share, before in zip(shares, sizes, strict=True)]
    return Fitted(tuple(one for one, dropped in zip(cut, gone, strict=True) if not dropped), cuts)


def in_order(wishes: Sequence[int], total: int) -> list[int]:
    """Each wish in turn, until the total is spent."""
    shares: list[int] = []
    for wish in wishes:
        shares.append(min(wish, total))
        total -= shares[-1]
    return shares


def shared_out(wishes: Sequence[int], total: int) -> list[int]:
    """The total in even shares, what one does not need given to those that can use it."""
    shares = [0] * len(wishes)
    while hungry := [at for at, wish in enumerate(wishes) if shares[at] < wish]:
        each = total // len(hungry)
        if total == 0:
            break
        for at in hungry:
            more = min(max(each, 1), wishes[at] - shares[at], total)
            shares[at] += more
            total -= more
    return shares


def _shortened(section: Section, most: int) -> Section:
    """A section's own text before its subsections, which keep their headings."""
    text = shortened(section.text, most)
    left = most - len(text) if text == section.text else 0
    below: list[Section] = []
    for inner in section.subsections:
        below.append(_shortened(inner, left))
        left = left - size(below[-1]) if size(below[-1]) == size(inner) else 0
    return replace(section, text=text, subsections=tuple(below))
