"""Serve at the cap what was asked above it, and say so: page sizes are lowered, batches are cut."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from scigate.arguments import Batch, Cap, PageSize
from scigate.call import Call
from scigate.output import CappedInput

if TYPE_CHECKING:
    from scigate.policy import Outcome

__all__ = ["cap"]


async def cap(call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
    """Apply the caps of the input model, and open the call's page."""
    limits = call.operation.limits
    if limits.page_size is not None:
        call.page.size = _lower(call, *limits.page_size)
    for field, limit in limits.caps:
        _lower(call, field, limit)
    if limits.offset is not None:
        call.page.offset = getattr(call.arguments, limits.offset)
    for field, batch in limits.batches:
        _cut(call, field, batch)
    return await proceed(call)


def _lower(call: Call, field: str, limit: PageSize | Cap) -> int:
    requested: int | None = getattr(call.arguments, field)
    if requested is None:
        return limit.cap
    served = min(requested, limit.cap)
    if served < requested:
        setattr(call.arguments, field, served)
        call.capped.append(CappedInput(input=_wire_name(call, field), requested=requested, served=served))
    return served


def _cut(call: Call, field: str, batch: Batch) -> None:
    entries: list[object] | None = getattr(call.arguments, field)
    if entries is None or len(entries) <= batch.cap:
        return
    rest = [str(entry) for entry in entries[batch.cap :]]
    setattr(call.arguments, field, entries[: batch.cap])
    call.unprocessed.extend(rest)
    call.capped.append(
        CappedInput(input=_wire_name(call, field), requested=len(entries), served=batch.cap, unprocessed=len(rest))
    )


def _wire_name(call: Call, field: str) -> str:
    return call.operation.input_model.model_fields[field].alias or field
