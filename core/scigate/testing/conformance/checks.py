"""What is promised of every provider, each promise as one function over a bench."""

import asyncio
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from scigate.catalogue import LONGEST_NAME
from scigate.emulator import KINDS
from scigate.failure import CORE_REASONS
from scigate.lint import grade, poison
from scigate.lint.definition import sentences
from scigate.operation import NAME, Tool
from scigate.output import Page, Success
from scigate.testing.conformance.bench import Bench, Seen
from scigate.testing.conformance.report import Check

__all__ = [
    "answers",
    "batches",
    "cancellation",
    "caps",
    "definitions",
    "every_call",
    "faults",
    "marked",
    "pages",
    "reasons_raised",
]

Json = dict[str, Any]

GRADE: Final = 4.0
"""The least grade of a definition; `scigate lint` says what costs points."""

_CORE: Final = frozenset(reason.name for reason in CORE_REASONS)
_LONG: Final = 200
"""Characters of a text past which a rendition may cut it, or leave out bytes that are encoded in it."""


def definitions(check: Check, names: Check, first: Sequence[Json], second: Sequence[Json]) -> None:
    """Definitions are valid, alike in two processes' worth of openings, closed, well told and named."""
    from jsonschema import Draft202012Validator  # the extra `testing`
    from jsonschema.exceptions import SchemaError

    check.expect(json.dumps(first) == json.dumps(second), "definitions differ from one start to the next")
    for definition in first:
        name = str(definition["name"])
        for part in ("inputSchema", "outputSchema"):
            try:
                Draft202012Validator.check_schema(definition[part])
            except SchemaError as error:
                check.expect(False, f"{name}: {part} is no JSON Schema: {error.message}")
        closed = definition["inputSchema"].get("additionalProperties") is False
        check.expect(closed, f"{name}: inputSchema takes unknown arguments; derive the model from scigate.Input")
        fits = NAME.fullmatch(name) and len(name) <= LONGEST_NAME
        names.expect(fits, f"{name}: a name is lower-case words joined by _, {LONGEST_NAME} characters at most")
    for graded in grade(first):
        told = "; ".join(f"{finding.words}: {finding.instead}" for finding in graded.findings[:3])
        check.expect(graded.overall >= GRADE, f"{graded.tool}: its definition grades {graded.overall:.1f}: {told}")
    for found in poison(first):
        check.expect(False, f"{found.tool}: {found.kind} in {found.where}: {found.words}")


def every_call(
    seen: Seen,
    *,
    shape: Check,
    text: Check,
    annotations: Check,
    reasons: Check,
    secrets: Check,
    canary: str,
) -> None:
    """What holds for any call whatever: valid content, a text that agrees, true annotations, declared reasons."""
    from jsonschema import Draft202012Validator  # the extra `testing`

    tool = seen.tool
    errors: list[Any] = list(Draft202012Validator(seen.schema).iter_errors(seen.reply.structured))  # pyright: ignore[reportUnknownMemberType]
    problem = str(errors[0].message)[:200] if errors else None
    shape.expect(problem is None, f"{tool.name}: its answer is not of its outputSchema: {problem}")
    for sent in seen.sent:
        unsafe = tool.read_only and not sent.safe
        annotations.expect(
            not unsafe,
            f"{tool.name} is read-only and sends {sent.method}; say read_only=False, or scigate.safe in its extensions",
        )
    if seen.reason is not None:
        declared = _CORE | {reason.name for reason in tool.errors}
        reasons.expect(
            seen.reason in declared, f"{tool.name} fails with {seen.reason}, which its errors do not declare"
        )
        told = f"{tool.name} fails with internal_error for {json.dumps(seen.arguments, ensure_ascii=False)[:200]}"
        reasons.expect(seen.reason != "internal_error", told)
    else:
        missing = [leaf for leaf in _leaves(seen.body) if leaf not in _readable(seen.text)]
        text.expect(not missing, f"{tool.name}: not in its text: {', '.join(missing[:3])}"[:300])
    whole = json.dumps([seen.reply.structured, seen.reply.content, seen.reply.meta])
    secrets.expect(canary not in whole, f"{tool.name}: a secret of the settings is in its answer")


def marked(check: Check, seen: Seen) -> None:
    """An answer that came from an emulator says that it is sample data."""
    if seen.reply.meta["scigate/usage"]["requests"]:
        unmarked = f"{seen.tool.name}: sample data is not marked; let the emulator be a scigate.emulator.Emulator"
        check.expect("sample" in seen.text.lower(), unmarked)


