"""The conformance kit: a good provider conforms, and each broken promise is found by the check that is there for it."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated, Any, Literal

import httpx
import pytest
from pydantic import BaseModel, Field, SecretStr
from scigate import Batch, Call, Code, Input, Offset, Output, Page, PageSize, Reason, Tool, Upstream, hookimpl, tool
from scigate.emulator import Emulator
from scigate.testing.conformance import Report, conformance
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

UNKNOWN = Reason("unknown_project", Code.NOT_FOUND, "there is no such project", "Give another project.")


class LabSettings(BaseModel):
    key: SecretStr | None = None


@dataclass
class Lab:
    http: httpx.AsyncClient
    key: str


class Find(Input):
    project: str = Field(description="Such as P-12.", max_length=20)
    names: Annotated[list[str], Batch(cap=3, accepts=9)] = Field(default=["S-1"], description="Of samples.")
    offset: Annotated[int, Offset()] = 0
    max_results: Annotated[int, PageSize(cap=5, accepts=50)] = 4


class Found(Page):
    samples: list[str]


def provider(step: Callable[[Find, Lab, Call], Any] | None = None, **options: Any) -> ModuleType:
    """A provider of one tool; `step` runs after the samples are fetched, and what it gives is the result."""

    @tool("lab_find", title="Find Samples", errors=[UNKNOWN], **options)
    async def find(args: Find, lab: Lab, call: Call) -> Found:
        """Find the samples of one project. Use it first; costs one request; pages by nextOffset."""
        response = await lab.http.get("samples", params={"project": args.project})
        if response.status_code == 404:
            raise UNKNOWN.error(f"no project {args.project!r}")
        response.raise_for_status()
        names = response.json()["samples"]
        given = await step(args, lab, call) if step else None
        return given or Found(samples=call.page.whole(names))

    module = ModuleType("lab")
    hooks: dict[str, Callable[..., Any]] = {
        "register_tools": lambda: [find],
        "register_upstreams": lambda: [Upstream("lab", "https://lab.example/api/", emulator="lab_emulator:create_app")],
        "build_client": lambda upstreams, settings: Lab(upstreams["lab"], settings.key.get_secret_value()),
        "settings_model": lambda: LabSettings,
    }
    for name, hook in hooks.items():
        setattr(module, name, hookimpl(hook))
    return module


@pytest.fixture(autouse=True)
def emulator() -> Iterator[None]:
    """The lab's emulator, as an importable module."""

    async def samples(request: Request) -> JSONResponse:
        known = request.query_params.get("project") == "P-12"
        return JSONResponse({"samples": [f"S-{n}" for n in range(9)]} if known else {}, 200 if known else 404)

    async def write(request: Request) -> JSONResponse:
        return JSONResponse({})

    routes = [Route("/api/samples", samples), Route("/api/notes", write, methods=["POST"])]
    module = ModuleType("lab_emulator")
    module.create_app = lambda: Emulator(Starlette(routes=routes), "lab")  # type: ignore[attr-defined]
    sys.modules["lab_emulator"] = module
    yield
    del sys.modules["lab_emulator"]


CASES = {"lab_find": {"project": "P-12", "names": ["S-1"]}}


async def tried(plugin: ModuleType, cases: Mapping[str, Mapping[str, Any]] = CASES) -> Report:
    return await conformance("lab", plugin, cases=cases, thoroughness=4)


class Sure(BaseModel):
    sure: bool
    kind: Literal["deep", "flat"]
    note: str | None = None


async def asks(args: Find, lab: Lab, call: Call) -> None:
    await call.elicit("sure", "Sure?", Sure)


async def test_a_good_provider_conforms() -> None:
    """And nothing is left untried that it could be tried in: it has caps, batches and pages, and asks."""
    report = await tried(provider(asks))
    assert [line for check in report.checks for line in check.problems] == []
    report.require()
    assert {check.verdict for check in report.checks} == {"pass"}


async def writes(args: Find, lab: Lab, call: Call) -> None:
    await lab.http.post("notes")


async def breaks(args: Find, lab: Lab, call: Call) -> None:
    raise KeyError("sample")


