"""A provider for the endpoint's tests; run as a program, a server of it on stdio, or with `http` on a free port."""

import os
import subprocess
import sys
from typing import Any

import anyio
from pydantic import Field
from scigate import Code, Input, Output, Reason, hookimpl, prompt, resource, tool
from scigate.gateway import Gateway
from scigate.host import Host
from scigate.settings import ServerSettings, Settings

BROKEN = Reason("lab_broken", Code.SERVICE_UNAVAILABLE, "always", "Call lab_echo instead.", retryable=True)


class Lab:
    """The client; the event tells that a `lab_wait` was cancelled."""

    def __init__(self) -> None:
        self.cancelled = anyio.Event()


class Nothing(Input):
    pass


class Text(Input):
    text: str = "ping"
    times: int = Field(default=1, ge=1, le=100, description="How often to repeat it.")


class Number(Input):
    to: int


class Sample(Input):
    sample: str


class Echo(Output):
    text: str
    length: int


class Odd(Output):
    values: list[Any]


@tool("lab_echo", title="Echo")
async def echo(args: Text, lab: Lab, call: Any) -> Echo:
    """Give the text back."""
    return Echo(text=args.text * args.times, length=len(args.text))


@tool("lab_wait", title="Wait", deadline_s=60)
async def wait(args: Nothing, lab: Lab, call: Any) -> Echo:
    """Say that it started, then wait until it is cancelled."""
    await call.progress(0, None, "started")
    try:
        await anyio.sleep_forever()
    finally:
        lab.cancelled.set()
    raise AssertionError("unreachable")


@tool("lab_was_cancelled", title="Was cancelled")
async def was_cancelled(args: Nothing, lab: Lab, call: Any) -> Echo:
    """Answer once lab_wait was cancelled."""
    print("lab_was_cancelled waits", flush=True)
    await lab.cancelled.wait()
    return Echo(text="cancelled", length=0)


@tool("lab_count", title="Count")
async def count(args: Number, lab: Lab, call: Any) -> Echo:
    """Count up, reporting each step."""
    for step in range(1, args.to + 1):
        await call.progress(step, args.to, f"step \ud800{step}")
    return Echo(text=str(args.to), length=args.to)


@tool("lab_shout", title="Shout")
async def shout(args: Text, lab: Lab, call: Any) -> Echo:
    """Write to standard output in every way there is."""
    print(args.text, flush=True)
    os.write(1, args.text.encode() + b"\n")
    # Blocking, as a careless provider would.
    subprocess.run([sys.executable, "-c", "print(input())"], input=b"from a child\n", check=True)  # noqa: ASYNC221
    subprocess.run([sys.executable, "-c", "import sys; print(sys.stdin.read())"], check=True)  # noqa: ASYNC221
    return Echo(text=args.text, length=len(args.text))


@tool("lab_break", title="Break", errors=[BROKEN])
async def broken(args: Nothing, lab: Lab, call: Any) -> Echo:
    """Fail with a reason of its own."""
    raise BROKEN.error("the lab is on fire")


@tool("lab_odd", title="Odd")
async def odd(args: Nothing, lab: Lab, call: Any) -> Odd:
    """Give values that JSON or UTF-8 cannot carry."""
    return Odd(values=["half \ud800 pair", float("nan"), float("inf")])


@resource("lab://sample/{sample}", name="lab-sample", title="Sample")
async def sample(args: Sample, lab: Lab, call: Any) -> Echo:
    """One sample."""
    return Echo(text=args.sample, length=len(args.sample))


@prompt("lab_plan", title="Plan")
def plan(args: Sample) -> str:
    """A plan for one sample."""
    return f"Plan for {args.sample}."


class Provider:
    """The provider, with a client of its own."""

    def __init__(self) -> None:
        self.client = Lab()

    @hookimpl
    def register_tools(self) -> list[Any]:
        return [echo, wait, was_cancelled, count, shout, broken, odd]

    @hookimpl
    def register_resources(self) -> list[Any]:
        return [sample]

    @hookimpl
    def register_prompts(self) -> list[Any]:
        return [plan]

    @hookimpl
    def build_client(self) -> Lab:
        return self.client


async def over_stdio() -> None:
    from scigate.endpoint.stdio import claimed, serve_stdio

    with claimed() as wire:
        print("printed while the host starts")
        async with Host.open(Settings(), plugins={"lab": Provider()}) as host:
            await serve_stdio(Gateway(host), wire)


async def over_http() -> None:
    from scigate.endpoint.http import serve_http

    async with Host.open(Settings(), plugins={"lab": Provider()}) as host:
        await serve_http(Gateway(host), ServerSettings(port=0))


if __name__ == "__main__":
    anyio.run(over_http if sys.argv[1:] == ["http"] else over_stdio)
