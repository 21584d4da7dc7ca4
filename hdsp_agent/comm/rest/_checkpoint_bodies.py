"""What REST requests about checkpoints carry."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ...messages import Parts
from ...wire import WireModel

__all__ = [
    "CellVersionsQuery",
    "CheckpointDiffQuery",
    "CheckpointFileQuery",
    "CheckpointPlaceQuery",
    "ExportCheckpointQuery",
    "RestartBody",
    "RestartPreviewBody",
    "RestoreBody",
    "SaveCheckpointBody",
    "StoreActionBody",
    "TimeLineQuery",
    "UndoBody",
]

_Path = Annotated[str, Field(min_length=1, max_length=4096)]
_Id = Annotated[str, Field(min_length=1, max_length=128)]


class CheckpointPlaceQuery(WireModel):
    """Which workspace: that of a task, or of a notebook; absent, the server's own folder."""

    task: _Id | None = None
    path: _Path | None = None
    """In the contents API."""


class TimeLineQuery(CheckpointPlaceQuery):
    """Which part of a time line."""

    before: _Id | None = None
    """Only what was done before this operation."""
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    only_task: bool = False
    """Only what belongs to ``task``."""


class SaveCheckpointBody(CheckpointPlaceQuery):
    """What to save: the workspace, and of the notebook ``path`` its cells and its kernel's variables."""

    note: Annotated[str, Field(max_length=200)] | None = None


class CheckpointDiffQuery(CheckpointPlaceQuery):
    """What a checkpoint is compared with."""

    against: Annotated[str, Field(pattern=r"^(previous|beginning|now|[0-9a-fA-F]{4,64})$")] = "previous"
    """``now``: from the checkpoint to how things are; an id: from that checkpoint to this."""
    only: _Path | None = None
    content: bool = True


class CheckpointFileQuery(CheckpointPlaceQuery):
    """A file of a moment."""

    file: _Path


class ExportCheckpointQuery(CheckpointPlaceQuery):
    """In what form."""

    kind: Literal["zip", "git"] = "zip"


class CellVersionsQuery(WireModel):
    """Which cell."""

    path: _Path
    cell: Annotated[str, Field(min_length=1, max_length=64)]


class RestoreBody(CheckpointPlaceQuery):
    """What of a checkpoint to restore."""

    parts: Parts


class UndoBody(CheckpointPlaceQuery):
    """Undoing a restore, or an undo."""

    overwrite: bool = False
    """Also what the person changed since."""


class StoreActionBody(CheckpointPlaceQuery):
    """``tidy`` brings the store within its limits; the others settle an interrupted restore."""

    action: Literal["tidy", "roll_back", "keep"]


class RestartPreviewBody(WireModel):
    """Which notebook's kernel to restart, and which cell is the last to run then: one that is named, or the last that had run by
    a checkpoint."""

    path: _Path
    """In the contents API."""
    cell: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    checkpoint: _Id | None = None
    task: _Id | None = None
    """Whose workspace has the checkpoint; absent, the server's own folder."""

    @model_validator(mode="after")
    def _names_one(self) -> RestartPreviewBody:
        if (self.cell is None) == (self.checkpoint is None):
            raise ValueError("either a cell or a checkpoint is needed")
        return self


class RestartBody(RestartPreviewBody):
    """The same, with what was seen of it."""

    seen: Annotated[str, Field(min_length=1, max_length=64)]
    """As the preview told it: nothing else runs."""
