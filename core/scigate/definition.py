"""Tools, resources and prompts as they stand in MCP's lists: plain dicts in camelCase."""

from __future__ import annotations

from typing import Any

from scigate.envelope import Envelope
from scigate.operation import Prompt, Resource, Tool
from scigate.schema import input_schema

__all__ = ["prompt_definition", "resource_definition", "tool_definition"]

Json = dict[str, Any]


def tool_definition(tool: Tool, name: str, envelope: Envelope) -> Json:
    """A tool under the name that it is served by, in its provider's envelope."""
    return {
        "name": name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": input_schema(tool.input_model),
        "outputSchema": envelope.output_schema(tool),
        "annotations": tool.annotations(),
    }


def resource_definition(resource: Resource) -> Json:
    """A resource, or a resource template."""
    return {
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime_type,
        ("uriTemplate" if resource.is_template else "uri"): resource.uri,
    }


def prompt_definition(prompt: Prompt) -> Json:
    """A prompt with its arguments."""
    arguments = [
        {"name": found.alias or name, "description": found.description or "", "required": found.is_required()}
        for name, found in prompt.input_model.model_fields.items()
    ]
    return {"name": prompt.name, "title": prompt.title, "description": prompt.description, "arguments": arguments}
