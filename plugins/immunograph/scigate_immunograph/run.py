"""What names a research run: the label that all its steps carry."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

__all__ = ["LONGEST_RUN_ID", "RUN_ID", "RunId"]

RUN_ID: Final = r"^[^\x00-\x1f\x7f]+$"
"""Any characters but control ones."""

LONGEST_RUN_ID: Final = 128

RunId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_RUN_ID,
        pattern=RUN_ID,
        description="Label of the research run that this step belongs to, chosen by you; returned in meta.runId.",
    ),
]
