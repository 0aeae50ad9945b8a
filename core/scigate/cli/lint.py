"""`scigate lint`: how tool definitions read, and whether one tries to steer its reader."""

import dataclasses
from typing import Annotated

import typer

from scigate.cli.definitions import StdioCommand, Url, listed
from scigate.cli.options import AsJson, ConfigFile
from scigate.cli.remote import KeyFrom
from scigate.cli.terminal import write, write_json, write_table

LEAST = 4.5


def lint(
    least: Annotated[float, typer.Option("--least", min=1, max=5, help="The grade that every tool must have.")] = LEAST,
    url: Url = None,
    key_from: KeyFrom = None,
    stdio: StdioCommand = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Grade tool definitions from 1 to 5, with a better form for each fault, and find poisoned ones.

    Exit code: 0 for a clean list, 1 where a tool is below --least or a definition tries to steer a model.
    """
    from scigate.lint import grade, poison  # for start-up time

    tools = listed(url, stdio, config, key_from)
    grades = grade(tools.definitions)
    poisoned = poison(tools.definitions, tools.owners)
    if as_json:
        write_json(
            {
                "tools": [
                    {
                        "tool": each.tool,
                        "grade": round(each.overall, 2),
                        "scores": {name: round(score, 2) for name, score in each.scores.items()},
                        "findings": [dataclasses.asdict(finding) for finding in each.findings],
                    }
                    for each in grades
                ],
                "poison": [dataclasses.asdict(each) for each in poisoned],
            }
        )
    else:
        rows = [
            (
                each.tool,
                f"{each.overall:.2f}",
                ", ".join(f"{name} {score:.1f}" for name, score in each.scores.items() if score < 5),
            )
            for each in grades
        ]
        write_table(("tool", "grade", "below 5"), rows)
        for each in grades:
            for finding in each.findings:
                write(f"{each.tool}: {finding.where}: {finding.words}: {finding.instead} ({finding.dimension})")
        for found in poisoned:
            write(f"{found.tool}: POISON, {found.kind} in {found.where}: {found.words}: {found.why}")
    if poisoned or any(each.overall < least for each in grades):
        raise typer.Exit(1)
