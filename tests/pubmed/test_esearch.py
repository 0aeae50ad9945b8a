"""Reading ESearch."""

import pytest
from scigate_pubmed.errors import NcbiUnreadable
from scigate_pubmed.esearch import SearchAnswer, parse_search


def parsed(result: object, *, offset: int = 0, asked: int = 20) -> SearchAnswer:
    return parse_search({"esearchresult": result}, offset=offset, asked=asked)


def test_count_and_ids_are_read() -> None:
    """Counts are text on the wire."""
    answer = parsed({"count": "412", "idlist": ["2", "1"]})
    assert (answer.count, answer.ids) == (412, ("2", "1"))


@pytest.mark.parametrize("part", ["errorlist", "warninglist"])
def test_remarks_are_read_from_either_list_and_may_be_single(part: str) -> None:
    """One entry may come as a scalar, and a phrase of digits stays text."""
    remarks = {"phrasesnotfound": 123, "fieldsnotfound": ["foo"], "quotedphrasesnotfound": '"qqq www"'}
    answer = parsed({"count": "1", "idlist": ["1"], part: remarks})
    assert answer.unmatched == ("123", '"qqq www"')
    assert answer.unknown_fields == ("foo",)


@pytest.mark.parametrize(
    "result",
    [None, [], "x", {}, {"count": "", "idlist": []}, {"count": "3"}, {"idlist": []}, {"count": "3", "idlist": []}],
)
def test_an_answer_without_its_facts_is_not_an_empty_result(result: object) -> None:
    """A list that is empty although the count says otherwise is a fault, too."""
    with pytest.raises(NcbiUnreadable):
        parsed(result)


def test_an_empty_page_past_the_end_is_an_answer() -> None:
    """The count tells how far back the caller must go."""
    assert parsed({"count": "3", "idlist": []}, offset=5) == SearchAnswer(count=3, ids=())


def test_more_ids_than_asked_for_are_cut() -> None:
    """A page is never larger than its size."""
    assert parsed({"count": "9", "idlist": ["1", "2", "3"]}, asked=2).ids == ("1", "2")
