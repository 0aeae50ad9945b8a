"""What a call asks its client in the middle, and what the client has answered so far.

A handler that asks is run again from its start in each round, with the answers so far; nothing of it is kept meanwhile.
What the client carries from round to round is the state: the answers, each with the digest of its question. This module
knows neither the protocol's messages nor how the state is sealed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, Literal, NoReturn, TypeVar, cast

from pydantic import BaseModel, ValidationError

from scigate.failure import INPUT_TOO_LARGE, INPUT_UNAVAILABLE
from scigate.form import complaint, form_schema

__all__ = [
    "MAX_ROUNDS",
    "MAX_STATE",
    "Answer",
    "Asking",
    "Dialogue",
    "InputRequest",
    "InputRequired",
    "Transcript",
    "concluded",
]

Json = dict[str, Any]
Method = Literal["elicitation/create", "sampling/createMessage", "roots/list"]
ModelT = TypeVar("ModelT", bound=BaseModel)
ResultT = TypeVar("ResultT")

MAX_STATE: Final = 64 * 1024
"""Characters of the answers that a client carries from round to round."""

MAX_ROUNDS: Final = 10
"""Rounds of questions in one call; clients give up at about as many."""

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})

_TELLS: Final[Mapping[str, tuple[str, ...]]] = {
    "elicitation/create": ("action",),
    "sampling/createMessage": ("role", "content"),
    "roots/list": ("roots",),
}
"""The fields that the answer to each kind of question has."""


_ABOUT: Final = ("_meta", "resultType")
"""Fields of an answer that are about the message."""


@dataclass(frozen=True, slots=True)
class InputRequest:
    """One question to the client, as MCP has it.

    Attributes:
        method: The kind of question. Sampling and roots are deprecated by MCP 2026-07-28.
        params: Its parameters on the wire.
    """

    method: Method
    params: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    @classmethod
    def form(cls, message: str, model: type[BaseModel]) -> InputRequest:
        """A form for a person to fill in; never ask for a password or key by it, as MCP forbids that.

        Raises:
            TypeError: The model is not flat, or has a field that no form can ask for.
        """
        return cls("elicitation/create", {"mode": "form", "message": message, "requestedSchema": form_schema(model)})


@dataclass(frozen=True, slots=True)
class InputRequired:
    """A call's outcome when its client has to answer first.

    Attributes:
        requests: The questions by their keys.
        state: What the next round is to be given back, unread: `Dialogue.state`.
    """

    reason: ClassVar[str] = "input_required"

    requests: Mapping[str, InputRequest]
    state: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What a client sends along with a call, so that it can be asked.

    Attributes:
        capabilities: MCP's ClientCapabilities as the client declares them; None where no question reaches it.
        responses: Its answers to the questions of the round before, by their keys.
        state: The `InputRequired.state` of the round before; None in the first. It is believed: whoever takes it from a
            client has sealed it before.
    """

    capabilities: Mapping[str, Any] | None = None
    responses: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    state: str | None = None

    def lacks(self, requests: Mapping[str, InputRequest]) -> Json:
        """The capabilities that the client would have to declare for these questions; empty when it declares them."""
        declared = self.capabilities or {}
        needed: Json = {}
        for request in requests.values():
            for name, part in _needs(request):
                given = declared.get(name)
                if given is None or not (part is None or _has(given, part)):
                    needed.setdefault(name, {}).update({part: {}} if part else {})
        return needed


async def concluded(
    run: Callable[[Dialogue], Awaitable[ResultT | InputRequired]],
    capabilities: Mapping[str, Any] | None,
    answer: Callable[[str, InputRequest], Awaitable[Mapping[str, Any]]],
) -> ResultT:
    """Run what may ask, answer it, and run it again until it is done: for a client that is asked here and now.

    It ends, as a call asks in `MAX_ROUNDS` rounds at most.

    Args:
        run: One round.
        capabilities: What can be asked, as in `Dialogue`.
        answer: Answers one question, by its key.
    """
    dialogue = Dialogue(capabilities)
    while isinstance(outcome := await run(dialogue), InputRequired):
        responses = {key: await answer(key, request) for key, request in outcome.requests.items()}
        dialogue = Dialogue(capabilities, responses, outcome.state)
    return outcome


@dataclass(frozen=True)
class Answer(Generic[ModelT]):
    """What became of a form.

    Attributes:
        action: accept: it was filled in; decline: the person said no; cancel: it was closed without an answer.
        values: What was filled in; None unless it was accepted.
    """

    action: Literal["accept", "decline", "cancel"]
    values: ModelT | None = None


class Asking(BaseException):
    """Ends a handler's run, as there are questions to answer first.

    Not an `Exception`, like asyncio's `CancelledError`: a handler that catches those must not take it for a fault.
    """

    def __init__(self, required: InputRequired) -> None:
        super().__init__(", ".join(required.requests))
        self.required = required


