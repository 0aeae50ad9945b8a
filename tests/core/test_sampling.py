"""How many traces are begun."""

from math import inf

import pytest
from scigate.sampling import Traces
from scigate.testing.clock import ManualClock


async def test_no_more_are_begun_in_a_second_than_there_may_be() -> None:
    """What is left out is counted, and a second later there is room again."""
    clock = ManualClock()
    traces = Traces(2.0, clock)
    assert [traces.begin() for _ in range(4)] == [True, True, False, False]
    assert traces.left_out == 2
    await clock.advance(0.5)
    assert [traces.begin() for _ in range(2)] == [True, False]
    await clock.advance(60.0)
    assert [traces.begin() for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize(("per_s", "begun"), [(inf, 1000), (0.5, 1)], ids=["no bound", "one in two seconds"])
def test_the_bound_is_what_is_set(per_s: float, begun: int) -> None:
    """Without one each is traced; a bound under one in a second still lets the first begin."""
    traces = Traces(per_s, ManualClock())
    assert sum(traces.begin() for _ in range(1000)) == begun
