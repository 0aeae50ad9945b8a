"""Turn raw arguments into the tool's input model, or say exactly what is wrong with them."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from scigate.call import Call
from scigate.failure import INVALID_ARGUMENTS, Failure

if TYPE_CHECKING:
    from scigate.policy import Outcome

__all__ = ["refusal", "validate"]

MAX_DEPTH: Final = 32
"""Nesting that no tool needs; deeper arguments are refused before anything walks them recursively."""

MAX_TEXT: Final = 100_000
"""Characters of one text: far over any query or structure, and little enough to be repeated in a result."""

_ESCAPE: Final = re.compile(r"\\u(?:0000|d[89a-f])")
"""How NUL and surrogates, paired or not, are written in JSON."""

_SHOWN: Final = 60
"""Characters of a refused value that are repeated to the caller."""

_LISTED: Final = 10
"""Problems that one failure names."""


async def validate(call: Call, proceed: Callable[[Call], Awaitable[Outcome]]) -> Outcome:
    """Check the arguments against the input model and hand the model on."""
    model = call.operation.input_model
    if (broken := _broken_text(call.raw)) is not None:
        return broken
    accepted = _names(model)
    try:
        # Null stands for "left out", but an argument that is not there is not there with null either.
        given = {name: value for name, value in call.raw.items() if value is not None or name not in accepted}
        call.arguments = model.model_validate(given)
    except ValidationError as error:
        return refusal(call.operation.name, model, error)
    return await proceed(call)


@cache
def _names(model: type[BaseModel]) -> tuple[str, ...]:
    """The arguments' names on the wire."""
    return tuple(field.alias or name for name, field in model.model_fields.items())


def refusal(name: str, model: type[BaseModel], error: ValidationError) -> Failure:
    """What is wrong with the arguments of the tool or prompt `name`, up to ten problems of them."""
    accepted = _names(model)
    details = error.errors(include_url=False)
    shown = [_problem(detail, accepted) for detail in details[:_LISTED]]
    more = f" (and {len(details) - _LISTED} more problems)" if len(details) > _LISTED else ""
    text = "; ".join(problem["problem"] for problem in shown) + more
    unknown = any(detail["type"] == "extra_forbidden" for detail in details)
    hint = f"{name} takes: {', '.join(accepted)}." if unknown or not accepted else None
    return INVALID_ARGUMENTS.failure(f"{text}.", hint=hint, errors=shown)


def _problem(detail: ErrorDetails, accepted: Sequence[str]) -> dict[str, str]:
    """One problem: `field`, `given` and `problem`, a sentence that names both and what is allowed."""
    field = ".".join(str(part) for part in detail["loc"]) or "arguments"
    if detail["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(detail["loc"][-1])[:_SHOWN], accepted, n=1, cutoff=0.5)
        meant = f" (did you mean {near[0]}?)" if near else ""
        return {"field": _short(field), "problem": f"{_short(field)} is not an argument{meant}"}
    if detail["type"] == "missing":
        return {"field": field, "problem": f"{field} is required"}
    given = _short(repr(detail["input"]))
    rule = detail["msg"][:1].lower() + detail["msg"][1:]
    return {"field": field, "given": given, "problem": f"{field}: {rule.removesuffix('.')}, {given} was given"}


def _short(text: str) -> str:
    # A lone surrogate cannot be sent back in UTF-8; it is shown as its escape.
    safe = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return safe if len(safe) <= _SHOWN else f"{safe[:_SHOWN]}... ({len(safe):,} characters)"


def _broken_text(raw: Mapping[str, Any]) -> Failure | None:
    """Refuse what no upstream can take: NUL, lone surrogates, and nesting beyond all use."""
    try:
        # Written as JSON they show, and looking there costs a tenth of walking the values.
        text = json.dumps(raw)
        if len(text) <= MAX_TEXT and _ESCAPE.search(text) is None and text.count("[") + text.count("{") <= MAX_DEPTH:
            return None
    except RecursionError:
        pass
    except ValueError:
        # Python writes no whole number of more than 4,300 digits.
        return INVALID_ARGUMENTS.failure("A number among the arguments has thousands of digits.")
    for path, text, depth in _texts(raw):
        field = _short(path)
        if depth > MAX_DEPTH:
            return INVALID_ARGUMENTS.failure(f"{field} is nested more than {MAX_DEPTH} levels deep.", field=field)
        if len(text) > MAX_TEXT:
            return INVALID_ARGUMENTS.failure(
                f"{field} is {len(text):,} characters long, the most is {MAX_TEXT:,}.", field=field
            )
        if "\0" in text:
            return INVALID_ARGUMENTS.failure(f"{field} holds a NUL character, which no upstream accepts.", field=field)
        if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
            return INVALID_ARGUMENTS.failure(
                f"{field} holds half of a surrogate pair, which is not a character.", field=field
            )
    return None


def _texts(raw: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Every text in the arguments, names of members included, with its path and depth; without recursion."""
    waiting: list[tuple[str, Any, int]] = [("arguments", raw, 0)]
    while waiting:
        path, value, depth = waiting.pop()
        if isinstance(value, str):
            yield path, value, depth
        elif depth > MAX_DEPTH:
            yield path, "", depth
        elif isinstance(value, Mapping):
            members = cast("Mapping[str, Any]", value)
            prefix = "" if depth == 0 else f"{path}."
            for name, item in members.items():
                # Cut here: a long name over many members would be copied for each of them.
                inner = f"{prefix}{name[:_SHOWN]}"
                yield inner, name, depth
                waiting.append((inner, item, depth + 1))
        elif isinstance(value, list):
            waiting += [(path, item, depth + 1) for item in cast("list[Any]", value)]