class Transcript:
    """The questions and answers of one call, from its first round to this one."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue
        self._round, self._asked, self._answered = _read(dialogue.state)

    def ask(self, requests: Mapping[str, InputRequest]) -> dict[str, Json]:
        """The answers to questions by their keys, if all are there.

        An answer is good only for the question as it was asked: under another text the question is asked anew.

        Raises:
            Asking: One is missing.
            FailureError: The client cannot be asked.
        """
        answers = {key: self._answer(key, request) for key, request in requests.items()}
        missing = {key: request for key, request in requests.items() if answers[key] is None}
        if missing:
            self._raise(missing, missing)
        return {key: answer for key, answer in answers.items() if answer is not None}

    def elicit(self, key: str, message: str, model: type[ModelT]) -> Answer[ModelT]:
        """What a person has filled in; a form that does not fit the model is shown again, with what is wrong in it.

        Raises:
            Asking: There is no fitting answer yet.
            FailureError: The client cannot be asked.
            TypeError: The model is not flat.
        """
        request = InputRequest.form(message, model)
        answer = self.ask({key: request})[key]
        if answer["action"] != "accept":
            return Answer(answer["action"])
        values = _filled_in(answer.get("content") or {}, model)
        if isinstance(values, str):
            del self._answered[key]
            self._raise({key: InputRequest.form(f"{message}\n({values})", model)}, {key: request})
        return Answer("accept", values)

    def _answer(self, key: str, request: InputRequest) -> Json | None:
        digest = _digest(request)
        if key in self._answered:
            question, answer = self._answered[key]
            if question == digest:
                return answer
            del self._answered[key]
        # In its first request a client may answer ahead; later only what it was asked.
        if self._asked.get(key, digest if not self._round else None) != digest:
            return None
        answer = self._dialogue.responses.get(key)
        if not isinstance(answer, Mapping) or not all(name in answer for name in _TELLS[request.method]):
            return None
        told = {name: value for name, value in cast("Json", answer).items() if name not in _ABOUT}
        self._answered[key] = (digest, told)
        return told

    def _raise(self, shown: Mapping[str, InputRequest], asked: Mapping[str, InputRequest]) -> NoReturn:
        """Ask; `shown` may differ in its words from what was `asked`."""
        names = ", ".join(shown)
        if self._dialogue.capabilities is None:
            raise INPUT_UNAVAILABLE.error(f"It has to ask for {names}, and nothing can be asked of this client.")
        if self._round >= MAX_ROUNDS:
            raise INPUT_UNAVAILABLE.error(f"It has asked {MAX_ROUNDS} times, and would ask again for {names}.")
        if lacking := self._dialogue.lacks(shown):
            raise INPUT_UNAVAILABLE.error(
                f"It has to ask for {names}, and the client does not declare {', '.join(lacking)}.",
                requiredCapabilities=lacking,
            )
        digests = {key: _digest(request) for key, request in asked.items()}
        whole = {"round": self._round + 1, "asked": digests, "answered": self._answered}
        state = json.dumps(whole, separators=(",", ":"))
        if len(state) > MAX_STATE:
            raise INPUT_TOO_LARGE.error(f"The answers so far are {len(state):,} characters, the most is {MAX_STATE:,}.")
        raise Asking(InputRequired(shown, state))


def _read(state: str | None) -> tuple[int, dict[str, str], dict[str, tuple[str, Json]]]:
    """The number of rounds, the digests of what was asked last, and the answers with those of their questions.

    A state of another form is one that another version of the gateway has sealed: then all is asked anew.
    """
    if state is None:
        return 0, {}, {}
    try:
        # Not pydantic's parser, which refuses the half of a surrogate pair that an answer can hold.
        read = json.loads(state)
        answered = {key: (str(digest), dict(answer)) for key, (digest, answer) in read["answered"].items()}
        return int(read["round"]), dict(read["asked"]), answered
    except (ValueError, TypeError, KeyError, AttributeError):
        return 0, {}, {}


def _filled_in(content: Json, model: type[ModelT]) -> ModelT | str:
    """The values of a form, or what is wrong in it."""
    if not _is_writable(content):
        return "a text holds a character that no service takes"
    try:
        return model.model_validate(content)
    except ValidationError as error:
        return complaint(error)


def _is_writable(content: object) -> bool:
    """Whether all texts in it can be sent on: there is no NUL in them and no half of a surrogate pair."""
    text = json.dumps(content, ensure_ascii=False)
    return "\\u0000" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


def _digest(request: InputRequest) -> str:
    text = json.dumps([request.method, dict(request.params)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _needs(request: InputRequest) -> list[tuple[str, str | None]]:
    """The capabilities that a question takes, each with the part of it that has to be declared too."""
    match request.method:
        case "elicitation/create":
            return [("elicitation", "url" if request.params.get("mode") == "url" else "form")]
        case "sampling/createMessage":
            return [("sampling", "tools" if {"tools", "toolChoice"} & request.params.keys() else None)]
        case "roots/list":
            return [("roots", None)]


def _has(capability: object, part: str) -> bool:
    """Whether a capability is declared with a part of it; an elicitation that names no mode is by forms."""
    named: Mapping[str, object] = cast("Mapping[str, object]", capability) if isinstance(capability, Mapping) else {}
    return named.get(part) is not None or (part == "form" and named.get("url") is None)
