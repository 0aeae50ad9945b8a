"""What the type annotation of a field holds: models and secrets, at whatever depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from pydantic import BaseModel, SecretBytes, SecretStr

__all__ = ["holds_secret", "model_in", "parts"]


def parts(annotation: object) -> Iterator[object]:
    """The annotation itself, then each part of it with its own parts; marks of an `Annotated` among them."""
    yield annotation
    for part in get_args(annotation):
        yield from parts(part)


def model_in(annotation: object) -> type[BaseModel] | None:
    """The first model in an annotation, itself included."""
    return next((part for part in parts(annotation) if isinstance(part, type) and issubclass(part, BaseModel)), None)


def holds_secret(annotation: object) -> bool:
    """Whether one of pydantic's secret types is in an annotation."""
    return any(part is SecretStr or part is SecretBytes for part in parts(annotation))
