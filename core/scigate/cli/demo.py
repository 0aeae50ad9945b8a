"""`scigate demo`: the whole way of a call, from a real client over HTTP to the providers' sample data."""

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import typer

from scigate.cli.client import PLACES, ClientName, client_config
from scigate.cli.remote import Remote
from scigate.cli.terminal import Waiting, is_terminal, waiting, write, write_json, write_table

if TYPE_CHECKING:
    from scigate.cli.gateway import Answer, Gateway
    from scigate.host import Host
    from scigate.operation import Example


@dataclass(frozen=True)
class Step:
    """One call that the demo made.

    Attributes:
        title: What it shows.
        tool: The tool called.
        answer: What came back.
        seconds: From sending the request to having its answer.
    """

    title: str
    tool: str
    answer: "Answer"
    seconds: float


def demo() -> None:
    """Try everything offline: start the gateway, connect a client, call each provider's tools on sample data.

    Nothing is read from a configuration and no upstream is asked. Exit code 1 when a provider does not serve, or a call
    ends in a fault of the code.
    """
    import tempfile  # for start-up time

    import anyio

    with tempfile.TemporaryDirectory(prefix="scigate-demo-") as home:
        # What providers keep for their user (a run ledger, for instance) is no place for a demo's calls.
        os.environ["XDG_DATA_HOME"] = home
        troubles = anyio.run(_run)
    for client in (ClientName.CLAUDE_DESKTOP, ClientName.CURSOR, ClientName.VSCODE):
        write(f"\nTo connect {PLACES[client]}:")
        write_json(client_config(client))
    for trouble in troubles:
        typer.echo(f"scigate: {trouble}", err=True)
    if troubles:
        raise typer.Exit(1)


async def _run() -> list[str]:
    """Run the demo and print it; gives a sentence for each thing that should not be."""
    from scigate.cli.gateway import connected, opened_host  # for start-up time
    from scigate.endpoint.http import running
    from scigate.settings import Settings

    async with (
        waiting("starting the gateway") as spinner,
        opened_host(Settings(offline=True)) as host,
        running(host) as url,
        connected(Remote(url)) as gateway,
    ):
        tools = await gateway.definitions()
        serving = [provider.name for provider in host.providers if provider.state == "serving"]
        heading = f"{len(tools)} tools of {', '.join(serving) or 'no provider'} at {url}, on sample data"
        steps = await walk(host.catalogue.examples, gateway, spinner)
    write(f"{heading}\n")
    columns = ("what", "tool", "outcome", "ms", "upstream requests")
    if not is_terminal():
        # Read by a person here too, which no other list in a pipe is.
        write("\t".join(columns))
    write_table(
        columns,
        [
            (step.title, step.tool, outcome(step.answer), f"{step.seconds * 1000:.0f}", _requests(step))
            for step in steps
        ],
    )
    return _troubles(host, steps)


async def walk(examples: "list[Example]", gateway: "Gateway", spinner: Waiting) -> list[Step]:
    """Make every example's calls, its next pages included, and one call with a misspelt argument."""
    steps: list[Step] = []
    for example in examples:
        arguments = dict(example.arguments)
        for page in range(example.pages):
            title = example.title if page == 0 else f"... page {page + 1}"
            spinner.text = title
            step = await _step(gateway, title, example.tool, arguments)
            steps.append(step)
            following = step.answer.structured.get("nextOffset")
            if following is None:
                break
            arguments["offset"] = following
    if examples:
        first, *others = examples[0].arguments.items()
        misspelt = {f"{first[0]}x": first[1], **dict(others)}
        steps.append(await _step(gateway, "A misspelt argument", examples[0].tool, misspelt))
    return steps


async def _step(gateway: "Gateway", title: str, tool: str, arguments: dict[str, object]) -> Step:
    started = time.perf_counter()
    answer = await gateway.call(tool, arguments)
    return Step(title, tool, answer, time.perf_counter() - started)


def outcome(answer: "Answer") -> str:
    """An answer in a few words: how much of how many, what was capped, or the failure and its recovery hint.

    A single record, without lists, is told by its first facts.
    """
    if answer.is_error:
        return _shortened(" ".join(answer.text.split()), 240)
    content = answer.structured
    if isinstance(inner := content.get("data"), dict):
        # An envelope of a provider's own stands around the result.
        content = cast("dict[str, Any]", inner)
    words = [
        f"{len(cast('list[object]', value))} {name}"
        for name, value in content.items()
        if isinstance(value, list) and name not in ("cappedInputs", "unprocessed")
    ]
    if total := content.get("totalFound") or content.get("totalCount"):
        words.append(f"{total:,} in all")
    if floor := content.get("totalFoundAtLeast"):
        words.append(f"at least {floor:,} in all")
    if following := content.get("nextOffset"):
        words.append(f"next page at {following}")
    words += [
        f"{capped['input']}: {capped['requested']} asked, {capped['served']} served"
        for capped in content.get("cappedInputs", [])
    ]
    if rest := content.get("unprocessed"):
        words.append(f"{len(rest)} left unprocessed")
    facts = [f"{name}: {value}" for name, value in content.items() if isinstance(value, str | int | float)]
    return "; ".join(words) or _shortened("; ".join(facts), 100)


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _requests(step: Step) -> str:
    requests = step.answer.upstream_requests
    return "" if requests is None else str(requests)


def _troubles(host: "Host", steps: list[Step]) -> list[str]:
    answered = {step.tool for step in steps if not step.answer.is_error}
    silent = [
        f"no call of the provider {provider.name} succeeded; `scigate providers` says how it stands"
        for provider in host.providers
        if provider.state != "disabled" and not answered.intersection(provider.tools)
    ]
    faults = [
        f"{step.tool} failed by a fault in its code; SCIGATE_LOG__LEVEL=debug shows it with `scigate call`"
        for step in steps
        if "(internal_error)" in step.answer.text and step.answer.is_error
    ]
    return [*silent, *dict.fromkeys(faults)]
