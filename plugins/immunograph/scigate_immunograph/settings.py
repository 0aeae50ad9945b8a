"""The provider's section of the configuration, `[providers.immunograph]`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

__all__ = ["ImmunoGraphSettings"]


def _as_folder(path: Path | None) -> Path | None:
    if path is None:
        return None
    if not path.expanduser().is_dir():
        raise ValueError("should be a folder that is there")
    return path.expanduser()


class ImmunoGraphSettings(BaseModel):
    """Where this provider reads and keeps what belongs to runs, and how much of the machine it may take."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    fixtures: Annotated[Path | None, AfterValidator(_as_folder)] = None
    """A folder of fixtures of your own, one KEY.json each; a key that is shipped too is taken from here."""
    record: bool = True
    """Off keeps no ledger: runs can be made, but neither listed nor replayed."""
    ledger: Annotated[Path | None, AfterValidator(lambda path: path and path.expanduser())] = None
    """The run ledger, an SQLite file; without it, scigate/immunograph/runs.sqlite3 in the user's data directory."""
    workers: Annotated[int, Field(ge=1, le=64)] = 2
    """Processes for chemistry at once, some 150 MB each; they are started when needed."""
