"""The lines of the operation log, and what is told about them."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from ...messages import TaskId
from ...wire import WireModel
from ..failure_codes import KnownWhy
from .file_names import NamedFile

__all__ = [
    "Author",
    "Changed",
    "CheckpointId",
    "CheckpointRecord",
    "FileRestorePlan",
    "KeptNotebook",
    "KeptVariables",
    "LeftOut",
    "OperationRecord",
    "Part",
    "PlannedChange",
    "RestoredConversation",
    "RestoredNotebook",
    "RestoredParts",
    "RestoredVariables",
    "StoreStatistics",
]

CheckpointId = str
"""Sixteen hexadecimal digits."""

Author = Literal["person", "agent", "restore"]
"""Who made the changes that a checkpoint found."""

Part = Literal["files", "notebooks", "variables", "conversation"]
"""What a restore can bring back, in the order in which it does."""


class _Line(WireModel):
    """What stands in the log. A newer version's fields are dropped on reading; the line itself stays."""

    model_config = ConfigDict(extra="ignore")


class KeptNotebook(_Line):
    """A notebook's cells as they were, saved or not."""

    path: str
    """In the contents API."""
    state: str
    """Under which name they are kept."""
    dirty: bool = False
    """Whether a tab had changes that the file had not."""
    printed: tuple[str, ...] = ()
    """Cells that showed what a run of the agent had printed, which makes that nobody else's."""


class KeptVariables(_Line):
    """The variables of a notebook's kernel as they were."""

    path: str
    manifest: str
    state: str = ""
    """Equal where all variables are."""


class LeftOut(_Line):
    """What was asked to be kept and could not be."""

    path: str
    part: Literal["notebooks", "variables"]
    why: str
    coded: KnownWhy = None
    """The same for a page to word."""


class Changed(_Line):
    """How much is another than before: files, cells of notebooks, and variables."""

    files: int = 0
    """Without notebooks whose cells are counted."""
    cells: int = 0
    variables: int = 0


class RestoredNotebook(_Line):
    """A notebook whose cells a restore changed; a state that is absent is no notebook."""

    path: str
    before: str | None = None
    after: str | None = None
    cell_id: str | None = None
    """Of this cell alone."""


class RestoredVariables(_Line):
    """A kernel whose variables a restore changed."""

    path: str
    before: str
    """The manifest to go to for the way back."""
    after: str
    lost: tuple[str, ...] = ()
    """What only cells can make again."""


class RestoredConversation(_Line):
    """A conversation that went back with the rest; ``mark_id`` undoes that."""

    task_id: TaskId
    mark_id: str


class RestoredParts(_Line):
    """What a restore of more than files did. In a line that only says ``begun``, what it is about to do."""

    selected: tuple[Part, ...]
    path: str | None = None
    """The one notebook or file it was about."""
    cell_id: str | None = None
    overwrite: bool = False
    leave_variables: tuple[str, ...] = ()
    only_variables: tuple[str, ...] | None = None
    notebooks: tuple[RestoredNotebook, ...] = ()
    variables: tuple[RestoredVariables, ...] = ()
    conversation: RestoredConversation | None = None

    @property
    def beyond_files(self) -> bool:
        """Whether it was, or was to be, about more than files: only a server can take that back."""
        return bool(self.notebooks or self.variables or "conversation" in self.selected)


class CheckpointRecord(_Line):
    """One state of the workspace."""

    id: CheckpointId
    parent: CheckpointId | None = None
    ts: int
    """When, in milliseconds."""
    reason: str
    commit: str
    """Git's commit in the store; checkpoints between which nothing changed share one."""
    parent_commit: str | None = None
    tree: str
    side: str
    """What git's trees cannot say: full modes, times, empty folders, what was skipped and why."""
    author: Author = "person"
    """Who made the changes since the checkpoint before."""
    claims: tuple[NamedFile, ...] | None = None
    """Of these files alone; what else changed is the person's. None is of all."""
    scope: Literal["workspace", "touched"] = "workspace"
    scope_reason: str | None = None
    """Why only touched files are kept: ``files``, ``seconds``, ``home``, ``network``, ``setting``."""
    owner: str | None = None
    """Who asked for it, whose words the reason is then; None where no person did, or nobody knew persons."""
    task_id: TaskId | None = None
    under_way: tuple[TaskId, ...] = ()
    """The tasks that may have made changes since the checkpoint before."""
    message_ts: int | None = None
    files: int = 0
    bytes: int = 0
    skipped: int = 0
    notebooks: tuple[KeptNotebook, ...] = ()
    variables: tuple[KeptVariables, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    changed: Changed | None = None
    """Since the checkpoint before; None where that was not counted, as of the first."""


class OperationRecord(_Line):
    """One line of the log: something that was done, or was begun and not ended."""

    seq: int
    id: CheckpointId
    ts: int
    kind: Literal["save", "restore", "undo", "recovery"]
    status: Literal["done", "begun", "rolled_back", "left"] = "done"
    """``begun``: a crash may have left it half done. ``left``: a person chose to keep what it left."""
    checkpoint: CheckpointRecord | None = None
    """The state it led to."""
    target: CheckpointId | None = None
    before: CheckpointId | None = None
    """What the workspace was before a restore: undoing it goes back there."""
    undo_of: CheckpointId | None = None
    only: tuple[NamedFile, ...] | None = None
    leave: tuple[NamedFile, ...] = ()
    overwrite: tuple[NamedFile, ...] = ()
    written: int = 0
    deleted: int = 0
    kept: int = 0
    """Files left as the person had made them."""
    parts: RestoredParts | None = None
    """Of a restore that was about more than files."""
    error: str | None = None
    error_why: KnownWhy = None


class PlannedChange(NamedFile):
    """What a restore would do at one path, or why it would not."""

    action: Literal["create", "overwrite", "attributes", "delete", "make_folder", "remove_folder", "leave"]
    kind: Literal["file", "link", "folder"] = "file"
    size: int = 0
    """Of what would be there afterwards."""
    conflict: bool = False
    """The person changed it since the last checkpoint: it stays unless they choose otherwise."""
    reason: str | None = None
    """Why it is left alone: a reason to skip it, ``conflict``, or ``occupied`` by something that is in no checkpoint."""


class FileRestorePlan(WireModel):
    """What going back to a checkpoint would do, now."""

    target: CheckpointId
    changes: tuple[PlannedChange, ...]
    """What would be done."""
    conflicts: tuple[PlannedChange, ...]
    """What would be kept because the person changed it."""
    left: tuple[PlannedChange, ...]
    """What cannot be restored, with the reason."""
    bytes: int
    """How much would be written."""


class StoreStatistics(WireModel):
    """What a workspace's checkpoints take."""

    checkpoints: int
    states: int
    bytes: int
    quota_bytes: int
    packs: int
    oldest_ts: int | None
    newest_ts: int | None
    scope: Literal["workspace", "touched"] | None
    scope_reason: str | None
    interrupted: CheckpointId | None
    """A restore that a crash cut short and nobody has decided about."""
    wants_gc: bool
