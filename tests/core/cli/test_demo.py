"""The demo's walk over examples and its words for an outcome."""

import pytest
from scigate.cli.demo import outcome, walk
from scigate.cli.gateway import Answer
from scigate.cli.terminal import Waiting
from scigate.operation import Example


class Pages:
    """A gateway whose tool has three pages."""

    def __init__(self) -> None:
        self.asked: list[dict[str, object]] = []

    async def definitions(self) -> list[dict[str, object]]:
        return []

    async def call(self, tool: str, arguments: dict[str, object], progress: object = None) -> Answer:
        self.asked.append(dict(arguments))
        offset = arguments.get("offset", 0)
        following = {"nextOffset": offset + 2} if offset < 4 else {}
        return Answer({"cids": [1, 2], **following}, "", False, {"scigate/usage": {"requests": 1}})


@pytest.mark.parametrize(("pages", "offsets"), [(1, [0]), (2, [0, 2]), (9, [0, 2, 4])])
async def test_an_example_is_followed_to_its_next_pages(pages: int, offsets: list[int]) -> None:
    """As many pages as the example says, or as there are; last comes a misspelt argument."""
    gateway = Pages()
    steps = await walk([Example(title="t", tool="x", arguments={"q": 1}, pages=pages)], gateway, Waiting(""))
    assert [asked.get("offset", 0) for asked in gateway.asked[:-1]] == offsets
    assert gateway.asked[-1] == {"qx": 1}
    assert [step.title for step in steps[:2]] == ["t", "... page 2" if pages > 1 else "A misspelt argument"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"cids": [1, 2], "totalFound": 4321, "nextOffset": 2}, "2 cids; 4,321 in all; next page at 2"),
        ({"cids": [1], "totalFoundAtLeast": 10000}, "1 cids; at least 10,000 in all"),
        (
            {
                "found": [1],
                "unprocessed": ["a", "b"],
                "cappedInputs": [{"input": "names", "requested": 3, "served": 1, "unprocessed": 2}],
            },
            "1 found; names: 3 asked, 1 served; 2 left unprocessed",
        ),
        ({"cid": 2244, "title": "Aspirin", "provenance": {"mode": "live"}}, "cid: 2244; title: Aspirin"),
        ({"step": "x", "data": {"molecules": [1, 2]}}, "2 molecules"),
    ],
)
def test_an_outcome_is_told_in_a_few_words(content: dict[str, object], words: str) -> None:
    """How much of how many, what was capped; a single record by its first facts, without its envelope."""
    assert outcome(Answer(content, "", False, {})) == words


def test_a_failure_is_told_with_its_hint() -> None:
    """The text that a model reads, in one line."""
    answer = Answer({"error": {}}, "Error (blank): q is blank.\nRecovery: Give q.", True, {})
    assert outcome(answer) == "Error (blank): q is blank. Recovery: Give q."
