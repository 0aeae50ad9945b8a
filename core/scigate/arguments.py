"""What a tool takes: the `Input` model and the annotations that carry caps, batches and offsets.

The annotations are part of a field's type, so the JSON Schema, the validation and the caps all follow from one
line. This module knows nothing of calls; the policy `cap` acts on what `limits_of` reads here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast, get_args

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema

from scigate.annotation import holds_secret, model_in, parts

__all__ = ["Batch", "Cap", "Input", "Limits", "Offset", "PageSize", "Sensitive", "disclosed", "limits_of"]

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""The largest whole number that every JSON reader keeps exact (RFC 8259, section 6)."""

WITHHELD: Final = "[withheld]"
"""Stands in the audit log for a value that is left out."""


class Input(BaseModel):
    """Base of a tool's arguments: camelCase on the wire, unknown names refused, numbers accepted for text.

    A field whose default is None is optional; on the wire it is left out or null.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        coerce_numbers_to_str=True,
        # A huge or infinite number is not a JSON number; it is refused where it stands.
        allow_inf_nan=False,
    )


def _constrained(schema: CoreSchema, bounds: dict[str, Any]) -> CoreSchema:
    """The schema with bounds, set inside `X | None` where the field is optional."""
    inner: dict[str, Any] = schema  # type: ignore[assignment]  # a CoreSchema is a closed union of TypedDicts
    while inner["type"] in ("nullable", "default"):
        inner = inner["schema"]
    inner.update(bounds)
    return schema


@dataclass(frozen=True, slots=True)
class PageSize:
    """A page size: `accepts` is the most that may be asked for, `cap` the most that one call serves."""

    cap: int
    accepts: int = 1000

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _constrained(handler(source), {"ge": 1, "le": self.accepts})


@dataclass(frozen=True, slots=True)
class Cap:
    """A number beside the page size, such as names a record: up to `accepts` may be asked for, `cap` is served."""

    cap: int
    accepts: int = 1000

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _constrained(handler(source), {"ge": 1, "le": self.accepts})


@dataclass(frozen=True, slots=True)
class Offset:
    """A zero-based position of the first item wanted; `maximum` is the last one that the schema accepts."""

    maximum: int = MAX_SAFE_INTEGER

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _constrained(handler(source), {"ge": 0, "le": self.maximum})


@dataclass(frozen=True, slots=True)
class Batch:
    """A list of inputs: up to `accepts` are taken, the first `cap` are served, the rest come back unprocessed."""

    cap: int
    accepts: int = 1000

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _constrained(handler(source), {"min_length": 1, "max_length": self.accepts})


@dataclass(frozen=True, slots=True)
class Sensitive:
    """An argument whose value the audit log leaves out: a password, a patient's name, an unpublished structure."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where an input model holds its page size, its offset and its batches; names are the Python ones.

    Attributes:
        page_size: Field and its `PageSize`, or None when the tool has no pages.
        offset: Field that holds the offset, or None.
        batches: Field and its `Batch`, in the order of the fields.
        caps: Field and its `Cap`, in the order of the fields.
    """

    page_size: tuple[str, PageSize] | None
    offset: str | None
    batches: tuple[tuple[str, Batch], ...]
    caps: tuple[tuple[str, Cap], ...] = ()


def limits_of(model: type[BaseModel]) -> Limits:
    """Read the annotations of an input model.

    Raises:
        TypeError: A model has two page sizes or two offsets, or an annotation stands where it has no effect.
    """
    sizes: list[tuple[str, PageSize]] = []
    offsets: list[str] = []
    batches: list[tuple[str, Batch]] = []
    caps: list[tuple[str, Cap]] = []
    for name, field in model.model_fields.items():
        inner = [mark for part in get_args(field.annotation) for mark in getattr(part, "__metadata__", ())]
        if any(isinstance(mark, PageSize | Offset | Batch | Cap) for mark in inner):
            # Pydantic keeps such a mark for the schema alone: the field would go without its cap.
            raise TypeError(f"{model.__name__}.{name}: write Annotated[X | None, mark], not Annotated[X, mark] | None")
        for mark in field.metadata:
            if isinstance(mark, PageSize | Offset) and not field.is_required() and field.default is None:
                raise TypeError(
                    f"{model.__name__}.{name} is a page's {type(mark).__name__} and has no number for default"
                )
            if isinstance(mark, PageSize):
                sizes.append((name, mark))
            elif isinstance(mark, Offset):
                offsets.append(name)
            elif isinstance(mark, Batch):
                batches.append((name, mark))
            elif isinstance(mark, Cap):
                caps.append((name, mark))
    if len(sizes) > 1 or len(offsets) > 1:
        raise TypeError(f"{model.__name__} has more than one page size or offset")
    return Limits(sizes[0] if sizes else None, offsets[0] if offsets else None, tuple(batches), tuple(caps))


def disclosed(model: type[BaseModel], given: Mapping[str, Any]) -> dict[str, object]:
    """Arguments as they came, without the values of those that are `Sensitive` or that the model does not know.

    An unknown name may be a misspelt one, and its value as sensitive as the right one's.
    """
    return _disclosed(_open_fields(model), given)


def _disclosed(fields: Mapping[str, type[BaseModel] | None], given: Mapping[str, Any]) -> dict[str, object]:
    return {name: _value(fields[name], value) if name in fields else WITHHELD for name, value in given.items()}


def _value(model: type[BaseModel] | None, value: Any) -> object:
    if model is None:
        return value
    if isinstance(value, Mapping):
        return disclosed(model, cast("Mapping[str, Any]", value))
    if isinstance(value, list):
        return [_value(model, entry) for entry in cast("list[Any]", value)]
    return value


@cache
def _open_fields(model: type[BaseModel]) -> Mapping[str, type[BaseModel] | None]:
    """The arguments that may be told, by their names on the wire; each with the model of its value, if it has one."""
    return {
        field.alias or name: model_in(field.annotation)
        for name, field in model.model_fields.items()
        if not any(isinstance(mark, Sensitive) for mark in field.metadata) and not _holds_sensitive(field.annotation)
    }


def _holds_sensitive(annotation: object) -> bool:
    """Whether a part of a type is marked, or is one of pydantic's secret types."""
    return holds_secret(annotation) or any(isinstance(part, Sensitive) for part in parts(annotation))
