"""ECitMatch: which of the sample's records a line of journal, year, volume, page and author means."""

from collections.abc import Sequence

from scigate_pubmed.emulator.corpus import Record, plain


def matched(bdata: str, sample: Sequence[Record]) -> str:
    """The lines with their outcomes, in lower case but for the key, as ECitMatch gives them.

    It goes by journal, volume and page where they are there and tolerates a wrong year or author; a line without
    journal and year is left out of the answer.
    """
    answers = [_line(line.split("|"), sample) for line in bdata.replace("\n", "\r").split("\r") if line.strip()]
    return "\n".join(filter(None, answers)) + "\n"


def _line(fields: list[str], sample: Sequence[Record]) -> str:
    journal, year, volume, page, author, key = (field.strip() for field in (*fields, *[""] * 6)[:6])
    if not journal and not year:
        return ""
    outcome = _outcome(journal, year, volume, page, author, sample)
    return "|".join([*(field.lower() for field in (journal, year, volume, page, author)), key, outcome])


def _outcome(journal: str, year: str, volume: str, page: str, author: str, sample: Sequence[Record]) -> str:
    found = list(sample)
    if journal:
        found = [one for one in found if plain(journal) in (plain(one.abbreviation), plain(one.journal))]
        if not found:
            return "NOT_FOUND;INVALID_JOURNAL"
    if volume and page:
        found = [one for one in found if one.volume == volume and one.pages.split("-")[0] == page]
    else:
        found = [
            one
            for one in found
            if (not year or str(one.date[0]) == year)
            and (not volume or one.volume == volume)
            and (not page or one.pages.split("-")[0] == page)
            and (not author or any(plain(name).startswith(plain(author)) for name, _ in one.authors))
        ]
    if len(found) == 1:
        return found[0].pmid
    if not found:
        return "NOT_FOUND"
    return (
        f"AMBIGUOUS {','.join(one.pmid for one in found)}" if len(found) <= 5 else f"AMBIGUOUS ({len(found)} citations)"
    )
