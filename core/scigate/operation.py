"""What a provider registers: tools, resources and prompts, made from plain async functions.

Above is the provider that writes them; the host runs them. Names, texts and limits follow from the function's
signature, its docstring and the decorator's arguments.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast, get_type_hints

from pydantic import BaseModel

from scigate.arguments import Input, Limits, limits_of
from scigate.call import Call
from scigate.failure import Reason
from scigate.output import Embedded, Image, Output, Page, Success

__all__ = [
    "Contents",
    "Example",
    "Operation",
    "Prompt",
    "PromptText",
    "Resource",
    "Saying",
    "Tool",
    "prompt",
    "resource",
    "tool",
]

# The first two parameters are the author's own types; what they are is read from the annotations, and checked.
Handler = Callable[[Any, Any, Call], Awaitable[BaseModel | Success]]

NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
"""Tool names: lower case and underscores read the same in every client."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What the host can run through the policies: the common part of tools and resources.

    Attributes:
        name: The name that a call gives.
        title: A short name for people.
        description: What it does; read by a model.
        input_model: Arguments.
        output_model: Result.
        handler: `async (arguments, client, call) -> output`.
        errors: Reasons that the handler or the provider's `map_error` can give.
        deadline_s: Seconds for one call, or None for the gateway's setting.
    """

    name: str
    title: str
    description: str
    input_model: type[BaseModel]
    output_model: type[BaseModel]
    handler: Handler
    errors: tuple[Reason, ...] = ()
    deadline_s: float | None = None
    limits: Limits = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", limits_of(self.input_model))


@dataclass(frozen=True, kw_only=True)
class Tool(Operation):
    """An MCP tool.

    Attributes:
        read_only: It changes nothing anywhere.
        idempotent: The same call again has no further effect.
        open_world: It asks services outside the gateway.
        destructive: It can overwrite or delete; only of meaning when it is not read-only.
    """

    read_only: bool = True
    idempotent: bool = True
    open_world: bool = True
    destructive: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if issubclass(self.output_model, Page) and self.limits.page_size is None:
            raise TypeError(f"{self.name} gives pages, but {self.input_model.__name__} has no PageSize")

    def annotations(self) -> dict[str, object]:
        """The tool's MCP annotations on the wire."""
        hints: dict[str, object] = {
            "readOnlyHint": self.read_only,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }
        if not self.read_only:
            hints["destructiveHint"] = self.destructive
        return hints


class Contents(Output):
    """What a resource holds: text or bytes, one of the two."""

    text: str | None = None
    blob: bytes | None = None


@dataclass(frozen=True, kw_only=True)
class Resource(Operation):
    """An MCP resource: a fixed URI, or a template whose `{names}` are the fields of the input model.

    Attributes:
        uri: URI or URI template (RFC 6570 level 1), for instance `mylab://sample/{sample_id}`.
        mime_type: Media type of what it holds.
    """

    uri: str
    mime_type: str = "application/json"
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        literal = re.split(r"\{(\w+)\}", self.uri)
        # Odd places hold the names; a value is one path segment.
        parts = [f"(?P<{text}>[^/]+)" if index % 2 else re.escape(text) for index, text in enumerate(literal)]
        object.__setattr__(self, "pattern", re.compile("".join(parts)))
        if unknown := set(self.pattern.groupindex) - set(self.input_model.model_fields):
            raise TypeError(f"{self.uri} has {', '.join(sorted(unknown))}, no field of {self.input_model.__name__}")

    @property
    def is_template(self) -> bool:
        """Whether the URI has variables."""
        return "{" in self.uri

    def match(self, uri: str) -> Mapping[str, str] | None:
        """The variables of a URI that this resource serves, by their names on the wire, still encoded; or None."""
        found = self.pattern.fullmatch(uri)
        fields = self.input_model.model_fields
        return {fields[name].alias or name: value for name, value in found.groupdict().items()} if found else None


PromptText = str | Sequence[str | Image | Embedded]
"""What a prompt says: one text, or parts in their order."""


class Saying(BaseModel):
    """What a prompt's handler gives."""

    said: Any


@dataclass(frozen=True, kw_only=True)
class Prompt(Operation):
    """An MCP prompt; its handler gives a `Saying`, and each of its arguments is text on the wire."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A call that shows what a tool does, for `scigate demo` and for documentation.

    Attributes:
        title: What it shows, in a few words.
        tool: Name of the tool, without a prefix.
        arguments: The call's arguments on the wire.
        pages: How many pages to walk by `nextOffset`; 1 for the first alone.
    """

    title: str
    tool: str
    arguments: Mapping[str, object]
    pages: int = 1


