"""A call that asks its client, from round to round, as the host sees it."""

import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, Field
from scigate import (
    LOCAL,
    Call,
    Dialogue,
    Input,
    InputRequest,
    InputRequired,
    Output,
    Policy,
    Success,
    prompt,
    resource,
    tool,
)
from scigate.dialogue import MAX_ROUNDS, MAX_STATE, concluded
from scigate.host import Host, ReadFailed
from scigate.reply import Reply
from scigate.testing.clock import ManualClock

FORMS = {"elicitation": {"form": {}}}

Hosting = Callable[..., AbstractAsyncContextManager[Host]]


class Nothing(Input):
    pass


class Said(Output):
    text: str


class Plates(BaseModel):
    count: int = Field(ge=1, le=96)
    note: str = ""


class Sure(BaseModel):
    sure: bool


def accepted(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


async def again(host: Host, asked: Reply | InputRequired, **responses: Any) -> Reply | InputRequired:
    """The next round of `lab_ask`."""
    assert isinstance(asked, InputRequired)
    return await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(FORMS, responses, asked.state))


def asking(handler: Callable[[Call], Awaitable[str]]) -> Any:
    """The tool `lab_ask` of a function of the call."""

    @tool("lab_ask", title="Ask")
    async def ask(args: Nothing, client: object, call: Call) -> Said:
        """Ask."""
        return Said(text=await handler(call))

    return ask


@pytest.fixture
def order(hosting: Hosting) -> Any:
    """A host whose `lab_ask` asks for a number and then for consent, and notes each run."""

    async def handler(call: Call) -> str:
        runs.append(call.id)
        plates = await call.elicit("plates", "How many plates?", Plates)
        if plates.values is None:
            return f"no plates: {plates.action}"
        sure = await call.elicit("sure", f"Order {plates.values.count} plates?", Sure)
        effects.append(plates.values.count)
        return f"{plates.values.count} plates, {sure.values}"

    runs: list[str] = []
    effects: list[int] = []
    opened = hosting(asking(handler))
    return opened, runs, effects


async def test_a_handler_runs_again_with_the_answers_so_far(order: Any) -> None:
    """Each round is a call of its own; what stands behind the last question is done once."""
    opened, runs, effects = order
    async with opened as host:
        first = await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(FORMS))
        second = await again(host, first, plates=accepted(count=3))
        done = await again(host, second, sure=accepted(sure=True))
    assert isinstance(first, InputRequired)
    assert isinstance(second, InputRequired)
    assert list(first.requests) == ["plates"]
    assert second.requests["sure"].params["message"] == "Order 3 plates?"
    assert isinstance(done, Reply)
    assert done.structured["text"] == "3 plates, sure=True"
    assert len(set(runs)) == 3
    assert effects == [3]


async def test_the_form_is_on_the_wire_as_mcp_has_it(order: Any) -> None:
    """Method, mode, message and a flat schema."""
    async with order[0] as host:
        first = await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(FORMS))
    assert isinstance(first, InputRequired)
    request = first.requests["plates"]
    assert request.method == "elicitation/create"
    assert {key: request.params[key] for key in ("mode", "message")} == {"mode": "form", "message": "How many plates?"}
    assert request.params["requestedSchema"]["required"] == ["count"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_no_is_an_answer(order: Any, action: str) -> None:
    """The handler learns which, and goes on."""
    async with order[0] as host:
        first = await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(FORMS))
        done = await again(host, first, plates={"action": action})
    assert isinstance(done, Reply)
    assert done.structured["text"] == f"no plates: {action}"


@pytest.mark.parametrize("wrong", [accepted(count=500), accepted(), {"action": "accept"}, accepted(count="many")])
async def test_a_form_that_does_not_fit_is_shown_again_with_what_is_wrong(order: Any, wrong: Any) -> None:
    """Until it fits; the question counts as the same one."""
    async with order[0] as host:
        first = await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(FORMS))
        second = await again(host, first, plates=wrong)
        third = await again(host, second, plates=accepted(count=4))
    assert isinstance(second, InputRequired)
    assert second.requests["plates"].params["message"].startswith("How many plates?\n(count: ")
    assert isinstance(third, InputRequired)
    assert list(third.requests) == ["sure"]


@pytest.mark.parametrize("beside", [{}, {"plate": accepted(count=1)}, {"plates": 12345}, {"plates": {"roots": []}}])
async def test_what_is_no_answer_to_the_question_leaves_it_open(order: Any, beside: dict[str, Any]) -> None:
    """A missing key, another key, something of another kind: asked again, and no error."""
    async with order[0] as host:
        first = await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(FORMS))
        second = await again(host, first, **beside)
    assert isinstance(second, InputRequired)
    assert list(second.requests) == ["plates"]


