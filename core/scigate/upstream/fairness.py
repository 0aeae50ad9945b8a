"""Who is next: the order among requests that wait for a slot of one upstream. Pure; knows neither time nor quota."""

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from scigate.upstream.context import Priority


class Waiting(Protocol):
    """What the queue reads of a member."""

    @property
    def caller(self) -> str: ...
    @property
    def priority(self) -> Priority: ...


T = TypeVar("T", bound=Waiting)


class _Line(Generic[T]):
    """One caller's members, first come first; those that left stay in `members` until they are passed over."""

    __slots__ = ("members", "present")

    def __init__(self) -> None:
        self.members: deque[T] = deque()
        self.present = 0


class FairQueue(Generic[T]):
    """Callers take turns, one member each; interactive members go before all background ones.

    With k callers waiting, a caller's first member is taken after at most k - 1 others, however many those have.
    Members are compared by identity.
    """

    def __init__(self) -> None:
        self._lanes: dict[Priority, OrderedDict[str, _Line[T]]] = {
            "interactive": OrderedDict(),
            "background": OrderedDict(),
        }
        self._present: dict[int, T] = {}

    def __len__(self) -> int:
        return len(self._present)

    def __iter__(self) -> Iterator[T]:
        """Every member, in order of arrival; the queue may be changed meanwhile."""
        return iter(list(self._present.values()))

    def push(self, member: T) -> None:
        """Let a member queue behind its caller's others."""
        line = self._lanes[member.priority].setdefault(member.caller, _Line())
        line.members.append(member)
        line.present += 1
        self._present[id(member)] = member

    def pop(self) -> T | None:
        """Take out the member whose turn it is; None when nobody waits."""
        for lane in self._lanes.values():
            for caller, line in lane.items():
                member = self._first(line)
                self._forget(member)
                if caller in lane:
                    lane.move_to_end(caller)
                return member
        return None

    def leave(self, member: T) -> None:
        """Take a member out of turn; nothing when it is not in the queue."""
        if id(member) in self._present:
            self._forget(member)

    def ahead_of(self, caller: str, priority: Priority) -> int:
        """How many members would be taken before a new one, if nobody else came."""
        lane = self._lanes[priority]
        own = lane[caller].present if caller in lane else 0
        ahead = own + sum(min(line.present, own + 1) for other, line in lane.items() if other != caller)
        if priority == "background":
            ahead += sum(line.present for line in self._lanes["interactive"].values())
        return ahead

    def _first(self, line: _Line[T]) -> T:
        while True:
            member = line.members.popleft()
            if id(member) in self._present:
                return member

    def _forget(self, member: T) -> None:
        del self._present[id(member)]
        lane = self._lanes[member.priority]
        line = lane[member.caller]
        line.present -= 1
        if not line.present:
            del lane[member.caller]
