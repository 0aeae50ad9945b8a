"""The base of this provider's arguments."""

from typing import Any

from pydantic import ConfigDict
from scigate import Input

__all__ = ["Arguments"]


def _undescribed(schema: dict[str, Any]) -> None:
    schema.pop("description", None)


class Arguments(Input):
    """Arguments whose docstring is for readers of code: a model reads the tool's description and the fields'."""

    model_config = ConfigDict(json_schema_extra=_undescribed)
