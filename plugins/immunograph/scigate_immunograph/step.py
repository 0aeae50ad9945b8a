"""One finished call as a step of a research run: what its envelope shows, and what is kept of it.

    inputHash   hash of the arguments as validated: every member of the input schema but `runId`, defaults filled in,
                optional ones that were not given left out, before any cap. Equal questions have equal hashes in every
                run. Arguments that were refused are hashed as they came, without `runId`; where they are no JSON that
                RFC 8785 can write, the hash is that of null.
    outputHash  hash of `data`, whole. What depends on the moment of the call (its time, its cost, the notice) stands
                in `meta`. A failure has none.

The hash itself is in `digest`.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Any, Final, Self

from pydantic import BaseModel
from scigate import Call, Failure, Success

from scigate_immunograph import reasons
from scigate_immunograph.digest import digest
from scigate_immunograph.run import LONGEST_RUN_ID, RUN_ID

__all__ = ["DISTRIBUTION", "Step", "timestamp"]

DISTRIBUTION: Final = "scigate-immunograph"

Json = dict[str, Any]


def timestamp(moment: datetime) -> str:
    """A moment in UTC, ISO 8601 with milliseconds and Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Step:
    """A call of this provider, finished.

    Attributes:
        request_id: UUID of the call; the id in the gateway's log.
        run_id: The run that it belongs to; "" when it names none.
        tool, version: What ran, and the version of this distribution.
        started_at, completed_at: UTC, ISO 8601 with milliseconds.
        duration_ms: From a monotonic clock.
        arguments: What `input_hash` is made of.
        input_hash, output_hash: As the module says; no output hash on a failure.
        data: The result, or None on a failure.
        error: The failure as it stands in the envelope, or None.
        notice: What is to be known of this call's result, or None.
    """

    request_id: str
    run_id: str
    tool: str
    version: str
    started_at: str
    completed_at: str
    duration_ms: float
    arguments: Json | None
    input_hash: str
    output_hash: str | None
    data: Json | None
    error: Json | None
    notice: str | None

    @classmethod
    def of(cls, call: Call, outcome: Success | Failure) -> Self:
        """The step that a call was; it ends now."""
        elapsed_s = max(0.0, call.clock.monotonic() - call.started)
        now = call.clock.now()
        arguments, input_hash = _hashed_input(call)
        data, error, notice = None, None, None
        if isinstance(outcome, Failure):
            error = _error(outcome)
        else:
            data = _json(outcome.output)
            notice = data.pop("notice", None)
        return cls(
            request_id=str(uuid.UUID(call.id)),
            run_id=_run_id(call.raw.get("runId")),
            tool=call.operation.name,
            version=version(DISTRIBUTION),
            started_at=timestamp(now - timedelta(seconds=elapsed_s)),
            completed_at=timestamp(now),
            duration_ms=round(elapsed_s * 1000, 3),
            arguments=arguments,
            input_hash=input_hash,
            output_hash=None if data is None else digest(data),
            data=data,
            error=error,
            notice=notice,
        )

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.error is None

    def envelope(self) -> Json:
        """The step on the wire: `{ok, data | error, meta}`."""
        meta: Json = {
            "requestId": self.request_id,
            "runId": self.run_id,
            "toolName": self.tool,
            "toolVersion": self.version,
            "startedAt": self.started_at,
            "completedAt": self.completed_at,
            "durationMs": self.duration_ms,
            "inputHash": self.input_hash,
        }
        if self.output_hash is not None:
            meta["outputHash"] = self.output_hash
        if self.notice is not None:
            meta["notice"] = self.notice
        content: Json = {"ok": self.ok}
        content |= {"data": self.data} if self.error is None else {"error": self.error}
        return {**content, "meta": meta}


def _run_id(given: object) -> str:
    """The run that a call names, also where its other arguments were refused."""
    return given if isinstance(given, str) and re.fullmatch(RUN_ID, given) and len(given) <= LONGEST_RUN_ID else ""


def _json(model: BaseModel) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _hashed_input(call: Call) -> tuple[Json | None, str]:
    given = {name: value for name, value in call.raw.items() if value is not None}
    if call.arguments is not None:
        # The call's own arguments are cut to what is served; the question is what was asked.
        arguments = _json(call.operation.input_model.model_validate(given))
        arguments.pop("runId", None)
        return arguments, digest(arguments)
    given.pop("runId", None)
    try:
        return None, digest(given)
    except (ValueError, TypeError, RecursionError):
        return None, digest(None)


def _error(failure: Failure) -> Json:
    details: Json = {"reason": failure.reason, "recovery": {"hint": failure.hint}}
    if failure.retry_after_ms is not None:
        details["retryAfterMs"] = failure.retry_after_ms
    return {
        "code": reasons.code(failure),
        "category": reasons.category(failure),
        "message": failure.message,
        "retryable": failure.retryable,
        "details": details | dict(failure.data),
    }
