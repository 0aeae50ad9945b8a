"""Failures and reasons as data."""

import pickle

import pytest
from scigate import Code, Failure, FailureError, Reason

UNKNOWN = Reason("unknown_sample", Code.NOT_FOUND, "no sample has the name", "Check name.", retryable=True)


def test_a_reason_makes_its_failure() -> None:
    """Code, name, hint and whether to retry are the reason's; the message and further facts are the case's."""
    assert UNKNOWN.failure("no sample A-1", asked="A-1") == Failure(
        Code.NOT_FOUND, "unknown_sample", "no sample A-1", "Check name.", retryable=True, data={"asked": "A-1"}
    )


def test_a_case_may_know_better_than_its_reason() -> None:
    """A hint of its own replaces the reason's; the time to retry is the case's alone."""
    failure = UNKNOWN.failure("none", hint="Ask for A-2.", retry_after_ms=1500)
    assert (failure.hint, failure.retry_after_ms) == ("Ask for A-2.", 1500)


def test_the_exception_carries_the_failure_and_says_it() -> None:
    """What a handler raises is what the caller is told."""
    with pytest.raises(FailureError, match=r"^unknown_sample: no sample A-1$") as caught:
        raise UNKNOWN.error("no sample A-1")
    assert caught.value.failure == UNKNOWN.failure("no sample A-1")


def test_a_failure_does_not_change_and_its_empty_data_is_shared_safely() -> None:
    """Two failures without data cannot write into each other."""
    failure = Failure(Code.NOT_FOUND, "r", "m", "h")
    with pytest.raises(AttributeError):
        failure.message = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        failure.data["key"] = 1  # type: ignore[index]


def test_codes_are_those_of_the_wire() -> None:
    """The numbers are part of the contract with clients."""
    assert {code.name: int(code) for code in Code} == {
        "INVALID_PARAMS": -32602,
        "INTERNAL_ERROR": -32603,
        "SERVICE_UNAVAILABLE": -32000,
        "NOT_FOUND": -32001,
        "RATE_LIMITED": -32003,
        "TIMEOUT": -32004,
        "FORBIDDEN": -32005,
        "UNAUTHORIZED": -32006,
        "VALIDATION_ERROR": -32007,
        "SERIALIZATION_ERROR": -32070,
    }
    assert pickle.loads(pickle.dumps(UNKNOWN)) == UNKNOWN
