"""The licence of UniProt's data, said with each result: a policy of a provider's own."""

from collections.abc import Awaitable, Callable

from scigate import Call, Failure, InputRequired, Policy, Success

NOTICE = "UniProt data: CC BY 4.0 (https://www.uniprot.org/help/license)."


Outcome = Success | Failure | InputRequired


async def say_licence(call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
    """Add the notice to results of this provider; a policy stands around the tools of all."""
    outcome = await proceed(call)
    if isinstance(outcome, Success) and call.operation.handler.__module__.startswith(__package__ or ""):
        call.notice(NOTICE)
    return outcome


LICENCE = Policy("uniprot-licence", say_licence, inside="cap")
