"""One call on its way: who calls, with what, until when, and what was learnt underway.

Policies and handlers see the same `Call`. It knows nothing of the protocol that brought it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import anyio
from pydantic import BaseModel

from scigate.clock import Clock
from scigate.dialogue import Answer, Dialogue, InputRequest, Transcript
from scigate.failure import Failure
from scigate.output import CappedInput
from scigate.paging import PageWindow
from scigate.upstream.context import CURRENT, Demand, Usage
from scigate.upstream.errors import DeadlineExceeded, QuotaExhausted

if TYPE_CHECKING:
    from scigate.operation import Operation

__all__ = ["LOCAL", "Call", "Caller", "ProgressSink"]

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
ModelT = TypeVar("ModelT", bound=BaseModel)

ProgressSink = Callable[[float, float | None, str | None], Awaitable[None]]
"""Takes (done, total, message): `done` grows from call to call, `total` is in the same unit or None."""

_BATCH_RESERVE: Final = 0.15
"""Share of a call's remaining time that a batch leaves for the steps after it."""

_ENRICH_RESERVE: Final = 0.05
"""Share of a call's remaining time that an enriching step leaves for rendering what is there without it."""

_BATCH_WIDTH: Final = 32
"""Items of one batch under way at once; the upstream's own quota and concurrency are the real bound."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        id: Stable name for quotas, rules and the audit: `key:NAME` or `token:SUBJECT`; `local` on stdio and without
            authentication.
        kind: How the caller was recognised.
        scopes: What the key or the token is good for, in the issuer's words.
    """

    id: str
    kind: Literal["local", "key", "token"] = "local"
    scopes: frozenset[str] = frozenset()


LOCAL: Final = Caller("local")


async def _side_by_side(
    arguments: Sequence[tuple[int, ItemT]],
    step: Callable[[int, ItemT], Awaitable[None]],
    *,
    stop_when: Mapping[int, Exception],
) -> None:
    """Run a step for each pair of arguments, so many at once; the rest is cancelled when `stop_when` fills."""
    width = anyio.Semaphore(_BATCH_WIDTH)

    async def bounded(index: int, item: ItemT) -> None:
        async with width:
            await step(index, item)
        if stop_when:
            tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for index, item in arguments:
            tasks.start_soon(bounded, index, item)


def _unknown(error: Exception) -> Failure | None:
    return None