async def test_an_answer_is_good_for_its_question_alone(hosting: Hosting) -> None:
    """Consent to three plates is none to three hundred: when the words change between two rounds, all is asked anew."""
    count = 3

    async def handler(call: Call) -> str:
        sure = await call.elicit("sure", f"Order {count} plates?", Sure)
        await call.elicit("why", "What for?", Plates)
        return str(sure.values)

    async with hosting(asking(handler)) as host:
        first = await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(FORMS))
        count = 300
        fresh = await again(host, first, sure=accepted(sure=True))
        count = 3
        second = await again(host, first, sure=accepted(sure=True))
        count = 300
        earlier = await again(host, second, why=accepted(count=1))
    assert isinstance(fresh, InputRequired)
    assert isinstance(second, InputRequired)
    assert isinstance(earlier, InputRequired)
    assert list(second.requests) == ["why"]
    for asked in (fresh, earlier):
        assert asked.requests["sure"].params["message"] == "Order 300 plates?"


async def test_several_questions_are_asked_at_once(hosting: Hosting) -> None:
    """Of any kind that MCP has; one that stays open is asked for alone."""
    questions = {
        "plates": InputRequest.form("How many?", Plates),
        "roots": InputRequest("roots/list"),
    }

    async def handler(call: Call) -> str:
        return json.dumps(await call.ask(questions), sort_keys=True)

    capabilities = {**FORMS, "roots": {}}
    async with hosting(asking(handler)) as host:
        first = await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(capabilities))
        assert isinstance(first, InputRequired)
        second = await host.call(
            "lab_ask", {}, LOCAL, dialogue=Dialogue(capabilities, {"roots": {"roots": []}}, first.state)
        )
        assert isinstance(second, InputRequired)
        done = await host.call(
            "lab_ask", {}, LOCAL, dialogue=Dialogue(capabilities, {"plates": {"action": "cancel"}}, second.state)
        )
    assert list(first.requests) == ["plates", "roots"]
    assert list(second.requests) == ["plates"]
    assert isinstance(done, Reply)
    assert json.loads(done.structured["text"]) == {"plates": {"action": "cancel"}, "roots": {"roots": []}}


async def test_a_question_is_heard_through_whatever_stands_around_it(hosting: Hosting) -> None:
    """A batch, an extra step, a task group, an `except Exception`: none takes it for a fault."""

    async def handler(call: Call) -> str:
        async def one(name: str) -> str:
            answer = await call.elicit(name, f"{name}?", Sure)
            return answer.action

        async def in_group() -> None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(one, "grouped")

        try:
            batch = await call.each(["a", "b"], one)
            extra = await call.enrich("extras", one("extra"), "left out")
            await in_group()
        except Exception:  # noqa: BLE001  # as a careless handler has it
            return "lost"
        return f"{batch} {extra}"

    asked: list[str] = []

    async def answer(key: str, request: InputRequest) -> dict[str, Any]:
        asked.append(key)
        return {"action": "decline"}

    async with hosting(asking(handler)) as host:
        done = await concluded(lambda dialogue: host.call("lab_ask", {}, LOCAL, dialogue=dialogue), FORMS, answer)
    assert done.structured["text"] == "[('a', 'decline'), ('b', 'decline')] decline"
    assert sorted(asked) == ["a", "b", "extra", "grouped"]


async def test_a_policy_may_ask(hosting: Hosting) -> None:
    """A third party's consent for every call, for instance."""

    async def consent(call: Call, proceed: Any) -> Any:
        answer = await call.elicit("consent", "Go on?", Sure)
        outcome = await proceed(call)
        assert isinstance(outcome, Success)
        call.notice(f"Consent: {answer.values}")
        return outcome

    async def handler(call: Call) -> str:
        return "done"

    policies = [Policy("consent", consent)]
    async with hosting(asking(handler), register_policies=lambda: policies) as host:
        first = await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(FORMS))
        done = await again(host, first, consent=accepted(sure=True))
    assert isinstance(done, Reply)
    assert done.structured == {"text": "done", "notice": "Consent: sure=True"}


