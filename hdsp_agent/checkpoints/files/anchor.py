"""Where a checkpoint belongs, and what is kept with it besides files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from ...messages import TaskId
from .records import CheckpointRecord, KeptNotebook, KeptVariables, LeftOut

__all__ = ["NOT_COUNTED", "Anchor", "Counted", "says_nothing_new"]


@dataclass(frozen=True)
class Counted:
    """What changed besides files since it was kept last."""

    cells: int = 0
    variables: int = 0
    notebooks: tuple[str, ...] = ()
    """Files whose cells were counted, relative to the workspace: they are not counted once more."""


NOT_COUNTED: Final = Counted()


@dataclass(frozen=True)
class Anchor:
    """Where in a conversation a checkpoint belongs, and what is kept with it besides files."""

    owner: str | None = None
    """Who asked for it."""
    task_id: TaskId | None = None
    message_ts: int | None = None
    under_way: tuple[TaskId, ...] = ()
    """The tasks that may have made changes since the checkpoint before."""
    notebooks: tuple[KeptNotebook, ...] = ()
    variables: tuple[KeptVariables, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    counted: Counted = NOT_COUNTED
    always: bool = False
    """Whether it is a checkpoint of its own even if nothing changed."""
    overtaken: Callable[[], str | None] = lambda: None
    """Asked when everything is kept: a reason if what it was to come before has begun, so that nobody goes back to it."""

    def as_kept(self, reason: str) -> tuple[str, Anchor]:
        """The reason and the anchor, now that everything is kept."""
        late = self.overtaken()
        if late is None:
            return reason, self
        tasks = self.under_way if self.task_id is None else (*self.under_way, self.task_id)
        under_way = tuple(dict.fromkeys(tasks))
        return late, replace(self, message_ts=None, under_way=under_way)


def says_nothing_new(record: CheckpointRecord, head: CheckpointRecord) -> bool:
    """Whether it is not worth a line of its own: it names no place in a conversation, or the one that is known, and
    nothing that is not kept already."""
    if record.message_ts not in (None, head.message_ts):
        return False
    variables = {(one.path, one.state) for one in head.variables}
    notebooks = {(one.path, one.state, one.dirty) for one in head.notebooks}
    return {(one.path, one.state, one.dirty) for one in record.notebooks} <= notebooks and {
        (one.path, one.state) for one in record.variables
    } <= variables  # fmt: skip