def tool(
    name: str,
    *,
    title: str,
    errors: Iterable[Reason] = (),
    read_only: bool = True,
    idempotent: bool = True,
    open_world: bool = True,
    destructive: bool = False,
    deadline_s: float | None = None,
) -> Callable[[Handler], Tool]:
    """Make a `Tool` of an async function `(arguments, client, call) -> output`.

    The first parameter's annotation is the input model, the return annotation the output model, the docstring the
    description. A handler that returns a `Success` names its output model as `Annotated[Success, Model]`.

    Raises:
        TypeError: The function's signature does not have this form.
        ValueError: The name is not lower-case words joined by underscores, or the docstring is missing.

    Example:
        >>> @tool("mylab_find", title="Find samples", errors=[UNKNOWN_SAMPLE])
        ... async def find(args: FindSamples, lab: Lab, call: Call) -> Samples:
        ...     '''Find samples by name.'''
        ...     return Samples(samples=call.page.whole(await lab.samples(args.name)))
    """

    def make(function: Handler) -> Tool:
        if NAME.fullmatch(name) is None:
            raise ValueError(f"tool name {name!r} is not lower-case words joined by underscores")
        takes, gives = _models(function)
        return Tool(
            name=name,
            title=title,
            description=_description(function),
            input_model=takes,
            output_model=gives,
            handler=function,
            errors=tuple(errors),
            read_only=read_only,
            idempotent=idempotent,
            open_world=open_world,
            destructive=destructive,
            deadline_s=deadline_s,
        )

    return make


def resource(
    uri: str,
    *,
    name: str,
    title: str,
    mime_type: str = "application/json",
    errors: Iterable[Reason] = (),
) -> Callable[[Handler], Resource]:
    """Make a `Resource` of an async function `(arguments, client, call) -> output`.

    The output is sent as JSON text; a `Contents` is sent as it is (its text, or its bytes in base64).

    Example:
        >>> @resource("mylab://sample/{sample_id}", name="mylab-sample", title="Sample")
        ... async def sample(args: SampleId, lab: Lab, call: Call) -> Sample:
        ...     '''One sample with its history.'''
        ...     return await lab.sample(args.sample_id)
    """

    def make(function: Handler) -> Resource:
        takes, gives = _models(function)
        return Resource(
            name=name,
            title=title,
            description=_description(function),
            input_model=takes,
            output_model=gives,
            handler=function,
            errors=tuple(errors),
            uri=uri,
            mime_type=mime_type,
        )

    return make


PromptFunction = Callable[[Any], PromptText] | Callable[[Any, Any, Call], Awaitable[PromptText]]


def prompt(name: str, *, title: str, errors: Iterable[Reason] = ()) -> Callable[[PromptFunction], Prompt]:
    """Make a `Prompt` of a function `(arguments) -> text`, or a sequence of texts, images and embedded resources.

    An async function `(arguments, client, call) -> text` may ask its upstream and the user, as a tool's handler may.
    Either runs through the policies; a rule is about it by the prompt's name.

    Example:
        >>> @prompt("mylab_plan", title="Plan an assay")
        ... def plan(args: PlanInput) -> str:
        ...     '''A plan for one assay.'''
        ...     return f"Plan an assay of {args.sample}."
    """

    def make(function: PromptFunction) -> Prompt:
        takes_call = inspect.iscoroutinefunction(function)
        parameters = list(inspect.signature(function).parameters)
        takes = get_type_hints(function).get(parameters[0]) if parameters else None
        if not (isinstance(takes, type) and issubclass(takes, Input)) or len(parameters) != (3 if takes_call else 1):
            raise TypeError(
                f"{function.__name__} takes one argument, annotated with an Input model, or is async and takes the "
                "three of a tool"
            )

        async def handler(arguments: Any, client: Any, call: Call) -> Saying:
            if not takes_call:
                return Saying(said=cast("Callable[[Any], PromptText]", function)(arguments))
            say = cast("Callable[[Any, Any, Call], Awaitable[PromptText]]", function)
            return Saying(said=await say(arguments, client, call))

        return Prompt(
            name=name,
            title=title,
            description=_description(function),
            input_model=takes,
            output_model=Saying,
            handler=handler,
            errors=tuple(errors),
        )

    return make


def _models(function: Callable[..., Any]) -> tuple[type[Input], type[BaseModel]]:
    name = function.__name__
    if not inspect.iscoroutinefunction(function):
        raise TypeError(f"{name} is not an async function")
    parameters = list(inspect.signature(function).parameters)
    if len(parameters) != 3:
        raise TypeError(f"{name} takes {len(parameters)} parameters, not the three (arguments, client, call)")
    hints = get_type_hints(function, include_extras=True)
    takes, gives = hints.get(parameters[0]), hints.get("return")
    if getattr(gives, "__origin__", None) is Success:
        gives = gives.__metadata__[0]  # type: ignore[union-attr]  # Annotated[Success, Model]
    if not (isinstance(takes, type) and issubclass(takes, Input)):
        raise TypeError(f"{name}: the first parameter is annotated with {takes!r}, not with an Input model")
    if not (isinstance(gives, type) and issubclass(gives, BaseModel)):
        raise TypeError(f"{name}: the return annotation is {gives!r}, not a model")
    return takes, gives


def _description(function: Callable[..., Any]) -> str:
    text = inspect.getdoc(function)
    if not text:
        raise ValueError(f"{function.__name__} has no docstring: it is what a model reads")
    # A paragraph is one line on the wire: models read no source line ends.
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text))
