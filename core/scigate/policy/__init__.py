"""The policies: what stands around every call, outermost first, one file each.

A policy is an async function `(call, proceed) -> outcome`: it may look at the call, change it, refuse it, pass it on
with `await proceed(call)`, and look at the outcome: a success, a failure, or that the client has to answer first. It
knows neither the wire nor the envelope nor any provider.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from scigate.call import Call
from scigate.dialogue import InputRequired
from scigate.failure import Failure
from scigate.metrics import Metrics
from scigate.output import Success
from scigate.policy.access import Access
from scigate.policy.admit import Admission
from scigate.policy.allowance import Allowances
from scigate.policy.asked import asking
from scigate.policy.cap import cap
from scigate.policy.deadline import deadline
from scigate.policy.disclose import disclose
from scigate.policy.page import page
from scigate.policy.record import Recorder
from scigate.policy.trace import answered, is_traced, noted, spans_are_kept, trace
from scigate.policy.validate import validate

__all__ = ["Outcome", "Policy", "PolicyFunction", "Proceed", "chain", "core_policies", "in_order"]

Outcome = Success | Failure | InputRequired
Proceed = Callable[[Call], Awaitable[Outcome]]
PolicyFunction = Callable[[Call, Proceed], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Policy:
    """A named policy and its place.

    Attributes:
        name: Unique name, for logs and for `inside` of others.
        run: The policy itself.
        inside: Name of the policy that it stands right inside of. `cap` is a good place for most: arguments are
            valid and within their caps there, and the deadline is not yet running out on the handler.
    """

    name: str
    run: PolicyFunction
    inside: str | None = None


def core_policies(
    calls_per_caller: int,
    *,
    metrics: Metrics | None = None,
    recorder: Recorder | None = None,
    allowances: Allowances | None = None,
    access: Access | None = None,
) -> list[Policy]:
    """Core's own policies in their order, those left out that are turned off.

    Args:
        calls_per_caller: The most calls that one caller may have in flight.
        metrics: Measures; None where nothing is measured.
        recorder: Tells the audit log; None where there is none.
        allowances: What each caller may ask; None for no bound.
        access: The rules; None where there are none.
    """
    # What is turned off is not in the chain, and costs nothing.
    return [
        Policy("trace", trace),
        *([Policy("measure", metrics.measure)] if metrics else []),
        *([Policy("record", recorder)] if recorder else []),
        Policy("disclose", disclose),
        Policy("admit", Admission(calls_per_caller)),
        *([Policy("allowance", allowances)] if allowances else []),
        *([Policy("access", access.to_tool)] if access else []),
        Policy("validate", validate),
        *([Policy("terms", access.with_arguments)] if access else []),
        Policy("cap", cap),
        Policy("deadline", deadline),
        Policy("page", page),
    ]


def in_order(core: Sequence[Policy], others: Iterable[Policy]) -> list[Policy]:
    """Put third parties' policies into their places among core's.

    Raises:
        ValueError: A policy's name is taken, or it stands inside one that does not exist.
    """
    order = list(core)
    for policy in others:
        names = [placed.name for placed in order]
        if policy.name in names:
            raise ValueError(f"policy {policy.name!r} is registered twice")
        inside = policy.inside or "cap"
        if inside not in names:
            raise ValueError(f"policy {policy.name!r} stands inside {inside!r}, which is none of {', '.join(names)}")
        order.insert(names.index(inside) + 1, replace(policy, run=asking(policy.run)))
    return order


def chain(policies: Sequence[Policy], handler: Proceed) -> Proceed:
    """Compose policies around a handler; the first is the outermost."""
    plain = _composed([policy.run for policy in policies], handler)
    if not spans_are_kept():
        return plain
    told = _composed([noted(policy.name, policy.run) for policy in policies], answered(handler))

    def run(call: Call) -> Awaitable[Outcome]:
        return (told if is_traced() else plain)(call)

    return run


def _composed(policies: Sequence[PolicyFunction], handler: Proceed) -> Proceed:
    step = handler
    for policy in reversed(policies):
        step = partial(_enter, policy, step)
    return step


def _enter(run: PolicyFunction, inner: Proceed, call: Call) -> Awaitable[Outcome]:
    return run(call, inner)
