"""The run envelope: `{ok, data, meta, error}` around every outcome of this provider.

Above is the host, which asks it once at the end of a call; `step` says what is hashed.
"""

from __future__ import annotations

from typing import Any, Final

from scigate import Call, Failure, Rendered, Success, Tool, markdown, result_schema

from scigate_immunograph.recording import recorded_as
from scigate_immunograph.step import Step

__all__ = ["RunEnvelope"]

Json = dict[str, Any]

_FILES: Final = ("sdf", "pdbqt")
"""Members of `data` that are files for programs: in the text they stand as they are."""

_META: Final[Json] = {
    "type": "object",
    "description": "Which call this was, of which run, and hashes to compare it by.",
    "additionalProperties": {},
    "properties": {
        "requestId": {"type": "string", "description": "UUID of this call."},
        "runId": {"type": "string", "description": "The run named in the call; empty when it named none."},
        "toolName": {"type": "string", "description": "The tool that ran."},
        "toolVersion": {"type": "string", "description": "Version of the provider."},
        "startedAt": {"type": "string", "description": "UTC, ISO 8601 with milliseconds."},
        "completedAt": {"type": "string", "description": "UTC, ISO 8601 with milliseconds."},
        "durationMs": {"type": "number", "description": "Milliseconds between the two, by a monotonic clock."},
        "inputHash": {
            "type": "string",
            "description": "sha256: and the SHA-256 of the validated arguments without runId, defaults filled in, "
            "as canonical JSON (RFC 8785).",
        },
        "outputHash": {
            "type": "string",
            "description": "sha256: and the SHA-256 of data as canonical JSON (RFC 8785); absent on failure.",
        },
        "notice": {"type": "string", "description": "What to know about this result, and what to do next."},
    },
    "required": ["requestId", "runId", "toolName", "toolVersion", "startedAt", "inputHash"],
}

_ERROR: Final[Json] = {
    "type": "object",
    "description": "Why the call failed; absent when ok is true.",
    "additionalProperties": False,
    "properties": {
        "code": {"type": "string", "description": "Upper snake case, stable."},
        "category": {
            "type": "string",
            "description": "validation, not_found, policy, upstream, rate_limit, timeout or internal.",
        },
        "message": {"type": "string", "description": "What happened, with the value at fault."},
        "retryable": {"type": "boolean", "description": "Whether the same call can succeed later."},
        "details": {
            "type": "object",
            "description": "reason, recovery.hint (what to do next), retryAfterMs where known, and further facts.",
            "additionalProperties": {},
            "properties": {},
        },
    },
    "required": ["code", "category", "message", "retryable"],
}


class RunEnvelope:
    """Renders every outcome as a step of a run."""

    def output_schema(self, tool: Tool) -> Json:
        """The envelope with the members of the tool's own result listed in `data`."""
        result = result_schema(tool.output_model)
        data: Json = {
            "type": "object",
            "description": "The result; absent when ok is false.",
            "additionalProperties": {},
            # The notice stands in meta: it depends on the moment of the call, and data is hashed.
            "properties": {name: part for name, part in result.get("properties", {}).items() if name != "notice"},
        }
        schema: Json = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "ok": {"type": "boolean", "description": "Whether the tool ran successfully."},
                "data": data,
                "meta": _META,
                "error": _ERROR | {"description": f"{_ERROR['description']} Codes: {_codes(tool)}."},
            },
            "required": ["ok", "meta"],
            "additionalProperties": {},
        }
        return schema | ({"$defs": result["$defs"]} if "$defs" in result else {})

    def success(self, call: Call, success: Success) -> Rendered:
        """The step with its data."""
        return _rendered(recorded_as(call, success) or Step.of(call, success))

    def failure(self, call: Call, failure: Failure) -> Rendered:
        """The step with its error."""
        return _rendered(recorded_as(call, failure) or Step.of(call, failure))


def _codes(tool: Tool) -> str:
    own = [reason.name.upper() for reason in tool.errors]
    return ", ".join([*own, "INVALID_ARGUMENTS", "RATE_LIMITED", "TIMEOUT", "INTERNAL_ERROR"])


def _rendered(step: Step) -> Rendered:
    """The step and its text; times, the request's id and the version stand in the structured content alone."""
    content = step.envelope()
    if step.error is not None:
        error = dict(step.error)
        details = dict(error.pop("details"))
        hint = details.pop("recovery")["hint"]
        head = f"Error ({error['code']}, {error['category']}) in {_named(step)}"
        facts = markdown({"message": error["message"], "recovery": hint, "retryable": error["retryable"], **details})
        lines = [head, facts]
    else:
        data = step.data or {}
        lines = [_named(step), markdown({name: value for name, value in data.items() if name not in _FILES})]
        lines += [f"{name}:\n```\n{data[name].rstrip()}\n```" for name in _FILES if name in data]
        if step.notice:
            lines.append(markdown({"notice": step.notice}))
    hashes = {name: content["meta"][name] for name in ("inputHash", "outputHash") if name in content["meta"]}
    return Rendered(content, "\n".join([*lines, markdown(hashes)]))


def _named(step: Step) -> str:
    return markdown({"step": step.tool} | ({"runId": step.run_id} if step.run_id else {}))