async def pages(check: Check, bench: Bench, tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Small pages, walked by nextOffset, are the large page: each item once, in order."""
    if tool.limits.page_size is None or tool.limits.offset is None or not issubclass(tool.output_model, Page):
        return
    size, offset = _wire(tool, tool.limits.page_size[0]), _wire(tool, tool.limits.offset)
    whole = await bench.call(tool, {**arguments, size: 4, offset: 0})
    first = await bench.call(tool, {**arguments, size: 2, offset: 0})
    if not (isinstance(whole.outcome, Success) and isinstance(first.outcome, Success)):
        return
    _honest_totals(check, tool, first.body)
    step = first.body.get("nextOffset")
    if step is None:
        return
    second = await bench.call(tool, {**arguments, size: 2, offset: step})
    for name, items in whole.body.items():
        one, other = first.body.get(name), second.body.get(name)
        if isinstance(items, list) and isinstance(one, list) and isinstance(other, list) and one != items:
            walked = [*cast("list[Any]", one), *cast("list[Any]", other)]
            check.expect(walked == items[: len(walked)], f"{tool.name}: two pages of 2 are not the page of 4 in {name}")
    _honest_totals(check, tool, second.body)
    same = first.body.get("totalFound") == second.body.get("totalFound")
    check.expect(same or "totalFoundAtLeast" in first.body, f"{tool.name}: totalFound differs from page to page")


async def caps(check: Check, bench: Bench, tool: Tool, arguments: Mapping[str, Any]) -> None:
    """What is over a cap is served at the cap and said; what is over the schema's bound is refused."""
    sizes = [*([tool.limits.page_size] if tool.limits.page_size else []), *tool.limits.caps]
    for name, limit in sizes:
        argument = _wire(tool, name)
        over = await bench.call(tool, {**arguments, argument: limit.accepts + 1})
        check.expect(over.reason == "invalid_arguments", f"{tool.name}: {argument} {limit.accepts + 1} is not refused")
        if limit.cap < limit.accepts:
            most = await bench.call(tool, {**arguments, argument: limit.accepts})
            entries = {each["input"]: each for each in most.body.get("cappedInputs", [])}
            said = entries.get(argument, {})
            served = (said.get("requested"), said.get("served")) == (limit.accepts, limit.cap)
            check.expect(most.reason or served, f"{tool.name}: {argument} {limit.accepts} is not said to be capped")


async def batches(check: Check, bench: Bench, tool: Tool, arguments: Mapping[str, Any]) -> None:
    """What is over a batch's cap comes back unprocessed, in order: nothing twice, nothing dropped."""
    for name, limit in tool.limits.batches:
        argument = _wire(tool, name)
        known = arguments.get(argument)
        if not known or limit.cap >= limit.accepts:
            continue
        entries = [_another(known[0], index) for index in range(limit.cap + 2)]
        seen = await bench.call(tool, {**arguments, argument: entries})
        if isinstance(seen.outcome, Success):
            left = [str(each) for each in seen.body.get("unprocessed", [])]
            rest = [str(each) for each in entries[limit.cap :]]
            check.expect(left[-2:] == rest, f"{tool.name}: {argument} over its cap is not unprocessed")


async def answers(check: Check, bench: Bench, tool: Tool, arguments: Mapping[str, Any], healthy: Seen) -> list[Seen]:
    """A form that is declined or closed, and a client that cannot be asked, give a result or a failure that says so."""
    found: list[Seen] = []
    for action in ("decline", "cancel", None) if healthy.asked else ():
        seen = await bench.call(tool, arguments, action=action)
        met = f"meets {action}" if action else "cannot ask"
        check.expect(seen.reason != "internal_error", f"{tool.name}: internal_error when it {met}")
        found.append(seen)
    return found


async def faults(check: Check, bench: Bench, tool: Tool, arguments: Mapping[str, Any], healthy: Seen) -> list[Seen]:
    """Every fault of the emulator is a declared failure, or a result that says what is missing."""
    found: list[Seen] = []
    for kind in KINDS:
        bench.recover()
        fault = {"latency": "latency;seconds=0.01", "429": "429;retry-after=1", "503": "503;retry-after=1"}.get(
            kind, kind
        )
        seen = await bench.call(tool, arguments, fault)
        found.append(seen)
        if kind in ("latency", "throttle"):
            check.expect(not seen.reason, f"{tool.name} does not survive the fault {kind}: {seen.reason}")
        elif isinstance(seen.outcome, Success):
            check.expect(not _emptied(seen, healthy), f"{tool.name} gives an empty result under the fault {kind}")
        else:
            check.expect(
                seen.reason != "internal_error", f"{tool.name}: the fault {kind} is an internal_error; see map_error"
            )
    bench.recover()
    return found


async def cancellation(check: Check, bench: Bench, tool: Tool, arguments: Mapping[str, Any]) -> None:
    """A cancelled call leaves no request behind, and the next call is served."""
    bench.recover()
    bench.sending.clear()
    running = asyncio.create_task(bench.call(tool, arguments, "hang"))
    sending = asyncio.create_task(bench.sending.wait())
    await asyncio.wait([running, sending], return_when=asyncio.FIRST_COMPLETED)
    sending.cancel()
    if running.done():
        return
    running.cancel()
    await asyncio.wait([running])
    held = [status.name for status in bench.host.upstreams if status.in_flight or status.waiting]
    check.expect(not held, f"{tool.name}: after cancelling, a request to {', '.join(held)} goes on")
    after = await bench.call(tool, arguments)
    check.expect(not after.reason, f"{tool.name}: after cancelling, the next call fails with {after.reason}")


def reasons_raised(check: Check, tools: Sequence[Tool], sources: str, seen: set[str]) -> None:
    """Every declared reason is used somewhere besides its declaration; one that is not is a promise never kept."""
    for reason in {reason.name: reason for tool in tools for reason in tool.errors}.values():
        constants = re.findall(rf"^(\w+)\b[^=\n]*=\s*Reason\(\s*\"{reason.name}\"", sources, re.MULTILINE)
        uses = sum(len(re.findall(rf"\b{name}\b(?!\s*(:\s*\w+\s*)?=)", sources)) for name in set(constants))
        # One use is the list of a tool's errors.
        reachable = reason.name in seen or not constants or uses > 1
        check.expect(reachable, f"{reason.name} is declared and raised nowhere")
        if reason.name not in seen:
            check.notes.append(f"{reason.name} was not seen in this run")


def _honest_totals(check: Check, tool: Tool, body: Json) -> None:
    total, following, offset = body.get("totalFound"), body.get("nextOffset"), body.get("offset", 0)
    check.expect(following is None or following > offset, f"{tool.name}: nextOffset {following} does not go on")
    check.expect(total is None or following is None or following < total, f"{tool.name}: nextOffset is past totalFound")
    check.expect(not (total is not None and "totalFoundAtLeast" in body), f"{tool.name}: a total and a floor at once")


def _emptied(seen: Seen, healthy: Seen) -> bool:
    """Whether every list that had items is empty, and nothing says so."""
    usual = set(sentences(str(healthy.body.get("notice", ""))))
    notices = [each for each in sentences(str(seen.body.get("notice", ""))) if each not in usual]
    told = seen.body.get("unprocessed") or [each for each in notices if not each.startswith("Sample data")]
    lists = [name for name, value in healthy.body.items() if isinstance(value, list) and value]
    return bool(lists) and not told and not any(seen.body.get(name) for name in lists)


def _another(value: Any, index: int) -> Any:
    """A value of the same kind, other for each index: a provider may look the same one up once."""
    if isinstance(value, int):
        return value + index
    return f"{value}{index}" if isinstance(value, str) and index else value


def _wire(tool: Tool, name: str) -> str:
    return tool.input_model.model_fields[name].alias or name


def _leaves(value: object) -> Iterator[str]:
    """Every fact of a result as the text should have it; long texts and encoded bytes are left out."""
    if isinstance(value, Mapping):
        for inner in cast("Mapping[str, object]", value).values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from _leaves(inner)
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif value is not None and len(leaf := _shown(str(value))) <= _LONG:
        yield leaf


def _readable(text: str) -> str:
    """The text as it is shown: without quote marks, backslashes and repeated white space."""
    unquoted = re.sub(r"^\s*> ?", "", text, flags=re.MULTILINE)
    return _shown(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", unquoted))


def _shown(text: str) -> str:
    """What a person sees: without characters that show nothing, and with one space for any white space."""
    return " ".join("".join(each for each in text if each.isspace() or unicodedata.category(each)[0] != "C").split())