async def repeats(args: Find, lab: Lab, call: Call) -> Found:
    return Found(samples=call.page.part(["S-0", "S-1", "S-2", "S-3"][: args.max_results], total=9))


async def blocks(args: Find, lab: Lab, call: Call) -> None:
    time.sleep(0.15)  # noqa: ASYNC251  # the fault that is to be found


async def tells(args: Find, lab: Lab, call: Call) -> None:
    call.notice(f"asked with {lab.key}")


async def dials(args: Find, lab: Lab, call: Call) -> None:
    try:
        async with httpx.AsyncClient(timeout=1) as other:
            await other.get("http://127.0.0.1:9/")
    except httpx.HTTPError:
        pass


@pytest.mark.parametrize(
    ("step", "check", "words"),
    [
        (writes, "read-only tools send nothing that writes", "sends POST"),
        (breaks, "failures are declared ones, and declared ones are raised", "internal_error"),
        (repeats, "pages walked by nextOffset are the result", "two pages of 2 are not the page of 4"),
        (blocks, "no step holds the event loop up for over 50 ms", "blocks (test_conformance.py"),
        (tells, "no secret leaks", "a secret of the settings is in its answer"),
        (dials, "sample data needs no connection", "127.0.0.1:9"),
    ],
)
async def test_a_broken_promise_is_found(step: Callable[..., Any], check: str, words: str) -> None:
    """By its own check, which names the tool and what it did."""
    report = await tried(provider(step))
    problems = {each.name: " ".join(each.problems) for each in report.checks}
    assert words in problems[check]
    assert not report.ok


async def test_an_upstream_fault_that_looks_like_no_samples_is_found() -> None:
    """The commonest fault of such servers: an outage is told as an empty result."""

    class Quiet(Output):
        samples: list[str]

    @tool("lab_list", title="List Samples")
    async def list_samples(args: Find, lab: Lab, call: Call) -> Quiet:
        """List samples of a project. Use it first; costs one request."""
        try:
            response = await lab.http.get("samples", params={"project": args.project})
            response.raise_for_status()
        except httpx.HTTPError:
            return Quiet(samples=[])
        return Quiet(samples=response.json()["samples"])

    module = provider()
    tools: list[Tool] = [list_samples]
    module.register_tools = hookimpl(lambda: tools)  # type: ignore[attr-defined]
    report = await tried(module, {"lab_list": {"project": "P-12"}})
    problems = {each.name: each.problems for each in report.checks}
    assert (
        "lab_list gives an empty result under the fault 503"
        in problems["no fault of an upstream is an internal error or an empty result"]
    )


async def takes_yes_alone(args: Find, lab: Lab, call: Call) -> None:
    answer = await call.elicit("sure", "Sure?", Sure)
    assert answer.values is not None


async def test_a_tool_that_takes_no_no_is_found() -> None:
    """People decline."""
    report = await tried(provider(takes_yes_alone))
    [check] = [each for each in report.checks if each.name == "a tool that asks takes no for an answer"]
    assert check.problems == [
        "lab_find: internal_error when it meets decline",
        "lab_find: internal_error when it meets cancel",
    ]


async def test_a_tool_without_a_call_that_works_is_said() -> None:
    """Most checks have nothing to try then, which must not look like success."""
    report = await tried(provider(), {"lab_find": {"project": "P-13"}})
    [check] = [each for each in report.checks if each.name.startswith("every tool")]
    assert check.problems == ["lab_find: give it one in register_examples, or in cases"]
    with pytest.raises(AssertionError, match="lab_find: give it one"):
        report.require()


async def test_a_provider_that_does_not_serve_is_refused() -> None:
    """With the reason of its quarantine."""
    module = ModuleType("lab")
    module.register_tools = hookimpl(lambda: [1])  # type: ignore[attr-defined]
    with pytest.raises(AssertionError, match="lab does not serve: register_tools gave 1"):
        await conformance("lab", module)


def test_the_report_is_for_programs_too() -> None:
    """The same verdicts and problems as the lines."""
    report = Report("lab", [])
    assert report.as_json() == {"provider": "lab", "ok": True, "checks": []}
    assert list(report.lines()) == ["lab: conforms"]
