"""What a tool gives back: the `Output` and `Page` models, the `Record`s in them, and images beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

__all__ = ["Audio", "CappedInput", "Embedded", "Image", "Output", "Page", "Record", "Success", "structured"]


class Record(BaseModel):
    """Base of a part of a result: camelCase on the wire, fields that are None left out.

    A field without the default None is always present, and the output schema requires it.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class CappedInput(Record):
    """An input of which less was served than asked for."""

    model_config = ConfigDict(extra="forbid")

    input: str = Field(description="Name of the input.")
    requested: int = Field(description="What was asked for.")
    served: int = Field(description="What one call serves.")
    unprocessed: int | None = Field(default=None, description="Batches: how many entries were set aside.")


class Output(Record):
    """Base of a tool's whole result; core fills the three fields below, a handler leaves them alone."""

    unprocessed: list[str] | None = Field(default=None, description="Inputs not served, in order; ask for them again.")
    capped_inputs: list[CappedInput] | None = Field(default=None, description="Inputs above their per-call cap.")
    notice: str | None = Field(default=None, description="What to know about this result, and what to do next.")


class Page(Output):
    """Base of a result that has pages; a handler leaves all of these fields to core."""

    offset: int = Field(default=0, description="Position of the first item of this page.")
    total_found: int | None = Field(default=None, description="Exact number of items over all pages.")
    total_found_at_least: int | None = Field(default=None, description="Floor of that number, where none is exact.")
    next_offset: int | None = Field(default=None, description="Offset of the next page; absent on the last.")
    truncated: bool | None = Field(default=None, description="True when items remain after this page.")
    shown: int | None = Field(default=None, description="Items on this page, when truncated.")
    cap: int | None = Field(default=None, description="Page size used, when truncated.")


@dataclass(frozen=True, slots=True)
class Image:
    """An image beside the structured result.

    Attributes:
        png: The bytes of a PNG file.
        alt: What it shows, for readers who do not see it.
    """

    png: bytes
    alt: str


@dataclass(frozen=True, slots=True)
class Audio:
    """A recording beside the structured result.

    Attributes:
        content: The bytes of the file.
        mime_type: Its media type, such as `audio/wav`.
    """

    content: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """A resource whose text comes along, so that it need not be read.

    Attributes:
        uri: The resource's URI.
        text: What it holds.
        mime_type: Media type of that.
    """

    uri: str
    text: str
    mime_type: str = "text/plain"


@dataclass(frozen=True, slots=True)
class Success:
    """A call's outcome when it succeeded; a handler may return one instead of a bare output to add to it.

    Attributes:
        output: The structured result.
        images: Images beside it.
        attachments: What else is beside it, after the images.
    """

    output: BaseModel
    images: tuple[Image, ...] = ()
    attachments: tuple[Audio | Embedded, ...] = ()


def structured(output: BaseModel) -> dict[str, Any]:
    """The output as it goes on the wire: camelCase, JSON values, None left out."""
    return output.model_dump(mode="json", by_alias=True, exclude_none=True)
