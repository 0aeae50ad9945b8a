"""The order among waiters."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st
from scigate.upstream.context import Priority
from scigate.upstream.fairness import FairQueue


@dataclass(frozen=True, eq=False)
class Member:
    caller: str
    number: int = 0
    priority: Priority = "interactive"


def drained(queue: FairQueue[Member]) -> list[Member]:
    return [member for member in iter(queue.pop, None) if member is not None]


def test_single_request_passes_a_batch() -> None:
    """One caller's thousand hold another's single request up by one turn."""
    queue: FairQueue[Member] = FairQueue()
    for number in range(1000):
        queue.push(Member("batch", number))
    queue.pop()
    single = Member("single")
    queue.push(single)
    assert queue.ahead_of("third", "interactive") == 2
    assert single in (queue.pop(), queue.pop())


def test_interactive_goes_first() -> None:
    """Background members wait until no interactive one does."""
    queue: FairQueue[Member] = FairQueue()
    members = [Member("a", 1, "background"), Member("b", 2), Member("a", 3), Member("b", 4, "background")]
    for member in members:
        queue.push(member)
    assert [member.number for member in drained(queue)] == [2, 3, 1, 4]


def test_who_left_takes_no_turn() -> None:
    """A member that left is passed over without costing its caller the turn."""
    queue: FairQueue[Member] = FairQueue()
    a1, a2, b1 = Member("a", 1), Member("a", 2), Member("b", 3)
    for member in (a1, a2, b1):
        queue.push(member)
    queue.leave(a1)
    queue.leave(a1)
    assert len(queue) == 2
    assert drained(queue) == [a2, b1]


callers = st.sampled_from("abc")
priorities: st.SearchStrategy[Priority] = st.sampled_from(["interactive", "background"])


@given(st.lists(st.tuples(callers, priorities, st.booleans()), max_size=40))
def test_everybody_who_stays_is_taken_once(plan: list[tuple[str, Priority, bool]]) -> None:
    """Each member that did not leave is popped once, first come first within its caller and priority."""
    queue: FairQueue[Member] = FairQueue()
    stayed: list[Member] = []
    for number, (caller, priority, leaves) in enumerate(plan):
        member = Member(caller, number, priority)
        queue.push(member)
        if leaves:
            queue.leave(member)
        else:
            stayed.append(member)
    popped = drained(queue)
    assert sorted(member.number for member in popped) == [member.number for member in stayed]
    for key in {(member.caller, member.priority) for member in popped}:
        numbers = [member.number for member in popped if (member.caller, member.priority) == key]
        assert numbers == sorted(numbers)


@given(st.lists(st.tuples(callers, priorities), max_size=30), callers, priorities)
def test_ahead_is_how_many_are_taken_before(plan: list[tuple[str, Priority]], caller: str, priority: Priority) -> None:
    """The number told to a newcomer is never less than what is then taken before it, and no more than a round more."""
    queue: FairQueue[Member] = FairQueue()
    for caller_before, priority_before in plan:
        queue.push(Member(caller_before, 0, priority_before))
    told = queue.ahead_of(caller, priority)
    newcomer = Member(caller, 1, priority)
    queue.push(newcomer)
    taken = drained(queue).index(newcomer)
    assert taken <= told <= taken + 2
