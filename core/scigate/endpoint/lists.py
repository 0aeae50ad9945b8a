"""The four lists of a host as they go on the wire, to whom they may be shown and how long they stay fresh."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

import mcp_types as types
from mcp.shared.inbound import X_MCP_HEADER_KEY
from pydantic import BaseModel

from scigate.call import Caller
from scigate.endpoint.message import Result, as_wire
from scigate.host import Host

__all__ = ["FRESH_MS", "LISTS", "Lists"]

FRESH_MS: Final = 300_000
"""Lists change only when the gateway is configured anew, and then their readers are told."""

LISTS: Final[Mapping[str, tuple[str, type[BaseModel]]]] = {
    "tools/list": ("tools", types.ListToolsResult),
    "resources/list": ("resources", types.ListResourcesResult),
    "resources/templates/list": ("resourceTemplates", types.ListResourceTemplatesResult),
    "prompts/list": ("prompts", types.ListPromptsResult),
}
"""The member of the result that holds the entries, and the result's model, by method."""


class Lists:
    """Made once for a host.

    Args:
        host: The host.

    Attributes:
        mirrored: The schemas of the tools of which headers mirror an argument, by name.

    Raises:
        ValueError: A definition is not one that the protocol allows.
    """

    def __init__(self, host: Host) -> None:
        catalogue = host.catalogue
        entries: dict[str, list[Result]] = {
            "tools/list": catalogue.definitions,
            "resources/list": catalogue.resources,
            "resources/templates/list": catalogue.resource_templates,
            "prompts/list": catalogue.prompts,
        }
        self.mirrored = {
            tool["name"]: tool["inputSchema"]
            for tool in catalogue.definitions
            if X_MCP_HEADER_KEY in json.dumps(tool["inputSchema"])
        }
        self._host = host
        # Where there are rules, a list holds what its reader may call.
        self._whole: dict[str, Result] = {
            method: {
                "resultType": "complete",
                "ttlMs": FRESH_MS,
                "cacheScope": "private" if host.rules else "public",
                LISTS[method][0]: _wire(method, listed),
            }
            for method, listed in entries.items()
        }

    def shown_to(self, caller: Caller, method: str) -> Result:
        """The result of a list method, of what the caller may call; one object for all where there are no rules."""
        whole = self._whole[method]
        if not self._host.rules:
            return whole
        key = LISTS[method][0]
        return whole | {key: self._host.shown_to(caller, whole[key])}

    def changed_from(self, before: Lists) -> set[str]:
        """The methods whose results are not, or not for everybody, what they were."""
        same_rules = self._host.rules == before._host.rules
        return {method for method, whole in self._whole.items() if whole != before._whole[method] or not same_rules}


def _wire(method: str, entries: Sequence[Result]) -> list[Result]:
    key, model = LISTS[method]
    checked = model.model_validate({key: entries}, by_name=False)
    return as_wire(checked)[key]
