"""Writes the pages of `docs/reference` from the code: hooks, tools, settings, reasons.

`python docs/generate.py` writes them; a test holds them equal to what is written.
"""

import asyncio
import inspect
import re
import textwrap
from pathlib import Path

from scigate import Host, Settings, hookspecs
from scigate.cli.declared import declared
from scigate.failure import CORE_REASONS, Reason
from scigate.operation import Tool
from scigate.settings.example import example_file

REFERENCE = Path(__file__).parent / "reference"
WRITTEN = "<!-- Written by docs/generate.py; change the code and run it again. -->\n\n"


def hooks() -> str:
    """Every hook with its arguments, what it is for, and an example."""
    parts = ["# Hooks\n", "What a provider may implement, in the order in which an author meets it.\n"]
    for name, function in vars(hookspecs).items():
        if not (inspect.isfunction(function) and hasattr(function, "scigate_spec")):
            continue
        arguments = ", ".join(inspect.signature(function).parameters)
        text, _, example = (inspect.getdoc(function) or "").partition("Example:")
        prose, _, described = text.partition("Args:")
        parts.append(f"## {name}\n\n`{name}({arguments})`\n\n{prose.strip()}\n")
        if described.strip():
            rows = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", described, re.MULTILINE)
            parts.append("\n".join(f"- `{each}`: {' '.join(said.split())}" for each, said in rows) + "\n")
        code = re.sub(r"^(>>>|\.\.\.) ?", "", textwrap.dedent(example).strip(), flags=re.MULTILINE)
        parts.append(f"```python\n{code}\n```\n")
    return "\n".join(parts)


def reasons(host: Host) -> str:
    """Every reason with its code, its case and its hint; core's own first."""
    parts = ["# Reasons\n", "The stable names in `error.data.reason`, with what a model is told to do.\n", "## On every tool\n"]
    parts += [_table(CORE_REASONS)]
    for status in host.providers:
        own: dict[str, Reason] = {}
        for name in status.tools:
            tool = host.catalogue.operation(name)
            own |= {reason.name: reason for reason in tool.errors}
        if own:
            parts += [f"## {status.name}\n", _table(own.values())]
    return "\n".join(parts)


def _table(found: object) -> str:
    rows = ["| reason | code | when | what to do | again? |", "| --- | --- | --- | --- | --- |"]
    for reason in found:  # type: ignore[attr-defined]
        again = "later" if reason.retryable else "no"
        rows.append(f"| `{reason.name}` | {int(reason.code)} | {reason.when} | {reason.hint} | {again} |".replace("\n", " "))
    return "\n".join(rows) + "\n"


def tools(host: Host) -> str:
    """Every tool with its description and its arguments."""
    parts = ["# Tools\n", "What a client gets from `tools/list`, by provider.\n"]
    definitions = {each["name"]: each for each in host.catalogue.definitions}
    for status in host.providers:
        parts.append(f"## {status.name}\n")
        for name in status.tools:
            tool, definition = host.catalogue.operation(name), definitions[name]
            assert isinstance(tool, Tool)
            parts.append(f"### {name}\n\n{_plain(definition['description'])}\n")
            properties = definition["inputSchema"].get("properties", {})
            if properties:
                required = definition["inputSchema"].get("required", [])
                rows = ["| argument | type | default | what it is |", "| --- | --- | --- | --- |"]
                for key, schema in properties.items():
                    default = "required" if key in required else f"`{schema['default']}`" if "default" in schema else ""
                    rows.append(f"| `{key}` | {_type(schema)} | {default} | {_plain(schema.get('description', ''))} |")
                parts.append("\n".join(rows) + "\n")
            if tool.errors:
                parts.append("Reasons of its own: " + ", ".join(f"`{reason.name}`" for reason in tool.errors) + ".\n")
    return "\n".join(parts)


def _plain(text: str) -> str:
    """Text in which Markdown finds nothing to act on."""
    return re.sub(r"([|<>*\[\]])", r"\\\1", text)


def _type(schema: dict) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        most = f", {schema['maxItems']} at most" if "maxItems" in schema else ""
        return f"list of {_type(schema.get('items', {}))}{most}"
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    bounds = [str(schema[key]) for key in ("minimum", "maximum") if key in schema]
    return str(schema.get("type", "any")) + (f", {' to '.join(bounds)}" if bounds else "")


def settings() -> str:
    """Every setting with its default, its variable and its reason: the example file."""
    known = declared()
    text = example_file(known.settings_models, known.upstreams).rstrip("\n")
    return f"# Settings\n\n`scigate config example` prints this file.\n\n```toml\n{text}\n```\n"


async def pages() -> dict[str, str]:
    """The pages by their file names."""
    async with Host.open(Settings(offline=True)) as host:
        made = {"hooks.md": hooks(), "tools.md": tools(host), "reasons.md": reasons(host), "settings.md": settings()}
    return {name: WRITTEN + text for name, text in made.items()}


def main() -> None:
    """Write the pages."""
    REFERENCE.mkdir(exist_ok=True)
    for name, text in asyncio.run(pages()).items():
        (REFERENCE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
