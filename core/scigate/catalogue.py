"""The catalogue: one table of what all providers serve, and what of theirs cannot stand in it.

The host fills it when it opens, and looks up in it whatever is called, read or asked for afterwards.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, get_args, get_origin

from scigate.annotation import parts
from scigate.definition import prompt_definition, resource_definition, tool_definition
from scigate.envelope import Envelope
from scigate.operation import NAME, Example, Operation, Prompt, Resource, Tool
from scigate.policy import Proceed
from scigate.providers import Provider

__all__ = ["LONGEST_NAME", "Catalogue", "ServedTool", "UnknownPrompt", "UnknownResource", "UnknownTool"]

Json = dict[str, Any]

LONGEST_NAME: Final = 64 - len("mcp__scigate__")
"""Characters of a tool's name: clients put the server's name before it, and refuse the list over 64."""


class _Unknown(Exception):
    """A name that nothing has.

    Attributes:
        name: What was asked for.
        suggestions: The nearest names that exist, best first.
    """

    kind = "name"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.suggestions = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
        meant = f"; did you mean {' or '.join(self.suggestions)}?" if self.suggestions else ""
        super().__init__(f"Unknown {self.kind}: {name[:200]}{meant}")


class UnknownTool(_Unknown):
    """No provider serves a tool of this name."""

    kind = "tool"


class UnknownResource(_Unknown):
    """No provider serves a resource of this URI."""

    kind = "resource"


class UnknownPrompt(_Unknown):
    """No provider serves a prompt of this name."""

    kind = "prompt"


@dataclass(frozen=True, slots=True)
class ServedTool:
    """A tool in the table: what runs it, and how its outcome looks."""

    tool: Tool
    run: Proceed
    envelope: Envelope


@dataclass(slots=True)
class Catalogue:
    """What is served.

    Attributes:
        definitions: The tools as they stand in `tools/list`, sorted by provider, in each in its own order.
        resources, resource_templates, prompts: The same for resources and prompts.
        examples: Calls that show the tools, names with their prefix.
        tools: The tools by name, prefix included.
    """

    definitions: list[Json] = field(default_factory=list[Json])
    resources: list[Json] = field(default_factory=list[Json])
    resource_templates: list[Json] = field(default_factory=list[Json])
    prompts: list[Json] = field(default_factory=list[Json])
    examples: list[Example] = field(default_factory=list[Example])
    tools: dict[str, ServedTool] = field(default_factory=dict[str, ServedTool])
    _owners: dict[str, str] = field(default_factory=dict[str, str])
    _resources: dict[str, tuple[Resource, Proceed]] = field(default_factory=dict[str, tuple[Resource, Proceed]])
    _prompts: dict[str, tuple[Prompt, Proceed]] = field(default_factory=dict[str, tuple[Prompt, Proceed]])

    def add(
        self,
        provider: Provider,
        prefix: str,
        run: Callable[[Operation], Proceed],
        objection: Callable[[Json], str | None] | None,
    ) -> tuple[list[str], list[str]]:
        """Put a provider's operations into the table.

        Args:
            provider: Whose they are.
            prefix: Put before its tools' names.
            run: Makes what runs an operation.
            objection: Says of a tool's definition why it is not to be served, or None.

        Returns:
            The names of the tools that are served, and a sentence with the remedy on each thing that is refused.
        """
        names: list[str] = []
        refused: list[str] = []
        for tool in provider.tools:
            name = prefix + tool.name
            if problem := self._problem(name, provider.name):
                refused.append(problem)
                continue
            if name != tool.name:
                tool = replace(tool, name=name)
            definition = tool_definition(tool, name, provider.envelope)
            if objection is not None and (problem := objection(definition)):
                refused.append(problem)
                continue
            self.tools[name] = ServedTool(tool, run(tool), provider.envelope)
            self._owners[name] = provider.name
            self.definitions.append(definition)
            names.append(name)
        for resource in provider.resources:
            if resource.uri in self._resources:
                refused.append(f"resource {resource.uri} is served by another provider already")
                continue
            self._resources[resource.uri] = (resource, run(resource))
            listed = self.resource_templates if resource.is_template else self.resources
            listed.append(resource_definition(resource))
        for prompt in provider.prompts:
            if prompt.name in self._prompts:
                refused.append(f"prompt {prompt.name} is served by another provider already")
                continue
            self._prompts[prompt.name] = (prompt, run(prompt))
            self.prompts.append(prompt_definition(prompt))
        self.examples += [
            Example(title=example.title, tool=prefix + example.tool, arguments=example.arguments, pages=example.pages)
            for example in provider.examples
            if prefix + example.tool in names
        ]
        return names, refused

    def operations(self) -> dict[str, Operation]:
        """The tools, resources and prompts by their names; a tool's goes before another's."""
        found: dict[str, Operation] = {name: prompt for name, (prompt, _) in self._prompts.items()}
        found |= {resource.name: resource for resource, _ in self._resources.values()}
        return found | {name: served.tool for name, served in self.tools.items()}

    def operation(self, name: str) -> Operation:
        """A tool, a resource or a prompt by its name.

        Raises:
            UnknownTool: There is none of this name.
        """
        if name in self.tools:
            return self.tools[name].tool
        operations = self.operations()
        if name not in operations:
            raise UnknownTool(name, operations)
        return operations[name]

    def resource(self, uri: str) -> tuple[Resource, Mapping[str, str], Proceed]:
        """The resource of a URI, the variables in it as they are written there, and what runs it.

        Raises:
            UnknownResource: No resource has this URI.
        """
        if uri in self._resources:
            # A fixed URI goes before a template that it fits.
            resource, run = self._resources[uri]
            return resource, {}, run
        for resource, run in self._resources.values():
            variables = resource.match(uri)
            if variables is not None:
                return resource, variables, run
        raise UnknownResource(uri, self._resources)

    def prompt(self, name: str) -> tuple[Prompt, Proceed]:
        """A prompt, and what runs it.

        Raises:
            UnknownPrompt: No prompt has this name.
        """
        found = self._prompts.get(name)
        if found is None:
            raise UnknownPrompt(name, self._prompts)
        return found

    def completions(self, prompt: str, argument: str, begun: str) -> list[str]:
        """The values of a prompt's argument that begin so, in capitals or not; none where it may be any text.

        Raises:
            UnknownPrompt: No prompt has this name.
        """
        found, _ = self.prompt(prompt)
        fields = {given.alias or name: given for name, given in found.input_model.model_fields.items()}
        chosen = fields.get(argument)
        if chosen is None:
            return []
        choices = [part for part in parts(chosen.annotation) if get_origin(part) is Literal]
        allowed = [value for choice in choices for value in get_args(choice)]
        return [value for value in allowed if isinstance(value, str) and value.lower().startswith(begun.lower())]

    def _problem(self, name: str, provider: str) -> str | None:
        if NAME.fullmatch(name) is None:
            return f"tool {name}: a name is lower-case letters, digits and underscores; change tool_prefix"
        if len(name) > LONGEST_NAME:
            return f"tool {name}: {len(name)} characters, clients take {LONGEST_NAME}; shorten it or its tool_prefix"
        if name in self._owners:
            return (
                f"tool {name} of {provider} has the name of a tool of {self._owners[name]}; "
                f"set providers.{provider}.tool_prefix to serve both"
            )
        return None