async def test_a_resource_and_a_prompt_may_ask(hosting: Hosting) -> None:
    """As a tool does, through the same policies; wrong arguments of such a prompt are refused as any."""

    class Sample(Input):
        name: str

    @resource("lab://{name}", name="lab-sample", title="Sample")
    async def sample(args: Sample, client: object, call: Call) -> Said:
        """A sample."""
        return Said(text=f"{args.name} {(await call.elicit('sure', 'Sure?', Sure)).action}")

    @prompt("lab_plan", title="Plan")
    async def plan(args: Sample, client: object, call: Call) -> str:
        """A plan."""
        return f"Plan {args.name} {(await call.elicit('sure', 'Sure?', Sure)).action}."

    hooks = {"register_resources": lambda: [sample], "register_prompts": lambda: [plan]}
    no = {"sure": {"action": "decline"}}
    async with hosting(**hooks) as host:
        unread = await host.read("lab://a", LOCAL, dialogue=Dialogue(FORMS))
        unmade = await host.prompt("lab_plan", {"name": "a"}, LOCAL, dialogue=Dialogue(FORMS))
        assert isinstance(unread, InputRequired)
        assert isinstance(unmade, InputRequired)
        read = await host.read("lab://a", LOCAL, dialogue=Dialogue(FORMS, no, unread.state))
        made = await host.prompt("lab_plan", {"name": "a"}, LOCAL, dialogue=Dialogue(FORMS, no, unmade.state))
        for wrong, reason in (({}, "invalid_arguments"), ({"name": "a"}, "input_unavailable")):
            with pytest.raises(ReadFailed) as caught:
                await host.prompt("lab_plan", wrong, LOCAL)
            assert caught.value.failure.reason == reason
    assert json.loads(read.text)["text"] == "a decline"
    assert made[1] == "Plan a decline."


UNASKED: dict[str, tuple[Dialogue | None, dict[str, Any] | None]] = {
    "nothing is known of the client": (None, None),
    "nothing reaches the client": (Dialogue(None), None),
    "nothing is declared": (Dialogue({}), {"elicitation": {"form": {}}}),
    "only pages to open are": (Dialogue({"elicitation": {"url": {}}}), {"elicitation": {"form": {}}}),
    "another capability is": (Dialogue({"sampling": {}}), {"elicitation": {"form": {}}}),
}


@pytest.mark.parametrize("case", UNASKED)
async def test_a_client_that_cannot_be_asked_is_not(order: Any, case: str) -> None:
    """The call fails by a reason of its own, which names the capability that is missing where that is known."""
    dialogue, needed = UNASKED[case]
    async with order[0] as host:
        reply = await host.call("lab_ask", {}, LOCAL, dialogue=dialogue)
    assert isinstance(reply, Reply)
    data = reply.structured["error"]["data"]
    assert (data["reason"], data.get("requiredCapabilities")) == ("input_unavailable", needed)
    assert "plates" in reply.structured["error"]["message"]


MAY: list[tuple[InputRequest, dict[str, Any], bool]] = [
    (InputRequest.form("?", Sure), {"elicitation": {}}, True),
    (InputRequest.form("?", Sure), {"elicitation": {"form": {}, "url": {}}}, True),
    (InputRequest.form("?", Sure), {"elicitation": {"url": {}}}, False),
    (InputRequest("elicitation/create", {"mode": "url"}), {"elicitation": {}}, False),
    (InputRequest("elicitation/create", {"mode": "url"}), {"elicitation": {"url": {}}}, True),
    (InputRequest("sampling/createMessage", {}), {"sampling": {}}, True),
    (InputRequest("sampling/createMessage", {"tools": []}), {"sampling": {}}, False),
    (InputRequest("sampling/createMessage", {"tools": []}), {"sampling": {"tools": {}}}, True),
    (InputRequest("roots/list"), {"roots": {"listChanged": True}}, True),
    (InputRequest("roots/list"), {"elicitation": {}}, False),
]


@pytest.mark.parametrize(("question", "declared", "may"), MAY)
async def test_a_handler_can_find_out_what_it_may_ask(
    hosting: Hosting, question: InputRequest, declared: dict[str, Any], may: bool
) -> None:
    """And do without, rather than fail."""

    async def handler(call: Call) -> str:
        return str(call.may_ask(question))

    async with hosting(asking(handler)) as host:
        reply = await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(declared))
        unreachable = await host.call("lab_ask", {}, LOCAL)
    assert isinstance(reply, Reply)
    assert reply.structured["text"] == str(may)
    assert unreachable.structured["text"] == "False"


async def test_answers_that_are_too_long_to_carry_fail_the_call(order: Any) -> None:
    """A client carries 64 KiB at most, and the failure says how much it was."""
    async with order[0] as host:
        first = await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(FORMS))
        done = await again(host, first, plates=accepted(count=3, note="x" * MAX_STATE))
    assert isinstance(done, Reply)
    error = done.structured["error"]
    assert error["data"]["reason"] == "input_too_large"
    assert "65,536" in error["message"]