@dataclass(slots=True)
class Call:
    """A call of one tool (or the reading of one resource) by one caller.

    Attributes:
        id: Unique text, the same in logs, traces and results.
        operation: The tool or resource called.
        caller: Who calls.
        raw: The arguments as they came.
        arguments: The validated arguments, caps applied; None until the policy `validate` ran.
        clock: The clock of the deadline.
        started: `clock.monotonic()` at the start, in seconds.
        deadline: The latest `clock.monotonic()` at which an answer is of use, in seconds.
        usage: What the call has cost upstream so far.
        page: The page that was asked for; a handler cuts its items with it.
        capped: Inputs of which less is served than was asked for.
        unprocessed: Batch entries that are not served, in input order.
        notices: Sentences for the reader of the result, in order.
        failed: Whether the last step that is over, handler or policy, ended in a failure; kept only for traces.
        meaning: What an exception of the provider or of an upstream means, as a failure; None for a fault of code.
        rule: The rule that decided that the call may be made or not; None where there are no rules.
        dialogue: What the client sent along, so that it can be asked.
        state: What one provider's policy, handlers and envelope leave for each other, by names that begin with the
            provider's; core reads none of it.
    """

    id: str
    operation: Operation
    caller: Caller
    raw: Mapping[str, Any]
    clock: Clock
    started: float
    deadline: float
    usage: Usage
    arguments: Any = None
    page: PageWindow = field(default_factory=PageWindow)
    capped: list[CappedInput] = field(default_factory=list[CappedInput])
    unprocessed: list[str] = field(default_factory=list[str])
    notices: list[str] = field(default_factory=list[str])
    rule: str | None = None
    failed: bool = False
    meaning: Callable[[Exception], Failure | None] = _unknown
    progress_sink: ProgressSink | None = None
    dialogue: Dialogue = field(default_factory=Dialogue)
    transcript: Transcript | None = None
    state: dict[str, object] = field(default_factory=dict[str, object])

    @property
    def remaining_s(self) -> float:
        """Seconds until the deadline; negative past it."""
        return self.deadline - self.clock.monotonic()

    def notice(self, sentence: str) -> None:
        """Tell the reader of the result something; sentences are joined with a space, repeats dropped."""
        if sentence not in self.notices:
            self.notices.append(sentence)

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress to a client that asked for it; costs nothing otherwise."""
        if self.progress_sink is not None:
            await self.progress_sink(done, total, message)

    def may_ask(self, request: InputRequest) -> bool:
        """Whether the client can be asked this."""
        return self.dialogue.capabilities is not None and not self.dialogue.lacks({"": request})

    async def ask(self, requests: Mapping[str, InputRequest]) -> dict[str, dict[str, Any]]:
        """Ask the client, and get its answers as they are on the wire, by the keys of the questions.

        Where an answer is missing the run ends here; the client answers, and the handler runs again from its start, to
        get past this point. So whatever stands before an `ask` is done once in each round: what it asks an upstream
        comes from the cache then, but what has an effect belongs after it. Keys are unique within a call; an answer
        counts for the question as it was asked, and a question whose words have changed is asked anew.

        Raises:
            FailureError: The client cannot be asked (`input_unavailable`, see `may_ask`), or its answers are over 64
                KiB (`input_too_large`).
        """
        return self._opened().ask(requests)

    async def elicit(self, key: str, message: str, model: type[ModelT]) -> Answer[ModelT]:
        """Have a person fill in a form, with all that is said of `ask`.

        Args:
            key: Unique within a call.
            message: What the person reads above the form.
            model: The form: a flat model of texts, numbers, truth values, choices of texts and lists of choices. What
                does not fit it is asked for again.

        Raises:
            FailureError: As `ask`.
            TypeError: The model is not flat.
        """
        return self._opened().elicit(key, message, model)

    def _opened(self) -> Transcript:
        if self.transcript is None:
            self.transcript = Transcript(self.dialogue)
        return self.transcript

    async def each(
        self, items: Sequence[ItemT], function: Callable[[ItemT], Awaitable[ResultT]], *, apart: bool = False
    ) -> list[tuple[ItemT, ResultT]]:
        """Apply a function to the entries of a batch, concurrently, and keep what finishes in time.

        Entries for which the upstream's quota or the call's time does not suffice go to `unprocessed`, in input order,
        and the notice says why and when to ask again.

        Args:
            items: The entries.
            function: What is done for one of them.
            apart: Whether an upstream's fault costs its own entry alone, which is then set aside in the same way;
                otherwise it fails the call.

        Returns:
            Pairs of entry and result, in input order.

        Raises:
            Exception: Whatever `function` raises that is not set aside; the other entries are cancelled. When not one
                entry was served, what the first one raised.
        """
        demand = self._earlier(_BATCH_RESERVE)
        results: dict[int, ResultT] = {}
        aside: dict[int, Exception] = {}
        failed: dict[int, Exception] = {}
        done = 0

        async def one(index: int, item: ItemT) -> None:
            nonlocal done
            token = CURRENT.set(demand)
            try:
                results[index] = await function(item)
            except (QuotaExhausted, DeadlineExceeded) as error:
                aside[index] = error
            except Exception as error:  # noqa: BLE001  # handed on below, the first in input order
                (aside if apart and self.meaning(error) is not None else failed)[index] = error
            finally:
                CURRENT.reset(token)
            done += 1
            await self.progress(done, len(items))

        if len(items) == 1:
            await one(0, items[0])
        else:
            await _side_by_side(list(enumerate(items)), one, stop_when=failed)
        if failed or (aside and not results):
            causes = failed or aside
            raise causes[min(causes)]
        self._set_aside([(str(items[index]), aside[index]) for index in sorted(aside)])
        return [(items[index], results[index]) for index in sorted(results)]

    async def enrich(self, what: str, step: Awaitable[ResultT], otherwise: ResultT) -> ResultT:
        """Await a step that only adds to finished work; without it the result stands, and the notice says so.

        Args:
            what: What is missing then, as the subject of a sentence in the plural: "properties".
            step: The step; a fault of an upstream, or want of quota or time, is not raised further.
            otherwise: What to go on with then.
        """
        token = CURRENT.set(self._earlier(_ENRICH_RESERVE))
        try:
            return await step
        except Exception as error:
            failure = self.meaning(error)
            if failure is None or not failure.retryable:
                raise
            wait_ms = failure.retry_after_ms
            again = "" if wait_ms is None else f" in about {max(1, round(wait_ms / 1000))} s"
            self.notice(f"The {what} are left out ({failure.reason}). Ask for them again{again}.")
            return otherwise
        finally:
            CURRENT.reset(token)

    def _earlier(self, share: float) -> Demand:
        """This call's demand with a part of the remaining time kept back."""
        demand = CURRENT.get() or Demand(self.deadline, self.caller.id, usage=self.usage)
        return replace(demand, deadline=self.deadline - share * max(self.remaining_s, 0.0))

    def _set_aside(self, entries: list[tuple[str, Exception]]) -> None:
        """List entries of a batch as unprocessed, in input order, and say why."""
        if not entries:
            return
        # Entries over the cap are at the list's end already: those of this batch stand before them in input order.
        self.unprocessed[:0] = [name for name, _ in entries]
        for capped in self.capped:
            if capped.unprocessed is not None:
                capped.unprocessed += len(entries)
                capped.served -= len(entries)
        late = [error for _, error in entries if isinstance(error, QuotaExhausted | DeadlineExceeded)]
        if late:
            waits = [error.retry_after_s for error in late if isinstance(error, QuotaExhausted)]
            cause = "the upstream's quota leaves no turn" if waits else "there is no time"
            again = f" in about {max(1, round(max(waits)))} s" if waits else ""
            self.notice(
                f"{len(late)} entries were not looked up, {cause} for them before the deadline: "
                f"ask again for those in unprocessed{again}."
            )
        faults: dict[str, list[str]] = {}
        for name, error in entries:
            if error not in late and (failure := self.meaning(error)) is not None:
                faults.setdefault(failure.reason, []).append(name[:60])
        for reason, names in faults.items():
            listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
            self.notice(f"Not served, by a fault of the upstream ({reason}): {listed}. Ask again for them.")