async def test_a_call_that_never_stops_asking_is_stopped(hosting: Hosting) -> None:
    """After ten rounds; the count travels with the answers."""
    asked = 0

    async def handler(call: Call) -> str:
        for number in range(1000):
            await call.elicit(f"q{number}", "And?", Sure)
        return "never"

    async def answer(key: str, request: InputRequest) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        return {"action": "decline"}

    async with hosting(asking(handler)) as host:
        done = await concluded(lambda dialogue: host.call("lab_ask", {}, LOCAL, dialogue=dialogue), FORMS, answer)
    assert done.structured["error"]["data"]["reason"] == "input_unavailable"
    assert asked == MAX_ROUNDS


@pytest.mark.parametrize("state", ["", "null", "[]", '{"round": 1}', '{"round":1,"asked":{},"answered":{"plates":3}}'])
async def test_a_state_of_another_version_begins_anew(order: Any, state: str) -> None:
    """After an update of the gateway in the middle of a dialogue the questions are asked again."""
    async with order[0] as host:
        asked = await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(FORMS, {}, state))
    assert isinstance(asked, InputRequired)
    assert list(asked.requests) == ["plates"]


async def test_each_round_has_the_whole_deadline(hosting: Hosting) -> None:
    """A person's thinking is no part of it."""
    clock = ManualClock()
    seen: list[float] = []

    async def handler(call: Call) -> str:
        seen.append(call.remaining_s)
        return (await call.elicit("sure", "Sure?", Sure)).action

    async with hosting(asking(handler), clock=clock) as host:
        first = await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(FORMS))
        await clock.advance(3600)
        await again(host, first, sure=accepted(sure=True))
    assert seen == [60.0, 60.0]


async def test_a_model_that_is_not_flat_is_a_fault_of_the_provider(hosting: Hosting) -> None:
    """The caller is told that much, the log which field."""

    class Nested(BaseModel):
        plates: Plates

    async def handler(call: Call) -> str:
        return (await call.elicit("nested", "?", Nested)).action

    async with hosting(asking(handler)) as host:
        reply = await host.call("lab_ask", {}, LOCAL, dialogue=Dialogue(FORMS))
    assert isinstance(reply, Reply)
    assert reply.structured["error"]["data"]["reason"] == "internal_error"


@pytest.mark.parametrize("text", ["a\0b", "a\ud800"], ids=["NUL", "half a pair"])
async def test_a_text_that_nothing_takes_is_asked_for_again(hosting: Hosting, text: str) -> None:
    """As in arguments, where it is refused; an emoji is a character like others."""

    class Named(BaseModel):
        name: str

    async def handler(call: Call) -> str:
        answer = await call.elicit("name", "Which name?", Named)
        return answer.values.name if answer.values else ""

    async with hosting(asking(handler)) as host:
        first = await again(host, InputRequired({}, None), name=None)  # type: ignore[arg-type]  # the first round
        assert isinstance(first, InputRequired)
        second = await again(host, first, name=accepted(name=text))
        assert isinstance(second, InputRequired)
        assert "no service takes" in second.requests["name"].params["message"]
        done = await again(host, second, name=accepted(name="\U0001f600"))
    assert isinstance(done, Reply)
    assert done.structured == {"text": "\U0001f600"}


async def test_an_answer_beside_the_one_that_was_asked_counts_for_nothing(order: Any) -> None:
    """What comes with the answer to another question was given without seeing the question."""
    opened, _, effects = order
    async with opened as host:
        first = await again(host, InputRequired({}, None), plates=None)  # type: ignore[arg-type]  # the first round
        assert isinstance(first, InputRequired)
        second = await again(host, first, plates=accepted(count=3), sure=accepted(sure=True))
    assert isinstance(second, InputRequired)
    assert list(second.requests) == ["sure"]
    assert effects == []


async def test_a_fault_beside_a_question_goes_first(hosting: Hosting) -> None:
    """Nobody is asked for what cannot be used any more."""

    class Sure(BaseModel):
        sure: bool

    async def handler(call: Call) -> str:
        async def fail() -> None:
            raise LookupError("no such sample")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call.elicit, "sure", "Sure?", Sure)
            tasks.start_soon(fail)
        return ""

    async with hosting(asking(handler)) as host:
        reply = await again(host, InputRequired({}, None), sure=None)  # type: ignore[arg-type]  # the first round
    assert isinstance(reply, Reply)
    assert reply.structured["error"]["data"]["reason"] == "internal_error"
